package memfile

import (
	"regexp"
	"strings"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/when"
)

// A stamp is a date or time that stands alone: in front matter, a file name, a
// heading or before an entry.
type stamp struct {
	span memsearch.Span
	date bool // a calendar date without a time of day
	gran memsearch.Granularity
	ok   bool
}

// instant returns the stamp of a moment, which covers a second.
func instant(t time.Time) stamp {
	return stamp{span: memsearch.Span{From: t, Until: t.Add(time.Second)}, ok: true}
}

// time returns the first moment of s, zero when there is none.
func (s stamp) time() time.Time { return s.span.From }

// bound returns s as an end of a validity.
func (s stamp) bound() memsearch.Bound {
	if s.ok && s.date {
		y, m, d := s.time().Date()
		return memsearch.Bound{Time: time.Date(y, m, d, 0, 0, 0, 0, time.UTC), Date: true}
	}
	return memsearch.Bound{Time: s.time()}
}

func (s stamp) occurred(source memsearch.DateSource) memsearch.Occurred {
	return memsearch.Occurred{Span: s.span, Granularity: s.gran, Source: source}
}

// parseStamp reads a date that is all of s.
func parseStamp(s string, zone *time.Location) stamp {
	if ambiguous(s) {
		return stamp{}
	}
	t, date, gran, ok := when.ParseStamp(s, zone)
	switch {
	case !ok:
		return stamp{}
	case !date:
		return instant(t)
	}
	until := t.AddDate(0, 0, 1)
	switch gran {
	case memsearch.GranularityWeek:
		until = t.AddDate(0, 0, 7)
	case memsearch.GranularityMonth:
		until = t.AddDate(0, 1, 0)
	case memsearch.GranularityQuarter:
		until = t.AddDate(0, 3, 0)
	case memsearch.GranularityYear:
		until = t.AddDate(1, 0, 0)
	}
	return stamp{span: memsearch.Span{From: t, Until: until}, date: true, gran: gran, ok: true}
}

// ambiguous reports whether s opens like 02/01/2026, which is another day on
// either side of an ocean.
func ambiguous(s string) bool {
	var n [3]int
	for i := range n {
		digits := 0
		for digits < len(s) && s[digits] >= '0' && s[digits] <= '9' {
			n[i] = min(10*n[i]+int(s[digits]-'0'), 1e6)
			digits++
		}
		if digits == 0 {
			return false
		}
		s = s[digits:]
		if i < 2 {
			if s == "" || s[0] != '/' && s[0] != '-' {
				return false
			}
			s = s[1:]
		}
	}
	return n[0] <= 12 && n[1] <= 12 && n[0] != n[1] && n[2] > 1000
}

// headingDate returns the full date that a heading names.
func headingDate(s string, zone *time.Location) stamp {
	if !strings.ContainsAny(s, "0123456789年") {
		return stamp{}
	}
	if st := parseStamp(s, zone); st.ok && st.gran <= memsearch.GranularityDay {
		return st
	}
	span, gran, ok := when.Heading(s, zone)
	return stamp{span: span, date: ok, gran: gran, ok: ok}
}

// fileDate returns the date of the file by its name and the folders it is in, and
// whether they say nothing else. A file that is named after its
// id holds the day it was recorded, which its front matter says more exactly.
func (p *parser) fileDate() (s stamp, alone bool) {
	m := &p.file.Memory
	if !m.DerivedID && strings.Contains(baseName(m.Path), m.ID) {
		return stamp{}, false
	}
	span, gran, alone, ok := when.FilePath(m.Path, p.opts.zone())
	return stamp{span: span, date: ok, gran: gran, ok: ok}, alone
}

// folderDate returns the date of the folder that the file is in.
func (p *parser) folderDate() stamp {
	span, gran, ok := when.Folder(p.file.Memory.Path, p.opts.zone())
	return stamp{span: span, date: ok, gran: gran, ok: ok}
}

// figures is a date in figures that opens an entry, with its time of day.
var figures = regexp.MustCompile(`^(\d{4}(?:-\d{1,2}-\d{1,2}|/\d{1,2}/\d{1,2}|\.\d{1,2}\.\d{1,2}|年\d{1,2}月\d{1,2}[日号]))` +
	`(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?: ?(?:Z|[+-]\d{2}:?\d{2})\b)?)?`)

// leadingDate returns the explicit date that opens an entry, behind its bullet,
// check box and emphasis. A date in words must be set off from what follows.
func leadingDate(s string, zone *time.Location) stamp {
	s = strings.TrimLeft(s, " \t")
	if n := markerLen(s); n == 1 {
		s = strings.TrimLeft(s[n:], " \t")
	}
	s = trimBox(s)
	s = strings.TrimLeft(s, " \t*_[(`【（")
	if len(s) < 8 {
		return stamp{}
	}
	if c := s[0]; c >= '0' && c <= '9' {
		if m := figures.FindStringSubmatch(cut(s, 48)); m != nil {
			if next := len(m[1]); next < len(s) && s[next] >= '0' && s[next] <= '9' {
				return stamp{}
			}
			if st := parseStamp(m[1], zone); st.ok {
				if until := rangeEnd(s[len(m[1]):], zone); until.ok && until.span.From.After(st.span.From) {
					st.span.Until, st.gran = until.span.Until, memsearch.GranularityRange
					return st
				}
			}
			if st := parseStamp(m[0], zone); st.ok {
				return st
			}
			return parseStamp(m[1], zone)
		}
	} else if c < 'A' || c > 'Z' {
		return stamp{}
	}
	head := cut(s, 40)
	for _, end := range []string{":", "：", " - ", " – ", "—", "]", ")", "*", "_"} {
		head, _, _ = strings.Cut(head, end)
	}
	if len(head) == len(s) || len(head) == 40 || !strings.ContainsAny(head, "0123456789") {
		return stamp{}
	}
	if st := parseStamp(head, zone); st.ok && st.gran <= memsearch.GranularityDay {
		return st
	}
	return stamp{}
}

// rangeEnd returns the date that s makes the end of a range by the words before
// it.
func rangeEnd(s string, zone *time.Location) stamp {
	s = strings.TrimLeft(s, " ")
	for _, mark := range []string{"..", "to ", "until ", "-", "–", "—", "~", "～", "到", "至"} {
		if rest, ok := strings.CutPrefix(s, mark); ok {
			if m := figures.FindStringSubmatch(cut(strings.TrimLeft(rest, " "), 48)); m != nil {
				return parseStamp(m[1], zone)
			}
		}
	}
	return stamp{}
}

// trimBox drops the check box of a task.
func trimBox(s string) string {
	for _, box := range []string{"[ ] ", "[x] ", "[X] "} {
		if rest, ok := strings.CutPrefix(s, box); ok {
			return strings.TrimLeft(rest, " \t")
		}
	}
	return s
}
