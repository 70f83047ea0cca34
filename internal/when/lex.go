package when

import (
	"unicode"
	"unicode/utf8"
)

type kind uint8

const (
	kindBreak  kind = iota // a blank line, or an end of the text
	kindNumber             // digits, ASCII or full-width
	kindWord               // letters of an alphabet
	kindHan                // one Chinese character
	kindMark               // any other rune but white space
)

// A token is kept small: hostile text has one for each byte.
type token struct {
	start, end uint32
	val        int32 // of a number, capped at maxNumber; else the rune
	kw         kw    // of a known word
	kind       kind
	digits     uint8 // of a number, capped; for a word, 1 when it begins with a capital
}

const maxNumber = 1_000_000_000

// lex splits text into tokens, with a break before the first and padding breaks
// after the last, so that neighbours can be looked at without a bounds check.
func lex(text string) []token {
	toks := make([]token, 1, len(text)/4+8)
	newlines := 0
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r <= ' ' || r >= utf8.RuneSelf && unicode.IsSpace(r) {
			if r == '\n' {
				if newlines++; newlines == 2 {
					toks = append(toks, token{start: uint32(i), end: uint32(i)})
				}
			}
			i += n
			continue
		}
		newlines = 0
		t := token{start: uint32(i), kind: kindMark, val: r}
		switch {
		case digit(r) >= 0:
			i = lexNumber(text, i, &t)
		case '一' <= r && r <= '鿿' || r >= utf8.RuneSelf && unicode.Is(unicode.Han, r) || r == '○':
			t.kind, t.val = kindHan, simplify(r)
			i += n
		case alphabetic(r):
			i = lexWord(text, i, &t)
		default:
			i += n
		}
		t.end = uint32(i)
		toks = append(toks, t)
	}
	for range padding {
		toks = append(toks, token{start: uint32(len(text)), end: uint32(len(text))})
	}
	return toks
}

// padding is more than the tokens a rule looks ahead without checking their kind.
const padding = 8

func digit(r rune) int {
	switch {
	case r >= '0' && r <= '9':
		return int(r - '0')
	case r >= '０' && r <= '９':
		return int(r - '０')
	}
	return -1
}

func lexNumber(text string, i int, t *token) int {
	t.kind, t.val = kindNumber, 0
	for i < len(text) {
		r, n := utf8.DecodeRuneInString(text[i:])
		d := digit(r)
		if d < 0 {
			break
		}
		t.val = min(t.val*10+int32(d), maxNumber/10)
		if t.digits < 255 {
			t.digits++
		}
		i += n
	}
	return i
}

func alphabetic(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r|0x20 && r|0x20 <= 'z'
	}
	return (unicode.IsLetter(r) || unicode.IsMark(r)) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

func lexWord(text string, i int, t *token) int {
	t.kind = kindWord
	if c := text[i]; 'A' <= c && c <= 'Z' {
		t.digits = 1
	}
	var lower [longestWord]byte
	n, known := 0, true
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !alphabetic(r) {
			break
		}
		if known = known && r < utf8.RuneSelf && n < len(lower); known {
			lower[n] = byte(r | 0x20)
			n++
		}
		i += size
	}
	if known {
		t.kw = words[string(lower[:n])]
	}
	return i
}

// simplify folds the traditional characters that dates are written with.
func simplify(r rune) rune {
	switch r {
	case '週':
		return '周'
	case '這':
		return '这'
	case '個':
		return '个'
	case '兩':
		return '两'
	case '號':
		return '号'
	case '後':
		return '后'
	case '禮':
		return '礼'
	case '過':
		return '过'
	case '間':
		return '间'
	case '從':
		return '从'
	case '與':
		return '与'
	case '來':
		return '来'
	case '內':
		return '内'
	case '幾':
		return '几'
	case '開':
		return '开'
	case '農':
		return '农'
	case '曆', '歷':
		return '历'
	case '時':
		return '时'
	case '陰':
		return '阴'
	case '舊':
		return '旧'
	case '○', '零':
		return '〇'
	}
	return r
}
