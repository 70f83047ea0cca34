package rerank

import (
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memsearch/memsearch/internal/escape"
	"github.com/memsearch/memsearch/internal/porter"
	"github.com/memsearch/memsearch/internal/tokens"
)

const (
	// bytesPerToken bounds how much of a text may be shown. Texts with longer
	// tokens are all but empty.
	bytesPerToken = 16

	// searchedParts is how many times as much of a long text is searched for the
	// part to show.
	searchedParts = 4
)

// note makes the text of a memory safe to stand in a prompt.
func note(s string) string { return escape.Roles(escape.Text(s)) }

// snippet returns the beginning of s, escaped, that takes at most n tokens as a
// JSON string. An ellipsis stands for what was cut.
func snippet(s string, n int, safe func(string) string) string {
	s, whole := clip(s, n*bytesPerToken)
	return head(strings.TrimSpace(safe(s)), n, whole)
}

// excerpt is snippet for the part of a memory's text that says most about a
// query: the answer to a question often stands deep in a long note. In 160 tokens
// it shows the answers to 86 % of the questions of cmrc2018_zh, where the
// beginnings show those to 60 %.
func excerpt(s string, n int, about map[string]bool) string {
	s, whole := clip(s, n*bytesPerToken*searchedParts)
	s = strings.TrimSpace(note(s))
	first := head(s, n, whole)
	if whole && first == s {
		return s
	}
	if at := passage(s, len(first), about); at > 0 {
		return head("… "+s[at:], n, whole)
	}
	return first
}

// clip returns the beginning of s in at most n bytes, and whether it is all of s.
func clip(s string, n int) (string, bool) {
	if len(s) <= n {
		return s, true
	}
	n = max(n, 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n], false
}

// head returns the beginning of s that takes at most n tokens as a JSON string. If
// s is no whole text, or is cut, an ellipsis says so.
func head(s string, n int, whole bool) string {
	s, all := clip(s, n*bytesPerToken)
	if whole && all && tokens.Bound(quote(s)) <= n {
		return s
	}
	r := []rune(s)
	end := sort.Search(len(r), func(k int) bool { return tokens.Bound(quote(string(r[:k+1])+"…")) > n })
	if end == 0 {
		return ""
	}
	return strings.TrimSpace(string(r[:end])) + "…"
}

// passage returns where the sentence begins from which on width bytes of s hold
// the most words of the query. A word counts less the more sentences have it. Of
// neighbours that hold the same, the middle one leaves some text on either side.
func passage(s string, width int, about map[string]bool) int {
	starts := sentences(s)
	ends := append(slices.Clone(starts[1:]), len(s))
	found := make([][]string, len(starts))
	having := map[string]float64{}
	for i, at := range starts {
		for w := range terms(s[at:ends[i]]) {
			if about[w] {
				found[i] = append(found[i], w)
				having[w]++
			}
		}
		slices.Sort(found[i]) // so that sums come out the same
	}
	best, first, last := 0.0, 0, 0
	for i, from := range starts {
		sum, seen := 0.0, map[string]bool{}
		for j := i; j < len(starts) && (j == i || ends[j]-from <= width); j++ {
			for _, w := range found[j] {
				if !seen[w] {
					seen[w] = true
					sum += 1 / having[w]
				}
			}
		}
		switch {
		case sum > best:
			best, first, last = sum, i, i
		case sum == best && last == i-1 && first > 0:
			last = i
		}
	}
	return starts[(first+last)/2]
}

// sentences returns where the sentences and lines of s begin.
func sentences(s string) []int {
	starts := []int{0}
	ended := false
	for i, r := range s {
		switch {
		case strings.ContainsRune("。！？；\n", r):
			ended = true
			continue
		case ended && !unicode.IsSpace(r):
			starts = append(starts, i)
		case unicode.IsSpace(r) && i > 0 && strings.IndexByte(".!?", s[i-1]) >= 0:
			ended = true
			continue
		case ended:
			continue
		}
		ended = false
	}
	return starts
}

// terms returns the words of s: stems of those that are spelt with letters, pairs
// of neighbours where a script has no spaces.
func terms(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
		r := []rune(w)
		switch {
		case r[0] < utf8.RuneSelf:
			out[string(porter.Stem([]byte(w)))] = true
		case len(r) == 1 || !unicode.In(r[0], unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			out[w] = true
		default:
			for i := range len(r) - 1 {
				out[string(r[i:i+2])] = true
			}
		}
	}
	return out
}
