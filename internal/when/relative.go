package when

import (
	"strings"

	"github.com/memsearch/memsearch"
)

// A quantity is a count of units; few is "a few", where n is the most.
type quantity struct {
	n    int
	few  bool
	half bool
}

// manyFew is what "a few" and "several" stand for at most.
const manyFew = 6

// quantity reads 38, three, twenty-three, a, a couple of, a few, half a.
func (p *parser) quantity(i int) (quantity, int) {
	if n, ok := p.number(i, 5); ok && p.begins(i) && p.ends(i+1) {
		return p.andHalf(n, i+1)
	}
	k := p.toks[i].kw
	switch {
	case k == otherHalf && p.toks[i+1].kw == otherA:
		return quantity{half: true}, i + 2
	case k == otherA && p.toks[i+1].kw == otherCouple, k == otherA && p.toks[i+1].kw == otherFew:
		return p.quantity(i + 1)
	case k == otherA:
		return quantity{n: 1}, i + 1
	case k == otherCouple:
		if i++; p.toks[i].kw == otherOf {
			i++
		}
		return quantity{n: 2}, i
	case k == otherFew:
		return quantity{n: manyFew, few: true}, i + 1
	case k.class() != classNumber:
		return quantity{}, 0
	}
	n, j := k.value(), i+1
	if n >= 20 {
		if p.mark(j, '-') {
			j++
		}
		if u := p.toks[j].kw; u.class() == classNumber && u.value() < 10 {
			n, i = n+u.value(), j
		}
	}
	return p.andHalf(n, i+1)
}

// andHalf reads the rest of "one and a half".
func (p *parser) andHalf(n, i int) (quantity, int) {
	if p.toks[i].kw == otherAnd && p.toks[i+1].kw == otherA && p.toks[i+2].kw == otherHalf {
		return quantity{n: n, half: true}, i + 3
	}
	return quantity{n: n}, i
}

// ago returns the period a quantity of units before a day.
func (p *parser) ago(day civil, q quantity, u unit) (period, bool) {
	if q.n > maxCount(u) {
		return period{}, false
	}
	if q.half {
		switch u {
		case unitYear:
			q.n, u = 12*q.n+6, unitMonth
		case unitMonth:
			return weekPeriod(day.days(-30*q.n - 15)), true
		case unitWeek:
			q.n, u = 7*q.n+3, unitDay
		case unitDay:
		default:
			return period{}, false
		}
	}
	if q.few {
		from, until := back(day, q.n, u), back(day, 2, u)
		return stretch(from.from, until.until, memsearch.GranularityRange), true
	}
	return countBack(day, q.n, u), true
}

// counted reads "38 days ago", "two weeks from now", and days counted from a
// date: "the day before yesterday", "two days after 12 March", "the week of May 8".
func (p *parser) counted(i int) (point, int) {
	j := i
	q := quantity{n: 1}
	if p.toks[j].kw == otherThe {
		if j++; p.toks[j].kw == otherOther && p.toks[j+1].kw == classUnit|kw(unitDay) {
			return point{fixed: stretch(p.today.days(-7), p.today.days(-1), memsearch.GranularityRange)}, j + 2
		}
	} else if p.toks[j].kw.class() == classLast && p.toks[j+2].kw == otherBefore {
		j++
	} else if q, j = p.quantity(i); j == 0 {
		return point{}, 0
	}
	k := p.toks[j].kw
	if k == otherFortnight && !q.half && !q.few {
		k, q.n = classUnit|kw(unitWeek), 2*q.n
	}
	u := unit(k.value())
	if k.class() == classWeekday && p.toks[i].kw == otherThe {
		return p.weekdayBy(int(k&named), j+1)
	}
	if k.class() != classUnit {
		return point{}, 0
	}
	if j++; p.toks[j].kw == otherAnd && !q.half {
		if half, next := p.andHalf(q.n, j); half.half {
			q, j = half, next
		}
	}
	switch k := p.toks[j].kw; {
	case k == otherAgo && u == unitHour && q.n <= maxCount(u) && !q.half && !q.few:
		return point{fixed: p.hoursAgo(q.n)}, j + 1
	case k == otherAgo && u != unitHour && p.toks[i].kw != otherThe:
		if p.toks[j+1].kw == classDay|today && !q.half && !q.few {
			if pd, ok := sameDay(p.today, q.n, u); ok && q.n <= maxCount(u) {
				return point{fixed: pd}, j + 2
			}
		}
		if pd, ok := p.ago(p.today, q, u); ok {
			return point{fixed: pd}, j + 1
		}
	case k == otherFrom && p.toks[j+1].kw == otherNow && !q.few && !q.half && u != unitHour && q.n <= maxCount(u):
		return point{fixed: countBack(p.today, -q.n, u)}, j + 2
	case k == otherBefore, k == otherAfter, k == otherOf && u == unitWeek && p.toks[i].kw == otherThe:
		return p.countedFrom(q, u, k, j+1)
	}
	return point{}, 0
}

// ahead reads "in three days" and "in a week".
func (p *parser) ahead(i int) (point, int) {
	if p.toks[i].kw != classIn|1 || !p.is(i, "in") {
		return point{}, 0
	}
	q, next := p.quantity(i + 1)
	if next == 0 || q.half || q.few || q.n == 0 {
		return point{}, 0
	}
	k := p.toks[next].kw
	u := unit(k.value())
	if after := p.toks[next+1]; after.kind == kindWord && after.kw == 0 {
		return point{}, 0 // in 5 year age bands
	}
	if k.class() != classUnit || u == unitHour || u == unitNight || u == unitWeekend || q.n > maxAhead || p.toks[next+1].kw == otherOf || p.glued(next+1) && (p.mark(next+1, '\'') || p.mark(next+1, '’')) {
		return point{}, 0
	}
	return point{fixed: countBack(p.today, -q.n, u)}, next + 1
}

// maxAhead bounds what is still an appointment and no stretch of time.
const maxAhead = 60

// is reports whether token i is a word, in any case.
func (p *parser) is(i int, word string) bool {
	t := p.toks[i]
	return t.kind == kindWord && strings.EqualFold(p.text[t.start:t.end], word)
}

// dayAlone reads the 5th of "on the 5th": the most recent one.
func (p *parser) dayAlone(i int) (point, int) {
	if p.toks[i].kw != otherThe || !p.preposition(i-1) || p.toks[i+1].kind != kindNumber {
		return point{}, 0
	}
	d, next, said := p.dayNumber(i + 1)
	if !said {
		return point{}, 0
	}
	switch t := p.toks[next]; t.kind {
	case kindWord:
		if t.kw.class() != classFunction && t.kw.class() != classIn {
			return point{}, 0
		}
	case kindMark:
		if t.val == '-' || t.val == '–' || t.val == '&' || t.val == '/' {
			return point{}, 0
		}
	case kindNumber:
		return point{}, 0
	}
	return point{d: d}, next
}

// theWeekend reads the weekend of "over the weekend": the most recent one.
func (p *parser) theWeekend(i int) (point, int) {
	if p.toks[i].kw != otherThe || !p.is(i+1, "weekend") || !p.preposition(i-1) && p.toks[i-1].kw != otherOver && !p.is(i-1, "at") ||
		p.toks[i+2].kw == otherOf || p.toks[i+2].kind == kindWord && p.toks[i+2].kw == 0 && p.glued(i+2) {
		return point{}, 0
	}
	return point{fixed: p.weekend()}, i + 2
}

// weekend returns the weekend that today is in, else the last one.
func (p *parser) weekend() period {
	n := 1
	if p.today.weekday() >= 5 {
		n = 0
	}
	return back(p.today, n, unitWeekend)
}

// countedFrom reads the date at i and counts units from it.
func (p *parser) countedFrom(q quantity, u unit, direction kw, i int) (point, int) {
	day, next := p.anchor(i)
	if next == 0 || q.half || q.few || q.n > maxCount(u) {
		return point{}, 0
	}
	n := q.n
	switch {
	case direction == otherOf:
		return point{fixed: weekPeriod(day)}, next
	case direction == otherAfter:
		n = -n
	}
	switch u {
	case unitHour, unitNight:
		return point{}, 0
	case unitWeek:
		from := day.days(-7 * n)
		if direction == otherAfter {
			from = from.days(-6)
		}
		return point{fixed: stretch(from, from.days(7), memsearch.GranularityWeek)}, next
	case unitWeekend:
		saturday := day.days(-(day.weekday() + 2) - 7*(n-1))
		if direction == otherAfter {
			saturday = day.days(2).monday().days(5 - 7*(n+1))
		}
		return point{fixed: stretch(saturday, saturday.days(2), memsearch.GranularityWeek)}, next
	}
	return point{fixed: back(day, n, u)}, next
}

// anchor reads a date that is a single day.
func (p *parser) anchor(i int) (civil, int) {
	if p.depth > 0 {
		return civil{}, 0
	}
	p.depth++
	pt, next := p.point(i)
	p.depth--
	if next == 0 {
		return civil{}, 0
	}
	pd, ok := p.resolve(pt)
	if !ok || pd.gran != memsearch.GranularityDay {
		return civil{}, 0
	}
	return pd.from, next
}

// weekdayBy reads the rest of "the Sunday before 25 May".
func (p *parser) weekdayBy(day, i int) (point, int) {
	k := p.toks[i].kw
	if k != otherBefore && k != otherAfter {
		return point{}, 0
	}
	date, next := p.anchor(i + 1)
	if next == 0 {
		return point{}, 0
	}
	if k == otherAfter {
		return point{fixed: dayPeriod(date.days((day-date.weekday()+6)%7 + 1))}, next
	}
	return point{fixed: dayPeriod(date.days(-((date.weekday()-day+6)%7 + 1)))}, next
}

// relative reads today, yesterday evening, earlier in the morning, last week,
// this past weekend, over the last three days.
func (p *parser) relative(i int) (point, int) {
	switch k := p.toks[i].kw; k.class() {
	case classDay:
		next := i + 1
		if d := p.toks[next].kw; d.class() == classDaytime || d == classUnit|kw(unitNight) {
			next++
		}
		return point{fixed: dayPeriod(p.today.days(k.value() - 8))}, next
	case classOther:
		if k == otherEarlier && p.toks[i+1].kw == classIn|1 && p.toks[i+2].kw == otherThe && p.toks[i+3].kw.class() == classDaytime {
			return point{fixed: dayPeriod(p.today)}, i + 4
		}
	}
	return p.lastThisNext(i)
}

// lastThisNext reads what follows last, past, previous, this and next.
func (p *parser) lastThisNext(i int) (point, int) {
	j := i
	det := p.toks[j].kw
	switch {
	case det == otherThe, det == otherThese, det == classThis && p.toks[j+1].kw.class() == classLast:
		j++
	default:
		det = 0
	}
	switch k := p.toks[j].kw; k.class() {
	case classLast:
		return p.last(det, k.value(), j+1)
	case classThis:
		if det == 0 {
			return p.this(j + 1)
		}
	case classNext:
		if det == 0 && p.toks[i-1].kw != otherThe && p.toks[i-1].kw != otherA {
			return p.next(j + 1)
		}
	}
	return point{}, 0
}

// last reads the time that was, after a word how: 1 last, 2 past, 3 previous.
// With a determiner or a count it is the stretch that ends today, without the
// calendar's: "over the last week", "last week".
func (p *parser) last(det kw, how, i int) (point, int) {
	if q, next := p.quantity(i); next != 0 && p.toks[i].kw != otherA && !q.half {
		k := p.toks[next].kw
		if k.class() != classUnit || p.toks[next+1].kw == otherOf || q.n > maxCount(unit(k.value())) {
			return point{}, 0
		}
		return point{fixed: p.trailing(q.n, unit(k.value()))}, next + 1
	}
	k := p.toks[i].kw
	if p.toks[i+1].kw == otherOf {
		return point{}, 0
	}
	switch k.class() {
	case classUnit:
		return p.lastUnit(det, how, unit(k.value()), i+1)
	case classWeekday:
		if k&short != 0 && p.toks[i].digits == 0 || how == 3 {
			return point{}, 0
		}
		return point{fixed: p.lastWeekday(int(k & named))}, i + 1
	case classMonth:
		if how == 2 && det == 0 || k&short != 0 && p.toks[i].digits == 0 {
			return point{}, 0
		}
		pt, next := p.monthFirst(i)
		if next == 0 || pt.y != 0 {
			pt, next = point{m: k.month()}, i+1
		}
		return p.before(pt), next
	case classSeason:
		return p.before(point{season: k.value()}), i + 1
	}
	return point{}, 0
}

func (p *parser) lastUnit(det kw, how int, u unit, next int) (point, int) {
	switch {
	case u == unitNight:
		return point{fixed: back(p.today, 1, unitDay)}, next
	case u == unitWeekend:
		n := 1
		if p.today.weekday() == 6 && how == 2 {
			n = 0
		}
		return point{fixed: back(p.today, n, u)}, next
	case det == 0 && how == 2, u == unitHour, u == unitDay && how != 2:
		return point{}, 0
	case det != 0 && !(det == otherThe && how == 3):
		return point{fixed: p.trailing(1, u)}, next
	}
	return point{fixed: back(p.today, 1, u)}, next
}

// before returns the most recent period of pt that ended before the current one
// of its kind: "last May" in May is the year before.
func (p *parser) before(pt point) point {
	for n := range leapGap + 2 {
		if pd, ok := pt.inYear(p.today.y - n); ok && !p.today.less(pd.until) {
			return point{fixed: pd}
		}
	}
	return pt
}

func (p *parser) this(i int) (point, int) {
	switch k := p.toks[i].kw; k.class() {
	case classUnit:
		u := unit(k.value())
		switch u {
		case unitHour, unitDay:
			return point{}, 0
		case unitNight:
			u = unitDay
		}
		return point{fixed: back(p.today, 0, u)}, i + 1
	case classDaytime:
		return point{fixed: dayPeriod(p.today)}, i + 1
	case classWeekday:
		if k&short != 0 {
			return point{}, 0
		}
		return point{fixed: p.weekdayOf(int(k&named), 0)}, i + 1
	case classMonth:
		if k&short != 0 || k&loose != 0 && p.toks[i].digits == 0 {
			return point{}, 0
		}
		return point{y: p.today.y, m: k.month()}, i + 1
	case classSeason:
		if pd, ok := p.resolve(point{season: k.value()}); ok && p.today.less(pd.until) {
			return point{fixed: pd}, i + 1
		}
		return point{y: p.today.y, season: k.value()}, i + 1
	}
	return point{}, 0
}

func (p *parser) next(i int) (point, int) {
	switch k := p.toks[i].kw; k.class() {
	case classUnit:
		u := unit(k.value())
		if u == unitHour || u == unitDay || u == unitNight {
			return point{}, 0
		}
		return point{fixed: back(p.today, -1, u)}, i + 1
	case classWeekday:
		if k&short != 0 {
			return point{}, 0
		}
		day := p.lastWeekday(int(k & named)).from.days(7)
		if day == p.today {
			day = day.days(7)
		}
		return point{fixed: dayPeriod(day)}, i + 1
	case classMonth, classSeason:
		pt := point{m: k.month()}
		if k.class() == classSeason {
			pt = point{season: k.value()}
		} else if k&short != 0 && p.toks[i].digits == 0 {
			return point{}, 0
		}
		if pd, ok := p.resolveFrom(pt, p.today.days(1)); ok {
			return point{fixed: pd}, i + 1
		}
	}
	return point{}, 0
}
