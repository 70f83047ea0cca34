package analysis

// Bounds of a long number that is written in groups with spaces between them, as
// of a card or a telephone: 4111 1111 2222 3333, +49 30 1234567.
const (
	minSpaced      = 9 // digits
	maxSpaced      = 24
	minSpacedGroup = 2
	maxSpacedGroup = 7
)

// spacedNumber emits without its spaces the number that begins at text[i]. With a
// plus before it the number goes without its first group too, the country's.
func (t *tokenizer) spacedNumber(text string, i int) {
	t.tmp = append(t.tmp[:0], wholeMark)
	country, groups, years, end := 0, 0, 0, i
	for from := i; ; from = end + 1 {
		to := from
		for to < len(text) && isDigit(text[to]) {
			to++
		}
		if n := to - from; n < minSpacedGroup || n > maxSpacedGroup || len(t.tmp)+n > maxSpaced || goesOn(text[to:]) {
			break
		}
		t.tmp = append(t.tmp, text[from:to]...)
		if groups++; groups == 1 {
			country = to - from
		}
		if to-from == 4 && (text[from] == '1' && text[from+1] == '9' || text[from] == '2' && text[from+1] == '0') {
			years++
		}
		if end = to; end >= len(text) || text[end] != ' ' {
			break
		}
	}
	if groups < 3 || years == groups || len(t.tmp)-1 < minSpaced {
		return
	}
	t.spacedEnd = end
	group := 0
	if t.query {
		t.groups++
		group = t.groups
	}
	plus := i > 0 && text[i-1] == '+'
	t.emit(token{text: t.tmp, kind: KindHex, optional: plus, group: group})
	t.emit(token{text: t.tmp[1:], kind: KindPart, optional: true})
	if plus {
		t.tmp = append(t.tmp[:1], t.tmp[1+country:]...)
		t.emit(token{text: t.tmp, kind: KindHex, optional: true, group: group})
		t.emit(token{text: t.tmp[1:], kind: KindPart, optional: true})
	}
}

// goesOn reports whether a number before s is a part of something else.
func goesOn(s string) bool {
	if s == "" {
		return false
	}
	if r, _ := decode(s); isWordRune(r) {
		return true
	}
	return len(s) > 1 && isConnector(s[0]) && (isLetter(s[1]) || isDigit(s[1]))
}
