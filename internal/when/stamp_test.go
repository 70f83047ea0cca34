package when_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/when"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Skipf("no time zone database: %v", err)
	}
	return loc
}

type stamp struct {
	Time     string
	DateOnly bool
	Gran     memsearch.Granularity
	OK       bool
}

func TestParseStamp(t *testing.T) {
	shanghai := time.FixedZone("", 8*3600)
	day := func(s string) stamp { return stamp{s + "T00:00:00+08:00", true, memsearch.GranularityDay, true} }
	instant := func(s string) stamp { return stamp{s, false, memsearch.GranularityInstant, true} }
	for in, want := range map[string]stamp{
		"2026-03-12":                     day("2026-03-12"),
		" \"2026-03-12\" ":               day("2026-03-12"),
		"20260312":                       day("2026-03-12"),
		"2026/3/12":                      day("2026-03-12"),
		"2026.03.12":                     day("2026-03-12"),
		"12.03.2026":                     day("2026-03-12"),
		"2026年3月12日":                     day("2026-03-12"),
		"二〇二六年三月十二日":                     day("2026-03-12"),
		"２０２６－０３－１２":                     day("2026-03-12"),
		"2026 年 3 月 12 日":                day("2026-03-12"),
		"March 12, 2026":                 day("2026-03-12"),
		"12 March 2026":                  day("2026-03-12"),
		"Thu, 12 Mar 2026":               day("2026-03-12"),
		"2024-02-29":                     day("2024-02-29"),
		"2026-03-12T10:15:00Z":           instant("2026-03-12T10:15:00Z"),
		"2026-03-12T10:15:00.250Z":       instant("2026-03-12T10:15:00.25Z"),
		"2026-03-12T10:15:00+01:00":      instant("2026-03-12T10:15:00+01:00"),
		"2026-03-12 10:15":               instant("2026-03-12T10:15:00+08:00"),
		"2026-03-12 9:05":                instant("2026-03-12T09:05:00+08:00"),
		"2026-03-12 10:15:30 -0530":      instant("2026-03-12T10:15:30-05:30"),
		"2026-03-12 10:15 UTC":           instant("2026-03-12T10:15:00Z"),
		"20260312T101500Z":               instant("2026-03-12T10:15:00Z"),
		"20260312101500":                 instant("2026-03-12T10:15:00+08:00"),
		"202603121015":                   instant("2026-03-12T10:15:00+08:00"),
		"Thu, 12 Mar 2026 10:15:00 +000": {},
		"2026-03":                        {"2026-03-01T00:00:00+08:00", true, memsearch.GranularityMonth, true},
		"2026年3月":                        {"2026-03-01T00:00:00+08:00", true, memsearch.GranularityMonth, true},
		"March 2026":                     {"2026-03-01T00:00:00+08:00", true, memsearch.GranularityMonth, true},
		"2026":                           {"2026-01-01T00:00:00+08:00", true, memsearch.GranularityYear, true},
		"2026-Q2":                        {"2026-04-01T00:00:00+08:00", true, memsearch.GranularityQuarter, true},
		"2026-W01":                       {"2025-12-29T00:00:00+08:00", true, memsearch.GranularityWeek, true},
		"2026-W53":                       {"2026-12-28T00:00:00+08:00", true, memsearch.GranularityWeek, true},
		"2025-W53":                       {},
		"2026-02-30":                     {},
		"2025-02-29":                     {},
		"2026-13-01":                     {},
		"20261301":                       {},
		"2026-03-12T25:00:00Z":           {},
		"2026-03-12T10:61":               {},
		"2026-03-12 and more":            {},
		"March 12":                       {},
		"v2.6.3":                         {},
		"2.6.3":                          {},
		"10:30":                          {},
		"yesterday":                      {},
		"99999999999999999999":           {},
		"":                               {},
	} {
		tm, dateOnly, gran, ok := when.ParseStamp(in, shanghai)
		got := stamp{DateOnly: dateOnly, Gran: gran, OK: ok}
		if ok {
			got.Time = tm.Format(time.RFC3339Nano)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("ParseStamp(%q) (-want +got):\n%s", in, diff)
		}
	}
}

func TestMoment(t *testing.T) {
	for text, want := range map[string][2]string{ // first moment, end
		"2026-03-12":       {"2026-03-12T00:00:00Z", "2026-03-13T00:00:00Z"},
		"2026-W11":         {"2026-03-09T00:00:00Z", "2026-03-16T00:00:00Z"},
		"2026年2月":          {"2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"},
		"2026-Q1":          {"2026-01-01T00:00:00Z", "2026-04-01T00:00:00Z"},
		"2026":             {"2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		"2026-03-12T10:15": {"2026-03-12T10:15:00Z", "2026-03-12T10:15:00Z"},
	} {
		for i, end := range []bool{false, true} {
			got, err := when.Moment(text, nil, end)
			if err != nil || got.Format(time.RFC3339) != want[i] {
				t.Errorf("%s, end %v: %s, %v", text, end, got, err)
			}
		}
	}
	if _, err := when.Moment("soon", nil, false); err == nil {
		t.Error("soon is a moment")
	}
}

func TestFileName(t *testing.T) {
	for in, want := range map[string]string{
		"2026-03-12.md":                                "2026-03-12",
		"20260312.md":                                  "2026-03-12",
		"2026-03-12-standup.md":                        "2026-03-12",
		"standup_2026.03.12.md":                        "2026-03-12",
		"2026_03_12 notes.md":                          "2026-03-12",
		"2026年3月12日.md":                                "2026-03-12",
		"region-20261129-mem_20261129101500_k3f9a2.md": "2026-11-29",
		"mem_20261129101500_k3f9a2.md":                 "2026-11-29",
		"2026-03-12T1015.md":                           "2026-03-12",
		"March 12, 2026.md":                            "2026-03-12",
		"2026-02-30.md":                                "",
		"2026-03.md":                                   "",
		"release-2.6.3.md":                             "",
		"10.20.2026.1.md":                              "",
		"a20260312.md":                                 "",
		"notes.md":                                     "",
		"":                                             "",
	} {
		span, gran, ok := when.FileName(in, nil)
		got := ""
		if ok {
			got = span.From.Format(time.DateOnly)
			if gran != memsearch.GranularityDay || span.Until.Sub(span.From) != 24*time.Hour {
				t.Errorf("FileName(%q) is no day: %v %v", in, span, gran)
			}
		}
		if got != want {
			t.Errorf("FileName(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestFilePath(t *testing.T) {
	for in, want := range map[string]struct {
		day   string
		alone bool
	}{
		"2026/03/14.md":                        {"2026-03-14", true},
		"journal/2026/03/14.md":                {"2026-03-14", true},
		"journal/2026/3/4.markdown":            {"2026-03-04", true},
		"journal/2026-03/14.md":                {"2026-03-14", true},
		"journal/2026_03/14.md":                {"2026-03-14", true},
		"202603/14.md":                         {"2026-03-14", true},
		"2026/03-14.md":                        {"2026-03-14", true},
		"2026/03-March/14.md":                  {"2026-03-14", true},
		"日记/2026年/3月/14日.md":                   {"2026-03-14", true},
		"日记/2026年3月/14号.md":                    {"2026-03-14", true},
		"2026/3月14日.md":                        {"2026-03-14", true},
		"2026/03/14-standup.md":                {"2026-03-14", false},
		"2026/03/14 Saturday.md":               {"2026-03-14", false},
		"notes/2026-03-14-standup.md":          {"2026-03-14", false},
		"2026/03/2026-03-14.md":                {"2026-03-14", false},
		"2025/01/01/2026-03-14.md":             {"2026-03-14", false},
		"2026/02/30.md":                        {},
		"2026/13/01.md":                        {},
		"1200/10/12.md":                        {},
		"x2026/03/14.md":                       {},
		"2026/03/145.md":                       {},
		"2026/03/14a.md":                       {},
		"2026/03/14.5.md":                      {},
		"2026/03/notes.md":                     {},
		"2026/03.md":                           {},
		"v2026/03/14.md":                       {},
		"12026/03/14.md":                       {},
		"":                                     {},
		strings.Repeat("2026/03/", 2000) + "x": {},
	} {
		span, _, alone, ok := when.FilePath(in, nil)
		got := ""
		if ok {
			got = span.From.Format(time.DateOnly)
		}
		if got != want.day || alone != want.alone {
			t.Errorf("FilePath(%.40q) = %q, %v, want %q, %v", in, got, alone, want.day, want.alone)
		}
	}
}

func TestFolder(t *testing.T) {
	for in, want := range map[string]string{
		"2026-03-14/standup.md":          "2026-03-14",
		"2026-03-14 standup/notes.md":    "2026-03-14",
		"20260314/notes.md":              "2026-03-14",
		"2026/03/14/notes.md":            "2026-03-14",
		"a/2026-03/14/b/notes.md":        "2026-03-14",
		"2025-01-01/2026-03-14/notes.md": "2026-03-14",
		"backup-20260314/notes.md":       "",
		"2026/03/notes.md":               "",
		"2026-03-14.md":                  "",
		"/abs/notes.md":                  "",
		"notes.md":                       "",
		"":                               "",
	} {
		span, gran, ok := when.Folder(in, nil)
		got := ""
		if ok {
			got = span.From.Format(time.DateOnly)
		}
		if got != want || ok && gran != memsearch.GranularityDay {
			t.Errorf("Folder(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestHeading(t *testing.T) {
	for in, want := range map[string]string{
		"2026-03-12":                   "2026-03-12",
		"[1.4.0] - 2026-03-12":         "2026-03-12",
		"Thursday, March 12th, 2026":   "2026-03-12",
		"Standup (12 March 2026)":      "2026-03-12",
		"2026年3月12日 星期四":               "2026-03-12",
		"2026-03-12 10:15 deploy":      "2026-03-12",
		"2026-03-12 to 2026-03-19":     "2026-03-12",
		"20260312":                     "2026-03-12",
		"Version 2.6.3":                "",
		"March":                        "",
		"March 12":                     "",
		"March 2026":                   "",
		"Yesterday":                    "",
		"Host 10.12.2026.4 is down":    "",
		"Order 2026-03-12-0054 closed": "",
	} {
		span, _, ok := when.Heading(in, nil)
		got := ""
		if ok {
			got = span.From.Format(time.DateOnly)
		}
		if got != want {
			t.Errorf("Heading(%q) = %q, want %q", in, got, want)
		}
	}
}

// In these zones some midnights do not exist, or happen twice.
func TestDaysWhereClocksChange(t *testing.T) {
	for _, c := range []struct{ zone, day, from, until string }{
		{"America/Sao_Paulo", "2018-11-04", "2018-11-04T01:00:00-02:00", "2018-11-05T00:00:00-02:00"},
		{"America/Havana", "2023-11-05", "2023-11-05T00:00:00-04:00", "2023-11-06T00:00:00-05:00"},
		{"Europe/Berlin", "2026-03-29", "2026-03-29T00:00:00+01:00", "2026-03-30T00:00:00+02:00"},
		{"Africa/Cairo", "2010-09-30", "2010-09-30T00:00:00+03:00", "2010-10-01T00:00:00+02:00"},
	} {
		span, _, ok := when.FileName(c.day, zone(t, c.zone))
		if !ok {
			t.Fatalf("FileName(%q) finds no date", c.day)
		}
		if got := span.From.Format(time.RFC3339); got != c.from {
			t.Errorf("%s %s begins %s, want %s", c.zone, c.day, got, c.from)
		}
		if got := span.Until.Format(time.RFC3339); got != c.until {
			t.Errorf("%s %s ends %s, want %s", c.zone, c.day, got, c.until)
		}
	}
}

func TestWords(t *testing.T) {
	utc := func(y, m, d int) time.Time { return time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC) }
	for _, c := range []struct {
		occurred memsearch.Occurred
		want     string
	}{
		{memsearch.Occurred{Span: memsearch.Span{From: utc(2023, 7, 3), Until: utc(2023, 7, 4)}, Granularity: memsearch.GranularityDay, Source: memsearch.DateText},
			"2023-07-03 July 3rd 2023 3 July Monday 2023年7月3日 7月3号 星期一 周一"},
		{memsearch.Occurred{Span: memsearch.Span{From: utc(2024, 9, 22).Add(23 * time.Hour)}, Granularity: memsearch.GranularityInstant, Source: memsearch.DateFrontMatter},
			"2024-09-22 September 22nd 2024 22 September Sunday 2024年9月22日 9月22号 星期日 周日"},
		{memsearch.Occurred{Span: memsearch.Span{From: utc(2023, 7, 1), Until: utc(2023, 8, 1)}, Granularity: memsearch.GranularityMonth, Source: memsearch.DateText},
			"July 2023 2023年7月"},
		{memsearch.Occurred{Span: memsearch.Span{From: utc(2023, 7, 31), Until: utc(2023, 8, 7)}, Granularity: memsearch.GranularityWeek, Source: memsearch.DateText},
			"July 2023 2023年7月 August 2023 2023年8月"},
		{memsearch.Occurred{Span: memsearch.Span{From: utc(2025, 4, 1), Until: utc(2025, 7, 1)}, Granularity: memsearch.GranularityQuarter, Source: memsearch.DateText},
			"Q2 2025 second quarter 2025年第二季度"},
		{memsearch.Occurred{Span: memsearch.Span{From: utc(2025, 1, 1), Until: utc(2026, 1, 1)}, Granularity: memsearch.GranularityYear, Source: memsearch.DateText},
			"2025 2025年"},
		{memsearch.Occurred{Span: memsearch.Span{Until: utc(2026, 1, 1)}, Granularity: memsearch.GranularityRange, Source: memsearch.DateText},
			"December 2025 2025年12月"},
		{memsearch.Occurred{Span: memsearch.Span{From: utc(2023, 7, 3), Until: utc(2023, 7, 4)}, Granularity: memsearch.GranularityDay, Source: memsearch.DateModTime}, ""},
		{memsearch.Occurred{Source: memsearch.DateText}, ""},
		{memsearch.Occurred{}, ""},
	} {
		if got := when.Words(c.occurred, nil); got != c.want {
			t.Errorf("Words(%v) = %q, want %q", c.occurred, got, c.want)
		}
	}
	late := memsearch.Occurred{Span: memsearch.Span{From: utc(2023, 7, 3).Add(20 * time.Hour)}, Source: memsearch.DateText}
	if got, want := when.Words(late, time.FixedZone("", 8*3600)), "2023-07-04 July 4th 2023 4 July Tuesday 2023年7月4日 7月4号 星期二 周二"; got != want {
		t.Errorf("Words in another zone = %q, want %q", got, want)
	}
}
