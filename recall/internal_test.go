package recall

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
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
