package when

// Years that are only years by their context lie within these bounds.
const (
	oldestYear = 1500
	newestYear = 2200
)

// plausibleYear reads a year of four digits that stands alone.
func (p *parser) plausibleYear(i int) (int, int) {
	y, ok := p.year(i)
	if !ok || y < oldestYear || y > newestYear || !p.ends(i+1) {
		return 0, 0
	}
	return y, i + 1
}

// ends reports whether the number before token i ends there: no letter, digit
// group, fraction or percent sign follows.
func (p *parser) ends(i int) bool {
	if !p.glued(i) {
		return true
	}
	switch t := p.toks[i]; t.kind {
	case kindNumber, kindWord:
		return false
	case kindMark:
		switch t.val {
		case '.', ':', '/':
			return !(p.glued(i+1) && p.toks[i+1].kind == kindNumber)
		case ',':
			return !(p.glued(i+1) && p.toks[i+1].kind == kindNumber && p.toks[i+1].digits == 3)
		case '%', '_', '°', '％':
			return false
		case '-':
			return !(p.glued(i+1) && p.toks[i+1].kind == kindWord)
		}
	}
	return true
}

// begins reports whether a number may begin at token i: it is no part of a
// larger one, nor of a price or an id.
func (p *parser) begins(i int) bool {
	if i <= 1 || !p.glued(i) {
		return true
	}
	switch t := p.toks[i-1]; t.kind {
	case kindNumber, kindWord:
		return false
	case kindMark:
		switch t.val {
		case '.', ',', ':', '/', '-', '–':
			return !(p.glued(i-1) && (p.toks[i-2].kind == kindNumber || t.val == '-' && p.toks[i-2].kind == kindWord))
		case '$', '€', '£', '¥', '￥', '#', '+', '@', '_', '=':
			return false
		}
	}
	return true
}

// dayNumber reads 5, 5th, fifth and twenty-third. Said reports that it is an
// ordinal.
func (p *parser) dayNumber(i int) (d, next int, said bool) {
	if p.toks[i].kind == kindNumber && !p.begins(i) {
		return 0, 0, false
	}
	return p.rangeDay(i)
}

// rangeDay is dayNumber where a dash may join the number to another.
func (p *parser) rangeDay(i int) (d, next int, said bool) {
	if d, ok := p.number(i, 2); ok {
		next, said = i+1, false
		if p.glued(next) && p.toks[next].kw.class() == classSuffix {
			next, said = next+1, true
		}
		if d < 1 || d > 31 || !p.ends(next) {
			return 0, 0, false
		}
		return d, next, said
	}
	d, next = p.ordinalWord(i)
	return d, next, next != 0
}

func (p *parser) ordinalWord(i int) (n, next int) {
	t := p.toks[i].kw
	if t.class() == classOrdinal {
		return t.value(), i + 1
	}
	if t.class() != classNumber || t.value() != 20 && t.value() != 30 {
		return 0, 0
	}
	j := i + 1
	if p.mark(j, '-') || p.mark(j, '‑') {
		j++
	}
	u := p.toks[j].kw
	if u.class() == classOrdinal && u.value() < 10 && t.value()+u.value() <= 31 {
		return t.value() + u.value(), j + 1
	}
	return 0, 0
}

// month reads the name of a month.
func (p *parser) month(i int) (k kw, next int) {
	t := p.toks[i]
	if t.kw.class() != classMonth || i > 1 && p.glued(i) && p.toks[i-1].kind == kindWord {
		return 0, 0
	}
	if next = i + 1; t.kw&short != 0 && p.mark(next, '.') && p.glued(next) {
		next++
	}
	return t.kw, next
}

func (k kw) month() int { return int(k & named & 0xf) }

// monthFirst reads "March 5th, 2026", "March 5", "March 2026" and "March of 2026".
func (p *parser) monthFirst(i int) (point, int) {
	k, next := p.month(i)
	if next == 0 {
		return point{}, 0
	}
	pt := point{m: k.month()}
	if d, after, said := p.dayNumber(next); after != 0 && (said && p.toks[next].kind == kindNumber || p.firmMonth(i, after)) {
		pt.d, next = d, after
	} else if p.toks[next].kw == otherThe {
		if d, after, said := p.dayNumber(next + 1); said {
			pt.d, next = d, after
		}
	}
	after := next
	if p.mark(after, ',') || pt.d == 0 && p.toks[after].kw == otherOf {
		after++
	}
	if y, end := p.plausibleYear(after); end != 0 {
		pt.y, next = y, end
	}
	if pt.d == 0 && pt.y == 0 {
		return point{}, 0
	}
	return pt, next
}

// firmMonth reports whether the word at i means a month when a bare number
// follows it: "may" and "march" in lower case often are verbs.
func (p *parser) firmMonth(i, after int) bool {
	t := p.toks[i]
	if t.kw&loose == 0 || t.digits == 1 {
		return true
	}
	if t.kw&short == 0 && t.kw.month() != 3 && t.kw.month() != 5 {
		return true
	}
	if p.mark(after, ',') {
		after++
	}
	if _, end := p.plausibleYear(after); end != 0 {
		return true
	}
	return p.toks[i-1].kw.class() == classIn || p.toks[i-1].kw == otherSince || p.toks[i-1].kw.class() == classWeekday
}

// dayFirst reads "12 March 2026", "5th of March", "the fifth of May, 2026".
func (p *parser) dayFirst(i int) (point, int) {
	d, next, said := p.dayNumber(i)
	if next == 0 {
		return point{}, 0
	}
	if said && p.toks[next].kw == otherOf {
		next++
	} else if p.mark(next, '-') && p.glued(next) && p.glued(next+1) {
		next++
	}
	k, after := p.month(next)
	if after == 0 || !said && k&loose != 0 && p.toks[next].digits == 0 && (k&short != 0 || k.month() == 3 || k.month() == 5) {
		return point{}, 0
	}
	pt := point{m: k.month(), d: d}
	next = after
	if p.mark(after, ',') || p.mark(after, '-') && p.glued(after) {
		after++
	}
	if y, end := p.plausibleYear(after); end != 0 {
		pt.y, next = y, end
	}
	return pt, next
}

// named reads a date of words with at least a month and a day or a year, after
// an optional weekday.
func (p *parser) named(i int) (point, int) {
	j := i
	if p.toks[j].kw.class() == classWeekday {
		j++
		if p.mark(j, '.') {
			j++
		}
		if p.mark(j, ',') {
			j++
		}
	}
	if p.toks[j].kw == otherThe {
		j++
	}
	pt, next := p.dayFirst(j)
	if next == 0 {
		pt, next = p.monthFirst(j)
	}
	if next == 0 {
		return point{}, 0
	}
	pt.void = pt.d != 0 && !validDate(orLeap(pt.y), pt.m, pt.d)
	return pt, next
}

// orLeap stands in for an unsaid year, one that has a 29 February.
func orLeap(y int) int {
	if y == 0 {
		return 2000
	}
	return y
}
