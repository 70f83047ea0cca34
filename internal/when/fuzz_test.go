package when_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/memsearch/memsearch/internal/when"
	"pgregory.net/rapid"
)

// checkMatches asserts what holds for any text: offsets in range, on rune
// boundaries, in order, without overlap, and no span that is inverted.
func checkMatches(t interface{ Errorf(string, ...any) }, text string, now time.Time) {
	end, valid := 0, utf8.ValidString(text)
	for _, m := range when.Find(text, now) {
		if m.Start < end || m.End <= m.Start || m.End > len(text) || m.Text != text[m.Start:m.End] {
			t.Errorf("Find(%q): %+v is out of place", text, m)
			return
		}
		if !utf8.RuneStart(text[m.Start]) || m.End < len(text) && valid && !utf8.RuneStart(text[m.End]) {
			t.Errorf("Find(%q): %+v cuts a rune", text, m)
		}
		s := m.Span
		if s.From.IsZero() && s.Until.IsZero() || !s.From.IsZero() && !s.Until.IsZero() && !s.From.Before(s.Until) {
			t.Errorf("Find(%q): %+v is inverted or empty", text, m)
		}
		end = m.End
	}
}

func FuzzFind(f *testing.F) {
	for _, seed := range []string{
		"between May 8th and June 9th, 2023", "38 days ago", "the Sunday before 25 May 2023", "2026-03-12T10:15:00+08:00", "12.03.2026",
		"上个月5号", "二〇二三年五月三十一日到六月九日", "去年夏天以来", "last Friday of this week", "Q2 2025 – 2025 Q4", "the end of last year", "２０２６年３月",
	} {
		f.Add(seed, int64(1773309600))
	}
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		checkMatches(t, text, time.Unix(unix%(1<<36), 0).UTC())
	})
}

func FuzzParseStamp(f *testing.F) {
	for _, seed := range []string{"2026-03-12", "20260312101500", "2026-W12", "Thu, 12 Mar 2026 10:15:00 +0100", "2026年3月12日 9:05", "2026-03-12T10:15:00,5Z"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		tm, dateOnly, _, ok := when.ParseStamp(s, nil)
		if !ok {
			return
		}
		if y := tm.Year(); y < 999 || y > 10000 {
			t.Errorf("ParseStamp(%q) = %v", s, tm)
		}
		if h, m, sec := tm.Clock(); dateOnly && h+m+sec != 0 {
			t.Errorf("ParseStamp(%q) = %v is no date", s, tm)
		}
		when.FileName(s, nil)
		when.FilePath(s, nil)
		when.Folder(s, nil)
		when.Heading(s, nil)
	})
}

var pieces = []string{
	"May", "may", "march", "8", "8th", "2026", "12", "31", "2026-03-12", "3/12/2026", "monday", "last", "this", "next", "the", "week", "month", "year", "days",
	"ago", "between", "and", "from", "to", "since", "before", "after", "yesterday", "tomorrow", "early", "end of", "Q2", "summer", "in", "of", ",", "-", "–", ".", "%",
	"三", "十", "二十", "天", "前", "上", "个", "月", "周", "五", "年", "日", "号", "到", "和", "之间", "去年", "过去", "最近", "半", "几", "底", "以来", "２０２６", "\n\n", " ", "é", "\xff",
}

func TestFindHoldsForAnyWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 12).Draw(t, "words")
		sep := rapid.SampledFrom([]string{"", " "}).Draw(t, "sep")
		unix := rapid.Int64Range(-2_000_000_000, 10_000_000_000).Draw(t, "now")
		offset := rapid.IntRange(-12, 14).Draw(t, "offset")
		checkMatches(t, strings.Join(words, sep), time.Unix(unix, 0).In(time.FixedZone("", offset*3600)))
	})
}

// What is counted in days moves with the day it is counted from.
func TestDaysAgoShift(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		day := time.Unix(rapid.Int64Range(0, 4_000_000_000).Draw(t, "now"), 0).UTC()
		n := rapid.IntRange(0, 5000).Draw(t, "shift")
		text := rapid.SampledFrom([]string{"17 days ago", "yesterday", "三天前", "大后天", "the day before yesterday", "the last 3 days", "过去五天"}).Draw(t, "text")
		a, b := when.Find(text, day), when.Find(text, day.AddDate(0, 0, n))
		if len(a) != 1 || len(b) != 1 {
			t.Fatalf("Find(%q) = %v and %v", text, a, b)
		}
		a[0].Span.From = a[0].Span.From.AddDate(0, 0, n)
		a[0].Span.Until = a[0].Span.Until.AddDate(0, 0, n)
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("Find(%q) %d days later (-want +got):\n%s", text, n, diff)
		}
	})
}

// Hostile text must not take more than linear time: these hang otherwise.
func TestFindHostileText(t *testing.T) {
	for _, piece := range []string{"9", "三", "2026-", "the day before ", "from ", "between the ", "1.", "\n", "last ", "５", "5月", "May ", "\xff"} {
		text := strings.Repeat(piece, 1<<20/len(piece))
		checkMatches(t, text, now)
	}
}

func BenchmarkFind(b *testing.B) {
	text := strings.Repeat("We met on May 8th and talked about the pottery class that she had joined three weeks ago. 上周五我们去了公园，聊了三天前的电影。", 100)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		when.Find(text, now)
	}
}
