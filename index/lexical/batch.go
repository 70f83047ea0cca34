package lexical

import (
	"fmt"

	index "github.com/blevesearch/bleve_index_api"
	segment "github.com/blevesearch/scorch_segment_api/v2"
	zap "github.com/blevesearch/zapx/v17"

	"github.com/memsearch/memsearch/index/analysis"
	"github.com/memsearch/memsearch/index/key"
)

// fieldNames are the names of the fields in a segment.
var fieldNames = [analysis.NumFields]string{"title", "tags", "headings", "body", "path", "date"}

// idField is the field that a segment stores of every document.
const idField = "_id"

// A batch gathers analysed documents for one segment. Terms are numbered, so
// that a document is a few numbers until the segment is built.
type batch struct {
	ids   map[string]uint32
	terms []string
	docs  []packed
	freqs []freq
	bytes int // of text added

	counts  []uint32 // by term, while one field is analysed
	touched []uint32

	maps [analysis.NumFields]index.TokenFrequencies // of the document being built
	slab [analysis.NumFields][]index.TokenFreq
}

type freq struct{ term, n uint32 }

// packed is one document: field f has freqs[ends[f-1]:ends[f]].
type packed struct {
	key   key.Key
	start uint32
	ends  [analysis.NumFields]uint32
	lens  [analysis.NumFields]uint32
}

func newBatch() *batch { return &batch{ids: map[string]uint32{}} }

func (b *batch) add(d Doc) {
	p := packed{key: d.Key, start: uint32(len(b.freqs))}
	for f, text := range d.Fields {
		if text != "" {
			b.bytes += len(text)
			analysis.Each(text, func(term []byte) {
				id, ok := b.ids[string(term)]
				if !ok {
					id = uint32(len(b.terms))
					s := string(term)
					b.ids[s] = id
					b.terms = append(b.terms, s)
					b.counts = append(b.counts, 0)
				}
				if b.counts[id] == 0 {
					b.touched = append(b.touched, id)
				}
				b.counts[id]++
				p.lens[f]++
			})
			for _, id := range b.touched {
				b.freqs = append(b.freqs, freq{id, b.counts[id]})
				b.counts[id] = 0
			}
			b.touched = b.touched[:0]
		}
		p.ends[f] = uint32(len(b.freqs))
	}
	b.docs = append(b.docs, p)
}

// build returns the segment in memory.
func (b *batch) build() (segment.Segment, error) {
	docs := make([]index.Document, len(b.docs))
	for i := range b.docs {
		docs[i] = &document{b: b, doc: &b.docs[i]}
	}
	seg, _, err := new(zap.ZapPlugin).New(docs)
	if err != nil {
		return nil, fmt.Errorf("build segment: %w", err)
	}
	return seg, nil
}

// table returns the keys and lengths of the documents in order.
func (b *batch) table() *table {
	t := &table{keys: make([]key.Key, len(b.docs)), lens: make([][analysis.NumFields]uint32, len(b.docs))}
	for i, d := range b.docs {
		t.keys[i], t.lens[i] = d.key, d.lens
	}
	return t
}

// A document is a packed document as a segment asks for it.
type document struct {
	b   *batch
	doc *packed
}

func (d *document) VisitFields(visit index.FieldVisitor) {
	visit(&field{name: idField, id: d.doc.key.Append(nil)})
	from := d.doc.start
	for f, to := range d.doc.ends {
		if to > from {
			visit(&field{name: fieldNames[f], b: d.b, f: f, freqs: d.b.freqs[from:to], n: int(d.doc.lens[f])})
		}
		from = to
	}
}

func (d *document) ID() string                                 { return string(d.doc.key.Append(nil)) }
func (d *document) Size() int                                  { return 0 }
func (d *document) VisitComposite(index.CompositeFieldVisitor) {}
func (d *document) HasComposite() bool                         { return false }
func (d *document) NumPlainTextBytes() uint64                  { return 0 }
func (d *document) AddIDField()                                {}
func (d *document) StoredFieldsBytes() uint64                  { return 0 }
func (d *document) Indexed() bool                              { return true }

// A field is one field of a document: its terms, or the id.
type field struct {
	name  string
	id    []byte
	b     *batch
	f     int
	freqs []freq
	n     int
}

func (f *field) Name() string              { return f.name }
func (f *field) Value() []byte             { return f.id }
func (f *field) ArrayPositions() []uint64  { return nil }
func (f *field) EncodedFieldType() byte    { return 't' }
func (f *field) Analyze()                  {}
func (f *field) AnalyzedLength() int       { return f.n }
func (f *field) NumPlainTextBytes() uint64 { return 0 }

func (f *field) Options() index.FieldIndexingOptions {
	if f.id != nil {
		return index.StoreField
	}
	return index.IndexField
}

// AnalyzedTokenFrequencies returns a map that is overwritten when the same field
// of another document is asked for. A segment is built document by document and
// keeps none of it.
func (f *field) AnalyzedTokenFrequencies() index.TokenFrequencies {
	if f.id != nil {
		return nil
	}
	m := f.b.maps[f.f]
	if m == nil {
		m = index.TokenFrequencies{}
		f.b.maps[f.f] = m
	}
	clear(m)
	slab := f.b.slab[f.f]
	if cap(slab) < len(f.freqs) {
		slab = make([]index.TokenFreq, 2*len(f.freqs))
		f.b.slab[f.f] = slab
	}
	slab = slab[:len(f.freqs)]
	for i, q := range f.freqs {
		slab[i].SetFrequency(int(q.n))
		m[f.b.terms[q.term]] = &slab[i]
	}
	return m
}
