// Package lexical is the keyword index of one vault: BM25F over bleve's postings.
//
//	docs -> analysis -> segments (zap files) -> postings -> BM25F -> best chunk per unit
//
// A folder that [Write] made is never changed again; readers need no lock.
package lexical

import (
	"github.com/memsearch/memsearch/index/analysis"
	"github.com/memsearch/memsearch/index/key"
)

// A Doc is one chunk of a unit as it is indexed.
type Doc struct {
	Key    key.Key
	Fields [analysis.NumFields]string
}

// Stats counts what is live in an index. The counts are exact: however an index
// came about, the same documents give the same Stats.
type Stats struct {
	Docs int64                     `json:"docs"`
	Len  [analysis.NumFields]int64 `json:"len"` // terms in each field over all documents
}

// Params are the weights of the score.
type Params struct {
	K1      float64
	B       float64
	Weights [analysis.NumFields]float64
}

// A Result scores every unit for one query.
type Result struct {
	Score []float32  // by unit ordinal: the best chunk's score; 0: no match
	Mass  []float32  // by unit ordinal: share (0-1) of the query's idf mass that chunk matches
	Ideal float64    // the score of a perfect match
	Terms []TermStat // in query order
	Exact []uint32   // units that hold a whole identifier of the query which stands in few units, ascending
}

// A TermStat is a query term as the index knows it.
type TermStat struct {
	Text  string
	IDF   float64
	DF    int // live documents that hold it
	Kind  analysis.Kind
	Fuzzy []string // what stood in for it when no document holds it
}
