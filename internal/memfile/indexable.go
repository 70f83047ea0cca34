package memfile

import (
	"strings"
	"unicode/utf8"
)

const (
	blobRun  = 200 // characters from which base64 counts as a blob
	blobLine = 60  // characters from which a whole line may belong to one
)

// Indexable returns text as the indexes should see it: embedded base64 blobs as
// one space each, and without characters that nobody sees, such as zero-width
// spaces, soft hyphens and bidirectional controls, which would hide a word from
// a search. Joiners stay where a script or an emoji needs them. It returns text
// itself when there is nothing to change.
func Indexable(text string) string {
	if len(text) < blobRun && ascii(text) {
		return text
	}
	return withoutInvisible(withoutBlobs(text))
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func withoutBlobs(text string) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(text); {
		if !base64Byte(text[i]) {
			i++
			continue
		}
		end, blob := blobEnd(text, i)
		if blob {
			b.WriteString(text[done:i])
			b.WriteByte(' ')
			done = end
		}
		i = end
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// blobEnd returns the end of the run of base64 that starts at i, and whether it
// is a blob. A run may be wrapped: it goes on with a line that holds nothing
// else when the line before is long enough.
func blobEnd(text string, i int) (end int, blob bool) {
	end = runEnd(text, i)
	total := end - i
	for last := total; last >= blobLine; {
		next := lineEnd(text, end)
		stop := runEnd(text, next)
		if next == end || stop == next || stop < len(text) && lineEnd(text, stop) == stop && text[stop] != '=' {
			break
		}
		last, end = stop-next, stop
		total += last
	}
	for pad := 0; pad < 2 && end < len(text) && text[end] == '='; pad++ {
		end++
	}
	return end, total >= blobRun
}

// runEnd returns the end of the base64 characters that stand at i.
func runEnd(text string, i int) int {
	for i < len(text) && base64Byte(text[i]) {
		i++
	}
	return i
}

// lineEnd returns the index behind the line end that stands at i, or i.
func lineEnd(text string, i int) int {
	switch {
	case strings.HasPrefix(text[i:], "\r\n"):
		return i + 2
	case i < len(text) && (text[i] == '\n' || text[i] == '\r'):
		return i + 1
	}
	return i
}

func base64Byte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/'
}

func withoutInvisible(text string) string {
	var b strings.Builder
	done := 0
	before := rune(0)
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			before = rune(text[i])
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if invisible(r) && !(joiner(r) && before >= 0x590) {
			b.WriteString(text[done:i])
			done = i + size
		} else {
			before = r
		}
		i += size
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// joiner reports whether r shapes its neighbours: the family emoji and several
// scripts, all of them from Hebrew on, are written with it.
func joiner(r rune) bool { return r == '\u200c' || r == '\u200d' }

func invisible(r rune) bool {
	switch {
	case r == '\u00ad', r == '\u061c', r == '\u180e', r == '\ufeff':
		return true
	case r >= '\u200b' && r <= '\u200f', r >= '\u202a' && r <= '\u202e':
		return true
	case r >= '\u2060' && r <= '\u2069':
		return true
	}
	return false
}
