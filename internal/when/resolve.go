package when

import "github.com/memsearch/memsearch"

// inYear returns the period that pt names in year y.
func (pt point) inYear(y int) (period, bool) {
	switch {
	case pt.season != 0:
		m := 3 * pt.season
		return stretch(normal(y, m, 1), normal(y, m+3, 1), memsearch.GranularityQuarter), true
	case pt.quarter != 0:
		return quarterPeriod(y, pt.quarter), true
	case pt.half != 0:
		m := 6*pt.half - 5
		return stretch(normal(y, m, 1), normal(y, m+6, 1), memsearch.GranularityRange), true
	case pt.d != 0:
		return dayPeriod(civil{y, pt.m, pt.d}), validDate(y, pt.m, pt.d)
	case pt.m != 0:
		return third(monthPeriod(y, pt.m), pt.third), true
	}
	return third(yearPeriod(y), pt.third), true
}

// third cuts a month into days 1-10, 11-20 and the rest, and a year into three
// times four months.
func third(p period, n int) period {
	switch {
	case n == 0:
	case p.gran == memsearch.GranularityMonth:
		from, until := p.from.days(10*(n-1)), p.from.days(10*n)
		if n == 3 {
			until = p.until
		}
		return stretch(from, until, memsearch.GranularityWeek)
	case p.gran == memsearch.GranularityYear:
		return stretch(p.from.months(4*(n-1)), p.from.months(4*n), memsearch.GranularityQuarter)
	}
	return p
}

func (pt point) isFixed() bool { return pt.fixed.from != civil{} || pt.fixed.until != civil{} }

// leapGap is the most years between two dates 29 February.
const leapGap = 8

// resolve returns the period pt means today: without a year, the most recent
// one that has begun. A day and month may also be tomorrow, which it may be
// already where the writer is.
func (p *parser) resolve(pt point) (period, bool) {
	switch {
	case pt.void:
		return period{}, false
	case pt.isFixed():
		return third(pt.fixed, pt.third), true
	case pt.y != 0:
		return pt.inYear(pt.y)
	case pt.m == 0 && pt.d != 0:
		for n := range 12 {
			first := p.today.months(-n)
			if day := (civil{first.y, first.m, pt.d}); validDate(day.y, day.m, day.d) && !p.today.less(day) {
				return dayPeriod(day), true
			}
		}
		return period{}, false
	}
	latest := p.today
	if pt.d != 0 {
		latest = latest.days(1)
	}
	for n := range leapGap + 1 {
		if pd, ok := pt.inYear(latest.y - n); ok && !latest.less(pd.from) {
			return pd, true
		}
	}
	return period{}, false
}

// resolveFrom returns the first period that pt can mean on or after a day.
func (p *parser) resolveFrom(pt point, day civil) (period, bool) {
	if pt.isFixed() || pt.y != 0 {
		pd, ok := p.resolve(pt)
		for n := 0; n < 2 && ok && pt.weekday && pd.from.less(day); n++ {
			pd.from, pd.until = pd.from.days(7), pd.until.days(7)
		}
		return pd, ok
	}
	for n := range leapGap + 1 {
		if pd, ok := pt.inYear(day.y + n); ok && !pd.from.less(day) {
			return pd, true
		}
	}
	return period{}, false
}

// between returns the period from a to b, both included. What one end leaves
// out it takes from the other: "March to May 2024", "8 to 10 May".
func (p *parser) between(a, b point) (period, bool) {
	if !a.isFixed() && !b.isFixed() {
		switch {
		case b.m == 0 && b.d != 0:
			b.m, b.y = a.m, a.y
		case a.m == 0 && a.d != 0:
			a.m, a.y = b.m, b.y
		}
		if a.y == 0 && b.y != 0 {
			if a.y = b.y; b.m != 0 && (a.m > b.m || a.m == b.m && b.d != 0 && a.d > b.d) {
				a.y--
			}
		}
	}
	from, ok := p.resolve(a)
	if !ok {
		return period{}, false
	}
	until, ok := p.resolveFrom(b, from.from)
	if !ok {
		return period{}, false
	}
	if a.isFixed() && b.isFixed() && until.from.less(from.from) {
		from, until = until, from
	}
	if until.until.less(from.until) || from.from == (civil{}) || until.until == (civil{}) {
		return period{}, false
	}
	return stretch(from.from, until.until, memsearch.GranularityRange), true
}

// back returns the period n units before a day: that day, or the calendar week,
// month, quarter or year it lies in.
func back(day civil, n int, u unit) period {
	switch u {
	case unitWeek:
		return weekPeriod(day.days(-7 * n))
	case unitMonth:
		first := day.months(-n)
		return monthPeriod(first.y, first.m)
	case unitQuarter:
		first := day.months(-3 * n)
		return quarterPeriod(first.y, (first.m+2)/3)
	case unitYear:
		return yearPeriod(day.y - n)
	case unitWeekend:
		// The last weekend ended before today, or is the one that today is in.
		saturday := day.monday().days(5 - 7*n)
		return stretch(saturday, saturday.days(2), memsearch.GranularityWeek)
	}
	return dayPeriod(day.days(-n))
}

// countBack is back for units that are counted from a day: of a week it says
// which day is meant.
func countBack(day civil, n int, u unit) period {
	pd := back(day, n, u)
	if u == unitWeek {
		pd.at = day.days(-7 * n)
	}
	return pd
}

// sameDay returns the day n weeks, months or years before a day.
func sameDay(day civil, n int, u unit) (period, bool) {
	switch u {
	case unitWeek:
		return dayPeriod(day.days(-7 * n)), true
	case unitMonth, unitYear:
		if u == unitYear {
			n *= 12
		}
		first := day.months(-n)
		return dayPeriod(civil{first.y, first.m, day.d}), validDate(first.y, first.m, day.d)
	}
	return period{}, false
}

// trailing returns the n units that end with today.
func (p *parser) trailing(n int, u unit) period {
	from := p.today
	switch u {
	case unitHour:
		from = from.days(-(n + 23) / 24)
	case unitWeek:
		from = from.days(-7 * n)
	case unitMonth, unitQuarter, unitYear:
		months := n * map[unit]int{unitMonth: 1, unitQuarter: 3, unitYear: 12}[u]
		first := from.months(-months)
		from = civil{first.y, first.m, min(from.d, first.months(1).days(-1).d)}
	case unitWeekend:
		from = from.monday().days(5 - 7*n)
	default:
		from = from.days(-n)
	}
	return stretch(from, p.today.days(1), memsearch.GranularityRange)
}

// weekdayOf returns the day of the week, 0 Monday, n weeks after this one.
func (p *parser) weekdayOf(day, n int) period {
	return dayPeriod(p.today.monday().days(7*n + day))
}

// lastWeekday returns the most recent such day before today.
func (p *parser) lastWeekday(day int) period {
	n := (p.today.weekday() - day + 7) % 7
	if n == 0 {
		n = 7
	}
	return dayPeriod(p.today.days(-n))
}

// maxCount bounds the units one can count back, so that years stay in the calendar.
func maxCount(u unit) int {
	switch u {
	case unitYear:
		return 500
	case unitMonth, unitQuarter:
		return 2000
	}
	return 50000
}
