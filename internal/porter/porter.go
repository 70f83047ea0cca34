// Package porter is the stemmer of M. F. Porter, "An algorithm for suffix
// stripping", Program 14(3), 1980, in its original form.
package porter

// MaxLen is the longest word, in bytes, that is stemmed. It bounds the work that
// one word can cause; no dictionary word is near it.
const MaxLen = 64

func hasSuffix(w []byte, s string) bool {
	return len(w) >= len(s) && string(w[len(w)-len(s):]) == s
}

// isCons reports whether w[i] is a consonant in Porter's sense.
func isCons(w []byte, i int) bool {
	switch w[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return false
	case 'y':
		return i == 0 || !isCons(w, i-1)
	}
	return true
}

// measure counts the vowel-consonant sequences of w.
func measure(w []byte) int {
	n, i := 0, 0
	for i < len(w) && isCons(w, i) {
		i++
	}
	for i < len(w) {
		for i < len(w) && !isCons(w, i) {
			i++
		}
		if i >= len(w) {
			break
		}
		n++
		for i < len(w) && isCons(w, i) {
			i++
		}
	}
	return n
}

func hasVowel(w []byte) bool {
	for i := range w {
		if !isCons(w, i) {
			return true
		}
	}
	return false
}

func doubleCons(w []byte) bool {
	n := len(w)
	return n > 1 && w[n-1] == w[n-2] && isCons(w, n-1)
}

func cvc(w []byte) bool {
	n := len(w)
	return n > 2 && isCons(w, n-3) && !isCons(w, n-2) && isCons(w, n-1) && w[n-1] != 'w' && w[n-1] != 'x' && w[n-1] != 'y'
}

type suffix struct{ from, to string }

// The lists are searched in order; the first suffix that matches decides.
var (
	step2 = []suffix{{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"izer", "ize"}, {"abli", "able"}, {"alli", "al"}, {"entli", "ent"}, {"eli", "e"}, {"ousli", "ous"}, {"ization", "ize"}, {"ation", "ate"}, {"ator", "ate"}, {"alism", "al"}, {"iveness", "ive"}, {"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"}, {"iviti", "ive"}, {"biliti", "ble"}}
	step3 = []suffix{{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"}, {"ical", "ic"}, {"ful", ""}, {"ness", ""}}
	step4 = []suffix{{"ement", ""}, {"ance", ""}, {"ence", ""}, {"able", ""}, {"ible", ""}, {"ment", ""}, {"ant", ""}, {"ent", ""}, {"ion", ""}, {"ism", ""}, {"ate", ""}, {"iti", ""}, {"ous", ""}, {"ive", ""}, {"ize", ""}, {"al", ""}, {"er", ""}, {"ic", ""}, {"ou", ""}}
)

// Bit c-'a' is set when a suffix of the list ends in c; most words leave early.
var last2, last3, last4 = lastMask(step2), lastMask(step3), lastMask(step4)

func lastMask(l []suffix) (m uint32) {
	for _, s := range l {
		m |= 1 << (s.from[len(s.from)-1] - 'a')
	}
	return m
}

func endsIn(w []byte, m uint32) bool {
	c := w[len(w)-1] - 'a'
	return c < 26 && m>>c&1 == 1
}

// past takes -ed and -ing off, and mends the end that this leaves: step 1b.
func past(w []byte) []byte {
	switch {
	case hasSuffix(w, "eed"):
		if measure(w[:len(w)-3]) > 0 {
			w = w[:len(w)-1]
		}
		return w
	case hasSuffix(w, "ed") && hasVowel(w[:len(w)-2]):
		w = w[:len(w)-2]
	case hasSuffix(w, "ing") && hasVowel(w[:len(w)-3]):
		w = w[:len(w)-3]
	default:
		return w
	}
	if hasSuffix(w, "at") || hasSuffix(w, "bl") || hasSuffix(w, "iz") {
		return append(w, 'e')
	}
	if c := w[len(w)-1]; doubleCons(w) && c != 'l' && c != 's' && c != 'z' {
		return w[:len(w)-1]
	}
	if measure(w) == 1 && cvc(w) {
		return append(w, 'e')
	}
	return w
}

// Stem returns the stem of a lower-case ASCII word. It works inside w, which it
// may lengthen by one byte on the way: what stands behind w in its array may be
// overwritten. Words of one or two letters are their own stems.
func Stem(w []byte) []byte {
	if len(w) < 3 || len(w) > MaxLen {
		return w
	}
	if c := w[len(w)-1]; c == 's' {
		if hasSuffix(w, "sses") || hasSuffix(w, "ies") {
			w = w[:len(w)-2]
		} else if !hasSuffix(w, "ss") {
			w = w[:len(w)-1]
		}
	}
	w = past(w)
	if hasSuffix(w, "y") && hasVowel(w[:len(w)-1]) {
		w[len(w)-1] = 'i'
	}
	if len(w) > 0 && endsIn(w, last2) {
		w = replace(w, step2)
	}
	if len(w) > 0 && endsIn(w, last3) {
		w = replace(w, step3)
	}
	if len(w) > 0 && endsIn(w, last4) {
		for _, s := range step4 {
			if hasSuffix(w, s.from) {
				r := w[:len(w)-len(s.from)]
				if measure(r) > 1 && (s.from != "ion" || hasSuffix(r, "s") || hasSuffix(r, "t")) {
					w = r
				}
				break
			}
		}
	}
	if hasSuffix(w, "e") {
		r := w[:len(w)-1]
		if k := measure(r); k > 1 || k == 1 && !cvc(r) {
			w = r
		}
	}
	if n := len(w); n > 1 && w[n-1] == 'l' && w[n-2] == 'l' && measure(w) > 1 {
		w = w[:n-1]
	}
	return w
}

func replace(w []byte, l []suffix) []byte {
	for _, s := range l {
		if hasSuffix(w, s.from) {
			if r := w[:len(w)-len(s.from)]; measure(r) > 0 {
				return append(r, s.to...)
			}
			break
		}
	}
	return w
}
