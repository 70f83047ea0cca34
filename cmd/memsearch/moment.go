package main

import (
	"fmt"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/when"
)

// momentHint shows how to write a moment.
const momentHint = "2026-11-29 or 2026-11-29T10:15:00Z"

// moment reads a date or time; with end, a bare date is the end of its day, a month
// the end of that, and so on.
func moment(s string, zone *time.Location, end bool) (time.Time, error) {
	t, dateOnly, gran, ok := when.ParseStamp(s, zone)
	if !ok {
		return t, fmt.Errorf("%q is not a date or time", s)
	}
	if dateOnly && end {
		t = after(t, gran)
	}
	return t, nil
}

// after is the first moment after the date of this granularity that begins at t.
func after(t time.Time, g memsearch.Granularity) time.Time {
	switch g {
	case memsearch.GranularityWeek:
		return t.AddDate(0, 0, 7)
	case memsearch.GranularityMonth:
		return t.AddDate(0, 1, 0)
	case memsearch.GranularityQuarter:
		return t.AddDate(0, 3, 0)
	case memsearch.GranularityYear:
		return t.AddDate(1, 0, 0)
	}
	return t.AddDate(0, 0, 1)
}

// bound reads one end of a validity given as --flag. A bare date is a civil date.
func bound(flag, s string, zone *time.Location) (memsearch.Bound, error) {
	if s == "" {
		return memsearch.Bound{}, nil
	}
	t, dateOnly, _, ok := when.ParseStamp(s, zone)
	if !ok {
		return memsearch.Bound{}, usage(momentHint, "--%s: %q is not a date or time", flag, s)
	}
	if dateOnly {
		t = time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	}
	return memsearch.Bound{Time: t, Date: dateOnly}, nil
}
