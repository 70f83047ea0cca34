package analysis

import (
	"slices"

	"github.com/memsearch/memsearch/internal/porter"
)

// wholeMark begins the term of a whole identifier, which no other term has.
const wholeMark = '='

// identifier emits the terms of the pieces at hand. One piece is a word or a
// number. Several are an identifier: its whole name, the names inside it, and
// its parts.
func (t *tokenizer) identifier(sigil, suffix string) {
	if len(t.pieces) == 1 && sigil == "" && suffix == "" {
		t.single()
		return
	}
	if t.ordinal() || t.abbreviation() {
		return
	}
	group := t.group(sigil != "" || suffix != "")
	if t.prefixedHex(group) {
		return
	}
	n := len(t.pieces)
	if sigil != "" || suffix != "" {
		t.tmp = append(append(t.tmp[:0], wholeMark), sigil...)
		t.tmp = append(t.join(t.tmp, 0, n), suffix...)
		t.emit(token{text: t.tmp, kind: KindWhole, group: group})
		if n == 1 {
			t.single()
			return
		}
	}
	hex := t.isHex()
	number := t.isNumber() // of which the joined form counts
	name := token{kind: KindWhole, group: group, optional: group <= 0 || number}
	if hex {
		name.kind = KindHex
	}
	t.name(name, 0, n)
	if hex && t.isPairs(0, n) {
		return
	}
	t.names(group)
	switch {
	case t.joins():
		t.oneWord(0, n, token{optional: true})
	case number:
		t.tmp = append(t.tmp[:0], wholeMark)
		for _, p := range t.pieces {
			t.tmp = append(t.tmp, t.buf[p.from:p.to]...)
		}
		t.emit(token{text: t.tmp, kind: KindHex, group: max(group, 0)})
		t.emit(token{text: t.tmp[1:], kind: KindPart, optional: true})
	}
	t.inner()
	if !hex || n == 2 {
		t.parts(number || t.isScattered())
	}
}

// soleGroup is the group of a compound that is taken for an identifier only when
// there is nothing else in the query.
const soleGroup = -1

// group returns the group for the names of the identifier at hand.
func (t *tokenizer) group(marked bool) int {
	t.compounds++
	switch {
	case !t.query:
		return 0
	case marked || t.isIdentifier():
		t.groups++
		return t.groups
	}
	return soleGroup
}

// single emits a word or a number.
func (t *tokenizer) single() {
	t.words++
	p := t.pieces[0]
	w := t.buf[p.from:min(p.to, p.from+maxWord)]
	if p.digits {
		exact := t.query && (len(w) > 4 || len(w) == 4 && w[0] != '1' && w[0] != '2')
		tok := token{text: w}
		if exact {
			t.groups++
			tok.group = t.groups
		}
		t.emit(tok)
		if len(w) >= MinHex {
			t.name(token{kind: KindHex, optional: true}, 0, 1)
		}
		return
	}
	for _, at := range t.rest { // l'église is église too
		if at > p.from && p.to-at >= 3 {
			t.tmp = append(t.tmp[:0], t.buf[at:min(p.to, at+maxWord)]...)
			if isASCII(t.tmp) {
				t.tmp = porter.Stem(t.tmp)
			}
			t.emit(token{text: t.tmp, optional: true})
		}
	}
	if t.capsNames && p.caps && p.to-p.from >= minCaps {
		t.groups++
		t.emit(token{text: t.stem(w), group: t.groups})
		return
	}
	t.plain(w, 0)
}

// numberGroup emits one group of a number written in several.
func (t *tokenizer) numberGroup() {
	t.words++
	t.emit(token{text: t.buf, kind: KindPart, weight: innerWeight, optional: true})
}

func isASCII(w []byte) bool {
	return !slices.ContainsFunc(w, func(c byte) bool { return c >= 0x80 })
}

// ordinal emits 3rd as 3 and reports whether the pieces are such a number.
func (t *tokenizer) ordinal() bool {
	if len(t.pieces) != 2 || !t.pieces[0].digits || t.pieces[1].sep != 0 {
		return false
	}
	switch string(t.buf[t.pieces[1].from:t.pieces[1].to]) {
	case "st", "nd", "rd", "th":
		t.words++
		t.emit(token{text: t.buf[t.pieces[0].from:t.pieces[0].to]})
		return true
	}
	return false
}

// abbreviation emits U.S. as us and reports whether the pieces are such letters.
func (t *tokenizer) abbreviation() bool {
	for i, p := range t.pieces {
		if p.digits || p.to-p.from != 1 || i > 0 && p.sep != '.' {
			return false
		}
	}
	if len(t.pieces) < 2 {
		return false
	}
	t.tmp = append(t.tmp[:0], t.buf[t.pieces[0].from:t.pieces[len(t.pieces)-1].to]...)
	t.plain(t.tmp, 0)
	return true
}

// prefixedHex emits 0xC0FFEE as the number it is and reports whether the pieces
// are one.
func (t *tokenizer) prefixedHex(group int) bool {
	w := t.buf[t.pieces[0].from:t.pieces[len(t.pieces)-1].to]
	if len(w) < 3 || w[0] != '0' || w[1] != 'x' || slices.ContainsFunc(w[2:], func(c byte) bool { return !isHexDigit(c) }) ||
		slices.ContainsFunc(t.pieces[1:], func(p piece) bool { return p.sep != 0 }) {
		return false
	}
	kind := KindWhole
	if len(w)-2 >= MinHex {
		kind = KindHex
	}
	t.tmp = append(append(t.tmp[:0], wholeMark), w[2:]...)
	t.emit(token{text: t.tmp, kind: kind, group: group})
	return true
}

// join appends the name of the pieces from lo to hi: without separators, but for
// a dot between numbers, so that DEC-0054 is dec0054 and 2.6.3 is not 263.
func (t *tokenizer) join(dst []byte, lo, hi int) []byte {
	if t.isVersion(lo, hi) {
		lo++
	}
	uuid := t.isUUID(lo, hi) || t.isPairs(lo, hi)
	for i := lo; i < hi; i++ {
		p := t.pieces[i]
		if i > lo && p.digits && p.sep != 0 && t.pieces[i-1].digits && !uuid {
			dst = append(dst, '.')
		}
		dst = append(dst, t.buf[p.from:p.to]...)
	}
	return dst
}

// isVersion reports whether the pieces are v and at least two numbers.
func (t *tokenizer) isVersion(lo, hi int) bool {
	return hi-lo >= 3 && string(t.buf[t.pieces[lo].from:t.pieces[lo].to]) == "v" &&
		t.pieces[lo+1].digits && t.pieces[lo+1].sep == 0 && t.pieces[lo+2].digits
}

// name emits the joined name of the pieces from lo to hi.
func (t *tokenizer) name(tok token, lo, hi int) {
	t.tmp = t.join(append(t.tmp[:0], wholeMark), lo, hi)
	tok.text = t.tmp
	t.emit(tok)
}

// names emits the names inside the identifier: what stands between its
// separators, what is left of a path from each of its folders on, and all of it
// without a line number.
func (t *tokenizer) names(group int) {
	n := len(t.pieces)
	t.subs = append(t.subs[:0], [2]int{0, n})
	end := n
	for end > 1 && t.pieces[end-1].digits && t.pieces[end-1].sep == ':' {
		end--
	}
	bare := end < n && end > 1
	if bare {
		t.addName(0, end)
	}
	from, dot := 0, 0
	for i := 1; i <= n; i++ {
		strong := i == n || isStrong(t.pieces[i].sep)
		if strong || t.pieces[i].sep == '.' {
			if !t.allDigits(from, i) {
				t.addName(dot, i)
			}
			dot = i
		}
		if strong {
			t.addName(from, i)
			from = i
		}
		if i < n && isPath(t.pieces[i].sep) {
			t.addName(i, n)
			t.addName(i, end)
		}
	}
	w := float32(1)
	if k := len(t.subs) - 1; k > 0 {
		w = min(.5, 1/float32(k))
	}
	for i, s := range t.subs[1:] {
		tok := token{kind: KindPart, weight: w, optional: true}
		if i == 0 && bare {
			tok.group = group
		}
		t.name(tok, s[0], s[1])
	}
}

const maxNames = 24

func (t *tokenizer) addName(lo, hi int) {
	if hi-lo >= 2 && len(t.subs) < maxNames && !slices.Contains(t.subs, [2]int{lo, hi}) {
		t.subs = append(t.subs, [2]int{lo, hi})
	}
}

func (t *tokenizer) allDigits(lo, hi int) bool {
	return !slices.ContainsFunc(t.pieces[lo:hi], func(p piece) bool { return !p.digits })
}

// isStrong reports whether sep parts names rather than the words of one name.
func isStrong(sep byte) bool { return sep != 0 && sep != '-' && sep != '_' && sep != '.' }

// isPath reports whether what follows sep is a name of the same thing.
func isPath(sep byte) bool {
	return sep == '/' || sep == '\\' || sep == '@' || sep == sepScope
}

// oneWord emits the pieces from lo to hi written as one word.
func (t *tokenizer) oneWord(lo, hi int, tok token) {
	from, to := t.pieces[lo].from, t.pieces[hi-1].to
	if to-from > maxWord {
		return
	}
	t.tmp = append(t.tmp[:0], t.buf[from:to]...)
	tok.text = t.stem(t.tmp)
	t.emit(tok)
}

// inner emits as one word each name of several words that stands inside a longer
// one: the postgresql of PostgreSQL16, the readfile of os.ReadFile.
func (t *tokenizer) inner() {
	n := len(t.pieces)
	for lo := 0; lo < n; {
		hi := lo + 1
		for hi < n && isInner(t.pieces[hi].sep) && !t.pieces[hi].digits && !t.pieces[lo].digits {
			hi++
		}
		if hi-lo > 1 && hi-lo < n {
			t.oneWord(lo, hi, token{kind: KindPart, weight: innerWeight, optional: true})
			if len(t.subs) < maxNames && !slices.Contains(t.subs, [2]int{lo, hi}) {
				t.name(token{kind: KindPart, weight: innerWeight, optional: true}, lo, hi)
			}
		}
		lo = hi
	}
}

// isInner reports whether sep joins the words of one name.
func isInner(sep byte) bool { return sep == 0 || sep == '_' || sep == '-' }

// isNumber reports whether the pieces are one long number in groups, as of an
// account, a book or a telephone: 978-3-16-148410-0. Dates are not.
func (t *tokenizer) isNumber() bool {
	n, size := len(t.pieces), 0
	for i, p := range t.pieces {
		if i > 0 && p.sep != '-' || !p.digits && (i < n-1 || string(t.buf[p.from:p.to]) != "x") {
			return false
		}
		size += p.to - p.from
	}
	return size >= MinHex && size <= maxWord && !(n == 3 && size <= 8)
}

// isScattered reports whether the pieces are letters and digits in such turns that
// they mean nothing apart: 1f4a9.
func (t *tokenizer) isScattered() bool {
	n := len(t.pieces)
	return n >= 4 && t.pieces[n-1].to-t.pieces[0].from <= 2*n && !slices.ContainsFunc(t.pieces, func(p piece) bool { return p.sep != 0 })
}

// joins reports whether the identifier may as well be written as one word.
func (t *tokenizer) joins() bool {
	return !slices.ContainsFunc(t.pieces, func(p piece) bool { return p.digits || isStrong(p.sep) })
}

// parts emits the pieces as words. Those of natural compounds like self-care
// count as other words do; those of long names share the weight of two.
func (t *tokenizer) parts(optional bool) {
	w := float32(0)
	if n := len(t.pieces); n > 2 && !t.natural() {
		w = 1.5 / float32(n)
	}
	version := false
	for i, p := range t.pieces {
		t.tmp = append(t.tmp[:0], t.buf[p.from:min(p.to, p.from+maxWord)]...)
		if p.digits {
			t.emit(token{text: t.tmp, kind: KindPart, weight: w, optional: optional})
		} else if isStop(t.tmp) {
			t.emit(token{text: t.stem(t.tmp), kind: KindStop, weight: w})
		} else {
			t.emit(token{text: t.stem(t.tmp), kind: KindPart, weight: w})
		}
		if !version && p.digits && p.sep == '.' && t.pieces[i-1].digits { // 2.6 of 2.6.3
			version = true
			q := t.pieces[i-1]
			t.tmp = append(append(t.tmp[:0], t.buf[q.from:q.to]...), '.')
			t.tmp = append(t.tmp, t.buf[p.from:p.to]...)
			t.emit(token{text: t.tmp, kind: KindPart, weight: w, optional: true})
		}
	}
}

// natural reports whether the pieces are words joined by hyphens.
func (t *tokenizer) natural() bool {
	return !slices.ContainsFunc(t.pieces[1:], func(p piece) bool { return p.sep != '-' })
}
