package analysis

import (
	_ "embed"
	"sync"
)

// Pairs of a traditional and its simplified character, derived from CC-CEDICT
// (CC BY-SA 4.0, see NOTICE). No simplified character is the first of another pair.
//
//go:embed t2s.txt
var pairs string

const (
	hanLo = 0x3400 // the characters that have a simplified form lie in hanLo to hanHi
	hanHi = 0x9fff
)

// simplified maps r-hanLo to the simplified form, 0 when r is its own.
var simplified = sync.OnceValue(func() []rune {
	t := make([]rune, hanHi-hanLo+1)
	var from rune
	for _, r := range pairs {
		switch {
		case r == '\n':
		case from == 0:
			from = r
		default:
			t[from-hanLo], from = r, 0
		}
	}
	return t
})

// isHan reports whether r is a Chinese character.
func isHan(r rune) bool {
	return r >= 0x4e00 && r <= 0x9fff || r >= 0x3400 && r <= 0x4dbf || r == 0x3005 || r == 0x3007 ||
		r >= 0xf900 && r <= 0xfaff || r >= 0x20000 && r <= 0x3fffd
}

// isKana reports whether r is a Japanese syllable or its lengthening mark.
func isKana(r rune) bool {
	return r >= 0x3041 && r <= 0x3096 || r >= 0x309d && r <= 0x309f || r >= 0x30a1 && r <= 0x30fa || r >= 0x30fc && r <= 0x30ff || r >= 0x31f0 && r <= 0x31ff
}

// isHangul reports whether r is a Korean syllable.
func isHangul(r rune) bool { return r >= 0xac00 && r <= 0xd7a3 || r >= 0x1100 && r <= 0x11ff }

// isUnspaced reports whether r belongs to another script that is written
// without spaces: Thai, Lao, Tibetan, Myanmar, Khmer and their neighbours.
func isUnspaced(r rune) bool {
	return r >= 0x0e01 && r <= 0x0e4e && r != 0x0e3f || r >= 0x0e81 && r <= 0x0ecd || r >= 0x0f40 && r <= 0x0fbc ||
		r >= 0x1000 && r <= 0x103f || r >= 0x1050 && r <= 0x109d || r >= 0x1780 && r <= 0x17d3 ||
		r >= 0x1950 && r <= 0x19df || r >= 0x1a20 && r <= 0x1a7f || r >= 0xa9e0 && r <= 0xa9fe || r >= 0xaa60 && r <= 0xaa7f
}
