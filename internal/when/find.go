package when

import (
	"time"

	"github.com/memsearch/memsearch"
)

// A Match is a date in a text.
type Match struct {
	Span        memsearch.Span
	Granularity memsearch.Granularity
	Exact       memsearch.Span // of "a week ago", which may mean all of that week, the day; else empty
	Start, End  int            // bytes of the text, half-open
	Text        string         // the text between them
}

// Find returns the dates in English and Chinese prose, in the order of the text
// and without overlap, as spans relative to now. The days are those of now's
// location.
//
// A date without a year is the most recent one that has begun; a day of the week
// is the most recent one before today. Weeks begin on Monday. "since March" and
// "before 2024" leave one end of the span open. Versions, times of day,
// addresses, ids and plain numbers are no dates.
func Find(text string, now time.Time) []Match {
	p := &parser{text: text, toks: lex(text), loc: now.Location(), now: now, today: civilOf(now)}
	if p.today.y < minYear || p.today.y > maxYear {
		return nil
	}
	var found []Match
	for i := 1; i < p.end(); {
		pd, next := p.date(i)
		if next == 0 {
			i++
			continue
		}
		if pd.from == pd.until {
			i = next
			continue
		}
		start, end := int(p.toks[i].start), int(p.toks[next-1].end)
		m := Match{Span: pd.span(p.loc), Granularity: pd.gran, Start: start, End: end, Text: text[start:end]}
		if pd.at != (civil{}) {
			m.Exact = dayPeriod(pd.at).span(p.loc)
		}
		found = append(found, m)
		i = next
	}
	return found
}

// date reads a single date, a range of two or an open range. The period is
// empty for what looks like a date but is in no calendar.
func (p *parser) date(i int) (period, int) {
	if pd, next := p.bracketed(i); next != 0 {
		return pd, next
	}
	if pd, next := p.dayRange(i); next != 0 {
		return pd, next
	}
	a, next := p.point(i)
	if next == 0 || a.void {
		return period{}, next
	}
	if pd, end := p.rangeTo(a, next); end != 0 {
		return pd, end
	}
	pd, ok := p.resolve(a)
	if !ok {
		return period{}, 0
	}
	return p.openEnd(pd, next)
}

// bracketed reads the ranges that a word announces: between, from, since,
// before, after, until.
func (p *parser) bracketed(i int) (period, int) {
	t := p.toks[i]
	switch {
	case t.kw == otherBetween:
		a, next := p.rangeStart(i + 1)
		if next != 0 && p.mark(next, ',') {
			next++
		}
		if next == 0 || p.toks[next].kw != otherAnd && !p.mark(next, '&') {
			return period{}, 0
		}
		if b, end := p.rangePoint(next + 1); end != 0 {
			if pd, ok := p.between(a, b); ok {
				return pd, end
			}
		}
		return period{}, 0
	case t.kw == otherFrom, t.kind == kindHan && (t.val == '从' || t.val == '自'):
		a, next := p.rangeStart(i + 1)
		if next == 0 {
			return period{}, 0
		}
		if pd, end := p.rangeTo(a, next); end != 0 {
			return pd, end
		}
		if pd, ok := p.resolve(a); ok && t.kind == kindHan {
			if open, end := p.openEnd(pd, next); open.until == (civil{}) {
				return open, end
			}
		}
		return period{}, 0
	}
	return p.open(i)
}

// open reads since, before, after and until a date.
func (p *parser) open(i int) (period, int) {
	k := p.toks[i].kw
	switch k {
	case otherSince, otherBefore, otherAfter, otherUntil:
	default:
		return period{}, 0
	}
	a, next := p.point(i + 1)
	if next == 0 {
		return period{}, 0
	}
	pd, ok := p.resolve(a)
	if !ok {
		return period{}, 0
	}
	switch k {
	case otherSince:
		pd.until = civil{}
	case otherBefore:
		pd.from, pd.until = civil{}, pd.from
	case otherAfter:
		pd.from, pd.until = pd.until, civil{}
	case otherUntil:
		pd.from = civil{}
	}
	if pd.from == pd.until {
		return period{}, 0
	}
	pd.gran, pd.at = memsearch.GranularityRange, civil{}
	return pd, next
}

// rangeStart reads the first end of a range that a word has announced, which
// may be a bare day.
func (p *parser) rangeStart(i int) (point, int) {
	if a, next := p.rangePoint(i); next != 0 {
		return a, next
	}
	if p.toks[i].kw == otherThe {
		i++
	}
	if d, next, _ := p.dayNumber(i); next != 0 {
		return point{d: d}, next
	}
	return point{}, 0
}

// rangePoint reads an end of a range. A month or year that would need a
// preposition elsewhere stands by itself here.
func (p *parser) rangePoint(i int) (point, int) {
	if a, next := p.point(i); next != 0 {
		return a, next
	}
	if k, next := p.month(i); next != 0 && (k&loose == 0 || p.toks[i].digits == 1) {
		return point{m: k.month()}, next
	}
	if y, next := p.plausibleYear(i); next != 0 {
		return point{y: y}, next
	}
	return point{}, 0
}

// rangeTo reads what follows the first end of a range.
func (p *parser) rangeTo(a point, i int) (period, int) {
	next := p.connector(i)
	if next == 0 {
		return p.hanAnd(a, i)
	}
	b, end := p.rangePoint(next)
	if end == 0 && a.d != 0 {
		if d, after, _ := p.rangeDay(next); after != 0 {
			b, end = point{d: d}, after
		}
	}
	if d, after := p.hanDay(next); after != 0 && a.d != 0 {
		b, end = point{d: d}, after
	}
	if end == 0 {
		return period{}, 0
	}
	if b.d != 0 && b.m == 0 && a.y == 0 {
		if k := p.toks[end]; p.mark(end, ',') || k.kind == kindNumber {
			after := end
			if p.mark(after, ',') {
				after++
			}
			if y, stop := p.plausibleYear(after); stop != 0 {
				a.y, end = y, stop
			}
		}
	}
	pd, ok := p.between(a, b)
	if !ok {
		return period{}, 0
	}
	return pd, end
}

// connector reads to, through, until, a dash, 到, 至.
func (p *parser) connector(i int) int {
	if p.mark(i, ',') && p.toks[i+1].kind == kindWord {
		i++
	}
	t := p.toks[i]
	switch t.kind {
	case kindWord:
		if t.kw.class() == classRangeTo || t.kw == otherUntil {
			return i + 1
		}
	case kindHan:
		if t.val == '到' || t.val == '至' {
			return i + 1
		}
	case kindMark:
		switch t.val {
		case '-', '–', '—', '~', '～', '−', '－', '〜':
			if t.val == '—' && p.mark(i+1, '—') {
				return i + 2
			}
			return i + 1
		}
	}
	return 0
}

// hanAnd reads 和6月9日之间.
func (p *parser) hanAnd(a point, i int) (period, int) {
	switch t := p.toks[i]; {
	case t.kind != kindHan || t.val != '和' && t.val != '与' && t.val != '跟' && t.val != '及':
		return period{}, 0
	}
	b, next := p.point(i + 1)
	if next == 0 || !p.han(next, '之') || !p.han(next+1, '间') {
		return period{}, 0
	}
	if pd, ok := p.between(a, b); ok {
		return pd, next + 2
	}
	return period{}, 0
}

// yearRange reads 2011至2012年.
func (p *parser) yearRange(i int) (period, int) {
	y, next := p.plausibleYear(i)
	if next == 0 || !p.begins(i) {
		return period{}, 0
	}
	if next = p.connector(next); next == 0 {
		return period{}, 0
	}
	b, end := p.hanDate(next)
	if end == 0 || b.y == 0 || p.oneOf(end, "代") {
		return period{}, 0
	}
	if pd, ok := p.between(point{y: y}, b); ok {
		return pd, end
	}
	return period{}, 0
}

// dayRange reads a range whose month stands behind it, "8 to 10 May", or before
// its first bare day, 5月8到10号.
func (p *parser) dayRange(i int) (period, int) {
	if pd, next := p.yearRange(i); next != 0 {
		return pd, next
	}
	start, month := i, 0
	if m, next := p.hanMonth(i); next != 0 {
		start, month = next, m
	}
	var d, next int
	if month != 0 {
		d, next = p.count(start)
	} else {
		d, next, _ = p.dayNumber(start)
	}
	if next == 0 || d < 1 || d > 31 {
		return period{}, 0
	}
	after := p.connector(next)
	if after == 0 {
		return period{}, 0
	}
	var b point
	var end int
	if month != 0 {
		b.d, end = p.hanDay(after)
	} else {
		b, end = p.dayFirst(after)
	}
	if end == 0 {
		return period{}, 0
	}
	pd, ok := p.between(point{m: month, d: d}, b)
	if !ok {
		return period{}, 0
	}
	return pd, end
}

// openEnd reads the words that open a Chinese range after its date: 以前, 之后,
// 以来, 开始.
func (p *parser) openEnd(pd period, i int) (period, int) {
	if p.toks[i].kind != kindHan {
		return pd, i
	}
	a, b := p.toks[i].val, p.toks[i+1].val
	if p.toks[i+1].kind != kindHan {
		b = 0
	}
	open := period{gran: memsearch.GranularityRange}
	switch {
	case (a == '之' || a == '以') && b == '前':
		open.until, i = pd.from, i+2
	case (a == '之' || a == '以') && b == '后':
		open.from, i = pd.until, i+2
	case a == '以' && b == '来', a == '至' && b == '今', a == '开' && b == '始':
		open.from, i = pd.from, i+2
	case a == '起' && b != '来' && b != '床':
		open.from, i = pd.from, i+1
	case a == '前' && b != '后' && b != '往' && b != '去' && b != '来':
		open.until, i = pd.from, i+1
	default:
		return pd, i
	}
	if open.from == open.until {
		return pd, i
	}
	return open, i
}
