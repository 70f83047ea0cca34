package memfile

import (
	"strings"
	"time"

	"github.com/memsearch/memsearch"
)

// A stamp is a date or time that stands alone: in front matter, a file name, a
// heading or before an entry.
type stamp struct {
	time time.Time
	date bool // a calendar date without a time of day
	gran memsearch.Granularity
	ok   bool
}

// bound returns s as an end of a validity.
func (s stamp) bound() memsearch.Bound {
	switch {
	case !s.ok:
		return memsearch.Bound{}
	case s.date:
		y, m, d := s.time.Date()
		return memsearch.Bound{Time: time.Date(y, m, d, 0, 0, 0, 0, time.UTC), Date: true}
	}
	return memsearch.Bound{Time: s.time}
}

// span returns the stretch of time that s covers.
func (s stamp) span() memsearch.Span {
	until := s.time.Add(time.Second)
	switch s.gran {
	case memsearch.GranularityDay:
		until = s.time.AddDate(0, 0, 1)
	case memsearch.GranularityMonth:
		until = s.time.AddDate(0, 1, 0)
	case memsearch.GranularityQuarter:
		until = s.time.AddDate(0, 3, 0)
	case memsearch.GranularityYear:
		until = s.time.AddDate(1, 0, 0)
	}
	return memsearch.Span{From: s.time, Until: until}
}

func (s stamp) occurred(source memsearch.DateSource) memsearch.Occurred {
	return memsearch.Occurred{Span: s.span(), Granularity: s.gran, Source: source}
}

var stampLayouts = []struct {
	layout string
	gran   memsearch.Granularity
}{
	{"2006-1-2", memsearch.GranularityDay},
	{time.RFC3339, memsearch.GranularityInstant},
	{"2006-01-02T15:04:05", memsearch.GranularityInstant},
	{"2006-01-02T15:04", memsearch.GranularityInstant},
	{"2006-01-02 15:04:05Z07:00", memsearch.GranularityInstant},
	{"2006-01-02 15:04:05 -0700", memsearch.GranularityInstant},
	{"2006-01-02 15:04:05 -07:00", memsearch.GranularityInstant},
	{"2006-01-02 15:04:05", memsearch.GranularityInstant},
	{"2006-01-02 15:04", memsearch.GranularityInstant},
	{"2006/1/2", memsearch.GranularityDay},
	{"2006年1月2日", memsearch.GranularityDay},
	{"20060102", memsearch.GranularityDay},
	{"2006-01", memsearch.GranularityMonth},
}

func parseStamp(s string, zone *time.Location) stamp {
	if len(s) < 7 || len(s) > 40 || s[0] < '0' || s[0] > '9' {
		return stamp{}
	}
	for _, l := range stampLayouts {
		if t, err := time.ParseInLocation(l.layout, s, zone); err == nil {
			return stamp{time: t, date: l.gran != memsearch.GranularityInstant, gran: l.gran, ok: true}
		}
	}
	return stamp{}
}

// headingDate returns the absolute date that a heading or file name names.
func headingDate(s string, zone *time.Location) stamp {
	st, _ := leadingStamp(s, zone)
	return st
}

// leadingDate returns the explicit date that opens an entry, behind its bullet,
// check box and emphasis.
func leadingDate(s string, zone *time.Location) stamp {
	s = strings.TrimLeft(s, " \t")
	if n := markerLen(s); n > 0 {
		s = strings.TrimLeft(s[n:], " \t")
	}
	for _, box := range []string{"[ ]", "[x]", "[X]"} {
		s = strings.TrimPrefix(s, box)
	}
	s = strings.TrimLeft(s, " \t*_[(`【（")
	st, _ := leadingStamp(s, zone)
	return st
}

// leadingStamp reads a date or time in figures that opens s, and its length.
func leadingStamp(s string, zone *time.Location) (stamp, int) {
	if len(s) < 8 || s[0] < '1' || s[0] > '2' {
		return stamp{}, 0
	}
	n := 0
	for n < len(s) && n < 40 && (s[n] >= '0' && s[n] <= '9' || strings.IndexByte("-/:TZ+. ", s[n]) >= 0 || s[n] >= 0x80) {
		n++
	}
	head := cut(s[:n], n)
	for _, size := range []int{len(head), 25, 20, 19, 16, 17, 16, 15, 14, 10, 9, 8} {
		if size > len(head) {
			continue
		}
		if size < len(s) && s[size] >= '0' && s[size] <= '9' {
			continue
		}
		if size == 8 && strings.IndexByte(head[:8], '-') < 0 && strings.IndexByte(head[:8], '/') < 0 {
			continue
		}
		if st := parseStamp(strings.TrimRight(head[:size], " :.-"), zone); st.ok && st.gran <= memsearch.GranularityDay {
			return st, size
		}
	}
	return stamp{}, 0
}
