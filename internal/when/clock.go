package when

import (
	"strings"
	"time"
)

// clock reads the time of day that follows a date, with its zone, and returns
// the bytes it took, or 0.
func clock(s string, day civil, loc *time.Location) (time.Time, int) {
	rest := strings.TrimLeft(s, " \t")
	basic := rest != "" && (rest[0] == 'T' || rest[0] == 't')
	if basic {
		rest = rest[1:]
	} else if len(rest) == len(s) {
		return time.Time{}, 0
	}
	h, rest, ok := twoDigits(rest, 23)
	if !ok {
		return time.Time{}, 0
	}
	rest, colon := strings.CutPrefix(rest, ":")
	if !colon && !basic {
		return time.Time{}, 0
	}
	m, rest, ok := twoDigits(rest, 59)
	if !ok {
		return time.Time{}, 0
	}
	sec, nanos := 0, 0
	if tail, more := strings.CutPrefix(rest, ":"); more && colon || !colon && startsDigit(rest) {
		if sec, rest, ok = twoDigits(tail, 59); !ok {
			return time.Time{}, 0
		}
		nanos, rest = fraction(rest)
	}
	zone, rest, ok := offset(rest, loc)
	if !ok {
		return time.Time{}, 0
	}
	return time.Date(day.y, time.Month(day.m), day.d, h, m, sec, nanos, zone), len(s) - len(rest)
}

func startsDigit(s string) bool { return s != "" && '0' <= s[0] && s[0] <= '9' }

// twoDigits reads a number of two digits that is at most most. A number of one
// digit may stand before a colon.
func twoDigits(s string, most int) (n int, rest string, ok bool) {
	if len(s) >= 2 && startsDigit(s) && s[1] == ':' {
		return int(s[0] - '0'), s[1:], true
	}
	if len(s) < 2 || !startsDigit(s) || !startsDigit(s[1:]) {
		return 0, s, false
	}
	n = int(s[0]-'0')*10 + int(s[1]-'0')
	return n, s[2:], n <= most
}

// fraction reads .123 or ,123 as nanoseconds.
func fraction(s string) (int, string) {
	if len(s) < 2 || s[0] != '.' && s[0] != ',' || !startsDigit(s[1:]) {
		return 0, s
	}
	n, digits := 0, 0
	for s = s[1:]; startsDigit(s); s = s[1:] {
		if digits < 9 {
			n, digits = n*10+int(s[0]-'0'), digits+1
		}
	}
	for ; digits < 9; digits++ {
		n *= 10
	}
	return n, s
}

// offset reads Z, UTC, +08:00, +0800 or +08. Without one the zone is loc.
func offset(s string, loc *time.Location) (*time.Location, string, bool) {
	rest := strings.TrimLeft(s, " ")
	for _, name := range []string{"Z", "z", "UTC", "GMT"} {
		if tail, ok := strings.CutPrefix(rest, name); ok {
			return time.UTC, tail, true
		}
	}
	if rest == "" || rest[0] != '+' && rest[0] != '-' {
		return loc, s, true
	}
	sign := 1
	if rest[0] == '-' {
		sign = -1
	}
	h, rest, ok := twoDigits(rest[1:], 15)
	if !ok {
		return nil, s, false
	}
	m := 0
	rest, colon := strings.CutPrefix(rest, ":")
	if colon || startsDigit(rest) {
		if m, rest, ok = twoDigits(rest, 59); !ok {
			return nil, s, false
		}
	}
	if h == 0 && m == 0 {
		return time.UTC, rest, true
	}
	return time.FixedZone("", sign*(h*60+m)*60), rest, true
}
