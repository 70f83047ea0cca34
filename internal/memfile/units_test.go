package memfile_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/memfile"
	"pgregory.net/rapid"
)

// show writes the units of a file one a line: id, lines, date and its source,
// headings, text.
func show(f *memfile.File) []string {
	var out []string
	for _, u := range f.Units {
		date := "-"
		if u.Occurred.Source != "" {
			layout := time.DateOnly
			if u.Occurred.Granularity == 0 {
				layout = "2006-01-02T15:04"
			}
			date = u.Occurred.Span.From.Format(layout) + " " + string(u.Occurred.Source)
		}
		id := strings.TrimPrefix(u.ID, u.MemoryID)
		out = append(out, fmt.Sprintf("%s|%d-%d|%s|%s|%s", id, u.Lines[0], u.Lines[1], date, strings.Join(u.Headings, ">"), u.Text))
	}
	return out
}

var long = strings.Repeat("A sentence of fifty bytes that says next to nothing. ", 40)

var unitCases = []struct {
	name, path, raw string
	want            []string
}{
	{"short note", "n.md", "# A\n\none\n\n## B\n\ntwo\n", []string{"|1-7|-|A>B|# A\n\none\n\n## B\n\ntwo"}},
	{"long note", "n.md", "intro\n\n# A\n" + long + "\n\n## B\n\ntwo\n", []string{
		"#1|1-1|-||intro",
		"#a|3-4|-|A|# A\n" + long,
		"#b|6-8|-|A>B|## B\n\ntwo",
	}},
	{"long note, one section", "n.md", "# A\n" + long + "\n", []string{"|1-2|-|A|# A\n" + long}},
	{"headings alone join", "n.md", "# A\n\n## B\n" + long + "\n# C\n\n# D\ntext\n# E\n", []string{
		"#b|1-4|-|A>B|# A\n\n## B\n" + long,
		"#d|5-8|-|C>D|# C\n\n# D\ntext",
		"#e|9-9|-|E|# E",
	}},
	{"same headings", "n.md", "# A\n" + long + "\n# A\nx\n# A!\ny\n", []string{
		"#a|1-2|-|A|# A\n" + long, "#a-2|3-4|-|A|# A\nx", "#a-3|5-6|-|A!|# A!\ny",
	}},
	{"daily", "2026-03-12.md", "# Thursday\n\n## Morning\n\nimporter\n\n## Evening\nreport\n", []string{
		"#morning|1-5|2026-03-12 file_name|Thursday>Morning|# Thursday\n\n## Morning\n\nimporter",
		"#evening|7-8|2026-03-12 file_name|Thursday>Evening|## Evening\nreport",
	}},
	{"daily with one section", "memory/2026-03-12.md", "# 2026-03-12\nWorked on the importer.\n", []string{
		"|1-2|2026-03-12 heading|2026-03-12|# 2026-03-12\nWorked on the importer.",
	}},
	{"dated headings", "log.md", "# Log\n\n## 2026-03-12\na\n\n## 2026年3月13日\nb\n### detail\nc\n\n## Notes\nd\n", []string{
		"#2026-03-12|1-4|2026-03-12 heading|Log>2026-03-12|# Log\n\n## 2026-03-12\na",
		"#2026年3月13日|6-7|2026-03-13 heading|Log>2026年3月13日|## 2026年3月13日\nb",
		"#detail|8-9|2026-03-13 heading|Log>2026年3月13日>detail|### detail\nc",
		"#notes|11-12|-|Log>Notes|## Notes\nd",
	}},
	{"bullets", "n.md", "# Facts\n\n- likes tea\n- has a dog\n  named Rex\n\n  who barks\n* lives in Oslo\n\nThat is all.\n", []string{
		"#facts-1|1-3|-|Facts|# Facts\n\n- likes tea",
		"#facts-2|4-7|-|Facts|- has a dog\n  named Rex\n\n  who barks",
		"#facts-3|8-8|-|Facts|* lives in Oslo",
		"#facts|10-10|-|Facts|That is all.",
	}},
	{"bullets without a heading", "n.md", "- a\n- b\n- c\n", []string{"#1|1-1|-||- a", "#2|2-2|-||- b", "#3|3-3|-||- c"}},
	{"two bullets", "n.md", "- a\n- b\n", []string{"|1-2|-||- a\n- b"}},
	{"steps stay together", "n.md", "1. a\n2. b\n3. c\n", []string{"|1-3|-||1. a\n2. b\n3. c"}},
	{"few bullets in prose", "n.md", "A paragraph that is longer than its list.\n\n- a\n- b\n- c\n", []string{
		"|1-5|-||A paragraph that is longer than its list.\n\n- a\n- b\n- c",
	}},
	{"bullets in sections", "n.md", "## A\n- a one\n- a two\n\n## B\n- b one\n- b two\n", []string{
		"#a-1|1-2|-|A|## A\n- a one", "#a-2|3-3|-|A|- a two",
		"#b-1|5-6|-|B|## B\n- b one", "#b-2|7-7|-|B|- b two",
	}},
	{"dated bullets", "n.md", "- 2026-03-12: a\n- [x] **2026-03-13** b\n- March 14, 2026: c\n- [2026-03-15 10:30] d\n- e\n", []string{
		"#2026-03-12|1-1|2026-03-12 text||- 2026-03-12: a",
		"#2026-03-13|2-2|2026-03-13 text||- [x] **2026-03-13** b",
		"#2026-03-14|3-3|2026-03-14 text||- March 14, 2026: c",
		"#2026-03-15|4-4|2026-03-15T10:30 text||- [2026-03-15 10:30] d",
		"#1|5-5|-||- e",
	}},
	{"dated paragraphs", "n.md", "Log\n\n2026-03-12 a\nmore\n\n2026-03-12 b\n2026/3/13 c\n", []string{
		"#1|1-1|-||Log",
		"#2026-03-12|3-4|2026-03-12 text||2026-03-12 a\nmore",
		"#2026-03-12-2|6-6|2026-03-12 text||2026-03-12 b",
		"#2026-03-13|7-7|2026-03-13 text||2026/3/13 c",
	}},
	{"range", "n.md", "2026年12月15日到2027年1月4日之间不发布。\n", []string{"|1-1|2026-12-15 text||2026年12月15日到2027年1月4日之间不发布。"}},
	{"no dates", "n.md", "2026-02-30 a\n\n1.2.3 b\n\n192.168.0.1 c\n\n2026-03-123 d\n", []string{
		"|1-7|-||2026-02-30 a\n\n1.2.3 b\n\n192.168.0.1 c\n\n2026-03-123 d",
	}},
	{"fence", "n.md", "- a\n- b\n- c\n  ```\n  # no\n- no\n  ```\n", []string{
		"#1|1-1|-||- a", "#2|2-2|-||- b", "#3|3-5|-||- c\n  ```\n  # no", "#4|6-7|-||- no\n  ```",
	}},
	{"front matter date", "n.md", "---\ndate: 2026-03-12\ncreated_at: 2026-03-14\n---\ntext\n", []string{"|5-5|2026-03-12 front_matter||text"}},
	{"file name over front matter", "2026-03-12 standup.md", "---\ncreated_at: 2026-03-14\n---\ntext\n", []string{"|4-4|2026-03-12 file_name||text"}},
	{"own name", "project/move-20260312-mem_20260312101500_aaaaaa.md",
		"---\nid: mem_20260312101500_aaaaaa\ncreated_at: 2026-03-12T10:15:00Z\n---\ntext\n",
		[]string{"|5-5|2026-03-12T10:15 front_matter||text"}},
	{"comment before a list", "n.md", "<!-- note -->\n- a\n- b\n- c\n", []string{"#1|1-2|-||<!-- note -->\n- a", "#2|3-3|-||- b", "#3|4-4|-||- c"}},
}

func TestUnits(t *testing.T) {
	for _, tt := range unitCases {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, show(memfile.Parse(tt.path, []byte(tt.raw), nil))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnitsOfCatalogFile(t *testing.T) {
	vault := func(path string) bool {
		return path == "t.md" || path == "sub/a b.md" || path == "sub/y.md" || path == "a(1).md"
	}
	for _, tt := range []struct {
		name, path, raw string
		want            []string
		skip            string
	}{
		{"links only", "MEMORY.md", "# Memory\n- [T](t.md) hook\n* [[t]]\n[T](./t.md)\n- [ ] [[t|alias]] hook\n- [A](<sub/a b.md>)\n- [A](sub/a%20b.md#part)\n1. **[T](t.md \"title\")**\n- [A](a(1).md)\n", nil, "catalog only"},
		{"our block", "MEMORY.md", memfile.CatalogBegin + "\n# Memory\n- anything\n" + memfile.CatalogEnd + "\n", nil, "catalog only"},
		{"facts", "MEMORY.md", "# Memory\n- [T](t.md) hook\n\n## Facts\n- likes tea\n", []string{"|4-5|-|Memory>Facts|## Facts\n- likes tea"}, ""},
		{"facts around the block", "MEMORY.md", "first\n\n" + memfile.CatalogBegin + "\n- [T](t.md)\n" + memfile.CatalogEnd + "\n\nlast\n",
			[]string{"#1|1-1|-||first", "#2|7-7|-||last"}, ""},
		{"other links are facts", "MEMORY.md", "- [Wiki](https://example.com/t.md)\n- [gone](gone.md) is a fact\n", []string{
			"|1-2|-||- [Wiki](https://example.com/t.md)\n- [gone](gone.md) is a fact"}, ""},
		{"a fact with a link in it", "MEMORY.md", "- see [T](t.md)\n", []string{"|1-1|-||- see [T](t.md)"}, ""},
		{"in a folder", "sub/MEMORY.md", "- [Y](y.md) hook\n- [T](../t.md) hook\n- [T](t.md) hook\n", nil, "catalog only"},
		{"other files", "index.md", "- [T](t.md) hook\n", []string{"|1-1|-||- [T](t.md) hook"}, ""},
		{"block not closed", "MEMORY.md", memfile.CatalogBegin + "\n- [T](t.md)\n\nfact\n", []string{"|4-4|-||fact"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := memfile.Parse(tt.path, []byte(tt.raw), &memfile.Options{InVault: vault})
			if diff := cmp.Diff(tt.want, show(f)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if f.Skip != tt.skip {
				t.Errorf("skip = %q, want %q", f.Skip, tt.skip)
			}
		})
	}
	if f := memfile.Parse("MEMORY.md", []byte("- [T](t.md)\n- [[w]]\n- [U](http://x/y.md)\n"), nil); len(f.Units) != 1 || f.Units[0].Lines != [2]int{3, 3} {
		t.Errorf("without InVault: %v", show(f))
	}
}

func TestHash(t *testing.T) {
	hash := func(raw string) string {
		t.Helper()
		f := memfile.Parse("n.md", []byte(raw), nil)
		if len(f.Units) != 1 {
			t.Fatalf("%q has %d units", raw, len(f.Units))
		}
		return f.Units[0].Hash
	}
	// The first 16 digits of what sha256sum prints for "koala".
	if got := hash("koala\n"); got != "c88cf9468f1701ff" {
		t.Errorf("hash = %q", got)
	}
	same := [][2]string{
		{"koala\n", "---\nid: a\n---\n\nkoala"},
	}
	for _, p := range same {
		if hash(p[0]) != hash(p[1]) {
			t.Errorf("%q and %q differ", p[0], p[1])
		}
	}
	differ := [][2]string{
		{"koala\n", "koala\n\nchanged\n"},
		{"---\nsummary: a\n---\n", "---\nsummary: b\n---\n"},
		{"---\nsummary: a\n---\n", "---\ntitle: a\n---\n"},
	}
	for _, p := range differ {
		if hash(p[0]) == hash(p[1]) {
			t.Errorf("%q and %q are the same", p[0], p[1])
		}
	}
}

func TestRange(t *testing.T) {
	for _, text := range []string{"2026-12-15 - 2027-01-04 frozen", "2026年12月15日到2027年1月4日不发布", "- 2026/12/15 to 2027/1/4: frozen"} {
		o := memfile.Parse("n.md", []byte(text), nil).Units[0].Occurred
		if !o.Span.From.Equal(day(2026, 12, 15)) || !o.Span.Until.Equal(day(2027, 1, 5)) || o.Granularity != memsearch.GranularityRange {
			t.Errorf("%q: %+v", text, o)
		}
	}
}

func TestModTime(t *testing.T) {
	at := time.Date(2026, 3, 12, 10, 15, 0, 0, time.UTC)
	f := memfile.Parse("n.md", []byte("text\n"), &memfile.Options{ModTime: at})
	if diff := cmp.Diff([]string{"|1-1|2026-03-12T10:15 mtime||text"}, show(f)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestZone(t *testing.T) {
	zone := time.FixedZone("", 8*3600)
	f := memfile.Parse("2026-03-12.md", []byte("text\n"), &memfile.Options{Zone: zone})
	want := time.Date(2026, 3, 11, 16, 0, 0, 0, time.UTC)
	if s := f.Units[0].Occurred.Span; !s.From.Equal(want) || !s.Until.Equal(want.Add(24*time.Hour)) {
		t.Errorf("span = %v", s)
	}
}

// noteGen draws notes with the structures that units follow.
func noteGen() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		part := rapid.SampledFrom([]string{
			"# Title\n", "## 2026-03-12\n", "## 偏好\n", "### deep ###\n", "Under\n=====\n", "- fact\n", "* other fact\n  more\n", "- \n", "1. step\n",
			"2026-03-12 did it\n", "- 2026-03-13: done\n", "text\n", "中文一段。\n", "\n", "\n\n", "```\n# no\n```\n", "```\nopen\n", "---\n", "<!-- c -->\n",
			"<div>\n", "> quote\n", "    code\n", "text\r\n", "old\r", "\t- tab\n", "- [x](y.md) hook\n", memfile.CatalogBegin + "\n", memfile.CatalogEnd + "\n",
			strings.Repeat("long sentence here. ", 60) + "\n",
		})
		return strings.Join(rapid.SliceOfN(part, 0, 25).Draw(t, "parts"), "")
	})
}

func TestUnitsCoverBody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.SampledFrom([]string{"n.md", "2026-03-12.md", "MEMORY.md"}).Draw(t, "path")
		front := rapid.SampledFrom([]string{"", "---\nid: m\n---\n", "---\nbroken: [\n---\n"}).Draw(t, "front")
		checkUnits(t, path, memfile.Parse(path, []byte(front+noteGen().Draw(t, "note")), nil))
	})
}

// checkUnits checks what holds for every file: units lie in order in the body,
// are their own text, have ids of their own, and leave no word out.
func checkUnits(t interface {
	Fatalf(format string, args ...any)
}, path string, f *memfile.File) {
	at := f.Body[0]
	ids := make(map[string]bool)
	for i, u := range f.Units {
		if u.Bytes[0] < at || u.Bytes[1] < u.Bytes[0] || u.Bytes[1] > len(f.Text) {
			t.Fatalf("unit %d: bytes %v after %d", i, u.Bytes, at)
		}
		if u.Text != f.Text[u.Bytes[0]:u.Bytes[1]] {
			t.Fatalf("unit %d: text is not that of its bytes", i)
		}
		if gap := f.Text[at:u.Bytes[0]]; path != "MEMORY.md" && strings.Trim(gap, " \t\v\f\r\n\u00a0\u3000-*_") != "" {
			t.Fatalf("unit %d: %q before it is in no unit", i, gap)
		}
		if u.Text != "" && strings.TrimSpace(u.Text) != "" {
			lines := strings.Split(strings.ReplaceAll(strings.ReplaceAll(f.Text, "\r\n", "\n"), "\r", "\n"), "\n")
			text := strings.ReplaceAll(strings.ReplaceAll(u.Text, "\r\n", "\n"), "\r", "\n")
			if got := strings.Join(lines[u.Lines[0]-1:u.Lines[1]], "\n"); got != text {
				t.Fatalf("unit %d: lines %v hold %q, not %q", i, u.Lines, got, text)
			}
		}
		if ids[u.ID] || u.MemoryID != f.Memory.ID || !strings.HasPrefix(u.ID, u.MemoryID) {
			t.Fatalf("unit %d: id %q", i, u.ID)
		}
		ids[u.ID] = true
		at = u.Bytes[1]
	}
	if rest := f.Text[at:]; path != "MEMORY.md" && f.Skip == "" && strings.Trim(rest, " \t\v\f\r\n\u00a0\u3000-*_") != "" {
		t.Fatalf("%q is in no unit", rest)
	}
	if (f.Skip == "") != (len(f.Units) > 0) {
		t.Fatalf("skip %q with %d units", f.Skip, len(f.Units))
	}
}

func TestIDsSurviveAppending(t *testing.T) {
	// The first bullets outweigh the rest, so that the file stays a bullet list.
	list := "- 2026-03-10 a\n- 2026-03-11 b\n- 2026-03-12 " + strings.Repeat("c ", 30000) + "\n"
	rapid.Check(t, func(t *rapid.T) {
		note := list + noteGen().Draw(t, "note") + "\n"
		more := rapid.SampledFrom([]string{"\n# More\ntext\n", "\n- 2026-03-14 more\n", "\n\n2026-03-15 more\n"}).Draw(t, "more")
		before := memfile.Parse("2026-03-12.md", []byte(note), nil)
		after := memfile.Parse("2026-03-12.md", []byte(note+more), nil)
		for i, u := range before.Units[:len(before.Units)-1] {
			if after.Units[i].ID != u.ID || after.Units[i].Hash != u.Hash {
				t.Fatalf("unit %d: %s was %s", i, after.Units[i].ID, u.ID)
			}
		}
	})
}
