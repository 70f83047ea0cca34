package recall

import (
	"math"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/index"
	"github.com/memsearch/memsearch/index/analysis"
	"github.com/memsearch/memsearch/index/lexical"
)

// Every number that moves a rank stands in this file; docs/ranking.md has the
// figures that chose each. The score of a unit is
//
//	base  = bm25/ideal + w*cos
//	score = base + date + exact
//
// where ideal is the BM25 score of a perfect match, so that the first part is
// the share of a perfect match and a weak lexical hit stays weak.
const (
	// WeightVector and WeightVectorCJK are w for short queries without and with
	// Han or kana: the largest mean gain over BM25 on the dev sets. Below .5
	// paraphrases lose most (R@10 among 2,760 other notes .60 at .3, .72 at .6),
	// from .8 on MemoryBank and CMRC fall below BM25 alone.
	WeightVector    = 0.6
	WeightVectorCJK = 0.4

	// LongQuery is how many words a query has from which on w falls with the
	// square of their number: the vector of a long query is a mean in which the
	// question drowns, while BM25 still finds its rare words. MemDaily with 60
	// terms and more: nDCG@10 .909 by BM25 alone, .881 with w = .4 throughout.
	LongQuery = 10

	// WeightDate is the share of its base that a unit of the asked time gains
	// when the query also names a subject. A share, since a date may be chatter
	// ("lovely weather today, but what I ask is"): an equal sum for all took
	// MemDaily's nDCG@10 from .927 to .910.
	WeightDate = 0.5

	// WeightDateAlone keeps a unit of the asked time in the list, at its end,
	// when nothing else speaks for it.
	WeightDateAlone = 0.001

	// WeightPureDate outweighs bm25 and cosine together: a query that names
	// nothing but a time is answered by that time.
	WeightPureDate = 2

	// WeightExact outweighs all the rest: a whole identifier that stands in few
	// units is what was asked for.
	WeightExact = 4

	// RankConstant is k of reciprocal rank fusion between scopes (Cormack et
	// al. 2009), whose scores cannot be compared.
	RankConstant = 60
)

// vectorWeight returns w for a query of so many words.
func vectorWeight(cjk bool, words float64) float64 {
	w := WeightVector
	if cjk {
		w = WeightVectorCJK
	}
	if words > LongQuery {
		w *= (LongQuery / words) * (LongQuery / words)
	}
	return w
}

// countWords counts the distinct words of a query without stop words. Most
// Chinese words have two characters.
func countWords(terms []lexical.TermStat) float64 {
	n := 0.
	for _, t := range terms {
		switch t.Kind {
		case analysis.KindStop, analysis.KindBigram:
		case analysis.KindHan:
			n += .5
		default:
			n++
		}
	}
	return n
}

// dateMatch grades a unit of the asked time, finest granularity first.
func dateMatch(g memsearch.Granularity) float64 {
	switch g {
	case memsearch.GranularityInstant, memsearch.GranularityDay:
		return 1
	case memsearch.GranularityWeek:
		return .9
	case memsearch.GranularityMonth:
		return .8
	case memsearch.GranularityQuarter:
		return .7
	case memsearch.GranularityYear:
		return .6
	}
	return .5
}

// parts are the summands of a unit's score.
type parts struct {
	lexical, vector, date, exact float64
}

// A fusion scores every unit of a scope.
type fusion struct {
	lex   *lexical.Result     // nil: takes no part
	vec   *index.VectorResult // nil: takes no part
	date  []float32           // [dateMatch] by ordinal; nil: no date asked
	pure  bool                // nothing but a date is asked
	exact map[uint32]bool
	mask  index.Mask
	w     float64
}

// dated returns what a unit with this base gains by being of the asked time.
func (f *fusion) dated(base, match float64) float64 {
	switch {
	case match == 0:
		return 0
	case f.pure:
		return match * WeightPureDate
	}
	return match * (WeightDate*max(base, 0) + WeightDateAlone)
}

// parts returns the summands of one unit.
func (f *fusion) parts(ord uint32) parts {
	var p parts
	p.lexical = f.lexical(ord)
	p.vector = f.w * f.cos(ord)
	if int(ord) < len(f.date) {
		p.date = f.dated(p.lexical+p.vector, float64(f.date[ord]))
	}
	if f.exact[ord] {
		p.exact = WeightExact
	}
	return p
}

// lexical returns the share of a perfect match that one unit is.
func (f *fusion) lexical(ord uint32) float64 {
	if f.lex == nil || int(ord) >= len(f.lex.Score) || f.lex.Ideal <= 0 {
		return 0
	}
	return float64(f.lex.Score[ord]) / f.lex.Ideal
}

// cos returns the cosine of one unit, 0 when there is none.
func (f *fusion) cos(ord uint32) float64 {
	if f.vec == nil || int(ord) >= len(f.vec.Cos) {
		return 0
	}
	if c := float64(f.vec.Cos[ord]); !math.IsNaN(c) {
		return c
	}
	return 0
}

// mass returns the share of the query's idf mass that a unit matches.
func (f *fusion) mass(ord uint32) float64 {
	if f.lex == nil || int(ord) >= len(f.lex.Mass) || f.lex.Score[ord] <= 0 {
		return 0
	}
	return float64(f.lex.Mass[ord])
}

// fuse writes the score of every unit to dst: the sum of its parts, or 0 for a
// unit that may not be returned or that nothing speaks for.
func (f *fusion) fuse(dst []float64) {
	clear(dst)
	if f.lex != nil && f.lex.Ideal > 0 {
		for i, s := range f.lex.Score[:min(len(f.lex.Score), len(dst))] {
			dst[i] = float64(s) / f.lex.Ideal
		}
	}
	if f.vec != nil {
		for i, c := range f.vec.Cos[:min(len(f.vec.Cos), len(dst))] {
			if c == c { // not NaN
				dst[i] += f.w * float64(c)
			}
		}
	}
	if f.date != nil {
		for i, d := range f.date {
			dst[i] += f.dated(dst[i], float64(d))
		}
	}
	for ord := range f.exact {
		if int(ord) < len(dst) {
			dst[ord] += WeightExact
		}
	}
	for i, s := range dst {
		if s < 0 || f.mask != nil && f.mask.Has(uint32(i)) {
			dst[i] = 0
		}
	}
}
