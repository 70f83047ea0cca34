package porter_test

import (
	"testing"

	"github.com/memsearch/memsearch/internal/porter"
)

// The examples of Porter's article, rule by rule, carried through all steps.
func TestStem(t *testing.T) {
	for word, want := range map[string]string{
		"caresses": "caress", "ponies": "poni", "ties": "ti", "caress": "caress", "cats": "cat",
		"feed": "feed", "agreed": "agre", "plastered": "plaster", "bled": "bled", "motoring": "motor", "sing": "sing",
		"conflated": "conflat", "troubled": "troubl", "sized": "size", "hopping": "hop", "tanned": "tan",
		"falling": "fall", "hissing": "hiss", "fizzed": "fizz", "failing": "fail", "filing": "file",
		"happy": "happi", "sky": "sky",
		"relational": "relat", "conditional": "condit", "rational": "ration", "digitizer": "digit",
		"vietnamization": "vietnam", "hopefulness": "hope", "sensibiliti": "sensibl",
		"triplicate": "triplic", "formative": "form", "electrical": "electr", "goodness": "good",
		"revival": "reviv", "allowance": "allow", "replacement": "replac", "adoption": "adopt", "bowdlerize": "bowdler",
		"probate": "probat", "rate": "rate", "cease": "ceas", "controll": "control", "roll": "roll",
		"generalizations": "gener", "oscillators": "oscil",
		"": "", "a": "a", "is": "is", "ed": "ed", "ing": "ing", "s": "s",
	} {
		if got := string(porter.Stem([]byte(word))); got != want {
			t.Errorf("Stem(%q) = %q, want %q", word, got, want)
		}
	}
}

func FuzzStem(f *testing.F) {
	f.Add("hopping")
	f.Fuzz(func(t *testing.T, word string) {
		if got := porter.Stem([]byte(word)); len(got) > len(word)+1 {
			t.Errorf("Stem(%q) = %q is longer than the word", word, got)
		}
	})
}
