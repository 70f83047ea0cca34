package recall

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/memsearch/memsearch/index"
	"github.com/memsearch/memsearch/index/analysis"
	"github.com/memsearch/memsearch/index/lexical"
)

// TestTop compares the partial selection and the ranks with a full sort.
func TestTop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores := rapid.SliceOfN(rapid.Map(rapid.IntRange(-2, 6), func(i int) float64 { return float64(i) / 4 }), 0, 60).Draw(t, "scores")
		var all []scored
		for i, s := range scores {
			if s > 0 {
				all = append(all, scored{uint32(i), s})
			}
		}
		slices.SortFunc(all, better)
		n := rapid.IntRange(0, 20).Draw(t, "n")
		keep := newTop(n, nil)
		for i, s := range scores {
			keep.offer(uint32(i), s)
		}
		if got := keep.sorted(); !slices.Equal(got, all[:min(n, len(all))]) {
			t.Fatalf("got %v, want the first %d of %v", got, n, all)
		}
		if len(all) == 0 {
			return
		}
		picked := slices.DeleteFunc(slices.Clone(all), func(s scored) bool { return s.ord%3 == 0 && s != all[0] })
		for i, r := range rankAmong(len(scores), picked, func(ord uint32) float64 { return scores[ord] }) {
			if want := 1 + slices.Index(all, picked[i]); r != want {
				t.Fatalf("rank of %v is %d, want %d", picked[i], r, want)
			}
		}
	})
}

func TestOnlyAsks(t *testing.T) {
	for rest, want := range map[string]bool{
		"what did we chat about on  ?":            true,
		"What did we discuss  ?":                  true,
		"what's in my notes from  ":               true,
		"  做了什么":                                  true,
		"我们 聊了些什么？":                               true,
		"3月5号那天我都做了什么":                            false, // digits and 月 are left when no date was found
		"What type of group did Caroline join in": false,
		"开会 说了什么":                                 false,
		"what did Maria say about yoga on":        false,
		"":                                        true,
	} {
		if got := onlyAsks(rest); got != want {
			t.Errorf("onlyAsks(%q) = %v", rest, got)
		}
	}
}

func TestSentenceEnds(t *testing.T) {
	text := "One v1.2 here. Two!\nThree；四。 "
	var got []string
	for _, end := range sentenceEnds(text) {
		got = append(got, text[:end])
	}
	want := []string{"One v1.2 here.", "One v1.2 here. Two!", "One v1.2 here. Two!\nThree；", "One v1.2 here. Two!\nThree；四。"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// TestVectorWeight works w out by hand.
func TestVectorWeight(t *testing.T) {
	for _, tt := range []struct {
		cjk   bool
		words float64
		want  float64
	}{
		{false, 0, .6},
		{false, 10, .6},
		{false, 20, .15}, // .6 * (10/20)^2
		{true, 5, .4},
		{true, 25, .064},     // .4 * (10/25)^2
		{false, 500, .00024}, // .6 * (10/500)^2
		{false, 12.5, .384},  // .6 * (10/12.5)^2
		{true, 1e6, 4e-11},   // never 0: a vector still breaks ties
	} {
		if got := vectorWeight(tt.cjk, tt.words); math.Abs(got-tt.want) > 1e-5*max(tt.want, .1) {
			t.Errorf("vectorWeight(%v, %v) = %v, want %v", tt.cjk, tt.words, got, tt.want)
		}
	}
}

// TestFuse works scores out by hand: base = bm25/ideal + w*cos.
func TestFuse(t *testing.T) {
	f := fusion{
		lex:   &lexical.Result{Score: []float32{2, 0, 1, 4, 0, 0}, Ideal: 8},
		vec:   &index.VectorResult{Cos: []float32{.5, .25, -.5, .125, 0, -.5}},
		date:  []float32{1, 0, .8, 0, 1, 1},
		exact: map[uint32]bool{3: true},
		w:     .5,
	}
	got := make([]float64, 6)
	f.fuse(got)
	want := []float64{
		.751,           // base .25 + .25; half of it and .001 for the day
		.125,           // cosine alone
		0,              // base .125 - .25 is below 0, and a month's .0008 does not help
		.5 + .0625 + 4, // an identifier
		.001,           // nothing but the day
		0,              // the day does not outweigh a cosine below 0
	}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-6 {
			t.Errorf("unit %d: score %v, want %v", i, got[i], want[i])
		}
		p := f.parts(uint32(i))
		if s := p.lexical + p.vector + p.date + p.exact; math.Abs(max(s, 0)-got[i]) > 1e-6 {
			t.Errorf("unit %d: parts add up to %v, score %v", i, s, got[i])
		}
	}
	f.pure = true
	f.fuse(got)
	for i, want := range []float64{2.5, .125, 1.475, 4.5625, 2, 1.75} {
		if math.Abs(got[i]-want) > 1e-6 {
			t.Errorf("pure, unit %d: score %v, want %v", i, got[i], want)
		}
	}
}

func TestCountWords(t *testing.T) {
	terms := []lexical.TermStat{
		{Text: "kite", Kind: analysis.KindWord}, {Text: "what", Kind: analysis.KindStop}, {Text: "dec0054", Kind: analysis.KindWhole},
		{Text: "风", Kind: analysis.KindHan}, {Text: "筝", Kind: analysis.KindHan}, {Text: "风筝", Kind: analysis.KindBigram},
	}
	if got := countWords(terms); got != 3 {
		t.Errorf("got %v words, want kite, dec0054 and 风筝", got)
	}
}

// TestConfidence works the logistic models out by hand.
func TestConfidence(t *testing.T) {
	for _, tt := range []struct {
		name string
		c    *coefficients
		f    features
		z    float64
	}{
		{"nothing", &modelPlain, features{}, -7.1},
		{"all words, near in meaning", &modelPlain, features{mass: 1, top: .5, agree: .6}, -7.1 + 5.8 + 8.25 + .72},
		{"a synonym", &modelPlain, features{top: .25, blind: 1, short: 1}, -7.1 + 4.125 + 3.3 - 2.6},
		{"Chinese", &modelCJK, features{mass: .5, top: .4, agree: .2}, -4.9 + 1 + 5.08 + .62},
		{"words alone", &modelLexical, features{mass: .5, lex: .25, cjk: 1}, -4.8 + 2.05 + 2.9 + .8},
		{"a day alone", &modelLexical, features{date: 1, pure: 1}, -4.8 + 1.8 + 5.5},
	} {
		if got, want := tt.c.confidence(tt.f), 1/(1+math.Exp(-tt.z)); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", tt.name, got, want)
		}
	}
	for _, c := range []*coefficients{&modelPlain, &modelCJK} {
		near, far := c.confidence(features{top: .25, blind: 1, short: 1}), c.confidence(features{top: .1, blind: 1, short: 1})
		if near < DefaultFloor || far >= DefaultFloor {
			t.Errorf("a single unmatched word: %v at cosine .25, %v at .1; the floor must lie between", near, far)
		}
	}
}
