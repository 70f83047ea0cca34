// Package lexical is the keyword index of one vault: BM25F over postings that
// bleve's segment format stores.
//
//	docs -> analysis -> segments -> postings -> BM25F -> best chunk per unit
//
// A folder that [Write] made holds immutable segments, a table of documents for
// each and one list of the segments with what is deleted in them. It is never
// changed again, so readers need no lock, and the next folder shares its
// segments by hard links. bleve's index above the segments (scorch) is left out:
// its lock makes readers and writers wait for one another, and its background
// merges finish at no known time.
package lexical

import (
	"errors"

	"github.com/memsearch/memsearch/index/analysis"
	"github.com/memsearch/memsearch/index/key"
)

// Errors of an index on disk.
var (
	// ErrCorrupt says that the files of an index cannot be what [Write] left.
	ErrCorrupt = errors.New("keyword index is damaged")

	// ErrVersion says that an index is of another format or analyzer.
	ErrVersion = errors.New("keyword index is of another version")
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
	Has  [analysis.NumFields]int64 `json:"has"` // documents in which the field has terms
	Len  [analysis.NumFields]int64 `json:"len"` // terms of the field over all documents
}

// add counts n documents with these field lengths; n may be -1.
func (s *Stats) add(lens [analysis.NumFields]uint32, n int64) {
	s.Docs += n
	for f, l := range lens {
		if l > 0 {
			s.Has[f] += n
			s.Len[f] += n * int64(l)
		}
	}
}

// A Result scores every unit for one query.
type Result struct {
	Score []float32  // by unit ordinal: the best chunk's score; 0: no match
	Mass  []float32  // by unit ordinal: share (0-1) of the query's idf mass that chunk matches
	Ideal float64    // the score of a perfect match
	Terms []TermStat // in query order
	Exact []uint32   // units that hold a whole identifier of the query which stands in at most [MaxExact], ascending
}

// A TermStat is a query term as the index knows it.
type TermStat struct {
	Text  string
	IDF   float64 // 0: the term does not count
	DF    int     // live documents that hold it, or what stands in for it
	Kind  analysis.Kind
	Fuzzy []string // what stands in for a word that no document holds
}
