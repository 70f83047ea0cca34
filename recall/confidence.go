package recall

import (
	"math"
	"slices"

	"github.com/memsearch/memsearch/index/analysis"
	"github.com/memsearch/memsearch/index/lexical"
)

// The floors of confidence.
const (
	// DefaultFloor is the default of [Options.Floor]. It empties at most 1 % of
	// the answerable queries of any dev set (LoCoMo .3 to .8 %, MemDaily .5 %,
	// SciFact, Cranfield and CMRC none, paraphrases without a shared word 1 %), and
	// of the same queries asked of the wrong corpus 24 to 58 % (LoCoMo), 71, 40, 19
	// and 3 % (SciFact, Cranfield, CMRC, MemDaily).
	DefaultFloor = 0.038

	// DefaultInjectFloor is the default of [Options.InjectFloor]. Of the relevant
	// among the first 8 it keeps 96 % (LoCoMo, SciFact), 77 % (MemDaily); precision
	// rises from .12 to .15 (observations) and .45 to .63 (MemDaily), and then only
	// slowly with the floor: .3 would give .22 and .74 and lose 14 and 49 %.
	DefaultInjectFloor = 0.05
)

// features are what the confidence in a hit rests on, each about 0 to 1.
type features struct {
	mass    float64 // share of the query's idf mass that the hit matches
	lex     float64 // its BM25 score as a share of a perfect match
	cos     float64 // cosine of the hit; beside top it told nothing more, so no model uses it
	top     float64 // best cosine of any unit, times the hit's share of the best score
	agree   float64 // overlap of the first places of bm25 and vector, times the same
	blind   float64 // 1 when no unit matches a word of the query
	short   float64 // 1 when that query has a single word
	cjk     float64 // 1 for a query with Han or kana
	exact   float64 // 1 when the hit holds a whole identifier of the query
	date    float64 // 1 when the hit is of the asked time
	pure    float64 // 1 when the query also asks for nothing else
	offDate float64 // 1 when the query asks for nothing but another time
	unknown float64 // share of the query's idf mass that neither index nor model knows
}

// coefficients of a logistic model; the same fields as [features].
type coefficients struct {
	bias float64
	features
}

// The three models. English and Chinese queries differ in what a share of their
// mass means, since most characters of a long Chinese question stand in any
// text; answers without vectors have other features. Fitted on the answerable
// queries of the dev sets against the same queries asked of another conversation
// or corpus, every set and kind weighing the same, paraphrases a third;
// docs/ranking.md has the command, the figures and what was set by hand: short,
// exact, date, pure and offDate, and for Chinese mass, blind and unknown, whose
// fitted signs made no sense. A single word that nothing matches is a synonym
// from cosine .2 on, and noise below.
var (
	modelPlain = coefficients{-7.1, features{mass: 5.8, top: 16.5, agree: 1.2, blind: 3.3, unknown: -3.2,
		short: -2.6, exact: 2, date: 1, pure: 5.5, offDate: -3}}
	modelCJK = coefficients{-4.9, features{mass: 2, top: 12.7, agree: 3.1, blind: 1.3, unknown: -3,
		short: -2.6, exact: 2, date: 1, pure: 5.5, offDate: -3}}
	modelLexical = coefficients{-4.8, features{mass: 4.1, lex: 11.6, cjk: .8, short: -2.6, exact: 2, date: 1.8, pure: 5.5, offDate: -3}}
)

// model returns the coefficients for the query.
func (j *judge) model() *coefficients {
	switch {
	case j.s.fusion.vec == nil:
		return &modelLexical
	case j.s.ask.cjk:
		return &modelCJK
	}
	return &modelPlain
}

// confidence returns the probability that a hit with these features answers.
func (c *coefficients) confidence(f features) float64 {
	z := c.bias + c.mass*f.mass + c.lex*f.lex + c.top*f.top + c.blind*f.blind + c.agree*f.agree + c.short*f.short + c.cjk*f.cjk +
		c.exact*f.exact + c.date*f.date + c.pure*f.pure + c.offDate*f.offDate + c.unknown*f.unknown
	return 1 / (1 + math.Exp(-z))
}

// agreeDepth is how many first places of two retrievers are compared.
const agreeDepth = 5

// judge holds what the features of every hit of a scope share.
type judge struct {
	s       *search
	top     float64
	agree   float64
	unknown float64
	short   bool
	matched bool // some unit that may be returned matches lexically
	meant   bool // the model knows a word of the query
	dated   bool // some unit that may be returned is of the asked time
}

func newJudge(s *search, v Vocabulary) *judge {
	j := &judge{s: s, dated: s.anyDated()}
	lex, vec := s.fusion.lex, s.fusion.vec
	j.meant = vec != nil && vec.Known
	byMeaning := s.firsts(agreeDepth, s.fusion.cos)
	if len(byMeaning) > 0 {
		j.top = byMeaning[0].score
	}
	if lex == nil {
		return j
	}
	held := j.words(v)
	byWords := s.firsts(agreeDepth, func(ord uint32) float64 { return at(lex.Score, ord) })
	j.matched = held && len(byWords) > 0
	if !j.matched {
		return j
	}
	both := 0
	for _, a := range byWords {
		for _, b := range byMeaning {
			if a.ord == b.ord {
				both++
			}
		}
	}
	j.agree = float64(both) / float64(len(byWords))
	return j
}

// requests are stems of the words that ask for an answer and are no part of it.
// A note that matches nothing else matches nothing.
var requests = []string{"tell", "pleas", "give", "show", "know", "find", "explain", "rememb", "recal", "remind", "someth", "anyth"}

// words looks up which of the query's words anything is known of. It returns
// whether the index holds one of them.
func (j *judge) words(v Vocabulary) (held bool) {
	terms := slices.DeleteFunc(slices.Clone(j.s.fusion.lex.Terms), func(t lexical.TermStat) bool { return t.Kind == analysis.KindStop })
	if content := slices.DeleteFunc(slices.Clone(terms), func(t lexical.TermStat) bool { return slices.Contains(requests, t.Text) }); len(content) > 0 {
		terms = content
	}
	if len(terms) == 0 {
		return true // stop words alone are searched like others
	}
	var all, unknown float64
	words, han, meant := 0, 0, false
	for _, t := range terms {
		switch t.Kind {
		case analysis.KindBigram: // its characters count
		case analysis.KindHan:
			han++
		default:
			words++
		}
		known := j.meant
		if v != nil && known {
			_, known = v.Lookup(t.Text)
		}
		meant = meant || known
		all += t.IDF
		switch {
		case t.DF > 0 || len(t.Fuzzy) > 0:
			held = true
		case !known:
			unknown += t.IDF
		}
	}
	j.short = words+(han+2)/3 <= 1 // Chinese words have up to three characters, mostly
	j.meant = meant
	if all > 0 {
		j.unknown = unknown / all
	}
	return held
}

// features returns what speaks for one unit whose score is the given share of
// the best.
func (j *judge) features(ord uint32, share float64) features {
	f := features{
		mass: j.s.fusion.mass(ord), lex: j.s.fusion.lexical(ord), cos: max(j.s.fusion.cos(ord), 0), top: share * j.top, agree: share * j.agree,
		blind: flag(!j.matched), short: flag(j.short && !j.matched), cjk: flag(j.s.ask.cjk), exact: flag(j.s.fusion.exact[ord]),
	}
	if !j.matched {
		f.mass, f.lex = 0, 0
	}
	f.unknown = j.unknown * (1 - f.mass)
	if j.s.timed() {
		f.date = flag(at(j.s.dates, ord) > 0)
		if j.s.ask.pure {
			f.pure, f.offDate = f.date, 1-f.date
		}
	}
	return f
}

// nothing reports whether nothing speaks for any unit: no word of the query
// stands in a unit that may be returned, the model knows none of its words, and
// no unit is of the asked time.
func (j *judge) nothing() bool { return !j.matched && !j.meant && !j.dated }

// anyDated reports whether some unit that may be returned is of the asked time.
func (s *search) anyDated() bool {
	for ord, d := range s.dates {
		if d > 0 && !s.masked(uint32(ord)) {
			return true
		}
	}
	return false
}

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// at returns the element of a list by ordinal, 0 beyond its end.
func at(list []float32, ord uint32) float64 {
	if int(ord) >= len(list) {
		return 0
	}
	return float64(list[ord])
}
