package memsearch

import "time"

// A Span is a half-open stretch of time, [From, Until). A zero bound is open.
type Span struct {
	From, Until time.Time
}

// Contains reports whether t lies in s.
func (s Span) Contains(t time.Time) bool {
	return (s.From.IsZero() || !t.Before(s.From)) && (s.Until.IsZero() || t.Before(s.Until))
}

// Overlaps reports whether s and o share an instant. An empty span shares none.
func (s Span) Overlaps(o Span) bool {
	if o.From.After(s.From) { // a zero From is the earliest anyway
		s.From = o.From
	}
	if s.Until.IsZero() || !o.Until.IsZero() && o.Until.Before(s.Until) {
		s.Until = o.Until
	}
	return s.From.IsZero() || s.Until.IsZero() || s.From.Before(s.Until)
}

// A Bound is one end of a [Validity]: an instant, or a civil date that is
// compared with the civil date of the moment asked about, in that moment's own
// zone. The zero Bound is open.
type Bound struct {
	Time time.Time // for a civil date: its midnight, UTC
	Date bool      // only the calendar date of Time counts
}

// IsZero reports whether b is open.
func (b Bound) IsZero() bool { return b.Time.IsZero() }

// After reports whether b lies after t: t is before the instant, or on a day
// before the date.
func (b Bound) After(t time.Time) bool {
	if b.Date {
		return CivilDay(t) < CivilDay(b.Time)
	}
	return t.Before(b.Time)
}

// String returns the date or RFC 3339 time, or "" when b is open.
func (b Bound) String() string {
	switch {
	case b.IsZero():
		return ""
	case b.Date:
		return b.Time.Format(time.DateOnly)
	}
	return b.Time.Format(time.RFC3339)
}

// CivilDay returns the number of days from 1970-01-01 to the calendar date of t
// in t's own location.
func CivilDay(t time.Time) int64 {
	y, m, d := t.Date()
	return floorDiv(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix(), 86400)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// A Validity is when a fact holds in the world: [From, Until).
type Validity struct {
	From, Until Bound
}

// Holds reports whether the fact holds at t.
func (v Validity) Holds(t time.Time) bool {
	return !v.From.After(t) && (v.Until.IsZero() || v.Until.After(t))
}

// A Granularity is how exactly a date is known, coarser being larger.
type Granularity int

// The granularities of a date.
const (
	GranularityInstant Granularity = iota
	GranularityDay
	GranularityWeek
	GranularityMonth
	GranularityQuarter
	GranularityYear
	GranularityRange // explicit bounds, any length
)

// A DateSource says where the date of a unit comes from, best evidence first.
type DateSource string

// The sources of a unit's date.
const (
	DateNone        DateSource = ""
	DateText        DateSource = "text"         // an explicit date that opens the entry
	DateHeading     DateSource = "heading"      // a dated heading above it
	DateFileName    DateSource = "file_name"    // 2026-03-12.md
	DateFrontMatter DateSource = "front_matter" // date or created_at
	DateModTime     DateSource = "mtime"        // weak: when the file was last written
)

// Occurred is when something happened or was noted. It is shown and matched by
// date questions. It says nothing about whether a fact holds, and it filters only
// where a [Query] has Since or Until.
type Occurred struct {
	Span        Span
	Granularity Granularity
	Source      DateSource
}
