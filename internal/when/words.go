package when

import (
	"fmt"
	"strings"
	"time"

	"github.com/memsearch/memsearch"
)

// Words writes the date of a unit out in English and Chinese, for an index of
// words: ISO, month, weekday and year for a day, month and year for anything
// coarser. It is empty without a date, and for the time of last change, which
// says little about the content. The days are those of loc (nil: UTC).
func Words(o memsearch.Occurred, loc *time.Location) string {
	if o.Source == memsearch.DateNone || o.Source == memsearch.DateModTime {
		return ""
	}
	from, until := o.Span.From, o.Span.Until
	if from.IsZero() && until.IsZero() {
		return ""
	}
	loc = orUTC(loc)
	var first, last civil
	if !until.IsZero() {
		last = civilOf(until.Add(-time.Nanosecond).In(loc))
		first = last
	}
	if !from.IsZero() {
		first = civilOf(from.In(loc))
		if until.IsZero() || last.less(first) {
			last = first
		}
	}
	switch o.Granularity {
	case memsearch.GranularityInstant, memsearch.GranularityDay:
		return dayWords(first)
	case memsearch.GranularityQuarter:
		q := (first.m + 2) / 3
		return fmt.Sprintf("Q%d %d %s quarter %d年第%s季度", q, first.y, ordinals[q], first.y, hanDigits[q])
	case memsearch.GranularityYear:
		return fmt.Sprintf("%d %d年", first.y, first.y)
	}
	words := monthWords(first)
	if first.y != last.y || first.m != last.m {
		words += " " + monthWords(last)
	}
	return words
}

var (
	ordinals  = [...]string{1: "first", 2: "second", 3: "third", 4: "fourth"}
	hanDigits = [...]string{1: "一", 2: "二", 3: "三", 4: "四", 5: "五", 6: "六", 7: "日"}
)

func dayWords(c civil) string {
	month, weekday := time.Month(c.m), time.Weekday((c.weekday()+1)%7)
	han := hanDigits[c.weekday()+1]
	var b strings.Builder
	fmt.Fprintf(&b, "%04d-%02d-%02d %s %d%s %d %d %s %s ", c.y, c.m, c.d, month, c.d, suffix(c.d), c.y, c.d, month, weekday)
	fmt.Fprintf(&b, "%d年%d月%d日 %d月%d号 星期%s 周%s", c.y, c.m, c.d, c.m, c.d, han, han)
	return b.String()
}

func monthWords(c civil) string {
	return fmt.Sprintf("%s %d %d年%d月", time.Month(c.m), c.y, c.y, c.m)
}

func suffix(d int) string {
	switch {
	case d/10 == 1:
		return "th"
	case d%10 == 1:
		return "st"
	case d%10 == 2:
		return "nd"
	case d%10 == 3:
		return "rd"
	}
	return "th"
}
