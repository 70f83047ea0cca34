package static

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/memsearch/memsearch/embed"
)

// Name is the model name in the fingerprint of every table of this format.
const Name = "memsearch-static"

// ctxEach is how many texts are embedded between two looks at the context: less
// than a millisecond's work for short texts.
const ctxEach = 64

// Fingerprint implements [embed.Embedder]. Its version is the format version and
// the checksum of the table.
func (m *Model) Fingerprint() embed.Fingerprint {
	return embed.Fingerprint{
		Model:   Name,
		Version: fmt.Sprintf("%d-%08x", version, m.sum),
		Dims:    m.dims,
		Pooling: "sum",
	}
}

// Embed implements [embed.Embedder]. A query is weighted by how rare its tokens
// are in general text; [Model.EmbedQuery], which knows the corpus, is better.
// The only error is that of ctx.
func (m *Model) Embed(ctx context.Context, texts []string, kind embed.Kind) ([][]float32, error) {
	rows := make([][]float32, len(texts))
	all := make([]float32, len(texts)*m.dims)
	for i, text := range texts {
		if i%ctxEach == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		row := all[i*m.dims : (i+1)*m.dims : (i+1)*m.dims]
		if kind == embed.Query {
			m.queryTo(row, text, nil, 0)
		} else {
			m.VectorTo(row, text)
		}
		rows[i] = row
	}
	return rows, nil
}

// AppendTokenIDs implements [embed.Weigher].
func (m *Model) AppendTokenIDs(dst []int32, text string) []int32 {
	s := m.get()
	defer m.put(s)
	m.tokenize(s, text)
	return append(dst, s.ids...)
}

// Vocabulary implements [embed.Weigher].
func (m *Model) Vocabulary() int { return m.tokens + m.buckets }

// EmbedQuery implements [embed.Weigher]: every token counts [Model.IDF] times as
// much for its df and n.
func (m *Model) EmbedQuery(text string, df func(id int32) int, n int) []float32 {
	return m.queryTo(make([]float32, m.dims), text, df, n)
}

// queryK bounds what a repeated token of a query counts, as k3 does in BM25: all
// its occurrences together less than queryK+1 times the first.
const queryK = 2

func docs(df func(id int32) int, id int32) int {
	if df == nil {
		return 0
	}
	return df(id)
}

// queryTo weighs tokens by rarity. An n-gram of an unknown word that no document
// has is left out: it is spelling without meaning and near notes only by chance.
func (m *Model) queryTo(dst []float32, text string, df func(id int32) int, n int) []float32 {
	s := m.get()
	defer m.put(s)
	m.tokenize(s, text)
	slices.Sort(s.ids) // the sum does not depend on their order
	s.weight = s.weight[:0]
	for i := 0; i < len(s.ids); {
		id, from := s.ids[i], i
		for i < len(s.ids) && s.ids[i] == id {
			i++
		}
		w := float32(0)
		if f := docs(df, id); f > 0 || int(id) < m.tokens || df == nil {
			w = m.idf(id, f, n) * (queryK + 1) / (queryK + float32(i-from))
		}
		for range i - from {
			s.weight = append(s.weight, w)
		}
	}
	m.sumRows(s, dst, s.ids, s.weight)
	return dst
}

// Chunks implements [embed.Chunker] with the function [Chunks].
func (m *Model) Chunks(text string) []string { return Chunks(text) }

// Int8 implements [embed.Quantised]: it is true.
func (m *Model) Int8() bool { return true }

// Cheap implements [embed.Cheap]: it is true. A note of 150 bytes takes 7 µs
// (BenchmarkVector), a look-up 11 µs (BenchmarkLookup of embed) and storing more.
func (m *Model) Cheap() bool { return true }

// PriorDocs is the weight, in documents, that [Model.IDF] gives to general text.
const PriorDocs = 50

// IDF returns the inverse document frequency of a token that df of the n
// documents of a corpus contain, as if PriorDocs documents of general text were
// part of it. In a corpus of a few notes the plain formula gives "what" and "the"
// the weight of rare words whenever no note has them; in a large one the prior
// changes nothing. A token that is not in the table is taken for unheard of.
func (m *Model) IDF(token string, df, n int) float32 {
	id, ok := m.Lookup(token)
	if !ok {
		id = -1
	}
	return m.idf(id, df, n)
}

func (m *Model) idf(id int32, df, n int) float32 {
	f, d := float64(max(df, 0)), float64(max(n, df, 0)+PriorDocs)
	if id >= 0 {
		f += PriorDocs * math.Exp2(-float64(m.share[id])/8)
	}
	return float32(math.Log(1 + (d-f+.5)/(f+.5)))
}
