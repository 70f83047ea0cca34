package static

// maxStem is the longest word, in bytes, that is stemmed. It bounds the work
// that one word can cause; no vocabulary entry is near it.
const maxStem = 64

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

// stem is Porter's 1980 stemmer for a lower-case ASCII word. It works inside w
// and may write one byte past its end, so w needs spare capacity.
func stem(w []byte) []byte {
	if len(w) < 3 || len(w) > maxStem {
		return w
	}
	w = inflection(w)
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

// inflection is step 1: plurals, -ed, -ing and a final y.
func inflection(w []byte) []byte {
	if c := w[len(w)-1]; c == 's' {
		if hasSuffix(w, "sses") || hasSuffix(w, "ies") {
			w = w[:len(w)-2]
		} else if !hasSuffix(w, "ss") {
			w = w[:len(w)-1]
		}
	}
	cut := false
	if hasSuffix(w, "eed") {
		if measure(w[:len(w)-3]) > 0 {
			w = w[:len(w)-1]
		}
	} else if hasSuffix(w, "ed") && hasVowel(w[:len(w)-2]) {
		w, cut = w[:len(w)-2], true
	} else if hasSuffix(w, "ing") && hasVowel(w[:len(w)-3]) {
		w, cut = w[:len(w)-3], true
	}
	if cut {
		if hasSuffix(w, "at") || hasSuffix(w, "bl") || hasSuffix(w, "iz") {
			w = append(w, 'e')
		} else if c := w[len(w)-1]; doubleCons(w) && c != 'l' && c != 's' && c != 'z' {
			w = w[:len(w)-1]
		} else if measure(w) == 1 && cvc(w) {
			w = append(w, 'e')
		}
	}
	if hasSuffix(w, "y") && hasVowel(w[:len(w)-1]) {
		w[len(w)-1] = 'i'
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
