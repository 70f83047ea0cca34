package recall

import (
	"math"

	"github.com/memsearch/memsearch/index/analysis"
)

// The floors of confidence.
const (
	// DefaultFloor is the default of [Options.Floor].
	DefaultFloor = 0.02

	// DefaultInjectFloor is the default of [Options.InjectFloor].
	DefaultInjectFloor = 0.03
)

// features are what the confidence in a hit rests on, each about 0 to 1.
type features struct {
	mass    float64 // share of the query's idf mass that the hit matches
	cos     float64 // cosine of the hit
	agree   float64 // overlap of the first places of bm25 and vector
	short   float64 // 1 for a query of one term that nothing matches lexically
	cjk     float64 // 1 for a query with Han or kana
	exact   float64 // 1 when the hit holds a whole identifier of the query
	date    float64 // 1 when the hit is of the asked time
	pure    float64 // 1 when the query also asks for nothing else
	offDate float64 // 1 when a time was asked for and the hit is of another
	unknown float64 // share of the query's idf mass that neither index nor model knows
}

// coefficients of the logistic model; the same fields as [features].
var coefficients = struct {
	bias float64
	features
}{
	bias: -4.5,
	features: features{
		mass:    4,
		cos:     9,
		agree:   .6,
		short:   -1.5,
		cjk:     .3,
		exact:   3,
		date:    2.5,
		pure:    4,
		offDate: -.5,
		unknown: -3,
	},
}

// confidence returns the probability that a hit with these features answers.
func (f features) confidence() float64 {
	c := coefficients
	z := c.bias + c.mass*f.mass + c.cos*f.cos + c.agree*f.agree + c.short*f.short + c.cjk*f.cjk +
		c.exact*f.exact + c.date*f.date + c.pure*f.pure + c.offDate*f.offDate + c.unknown*f.unknown
	return 1 / (1 + math.Exp(-z))
}

// agreeDepth is how many first places of two retrievers are compared.
const agreeDepth = 5

// judge holds what the features of every hit of a scope share.
type judge struct {
	s       *search
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
	if lex == nil {
		return j
	}
	j.words(v)
	byWords := s.firsts(agreeDepth, func(ord uint32) float64 { return at(lex.Score, ord) })
	j.matched = len(byWords) > 0
	if vec == nil || !j.matched {
		return j
	}
	byMeaning := s.firsts(agreeDepth, s.fusion.cos)
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

// words looks up which of the query's words anything is known of.
func (j *judge) words(v Vocabulary) {
	var all, unknown float64
	words, meant := 0., false
	for _, t := range j.s.fusion.lex.Terms {
		if t.Kind == analysis.KindStop {
			continue
		}
		switch t.Kind {
		case analysis.KindBigram: // its characters count
		case analysis.KindHan:
			words += .5 // most Chinese words have two characters
		default:
			words++
		}
		known := j.meant
		if v != nil && known {
			_, known = v.Lookup(t.Text)
		}
		meant = meant || known
		all += t.IDF
		if t.DF == 0 && len(t.Fuzzy) == 0 && !known {
			unknown += t.IDF
		}
	}
	j.short = words <= 1
	if words > 0 {
		j.meant = meant
	}
	if all > 0 {
		j.unknown = unknown / all
	}
}

// features returns what speaks for one unit.
func (j *judge) features(ord uint32) features {
	f := features{mass: j.s.fusion.mass(ord), cos: max(j.s.fusion.cos(ord), 0), agree: j.agree}
	f.unknown = j.unknown * (1 - f.mass)
	f.short = flag(j.short && f.mass == 0)
	f.cjk = flag(j.s.ask.cjk)
	f.exact = flag(j.s.fusion.exact[ord])
	if j.s.timed() {
		f.date = flag(at(j.s.dates, ord) > 0)
		f.pure = f.date * flag(j.s.ask.pure)
		f.offDate = 1 - f.date
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
