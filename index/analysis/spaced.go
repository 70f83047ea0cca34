package analysis

// A spaced is a long number that is written in groups with spaces between them,
// as of a card or a telephone: 4111 1111 2222 3333.
type spaced struct {
	digits []byte
	groups int
	end    int // where the last group ends in the text
}

const (
	minSpaced      = 9 // digits of such a number
	maxSpaced      = 24
	minSpacedGroup = 2
	maxSpacedGroup = 7
)

// addSpaced adds the number at text[from:to], which is the piece at hand.
func (t *tokenizer) addSpaced(text string, from, to int) {
	s := &t.spaced
	if s.groups > 0 && (from != s.end+1 || text[s.end] != ' ') {
		t.endSpaced()
	}
	p := t.pieces[0]
	n := p.to - p.from
	if n != to-from || n < minSpacedGroup || n > maxSpacedGroup || len(s.digits)+n > maxSpaced {
		t.endSpaced()
		return
	}
	s.digits = append(s.digits, t.buf[p.from:p.to]...)
	s.groups, s.end = s.groups+1, to
}

// endSpaced emits the number without its spaces.
func (t *tokenizer) endSpaced() {
	s := &t.spaced
	if s.groups >= 3 && len(s.digits) >= minSpaced {
		t.tmp = append(append(t.tmp[:0], wholeMark), s.digits...)
		t.emit(token{text: t.tmp, kind: KindHex, optional: true})
		t.emit(token{text: t.tmp[1:], kind: KindPart, optional: true})
	}
	s.digits, s.groups = s.digits[:0], 0
}
