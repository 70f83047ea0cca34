package analysis

import (
	"unicode"
	"unicode/utf8"

	"github.com/memsearch/memsearch/internal/porter"
)

// A token is one term on its way out. Its text is valid until emit returns.
type token struct {
	text     []byte
	kind     Kind
	weight   float32 // 0: 1
	optional bool    // an answer may well lack it: left out of the ideal when no document has it
	group    int     // tokens of one group name the same identifier, the fullest name first; 0: none
}

// A tokenizer walks over one text. Its buffers are reused between texts.
type tokenizer struct {
	emit      func(token)
	query     bool // identifiers are judged
	capsNames bool // so are words in capitals
	groups    int
	words     int // words seen that are no compounds
	compounds int

	buf    []byte // folded bytes of the word, run or compound at hand
	tmp    []byte
	at     []int // rune starts in buf
	pieces []piece
	rest   []int // where buf goes on behind an apostrophe
	subs   [][2]int

	spacedEnd int // where the number in groups at hand ends in the text
}

// run emits the terms of text.
func (t *tokenizer) run(text string) {
	text = normalize(Unescape(text))
	t.groups, t.words, t.compounds = 0, 0, 0
	t.spacedEnd = 0
	for i := 0; i < len(text); {
		if isLetter(text[i]) {
			if n := t.word(text[i:]); n > 0 {
				i += n
				continue
			}
		} else if c := text[i]; c < utf8.RuneSelf && !isDigit(c) && !isSigil(c) {
			i++
			continue
		}
		i += t.slow(text, i)
	}
}

// slow takes what begins at text[i] and is not a plain English word.
func (t *tokenizer) slow(text string, i int) int {
	r, n := decode(text[i:])
	switch {
	case isHan(r), isKana(r), isUnspaced(r), isHangul(r):
		return t.unspaced(text, i)
	case isEmoji(r):
		return t.emoji(text[i:])
	case isWordRune(r), r < utf8.RuneSelf && isSigil(byte(r)):
		if k := t.compound(text, i); k > 0 {
			return k
		}
	}
	return n
}

// word takes the plain English word that s begins with and returns its length,
// or 0 when it may be more than that.
func (t *tokenizer) word(s string) int {
	n, lower := 0, 0
	for n < len(s) && isLetter(s[n]) {
		if s[n] >= 'a' {
			lower++
		} else if lower > 0 {
			return 0 // camelCase
		}
		n++
	}
	if n > maxWord || lower > 0 && lower < n-1 {
		return 0
	}
	if n < len(s) {
		c := s[n]
		if c >= utf8.RuneSelf || isDigit(c) {
			return 0
		}
		if n+1 < len(s) && isConnector(c) {
			if d := s[n+1]; d >= utf8.RuneSelf || isLetter(d) || isDigit(d) || isConnector(d) && d != '.' {
				return 0
			}
		} else if c == '#' {
			return 0
		}
	}
	t.buf = append(t.buf[:0], s[:n]...)
	for i, c := range t.buf {
		t.buf[i] = c | 0x20
	}
	if t.capsNames && lower == 0 && n >= minCaps { // ENOENT
		t.groups++
		t.words++
		t.emit(token{text: porter.Stem(t.buf), group: t.groups})
		return n
	}
	t.plain(t.buf, 0)
	return n
}

// plain emits one folded word, stemmed. The word is overwritten.
func (t *tokenizer) plain(w []byte, weight float32) {
	t.words++
	k := KindWord
	if isStop(w) {
		k = KindStop
	}
	t.emit(token{text: t.stem(w), kind: k, weight: weight})
}

// maxWord is how many bytes of a word count; maxCompound those of an identifier.
const (
	maxWord     = 64
	maxCompound = 512
	hanWeight   = .5 // what one Chinese character counts beside its bigrams
	hanStop     = .1 // what a particle counts, and two of them together
	innerWeight = .5 // what a name inside a longer one counts, written as one word
	minCaps     = 5  // letters of a word in capitals that may be an error code
)

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isConnector reports whether c may stand between the parts of an identifier.
func isConnector(c byte) bool {
	switch c {
	case '-', '_', '.', '/', '\\', ':', '=', '@', '+', '&', '~', '\'', ',', '%', '?', '>':
		return true
	}
	return false
}

// isSigil reports whether c may stand before an identifier and belong to it.
func isSigil(c byte) bool {
	return c == '#' || c == '$' || c == '.' || c == '-' || c == '@' || c == '_'
}

// isWordRune reports whether r is part of a word of a script with spaces.
func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return isLetter(byte(r)) || isDigit(byte(r))
	}
	if isHan(r) || isKana(r) || isHangul(r) || isUnspaced(r) {
		return false
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// unspaced takes a run of a script without spaces, or of Korean: every Chinese
// character and every two neighbours are terms, and a whole Korean word is.
func (t *tokenizer) unspaced(text string, i int) int {
	t.words++
	t.dateNumber(text, i)
	t.buf, t.at = t.buf[:0], t.at[:0]
	s := text[i:]
	first, _ := decode(s)
	class := runClass(first)
	n := 0
	for n < len(s) {
		r, k := decode(s[n:])
		if runClass(r) != class {
			break
		}
		n += k
		if i := r - hanLo; i >= 0 && r <= hanHi {
			if f := simplified()[i]; f != 0 {
				r = f
			}
		}
		t.at = append(t.at, len(t.buf))
		t.buf = utf8.AppendRune(t.buf, r)
	}
	t.at = append(t.at, len(t.buf))
	runes := len(t.at) - 1
	if class == classHangul && runes > 2 && len(t.buf) <= maxWord {
		t.emit(token{text: t.buf, kind: KindWord, optional: true})
	}
	for i := range runes {
		from, to := t.at[i], t.at[i+1]
		if r, _ := utf8.DecodeRune(t.buf[from:to]); isHan(r) || runes == 1 {
			tok := token{text: t.buf[from:to], kind: KindHan}
			if isHanStop(r) {
				tok.weight = hanStop
			} else if runes > 1 {
				tok.weight = hanWeight
			}
			t.emit(tok)
		}
		if i+2 < len(t.at) {
			tok := token{text: t.buf[from:t.at[i+2]], kind: KindBigram, optional: true}
			if r, _ := utf8.DecodeRune(t.buf[from:to]); isHanStop(r) {
				if r, _ := utf8.DecodeRune(t.buf[to:t.at[i+2]]); isHanStop(r) {
					tok.weight = hanStop
				}
			}
			t.emit(tok)
		}
	}
	return n
}

// dateNumber emits the 3月 of 3月12日: a number with the character behind it at
// text[i], when that counts years, months, days or hours.
func (t *tokenizer) dateNumber(text string, i int) {
	r, _ := utf8.DecodeRuneInString(text[i:])
	switch r {
	case '年', '月', '日', '时', '点':
	case '号', '號':
		r = '日'
	case '時':
		r = '时'
	case '點':
		r = '点'
	default:
		return
	}
	from := i
	for from > 0 && i-from < 4 && isDigit(text[from-1]) {
		from--
	}
	for from < i && text[from] == '0' {
		from++
	}
	if from < i {
		t.buf = utf8.AppendRune(append(t.buf[:0], text[from:i]...), r)
		t.emit(token{text: t.buf, kind: KindBigram, optional: true})
	}
}

const (
	classNone = iota
	classHan
	classHangul
	classUnspaced
)

func runClass(r rune) int {
	switch {
	case isHan(r) || isKana(r):
		return classHan
	case isHangul(r):
		return classHangul
	case isUnspaced(r):
		return classUnspaced
	}
	return classNone
}
