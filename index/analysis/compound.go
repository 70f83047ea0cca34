package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A piece is a part of a compound: letters or digits between two separators,
// changes of case, or changes from letters to digits.
type piece struct {
	from, to int  // in the tokenizer's buf
	sep      byte // what stands before it; 0: nothing
	digits   bool
	caps     bool // all capitals
}

// Separators of more than one character.
const (
	sepScope = 'S' // ::
	sepArrow = '>' // ->
)

// compound takes the word or identifier at text[i] and returns its length, 0
// when there is none.
func (t *tokenizer) compound(text string, i int) int {
	t.buf, t.pieces, t.rest = t.buf[:0], t.pieces[:0], t.rest[:0]
	start, sigil := i, ""
	if isSigil(text[i]) {
		j := i + 1
		if text[i] == '-' && j < len(text) && text[j] == '-' {
			j++
		}
		if j >= len(text) {
			return 0
		}
		if r, _ := decode(text[j:]); !isWordRune(r) {
			return 0
		}
		sigil = text[i:j]
		if sigil == "-" || sigil == "_" || i > 0 && text[i-1] == text[i] || isDigit(text[j]) && sigil != "#" && sigil != "@" {
			sigil = ""
		}
		i = j
	}
	var sep byte
	url := false
	for {
		i += t.pieceRun(text[i:], sep)
		if len(t.buf) > maxCompound || len(t.pieces) > maxPieces {
			break
		}
		n, s := connector(text[i:], url)
		if n == 0 {
			break
		}
		url = url || n == 3
		i, sep = i+n, s
	}
	if len(t.pieces) == 0 {
		return max(i-start, 1)
	}
	suffix := t.suffix(text[i:])
	if len(t.pieces) == 1 && t.pieces[0].digits && sigil == "" {
		if start >= t.spacedEnd {
			t.spacedNumber(text, start)
		}
		if start < t.spacedEnd {
			t.numberGroup()
			return i - start
		}
	}
	t.identifier(sigil, suffix)
	return i + len(suffix) - start
}

const maxPieces = 64

// suffix returns the ++ of C++ or the # of C#.
func (t *tokenizer) suffix(s string) string {
	last := t.pieces[len(t.pieces)-1]
	if last.digits {
		return ""
	}
	switch {
	case strings.HasPrefix(s, "++"):
		return s[:2]
	case last.to-last.from <= 2 && strings.HasPrefix(s, "#"):
		return s[:1]
	}
	return ""
}

// connector returns the length of the separator that s begins with and its kind,
// 0 when no identifier goes on behind it.
func connector(s string, url bool) (int, byte) {
	n, sep := 1, byte(0)
	switch {
	case s == "":
		return 0, 0
	case strings.HasPrefix(s, "://"):
		n, sep = 3, '/'
	case strings.HasPrefix(s, ":\\"):
		n, sep = 2, '\\'
	case strings.HasPrefix(s, "::"):
		n, sep = 2, sepScope
	case strings.HasPrefix(s, "->"):
		n, sep = 2, sepArrow
	case strings.HasPrefix(s, "=="):
		n, sep = 2, '='
	case strings.HasPrefix(s, "\u2010"):
		n, sep = len("\u2010"), '-'
	default:
		switch c := s[0]; c {
		case '-', '.', ':', '=', '@', '+', '&', '#':
			sep = c
		case '_':
			for n < len(s) && s[n] == '_' {
				n++
			}
			sep = c
		case '?', '%', '~':
			if !url {
				return 0, 0
			}
			sep = c
		case '/', '\\':
			sep = c
			if n < len(s) && strings.IndexByte("._@~-", s[n]) >= 0 {
				n++
			}
		case 0xef: // full-width forms
			r, k := decode(s)
			if r != '-' && r != '_' && r != '.' && r != '/' && r != '@' {
				return 0, 0
			}
			n, sep = k, byte(r)
		default:
			return 0, 0
		}
	}
	if n >= len(s) {
		return 0, 0
	}
	if r, _ := decode(s[n:]); !isWordRune(r) || unicode.IsMark(r) {
		return 0, 0
	}
	return n, sep
}

const (
	caseNone = iota
	caseLower
	caseUpper
	caseDigit
)

// pieceRun takes the run of letters and digits that s begins with, adds its
// pieces and returns its length. Apostrophes join, and what English clips on
// behind one is left out.
func (t *tokenizer) pieceRun(s string, sep byte) int {
	n, prev, runs := 0, caseNone, 0 // runs: how many of prev stand in a row
	p := piece{from: len(t.buf), sep: sep, caps: true}
	last := p.from // where the last rune begins in buf
	flush := func(to int) {
		if p.to = to; p.to > p.from {
			t.pieces = append(t.pieces, p)
		}
		p = piece{from: to, caps: true}
	}
	for n < len(s) && len(t.buf) <= maxCompound {
		r, k := decode(s[n:])
		if isApostrophe(r) && n > 0 && prev != caseDigit {
			skip, ends := apostrophe(s[n+k:])
			if ends && skip == 0 {
				break
			}
			n += k + skip
			if ends {
				break
			}
			t.rest = append(t.rest, len(t.buf))
			prev, runs = caseNone, 0
			continue
		}
		if r == ',' && prev == caseDigit && isThousands(s[n+k:]) {
			n += k
			continue
		}
		if !isWordRune(r) {
			break
		}
		c := caseOf(r, prev)
		switch {
		case prev == caseNone || c == prev:
		case c == caseDigit || prev == caseDigit, prev == caseLower && c == caseUpper:
			flush(len(t.buf))
		case prev == caseUpper && c == caseLower && runs > 1 && !isPlural(s[n:]):
			flush(last)
		}
		if c == prev {
			runs++
		} else {
			prev, runs = c, 1
		}
		last = len(t.buf)
		t.buf = appendFolded(t.buf, r)
		p.digits, p.caps = c == caseDigit, p.caps && c == caseUpper
		n += k
	}
	flush(len(t.buf))
	return n
}

func caseOf(r rune, prev int) int {
	switch {
	case unicode.IsDigit(r):
		return caseDigit
	case unicode.IsMark(r) && prev != caseNone:
		return prev
	case unicode.IsUpper(r):
		return caseUpper
	}
	return caseLower
}

func isApostrophe(r rune) bool { return r == '\'' || r == 0x2019 || r == 0x02bc }

// apostrophe looks at what follows an apostrophe inside a word. If the word ends,
// skip is the length of what English has clipped on: the s of a possessive, a
// verb. Otherwise the word goes on.
func apostrophe(s string) (skip int, ends bool) {
	for skip < len(s) && isLetter(s[skip]) && skip < 3 {
		skip++
	}
	end := skip == len(s)
	if !end {
		r, _ := decode(s[skip:])
		end = !isWordRune(r)
	}
	if skip == 0 {
		return 0, end // a bare apostrophe ends the word too
	}
	if end {
		switch strings.ToLower(s[:skip]) {
		case "s", "ll", "re", "ve", "d", "m":
			return skip, true
		}
	}
	return 0, false
}

// isThousands reports whether s begins with three digits and no more.
func isThousands(s string) bool {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n == 3
}

// isPlural reports whether s is the s of IDs or URLs.
func isPlural(s string) bool {
	if s[0] != 's' {
		return false
	}
	if len(s) == 1 {
		return true
	}
	r, _ := utf8.DecodeRuneInString(s[1:])
	return !isWordRune(r)
}
