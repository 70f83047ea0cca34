package embed

import (
	"context"
	"fmt"
	"math"

	"github.com/cespare/xxhash/v2"
)

// A Kind says which side of a search a text is on. Models that are trained with
// prefixes treat the two differently.
type Kind int

// The sides of a search.
const (
	Passage Kind = iota // a text that is stored and found
	Query               // a text that is searched with
)

// String returns "passage" or "query".
func (k Kind) String() string {
	switch k {
	case Passage:
		return "passage"
	case Query:
		return "query"
	}
	return fmt.Sprintf("Kind(%d)", int(k))
}

// An Embedder makes vectors. It is safe for concurrent use.
type Embedder interface {
	// Fingerprint never changes during the life of the embedder.
	Fingerprint() Fingerprint

	// Embed returns one row for each text, in the order of texts. A row has
	// Fingerprint().Dims elements and length 1, or is all zero when the text
	// has nothing the model knows. With an error there are no rows. Rows belong
	// to the caller; they may share one array.
	Embed(ctx context.Context, texts []string, kind Kind) ([][]float32, error)
}

// A Fingerprint identifies the space of a vector. Two vectors may be compared
// only when their fingerprints are equal.
type Fingerprint struct {
	Model    string    // name of the model
	Version  string    // checksum or revision; empty when the provider gives none
	Dims     int       // elements of a row
	Prefixes [2]string // put before a text, by [Kind]
	Pooling  string    // how token vectors become one: "sum", "mean", "cls"; empty when unknown
}

// String returns all of f in one line. Different fingerprints have different
// strings.
func (f Fingerprint) String() string {
	return fmt.Sprintf("model=%q version=%q dims=%d passage=%q query=%q pooling=%q",
		f.Model, f.Version, f.Dims, f.Prefixes[Passage], f.Prefixes[Query], f.Pooling)
}

// Hash returns the xxhash of String. It is stable across processes and
// platforms and may be stored.
func (f Fingerprint) Hash() uint64 { return xxhash.Sum64String(f.String()) }

// A Weigher makes better query vectors when it knows the searched corpus: every
// token of the query counts by its rarity there. Passage vectors do not depend on
// the corpus.
type Weigher interface {
	// AppendTokenIDs appends the token ids of text to dst, repetitions
	// included. Ids run from 0 to Vocabulary()-1.
	AppendTokenIDs(dst []int32, text string) []int32

	// Vocabulary returns the number of token ids.
	Vocabulary() int

	// EmbedQuery returns the row of a query. df says in how many of the n
	// passages of the corpus a token occurs; it is called once for each token
	// of the text. A nil df stands for a corpus nothing is known of.
	EmbedQuery(text string, df func(id int32) int, n int) []float32
}

// A Chunker cuts a text into the pieces that get rows of their own, in order.
// The score of a text with several pieces is the mean of the cosine of its whole
// and the best cosine of its pieces; a text of one piece has one row.
type Chunker interface {
	Chunks(text string) []string
}

// A Quantised says whether rows may be stored as int8 with one scale: their
// cosine to the float32 row stays at or above .9999.
type Quantised interface {
	Int8() bool
}

// A Cheap says whether embedding a text costs less than a cache look-up.
type Cheap interface {
	Cheap() bool
}

// As finds the first embedder in the chain of e, e included, that is a T. The
// chain goes on through Unwrap methods, as for errors.
func As[T any](e Embedder) (T, bool) {
	for e != nil {
		if t, ok := e.(T); ok {
			return t, true
		}
		w, ok := e.(interface{ Unwrap() Embedder })
		if !ok {
			break
		}
		e = w.Unwrap()
	}
	var none T
	return none, false
}

// Normalize scales v in place to length 1 and reports whether it could: false
// for a vector that is all zero or has an element that is not finite, which is
// left as it is.
func Normalize(v []float32) bool {
	var top float64
	for _, x := range v {
		f := math.Abs(float64(x))
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return false
		}
		top = max(top, f)
	}
	if top == 0 {
		return false
	}
	// float64 squares of float32 values can neither overflow nor vanish.
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	inv := 1 / math.Sqrt(sum)
	for i, x := range v {
		v[i] = float32(float64(x) * inv)
	}
	return true
}
