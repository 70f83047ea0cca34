package main

import (
	"os"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/when"
)

// momentHint shows how to write a moment.
const momentHint = "2026-11-29 or 2026-11-29T10:15:00Z"

// nowVariable names the environment variable that holds the clock.
const nowVariable = "MEMSEARCH_NOW"

// clock returns the clock of a command: nil for that of the machine, else one that
// stands at the moment in the environment, as a replay sets it for the agents it
// runs.
func clock(zone *time.Location) (func() time.Time, error) {
	s := os.Getenv(nowVariable)
	if s == "" {
		return nil, nil
	}
	t, err := when.Moment(s, zone, false)
	if err != nil {
		return nil, usage(momentHint, "%s: %w", nowVariable, err)
	}
	return func() time.Time { return t }, nil
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
