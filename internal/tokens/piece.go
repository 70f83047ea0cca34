package tokens

import (
	"unicode"
	"unicode/utf8"
)

// The classes of runes that the tokenizer's pattern tells apart. A rune with
// none of them is a mark of punctuation or a symbol.
const (
	upper   = 1 << iota // Lu Lt Lm Lo M: may begin a word
	lower               // Ll Lm Lo M: may end a word
	letter              // L
	number              // N
	space               // white space
	newline             // \r \n
)

var ascii = func() (t [utf8.RuneSelf]uint8) {
	for r := range rune(utf8.RuneSelf) {
		switch {
		case r >= 'a' && r <= 'z':
			t[r] = lower | letter
		case r >= 'A' && r <= 'Z':
			t[r] = upper | letter
		case r >= '0' && r <= '9':
			t[r] = number
		case r == '\n' || r == '\r':
			t[r] = space | newline
		case r == ' ' || r >= '\t' && r <= '\f':
			t[r] = space
		}
	}
	return t
}()

func class(s string) (c uint8, size int) {
	if s[0] < utf8.RuneSelf {
		return ascii[s[0]], 1
	}
	r, size := utf8.DecodeRuneInString(s)
	return classOf(r), size
}

func classOf(r rune) uint8 {
	switch {
	case r >= 0x4e00 && r <= 0x9fff:
		return upper | lower | letter
	case r == '，' || r == '。' || r == '、' || r == '：' || r == '？' || r == '！' || r >= 0x2010 && r <= 0x2027:
		return 0
	case unicode.Is(unicode.Ll, r):
		return lower | letter
	case unicode.In(r, unicode.Lu, unicode.Lt):
		return upper | letter
	case unicode.In(r, unicode.Lm, unicode.Lo):
		return upper | lower | letter
	case unicode.Is(unicode.M, r):
		return upper | lower
	case unicode.Is(unicode.N, r):
		return number
	case unicode.IsSpace(r):
		return space
	}
	return 0
}

// piece returns the length of the piece that the tokenizer cuts from the head of
// s. Its pattern has these alternatives, tried in this order:
//
//	[^\r\n\p{L}\p{N}]?[upper]*[lower]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[upper]+[lower]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
func piece(s string) int {
	c, size := class(s)
	if c&number != 0 {
		return numberPiece(s)
	}
	prefix := 0
	if c&(letter|newline) == 0 {
		prefix = size
	}
	if n := wordPiece(s, prefix); n > 0 {
		return n + contraction(s[n:])
	}
	if n := markPiece(s); n > 0 {
		return n
	}
	return spacePiece(s)
}

func numberPiece(s string) int {
	end := 0
	for range 3 {
		if end == len(s) {
			break
		}
		c, size := class(s[end:])
		if c&number == 0 {
			break
		}
		end += size
	}
	return end
}

// wordPiece tries the two word alternatives, each with and without the prefix.
func wordPiece(s string, prefix int) int {
	with, withAny := word(s, prefix)
	if with > 0 || prefix == 0 {
		return max(with, withAny)
	}
	// Only a combining mark is both a prefix and a part of a word.
	if c, _ := class(s); c&upper == 0 {
		return withAny
	}
	without, withoutAny := word(s, 0)
	switch {
	case without > 0:
		return without
	case withAny > 0:
		return withAny
	}
	return withoutAny
}

// word returns where the word that begins at i ends: first by the alternative
// that must end in a lower-case rune, then by the one that must begin with an
// upper-case one. Zero means no match.
func word(s string, i int) (ends, begins int) {
	start := i
	for i < len(s) {
		c, size := class(s[i:])
		if c&upper == 0 {
			if c&lower == 0 {
				break
			}
			for i < len(s) {
				if c, size = class(s[i:]); c&lower == 0 {
					break
				}
				i += size
			}
			return i, 0
		}
		i += size
		if c&lower != 0 {
			ends = i
		}
	}
	if i > start {
		begins = i
	}
	return ends, begins
}

// contraction returns the length of the English contraction at the head of s.
func contraction(s string) int {
	if len(s) < 2 || s[0] != '\'' {
		return 0
	}
	switch s[1] | 0x20 {
	case 's', 't', 'm', 'd':
		return 2
	case 'r', 'v':
		if len(s) > 2 && s[2]|0x20 == 'e' {
			return 3
		}
	case 'l':
		if len(s) > 2 && s[2]|0x20 == 'l' {
			return 3
		}
	}
	// The long s folds to s.
	if len(s) > 2 && s[1:3] == "ſ" {
		return 3
	}
	return 0
}

func markPiece(s string) int {
	end := 0
	if s[0] == ' ' {
		end = 1
	}
	start := end
	for end < len(s) {
		c, size := class(s[end:])
		if c&(space|letter|number) != 0 {
			break
		}
		end += size
	}
	if end == start {
		return 0
	}
	for end < len(s) && (s[end] == '\n' || s[end] == '\r' || s[end] == '/') {
		end++
	}
	return end
}

func spacePiece(s string) int {
	end, last, afterNewline := 0, 0, 0
	for end < len(s) {
		c, size := class(s[end:])
		if c&space == 0 {
			break
		}
		last = end
		if end += size; c&newline != 0 {
			afterNewline = end
		}
	}
	switch {
	case afterNewline > 0:
		return afterNewline
	case end == len(s) || last == 0:
		return end
	}
	return last
}
