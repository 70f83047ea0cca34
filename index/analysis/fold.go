package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	zwj  = 0x200d // joins emoji
	vs16 = 0xfe0f // asks for an emoji's coloured form
)

// normalize removes characters that are not seen and applies NFKC. Text of
// ASCII, common Chinese and kana is returned as it is: NFKC changes only the
// full-width forms in it, and those [decode] folds.
func normalize(s string) string {
	i, compat := 0, false
	for i < len(s) {
		if c := s[i]; c < utf8.RuneSelf {
			if c < ' ' && !isBreak(c) || c == 0x7f {
				return clean(s)
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case isPlain(r):
		case isInvisible(r):
			return clean(s)
		default:
			compat = true
		}
		i += n
	}
	if compat && !norm.NFKC.IsNormalString(s) {
		return norm.NFKC.String(s)
	}
	return s
}

// isBreak reports whether c is a control character that parts words.
func isBreak(c byte) bool { return c >= '\t' && c <= '\r' }

// isPlain reports whether r is common and needs no NFKC.
func isPlain(r rune) bool {
	return r >= 0x4e00 && r <= 0x9fff || isWide(r) || r >= 0x3041 && r <= 0x3096 || r >= 0x30a1 && r <= 0x30fa ||
		r >= 0x3001 && r <= 0x3002 || r >= 0x3008 && r <= 0x3011 || r >= 0x2013 && r <= 0x2014 ||
		r >= 0x2018 && r <= 0x2019 || r >= 0x201c && r <= 0x201d
}

// isWide reports whether r is the full-width form of an ASCII character.
func isWide(r rune) bool { return r >= 0xff01 && r <= 0xff5e }

// isInvisible reports whether r shows nothing: format and control characters,
// fillers, variation selectors.
func isInvisible(r rune) bool {
	switch {
	case r < 0x80:
		return r < ' ' && !isBreak(byte(r)) || r == 0x7f
	case r == 0x85, r >= 0x0600 && r <= 0x0605: // next line, Arabic number signs: they part words
		return false
	case r < 0xa0, r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r >= 0x180b && r <= 0x180f,
		r == 0x3164, r >= 0xfe00 && r <= 0xfe0f, r == 0xffa0, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return unicode.Is(unicode.Cf, r)
}

// clean drops what is not seen, but for what holds an emoji together, and
// applies NFKC.
func clean(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	emoji := false // what stands before is an emoji
	for i, r := range s {
		switch {
		case r == zwj && emoji:
			if next, _ := utf8.DecodeRuneInString(s[i+3:]); isEmoji(next) {
				b.WriteRune(r)
			}
		case isTag(r) && emoji:
			b.WriteRune(r)
		case r == vs16 || isSkinTone(r):
			if isSkinTone(r) && !emoji {
				b.WriteRune(r)
				emoji = true
			}
		case isInvisible(r):
		default:
			b.WriteRune(r)
			emoji = isEmoji(r)
		}
	}
	return norm.NFKC.String(b.String())
}

// decode returns the first rune of s, full-width forms folded, and its length.
func decode(s string) (rune, int) {
	if c := s[0]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	r, n := utf8.DecodeRuneInString(s)
	if isWide(r) {
		r -= 0xfee0
	}
	return r, n
}

// appendFolded appends r in lower case without accents. Letters that differ by
// more than an accent stay apart: Cyrillic й is not и.
func appendFolded(dst []byte, r rune) []byte {
	if r < utf8.RuneSelf {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return append(dst, byte(r))
	}
	if isStrippedMark(r) {
		return dst
	}
	switch r = unicode.ToLower(r); r {
	case 'й', 'ї':
		return utf8.AppendRune(dst, r)
	case 'ß':
		return append(dst, "ss"...)
	case 'æ':
		return append(dst, "ae"...)
	case 'œ':
		return append(dst, "oe"...)
	case 'þ':
		return append(dst, "th"...)
	case 'ø':
		return append(dst, 'o')
	case 'ł':
		return append(dst, 'l')
	case 'đ', 'ð':
		return append(dst, 'd')
	case 'ı':
		return append(dst, 'i')
	case 'ħ':
		return append(dst, 'h')
	case 'ς':
		r = 'σ'
	case 0x0640: // Arabic lengthening stroke
		return dst
	case 'ى':
		r = 'ي'
	case 'ة':
		r = 'ه'
	}
	if hasAccents(r) {
		var b [utf8.UTFMax]byte
		n := utf8.EncodeRune(b[:], r)
		if d := norm.NFD.Properties(b[:n]).Decomposition(); len(d) > 0 {
			r, _ = utf8.DecodeRune(d)
		}
	}
	return utf8.AppendRune(dst, r)
}

// hasAccents reports whether r is of a script in which marks are accents:
// Latin, Greek, Cyrillic, Hebrew and Arabic. Elsewhere they are vowels.
func hasAccents(r rune) bool {
	return r >= 0xc0 && r <= 0x24f || r >= 0x370 && r <= 0x52f || r >= 0x5d0 && r <= 0x6ff || r >= 0x1e00 && r <= 0x1fff
}

// isStrippedMark reports whether r is a mark of such a script.
func isStrippedMark(r rune) bool {
	return r >= 0x300 && r <= 0x36f || r >= 0x591 && r <= 0x5c7 || r >= 0x64b && r <= 0x65f || r == 0x670 ||
		r >= 0x6d6 && r <= 0x6ed && unicode.Is(unicode.Mn, r) || r >= 0x20d0 && r <= 0x20ff
}
