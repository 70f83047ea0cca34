package static

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/memsearch/memsearch/internal/porter"
)

// Tokeniser constants of format version 1.
const (
	gramLen  = 4  // runes in a hashed n-gram
	maxGrams = 12 // n-grams taken from one unknown word
)

// isCJK reports whether r is written without spaces: Han and kana.
func isCJK(r rune) bool {
	return r >= 0x3040 && (r <= 0x30ff || r >= 0x3400 && r <= 0x4dbf || r >= 0x4e00 && r <= 0x9fff || r >= 0xf900 && r <= 0xfaff)
}

// normalize applies NFKC. Text of ASCII, common Han, kana and punctuation is
// returned as it is: NFKC changes only the full-width forms in it, and those
// tokenize folds itself.
func normalize(s string) string {
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r >= 0x4e00 && r <= 0x9fff, isWide(r), r >= 0x3041 && r <= 0x3096, r >= 0x30a1 && r <= 0x30fa,
			r == 0x3001, r == 0x3002, r >= 0x3008 && r <= 0x3011, r == 0x2014, r == 0x2018, r == 0x2019, r == 0x201c, r == 0x201d:
			i += n
		default:
			return norm.NFKC.String(s)
		}
	}
	return s
}

// isWide reports whether r is the full-width form of an ASCII character.
func isWide(r rune) bool { return r >= 0xff01 && r <= 0xff5e }

// ascii maps a byte to its folded form when it belongs to a word, or to 0.
var ascii = func() (t [utf8.RuneSelf]byte) {
	for c := byte('0'); c <= '9'; c++ {
		t[c] = c
	}
	for c := byte('a'); c <= 'z'; c++ {
		t[c], t[c-'a'+'A'] = c, c
	}
	return t
}()

const (
	fnvOffset = 2166136261
	fnvPrime  = 16777619
)

func fnv(b []byte) uint32 {
	h := uint32(fnvOffset)
	for _, c := range b {
		h = (h ^ uint32(c)) * fnvPrime
	}
	return h
}

// tokenize appends the ids of the tokens of text to s.ids.
func (m *Model) tokenize(s *scratch, text string) {
	text = normalize(text)
	t := lexer{m: m, s: s, word: s.word[:0], run: s.run[:0], plain: true}
	for i := 0; i < len(text); {
		c := text[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(text[i:])
			i += n
			t.rune(r)
			continue
		}
		i++
		f := ascii[c]
		if f == 0 {
			t.flush()
			continue
		}
		if len(t.run) > 0 {
			t.endRun()
		}
		t.word = append(t.word, f)
	}
	t.flush()
	s.word, s.run = t.word[:0], t.run[:0]
}

// A lexer collects the word or the run of CJK characters that the text is in;
// at most one of the two is not empty.
type lexer struct {
	m         *Model
	s         *scratch
	word, run []byte
	plain     bool // word is ASCII
}

// rune takes one code point that is not ASCII.
func (t *lexer) rune(r rune) {
	if isWide(r) {
		r -= 0xfee0
	}
	switch r = t.m.fold(r); {
	case r == utf8.RuneError: // not a letter
		t.flush()
	case isCJK(r):
		if len(t.word) > 0 {
			t.endWord()
		}
		t.run = utf8.AppendRune(t.run, r)
	case unicode.IsLetter(r) || unicode.IsDigit(r):
		if len(t.run) > 0 {
			t.endRun()
		}
		t.plain = t.plain && r < utf8.RuneSelf
		t.word = utf8.AppendRune(t.word, r)
	case unicode.Is(unicode.M, r): // continues a word, and starts none
		if len(t.word) > 0 {
			t.plain = false
			t.word = utf8.AppendRune(t.word, r)
		}
	default:
		t.flush()
	}
}

func (t *lexer) flush() {
	if len(t.word) > 0 {
		t.endWord()
	}
	if len(t.run) > 0 {
		t.endRun()
	}
}

func (t *lexer) endWord() {
	t.word, t.plain = t.m.word(t.s, t.word, t.plain), true
}

func (t *lexer) endRun() {
	t.m.cjk(t.s, t.run)
	t.run = t.run[:0]
}

// fold maps a traditional character to its simplified form, anything else to
// lower case.
func (m *Model) fold(r rune) rune {
	if i := r - denseLo; i >= 0 && int(i) < len(m.dense) {
		if f := m.dense[i]; f != 0 {
			return rune(f)
		}
		return r // Han has no case
	}
	if len(m.sparse) > 0 {
		if f, ok := m.sparse[r]; ok {
			return f
		}
	}
	return unicode.ToLower(r)
}

// word appends the ids of one folded word and returns the emptied buffer.
func (m *Model) word(s *scratch, w []byte, plain bool) []byte {
	t := w
	if plain {
		t = porter.Stem(w)
	}
	h := fnv(t)
	if id := m.find(t, h); id >= 0 {
		s.ids = append(s.ids, id)
		return w[:0]
	}
	if m.buckets == 0 {
		return w[:0]
	}
	first, _ := utf8.DecodeRune(t)
	// Rune starts of "<" + t + ">", as far as the last n-gram needs them.
	b := append(append(append(s.pad[:0], '<'), t...), '>')
	s.pad = b
	var at [gramLen + maxGrams + 1]int
	n, i := 0, 0
	for i < len(b) && n < len(at)-1 {
		at[n] = i
		n++
		_, k := utf8.DecodeRune(b[i:])
		i += k
	}
	at[n] = i
	if n <= gramLen+1 && i == len(b) || unicode.IsDigit(first) {
		s.ids = append(s.ids, m.bucket(h))
		return w[:0]
	}
	for k := 0; k+gramLen <= n && k < maxGrams; k++ {
		s.ids = append(s.ids, m.bucket(fnv(b[at[k]:at[k+gramLen]])))
	}
	return w[:0]
}

func (m *Model) bucket(h uint32) int32 { return int32(m.tokens) + int32(h%uint32(m.buckets)) }

// cjk appends the ids of every character of a run, then those of the words that
// forward maximum matching finds in it.
func (m *Model) cjk(s *scratch, run []byte) {
	at := s.at[:0]
	for i := 0; i < len(run); {
		at = append(at, i)
		_, n := utf8.DecodeRune(run[i:])
		i += n
	}
	at = append(at, len(run))
	s.at = at
	n := len(at) - 1
	for i := range n {
		c := run[at[i]:at[i+1]]
		if id := m.find(c, fnv(c)); id >= 0 {
			s.ids = append(s.ids, id)
		}
	}
	for i := 0; i < n; {
		k := min(m.maxWord, n-i)
		for ; k >= 2; k-- {
			c := run[at[i]:at[i+k]]
			if id := m.find(c, fnv(c)); id >= 0 {
				s.ids = append(s.ids, id)
				break
			}
		}
		i += max(k, 1)
	}
}

// Tokens returns the tokens of text, repetitions included, hash buckets as "#0"
// to "#2047".
func (m *Model) Tokens(text string) []string {
	s := m.get()
	defer m.put(s)
	m.tokenize(s, text)
	out := make([]string, len(s.ids))
	for i, id := range s.ids {
		out[i] = m.Token(id)
	}
	return out
}

// Token returns the string of an id: the vocabulary entry, or "#" and the bucket
// number. It returns "" for an id outside the table.
func (m *Model) Token(id int32) string {
	switch {
	case id < 0 || int(id) >= m.tokens+m.buckets:
		return ""
	case int(id) >= m.tokens:
		return "#" + strconv.Itoa(int(id)-m.tokens)
	}
	return m.blob[m.offs[id]:m.offs[id+1]]
}

// Lookup returns the id of a vocabulary entry (a stem, a character or a word) or
// of a bucket name as [Model.Token] writes it.
func (m *Model) Lookup(token string) (id int32, ok bool) {
	if n, found := strings.CutPrefix(token, "#"); found {
		b, err := strconv.Atoi(n)
		if err != nil || b < 0 || b >= m.buckets || strconv.Itoa(b) != n {
			return 0, false
		}
		return int32(m.tokens + b), true
	}
	b := []byte(token)
	if id = m.find(b, fnv(b)); id < 0 {
		return 0, false
	}
	return id, true
}
