package when

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/memsearch/memsearch"
)

// ParseStamp reads a date that stands alone, as in front matter: 2026-03-12,
// 20260312, 2026/3/12, 12.03.2026, 2026年3月12日, March 12, 2026, any of them
// with a time of day (10:15, T10:15:00.5Z, 10:15 +08:00), and the coarser 2026-03,
// 2026-W12, 2026-Q1 and 2026. A date without a zone is read in loc (nil: UTC).
//
// For a date without a time, dateOnly is true and t is the first moment of its
// first day in loc. ok is false for anything else, such as a date that no
// calendar has.
func ParseStamp(s string, loc *time.Location) (t time.Time, dateOnly bool, gran memsearch.Granularity, ok bool) {
	loc = orUTC(loc)
	s = strings.Trim(s, " \t\r\n\"'")
	if len(s) > longestStamp {
		return time.Time{}, false, 0, false
	}
	p := &parser{text: s, toks: lex(s)}
	last := p.end()
	if pt, next := p.fullDate(1); next != 0 {
		day := civil{pt.y, pt.m, pt.d}
		if next == last {
			return day.start(loc), true, memsearch.GranularityDay, true
		}
		if t, n := clock(s[p.toks[next-1].end:], day, loc); n != 0 && int(p.toks[next-1].end)+n == len(s) {
			return t, false, memsearch.GranularityInstant, true
		}
		return time.Time{}, false, 0, false
	}
	if t, ok := p.compactTime(1, loc); ok && last == 2 {
		return t, false, memsearch.GranularityInstant, true
	}
	if pd, next := p.coarse(1); next == last {
		return pd.from.start(loc), true, pd.gran, true
	}
	return time.Time{}, false, 0, false
}

// longestStamp bounds the text that is tried as a single date.
const longestStamp = 80

func orUTC(loc *time.Location) *time.Location {
	if loc == nil {
		return time.UTC
	}
	return loc
}

// FileName finds the full date in the name of a file without its folder:
// 2026-03-12.md, 20260312-standup.md, standup_2026.03.12.md.
func FileName(base string, loc *time.Location) (memsearch.Span, memsearch.Granularity, bool) {
	p := &parser{text: base, toks: lex(base)}
	for i := 1; i < p.end(); i++ {
		pt, next := p.fullDate(i)
		if next == 0 {
			pt, next = p.compactHead(i)
		}
		if next == 0 || !p.apart(i, next) {
			continue
		}
		return dayPeriod(civil{pt.y, pt.m, pt.d}).span(orUTC(loc)), memsearch.GranularityDay, true
	}
	return memsearch.Span{}, 0, false
}

// apart reports whether the date in tokens [i, next) is not a piece of a longer
// number.
func (p *parser) apart(i, next int) bool {
	if i > 2 && p.glued(i) && p.toks[i-1].kind == kindMark && p.glued(i-1) && p.toks[i-2].kind == kindNumber &&
		p.toks[i-1].val == '.' {
		return false
	}
	t := p.toks[i-1]
	return !(i > 1 && p.glued(i) && t.kind == kindWord) || p.toks[i].kind != kindNumber
}

// Heading finds the first full date in a heading.
func Heading(text string, loc *time.Location) (memsearch.Span, memsearch.Granularity, bool) {
	p := &parser{text: text, toks: lex(text)}
	for i := 1; i < p.end(); i++ {
		pt, next := p.fullDate(i)
		if next == 0 {
			pt, next = p.compact(i)
		}
		if next == 0 || p.toks[i].kind == kindNumber && !p.whole(i, next) {
			continue
		}
		return dayPeriod(civil{pt.y, pt.m, pt.d}).span(orUTC(loc)), memsearch.GranularityDay, true
	}
	return memsearch.Span{}, 0, false
}

// fullDate reads a date that says year, month and day.
func (p *parser) fullDate(i int) (point, int) {
	pt, next := p.numeric(i)
	if next == 0 {
		pt, next = p.named(i)
	}
	if next == 0 {
		pt, next = p.hanDate(i)
	}
	if next == 0 {
		pt, next = p.compact(i)
	}
	if !pt.full() {
		return point{}, 0
	}
	return pt, next
}

// compact reads 20260312.
func (p *parser) compact(i int) (point, int) {
	if t := p.toks[i]; t.kind != kindNumber || t.digits != 8 {
		return point{}, 0
	}
	return p.compactHead(i)
}

// compactHead reads the date that begins 20260312, 202603121015 or 20260312101500.
func (p *parser) compactHead(i int) (point, int) {
	t := p.toks[i]
	if t.kind != kindNumber || t.digits != 8 && t.digits != 12 && t.digits != 14 || int(t.end-t.start) != int(t.digits) {
		return point{}, 0
	}
	n, err := strconv.Atoi(p.text[t.start : t.start+8])
	if err != nil {
		return point{}, 0
	}
	y, m, d := n/10000, n/100%100, n%100
	if y < 1900 || y > newestYear || !validDate(y, m, d) {
		return point{}, 0
	}
	return point{y: y, m: m, d: d}, i + 1
}

// compactTime reads 202603121015 and 20260312101500.
func (p *parser) compactTime(i int, loc *time.Location) (time.Time, bool) {
	pt, next := p.compactHead(i)
	if next == 0 || p.toks[i].digits == 8 {
		return time.Time{}, false
	}
	s := p.text[p.toks[i].start:p.toks[i].end]
	t, n := clock("T"+s[8:], civil{pt.y, pt.m, pt.d}, loc)
	return t, n != 0
}

// coarse reads 2026-03, 2026年3月, March 2026, 2026-W12, 2026-Q1, 2026 and 2026年.
func (p *parser) coarse(i int) (period, int) {
	pt, next := p.named(i)
	if next == 0 {
		pt, next = p.hanDate(i)
	}
	if next != 0 {
		switch {
		case pt.y == 0 || pt.d != 0 || pt.void:
			return period{}, 0
		case pt.m == 0:
			return yearPeriod(pt.y), next
		}
		return monthPeriod(pt.y, pt.m), next
	}
	y, ok := p.year(i)
	if !ok {
		return period{}, 0
	}
	if pd, next := p.dashed(i); next != 0 {
		return pd, next
	}
	return yearPeriod(y), i + 1
}

// dashed reads 2026-03, 2026/03, 2026-W12 and 2026-Q1.
func (p *parser) dashed(i int) (period, int) {
	y, ok := p.year(i)
	if !ok || !p.glued(i+1) || !p.mark(i+1, '-') && !p.mark(i+1, '/') || !p.glued(i+2) {
		return period{}, 0
	}
	if m, ok := p.number(i+2, 2); ok && p.toks[i+2].digits == 2 && m >= 1 && m <= 12 {
		return monthPeriod(y, m), i + 3
	}
	n, ok := p.number(i+3, 2)
	if !ok || !p.glued(i+3) || !p.mark(i+1, '-') {
		return period{}, 0
	}
	switch k := p.toks[i+2].kw; {
	case k == otherQ && n >= 1 && n <= 4:
		return quarterPeriod(y, n), i + 4
	case k == otherW && n >= 1 && n <= isoWeeks(y):
		return weekPeriod(civil{y, 1, 4}.days(7 * (n - 1))), i + 4
	}
	return period{}, 0
}

func isoWeeks(y int) int {
	_, n := time.Date(y, 12, 28, 0, 0, 0, 0, time.UTC).ISOWeek()
	return n
}

// Moment reads a moment that a person or an agent gives: what [ParseStamp] reads.
// With end, a bare date is the end of its day, a month the end of that, and so on.
func Moment(s string, loc *time.Location, end bool) (time.Time, error) {
	t, dateOnly, gran, ok := ParseStamp(s, loc)
	switch {
	case !ok:
		return t, fmt.Errorf("%q is not a date or time", s)
	case !dateOnly || !end:
		return t, nil
	}
	switch gran {
	case memsearch.GranularityWeek:
		return t.AddDate(0, 0, 7), nil
	case memsearch.GranularityMonth:
		return t.AddDate(0, 1, 0), nil
	case memsearch.GranularityQuarter:
		return t.AddDate(0, 3, 0), nil
	case memsearch.GranularityYear:
		return t.AddDate(1, 0, 0), nil
	}
	return t.AddDate(0, 0, 1), nil
}
