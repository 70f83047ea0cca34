package when

import (
	"time"

	"github.com/memsearch/memsearch"
)

// A civil is a date of the Gregorian calendar, without a zone.
type civil struct{ y, m, d int }

func civilOf(t time.Time) civil {
	y, m, d := t.Date()
	return civil{y, int(m), d}
}

// normal brings an out-of-range month or day into the calendar, as [time.Date]
// does.
func normal(y, m, d int) civil {
	return civilOf(time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC))
}

func (c civil) days(n int) civil { return normal(c.y, c.m, c.d+n) }

// months returns the first day of the month n months after c's.
func (c civil) months(n int) civil { return normal(c.y, c.m+n, 1) }

func (c civil) less(o civil) bool {
	if c.y != o.y {
		return c.y < o.y
	}
	if c.m != o.m {
		return c.m < o.m
	}
	return c.d < o.d
}

// weekday counts from Monday, 0.
func (c civil) weekday() int {
	w := time.Date(c.y, time.Month(c.m), c.d, 0, 0, 0, 0, time.UTC).Weekday()
	return (int(w) + 6) % 7
}

func (c civil) monday() civil { return c.days(-c.weekday()) }

func validDate(y, m, d int) bool {
	return y >= minYear && y <= maxYear && m >= 1 && m <= 12 && d >= 1 && normal(y, m, d) == civil{y, m, d}
}

// Years outside these bounds are taken for plain numbers.
const (
	minYear = 1000
	maxYear = 9999
)

// start returns the first instant of c in loc. Where clocks jump over midnight
// the day begins later, and where they are set back across it, at the first of
// the two midnights.
func (c civil) start(loc *time.Location) time.Time {
	t := time.Date(c.y, time.Month(c.m), c.d, 0, 0, 0, 0, loc)
	from, until := t.ZoneBounds()
	if civilOf(t).less(c) && !until.IsZero() {
		return until
	}
	if from.IsZero() {
		return t
	}
	if before := from.Add(-time.Nanosecond); civilOf(before) == c {
		_, offset := before.Zone()
		midnight := time.Date(c.y, time.Month(c.m), c.d, 0, 0, 0, 0, time.UTC)
		if first := midnight.Add(-time.Duration(offset) * time.Second).In(loc); civilOf(first) == c {
			return first
		}
	}
	return t
}

// A period is a half-open stretch of civil days. A zero bound is open.
type period struct {
	from, until civil
	gran        memsearch.Granularity
	at          civil // the day within that was counted to, if not zero
}

func stretch(from, until civil, gran memsearch.Granularity) period {
	return period{from: from, until: until, gran: gran}
}

func (p period) span(loc *time.Location) memsearch.Span {
	var s memsearch.Span
	if p.from != (civil{}) {
		s.From = p.from.start(loc)
	}
	if p.until != (civil{}) {
		s.Until = p.until.start(loc)
	}
	return s
}

func dayPeriod(c civil) period {
	return stretch(c, c.days(1), memsearch.GranularityDay)
}

// weekPeriod is the week, Monday to Sunday, that holds c.
func weekPeriod(c civil) period {
	return stretch(c.monday(), c.monday().days(7), memsearch.GranularityWeek)
}

func monthPeriod(y, m int) period {
	return stretch(normal(y, m, 1), normal(y, m+1, 1), memsearch.GranularityMonth)
}

func quarterPeriod(y, q int) period {
	return stretch(normal(y, 3*q-2, 1), normal(y, 3*q+1, 1), memsearch.GranularityQuarter)
}

func yearPeriod(y int) period {
	return stretch(civil{y, 1, 1}, civil{y + 1, 1, 1}, memsearch.GranularityYear)
}
