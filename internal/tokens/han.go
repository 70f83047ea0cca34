package tokens

import (
	"bytes"
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// hanData knows all tokens of Chinese characters, whatever their rank. See
// gen/main.go.
//
//go:embed han.bin
var hanData []byte

// A hanVocab bounds the tokens of Chinese text by what the end of all merging
// looks like: no two neighbours are left whose concatenation is a token.
type hanVocab struct {
	set
	// lengths has bit n set when a token of n characters ends in the character,
	// bit 1 when it is a token itself.
	lengths [hanIndexes]uint32
	// cut holds, by their first whole character, the tokens that begin or end
	// inside one.
	cut map[rune][]cutToken
}

// A cutToken begins or ends inside a character. Its first whole one stands at
// byte offset.
type cutToken struct {
	text   string
	offset int
}

const (
	hanIndexes = 0x52a0
	hanBytes   = 3  // of each character in UTF-8
	hanLongest = 16 // characters in a token
)

func hanIndex(r rune) int {
	switch {
	case r >= 0x4e00 && r <= 0x9fff:
		return int(r - 0x4e00)
	case r >= 0x3001 && r <= 0x303f:
		return int(r-0x3000) + 0x5200
	case r >= 0xff01 && r <= 0xff3f:
		return int(r-0xff00) + 0x5240
	case r >= 0x2010 && r <= 0x2027:
		return int(r-0x2010) + 0x5280
	}
	return -1
}

var hanVocabulary = sync.OnceValue(func() *hanVocab {
	v := &hanVocab{set: newSet(13), cut: make(map[rune][]cutToken)}
	for i := range v.lengths {
		if hanData[i/8]&(1<<(i%8)) != 0 {
			v.lengths[i] = 1 << 1
		}
	}
	many, cut, _ := bytes.Cut(hanData[hanIndexes/8:], []byte("\n\n"))
	v.text, v.spans = many, make([]uint32, 0, 4096)
	for start := 0; start < len(many); {
		end := bytes.IndexByte(many[start:], '\n')
		if end < 0 {
			end = len(many) - start
		}
		token := many[start : start+end]
		v.insert(start, start+end)
		last, _ := utf8.DecodeLastRune(token)
		v.lengths[hanIndex(last)] |= 1 << (len(token) / hanBytes)
		start += end + 1
	}
	for token := range strings.SplitSeq(string(cut), "\n") {
		for i, r := range token {
			if hanIndex(r) >= 0 {
				v.cut[r] = append(v.cut[r], cutToken{token, i})
				break
			}
		}
	}
	return v
})

// A hanRow holds, for the text up to a character, the most tokens it can be left
// in, by the length of the last of them in characters; 0 for one that no token
// continues. Negative: impossible.
type hanRow [hanLongest + 1]int32

const impossible = -1 << 20

// bound returns the most tokens that piece can end as, or 0 when it is not
// Chinese alone, after at most one ASCII character.
func (v *hanVocab) bound(piece string, m *merger) int {
	head := 0
	if piece[0] < utf8.RuneSelf {
		head = 1
	}
	text := piece[head:]
	if len(text) == 0 || !v.read(text, m) {
		return 0
	}
	m.rows = m.rows[:0]
	for i := range len(m.chars) + 1 {
		row := noRow
		switch {
		case i == 0:
			row[0] = int32(head)
		case m.loose[i-1] > 0:
			// A token of the characters before may end in this one.
			for _, before := range m.rows[max(0, i-1-hanLongest):] {
				row[0] = max(row[0], before.most()+int32(m.loose[i-1]))
			}
		default:
			v.extend(&row, text, i, m)
		}
		if i > 0 && head == 1 {
			// The ASCII character may have taken the characters before.
			row[0] = max(row[0], 1)
		}
		if i == 1 && piece[0] == ' ' {
			// A token may end inside the character after a space.
			row[0] = max(row[0], hanBytes)
		}
		m.rows = append(m.rows, row)
	}
	return int(m.rows[len(m.chars)].most())
}

var noRow = func() (row hanRow) {
	for n := range row {
		row[n] = impossible
	}
	return row
}()

func (row *hanRow) most() int32 { return slices.Max(row[:]) }

// read looks the characters of text up. It reports whether all are known.
func (v *hanVocab) read(text string, m *merger) bool {
	m.chars, m.loose = m.chars[:0], m.loose[:0]
	if len(text)%hanBytes != 0 {
		return false
	}
	for i := 0; i < len(text); i += hanBytes {
		r, n := utf8.DecodeRuneInString(text[i:])
		index := hanIndex(r)
		if n != hanBytes || index < 0 {
			return false
		}
		m.chars = append(m.chars, v.lengths[index])
		m.loose = append(m.loose, 0)
	}
	for i := 0; i < len(text); i += hanBytes {
		r, _ := utf8.DecodeRuneInString(text[i:])
		for _, cut := range v.cut[r] {
			if start := i - cut.offset; start >= 0 && strings.HasPrefix(text[start:], cut.text) {
				m.loosen(start, start+len(cut.text))
			}
		}
	}
	return true
}

// loosen marks the characters that a cut token may lie across, with the tokens
// that may be left of each: the cut token is counted with a whole one, and of a
// partial one at most two bytes remain.
func (m *merger) loosen(start, end int) {
	for c := start / hanBytes; c*hanBytes < end; c++ {
		left := uint8(1)
		if c*hanBytes < start || (c+1)*hanBytes > end {
			left = hanBytes - 1
		}
		if m.chars[c]&(1<<1) == 0 {
			left = hanBytes
		}
		m.loose[c] = max(m.loose[c], left)
	}
}

// extend fills the row of the text up to character i.
func (v *hanVocab) extend(row *hanRow, text string, i int, m *merger) {
	// The last of the loose characters may have taken the ones after it.
	for k := 1; k <= hanLongest && k < i; k++ {
		if m.loose[i-1-k] > 0 {
			row[0] = max(row[0], m.rows[i-k][0])
			break
		}
	}
	lengths := m.chars[i-1]
	if lengths&(1<<1) == 0 {
		row[0] = max(row[0], m.rows[i-1].most()+hanBytes)
		return
	}
	for n := 1; n <= hanLongest && n <= i; n++ {
		if lengths>>n&1 == 0 || n > 1 && !v.has(text[hanBytes*(i-n):hanBytes*i]) {
			continue
		}
		before := &m.rows[i-n]
		most := before[0]
		for k := 1; k <= hanLongest && k <= i-n; k++ {
			if before[k] <= most {
				continue
			}
			if both := n + k; both <= hanLongest && lengths>>both&1 != 0 && v.has(text[hanBytes*(i-both):hanBytes*i]) {
				continue
			}
			most = before[k]
		}
		row[n] = most + 1
	}
}
