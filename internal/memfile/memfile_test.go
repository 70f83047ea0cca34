package memfile_test

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/memfile"
)

func utf16le(s string) string {
	out := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(s)) {
		out = binary.LittleEndian.AppendUint16(out, u)
	}
	return string(out)
}

// codes returns the distinct problem codes of a file in order of appearance.
func codes(f *memfile.File) []string {
	var out []string
	for _, p := range f.Problems {
		if len(out) == 0 || out[len(out)-1] != p.Code {
			out = append(out, p.Code)
		}
	}
	return out
}

// An outcome is what one odd file must read as.
type outcome struct {
	ID       string // "" derived
	Text     string // of the one unit
	Lines    [2]int
	Problems []string
	Skip     string
}

var oddFiles = []struct {
	name, raw string
	want      outcome
}{
	{"BOM and CRLF", "\ufeff---\r\nid: a\r\n---\r\n\r\nkoala\r\n", outcome{"a", "koala", [2]int{5, 5}, nil, ""}},
	{"lone CR", "---\rid: a\r---\r\rkoala\r", outcome{"a", "koala", [2]int{5, 5}, nil, ""}},
	{"mixed line ends", "a\rb\r\nc\n\nd", outcome{"", "a\rb\r\nc\n\nd", [2]int{1, 5}, nil, ""}},
	{"UTF-16", utf16le("---\nid: a\n---\nkoala 考拉\n"), outcome{"a", "koala 考拉", [2]int{4, 4}, []string{"encoding"}, ""}},
	{"UTF-16 without mark", utf16le("---\nid: a\n---\nkoala\n")[2:], outcome{"a", "koala", [2]int{4, 4}, []string{"encoding"}, ""}},
	{"GB18030", "\xbf\xbc\xc0\xad\xcf\xb2\xbb\xb6\xe8\xf1\xca\xf7\n", outcome{"", "考拉喜欢桉树", [2]int{1, 1}, []string{"encoding"}, ""}},
	{"Latin-1", "Stra\xdfe caf\xe9 gr\xfcn\n", outcome{"", "Straße café grün", [2]int{1, 1}, []string{"encoding"}, ""}},
	{"UTF-8 with a broken byte", "考拉喜欢\xff桉树 koala\n", outcome{"", "考拉喜欢\ufffd桉树 koala", [2]int{1, 1}, []string{"encoding"}, ""}},
	{"NUL", "a\n\nb\x00c\n", outcome{"", "a\n\nb c", [2]int{1, 3}, []string{"nul"}, ""}},
	{"NFD body", "cafe\u0301\n", outcome{"", "cafe\u0301", [2]int{1, 1}, nil, ""}},
	{"numeric id", "---\nid: 12345\n---\nkoala\n", outcome{"12345", "koala", [2]int{4, 4}, nil, ""}},
	{"unusable id", "---\nid: \"a b#c\"\n---\nkoala\n", outcome{"", "koala", [2]int{4, 4}, []string{"id"}, ""}},
	{"id is a list", "---\nid: [a]\n---\nkoala\n", outcome{"", "koala", [2]int{4, 4}, []string{"id"}, ""}},
	{"duplicate keys", "---\nid: a\nid: b\n---\nkoala\n", outcome{"a", "koala", [2]int{5, 5}, []string{"duplicate_key"}, ""}},
	{"tab in YAML", "---\nid: a\n\tb: 1\n---\nkoala\n", outcome{"", "koala", [2]int{5, 5}, []string{"front_matter"}, ""}},
	{"broken YAML", "---\ntitle: a: b: [c\n---\nkoala\n", outcome{"", "koala", [2]int{4, 4}, []string{"front_matter"}, ""}},
	{"broken YAML under a comment", "---\n# mine\ntitle: a: b: [c\n---\nkoala\n", outcome{"", "koala", [2]int{5, 5}, []string{"front_matter"}, ""}},
	{"scalar", "---\njust text\n---\n\nkoala\n", outcome{"", "---\njust text\n---\n\nkoala", [2]int{1, 5}, []string{"front_matter"}, ""}},
	{"list", "---\n- a\n- b\n---\n\nkoala\n", outcome{"", "---\n- a\n- b\n---\n\nkoala", [2]int{1, 6}, []string{"front_matter"}, ""}},
	{"never closed", "---\nid: a\n\nkoala\n", outcome{"", "---\nid: a\n\nkoala", [2]int{1, 4}, []string{"unterminated"}, ""}},
	{"rule first", "---\n\nkoala: yes\n\n---\n\nmore\n", outcome{"", "---\n\nkoala: yes\n\n---\n\nmore", [2]int{1, 7}, nil, ""}},
	{"rule first, no second", "---\n\nkoala\n", outcome{"", "---\n\nkoala", [2]int{1, 3}, nil, ""}},
	{"gap before known keys", "---\n\nid: a\n---\nkoala\n", outcome{"a", "koala", [2]int{5, 5}, nil, ""}},
	{"closed by dots", "---\nid: a\n...\nkoala\n", outcome{"a", "koala", [2]int{4, 4}, nil, ""}},
	{"TOML", "+++\nid = \"a\"\n+++\n\nkoala\n", outcome{"a", "koala", [2]int{5, 5}, []string{"front_matter"}, ""}},
	{"TOML without keys", "+++\n# id\n+++\nkoala\n", outcome{"", "koala", [2]int{4, 4}, []string{"front_matter"}, ""}},
	{"TOML that is none", "+++\nid: a\n= \n[\n\"\"\"\n+++\nkoala\n", outcome{"", "koala", [2]int{7, 7}, []string{"front_matter"}, ""}},
	{"dashes in a block scalar", "---\nsummary: |\n  a\n  ---\n  b\nid: a\n---\nkoala\n", outcome{"a", "koala", [2]int{8, 8}, nil, ""}},
	{"empty", "", outcome{"", "", [2]int{}, nil, "empty"}},
	{"blank", "  \n\t\n", outcome{"", "", [2]int{}, nil, "empty"}},
	{"empty front matter", "---\n---\n", outcome{"", "", [2]int{}, nil, "nothing but front matter"}},
	{"front matter without words", "---\nid: a\ncreated_at: 2026-01-02\n---\n\n", outcome{"a", "", [2]int{}, nil, "nothing but front matter"}},
	{"front matter with a summary", "---\nid: a\nsummary: koala\n---\n", outcome{"a", "", [2]int{1, 4}, nil, ""}},
	{"only a heading", "# koala\n", outcome{"", "# koala", [2]int{1, 1}, nil, ""}},
	{"open fence", "```\nkoala\n# no heading\n", outcome{"", "```\nkoala\n# no heading", [2]int{1, 3}, nil, ""}},
}

func TestParseOddFiles(t *testing.T) {
	for _, tt := range oddFiles {
		t.Run(tt.name, func(t *testing.T) {
			f := memfile.Parse("d/n.md", []byte(tt.raw), nil)
			got := outcome{Problems: codes(f), Skip: f.Skip}
			if !f.Memory.DerivedID {
				got.ID = f.Memory.ID
			}
			if len(f.Units) > 1 {
				t.Fatalf("got %d units", len(f.Units))
			}
			for _, u := range f.Units {
				got.Text, got.Lines = u.Text, u.Lines
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseFields(t *testing.T) {
	const raw = `---
id: mem_20261129101500_k3f9a2
category: reference
kind: formula
title: Regions
summary: Production moved
catalog: Where production runs
tags: [infra, aws]
aliases: [prod]
status: retired
canonical_key: production.region
confidence: 0.9
created_at: 2026-11-29T10:15:00Z
updated_at: 2026-11-29 11:15
last_confirmed_at: 2026-11-29T10:15:00+08:00
valid_from: 2026-11-01
valid_to: 2026-12-01T00:00:00Z
supersedes: [mem_a]
superseded_by: mem_b, mem_c
tools: [kubectl]
source: {session_id: s-481, turn_id: t-9, node_ids: [n12, n14], trust: user, confirmed_by: n14}
source_events: [e1, 2]
---
text
`
	zone := time.FixedZone("", 8*3600)
	got := memfile.Parse("reference/x.md", []byte(raw), &memfile.Options{Zone: zone})
	want := memsearch.Memory{
		ID: "mem_20261129101500_k3f9a2", Path: "reference/x.md",
		Category: "reference", Kind: "formula", Title: "Regions", Summary: "Production moved",
		Catalog: "Where production runs", Tags: []string{"infra", "aws"}, Aliases: []string{"prod"},
		Status: "retired", Pinned: true, Packable: false, CanonicalKey: "production.region", Confidence: 0.9,
		CreatedAt:       time.Date(2026, 11, 29, 10, 15, 0, 0, time.UTC),
		UpdatedAt:       time.Date(2026, 11, 29, 3, 15, 0, 0, time.UTC),
		LastConfirmedAt: time.Date(2026, 11, 29, 2, 15, 0, 0, time.UTC),
		Valid: memsearch.Validity{
			From:  memsearch.Bound{Time: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), Date: true},
			Until: memsearch.Bound{Time: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)},
		},
		Supersedes: []string{"mem_a"}, SupersededBy: []string{"mem_b", "mem_c"}, Tools: []string{"kubectl"},
		Source: memsearch.Source{SessionID: "s-481", TurnID: "t-9", NodeIDs: []string{"n12", "n14"},
			Trust: "user", ConfirmedBy: "n14"},
		SourceEvents: []string{"e1", "2"},
	}
	if diff := cmp.Diff(want, got.Memory); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(got.Problems) > 0 {
		t.Errorf("problems: %v", got.Problems)
	}
}

func day(y, m, d int) time.Time { return time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC) }

var foreignKeys = []struct {
	name, front string
	want        func(m *memsearch.Memory)
	problems    []string
}{
	{"Obsidian", "tags: \"animals, #lemur\"\ndate: 2026-03-12\naliases: ring tail", func(m *memsearch.Memory) {
		m.Tags, m.Aliases, m.CreatedAt = []string{"animals", "lemur"}, []string{"ring tail"}, day(2026, 3, 12)
	}, nil},
	{"tags with signs", "tags: \"#a #b\"", func(m *memsearch.Memory) { m.Tags = []string{"a", "b"} }, nil},
	{"Claude Code", "name: indri-notes\ndescription: how it sings\nmetadata:\n  type: reference", func(m *memsearch.Memory) {
		m.Title, m.Summary, m.Category = "indri-notes", "how it sings", "reference"
	}, nil},
	{"type of others", "type: conversation\nname: 42", func(*memsearch.Memory) {}, nil},
	{"type is a kind", "type: decision", func(m *memsearch.Memory) { m.Kind = "decision" }, nil},
	{"flat source", "source_session_id: s\nsource_node_ids: [n1, n2]\nsource: \"a book\"", func(m *memsearch.Memory) {
		m.Source = memsearch.Source{SessionID: "s", NodeIDs: []string{"n1", "n2"}}
	}, nil},
	{"kind aliases", "kind: goal", func(m *memsearch.Memory) { m.Kind = memsearch.KindProjectGoal }, nil},
	{"kind aliases", "kind: Timeline", func(m *memsearch.Memory) { m.Kind = memsearch.KindTimelineConstraint }, nil},
	{"unknown words", "status: draft\nkind: poem\ncategory: recipes", func(*memsearch.Memory) {}, []string{"value"}},
	{"exact kinds", "kind: api_contract", func(m *memsearch.Memory) { m.Kind, m.Pinned, m.Packable = "api_contract", true, false }, nil},
	{"exact kind, said otherwise", "kind: formula\npinned: no\npackable: true", func(m *memsearch.Memory) { m.Kind = "formula" }, nil},
	{"catalog off", "catalog: false", func(m *memsearch.Memory) { m.CatalogOff = true }, nil},
	{"nulls", "tags:\nvalid_to: ~\nsummary: null\nstatus: \"\"", func(*memsearch.Memory) {}, nil},
	{"epoch", "created_at: 1767312000", func(m *memsearch.Memory) { m.CreatedAt = day(2026, 1, 2) }, nil},
	{"epoch in ms", "created_at: 1767312000000", func(m *memsearch.Memory) { m.CreatedAt = day(2026, 1, 2) }, nil},
	{"compact date", "created_at: 20260102", func(m *memsearch.Memory) { m.CreatedAt = day(2026, 1, 2) }, nil},
	{"impossible dates", "valid_from: 2026-02-30\nvalid_to: soon\ncreated_at: 02/01/2026", func(*memsearch.Memory) {}, []string{"date"}},
	{"valid_until", "valid_until: 2026-03-12", func(m *memsearch.Memory) {
		m.Valid.Until = memsearch.Bound{Time: day(2026, 3, 12), Date: true}
	}, nil},
	{"valid_to before valid_until", "valid_until: 2026-03-12\nvalid_to: 2026-03-13", func(m *memsearch.Memory) {
		m.Valid.Until = memsearch.Bound{Time: day(2026, 3, 13), Date: true}
	}, nil},
	{"inverted", "valid_from: 2026-06-01\nvalid_to: 2026-01-01", func(m *memsearch.Memory) {
		m.Valid.From = memsearch.Bound{Time: day(2026, 6, 1), Date: true}
	}, []string{"validity"}},
	{"empty span", "valid_from: 2026-06-01\nvalid_to: 2026-06-01", func(m *memsearch.Memory) {
		m.Valid.From = memsearch.Bound{Time: day(2026, 6, 1), Date: true}
	}, []string{"validity"}},
	{"one instant in two zones", "valid_from: 2026-03-29T02:30:00+02:00\nvalid_to: 2026-03-29T00:30:01Z", func(m *memsearch.Memory) {
		at := time.Date(2026, 3, 29, 0, 30, 0, 0, time.UTC)
		m.Valid = memsearch.Validity{From: memsearch.Bound{Time: at}, Until: memsearch.Bound{Time: at.Add(time.Second)}}
	}, nil},
	{"odd values", "confidence: high\npinned: maybe\nsource: {trust: me}", func(*memsearch.Memory) {}, []string{"value"}},
	{"confidence out of range", "confidence: 7", func(*memsearch.Memory) {}, []string{"value"}},
	{"key spelling", "Created-At: 2026-01-02\nTAGS: [a]", func(m *memsearch.Memory) { m.CreatedAt, m.Tags = day(2026, 1, 2), []string{"a"} }, nil},
	{"alias", "tags: &t [a, b]\naliases: *t", func(m *memsearch.Memory) { m.Tags, m.Aliases = []string{"a", "b"}, []string{"a", "b"} }, nil},
	{"many lines in a value", "summary: |\n  two\n  lines\ntitle: >-\n  folded\n  text", func(m *memsearch.Memory) {
		m.Summary, m.Title = "two lines", "folded text"
	}, nil},
}

func TestParseForeignKeys(t *testing.T) {
	base := memsearch.Memory{ID: "a", Path: "n.md", Status: memsearch.StatusActive, Packable: true}
	for _, tt := range foreignKeys {
		t.Run(tt.name, func(t *testing.T) {
			f := memfile.Parse("n.md", []byte("---\nid: a\n"+tt.front+"\n---\ntext\n"), nil)
			want := base
			tt.want(&want)
			if diff := cmp.Diff(want, f.Memory); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.problems, codes(f)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestProblemLines(t *testing.T) {
	f := memfile.Parse("n.md", []byte("---\nid: a\nstatus: draft\n\nvalid_to: soon\n---\ntext\n"), nil)
	var lines []int
	for _, p := range f.Problems {
		lines = append(lines, p.Line)
	}
	if diff := cmp.Diff([]int{3, 5}, lines); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The work must stay within bounds whatever the file holds: each of these took
// a naive reader exponential or quadratic time, or its stack.
func TestParsePathological(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString("---\na0: &a0 [x,x,x,x,x,x,x,x,x]\n")
	for i := range 9 {
		d := string(rune('0' + i))
		e := string(rune('1' + i))
		bomb.WriteString("a" + e + ": &a" + e + " [*a" + d + strings.Repeat(",*a"+d, 8) + "]\n")
	}
	bomb.WriteString("tags: *a9\n---\nkoala\n")
	for name, raw := range map[string]string{
		"alias bomb":          bomb.String(),
		"self alias":          "---\ntags: &a [*a, b]\n---\nkoala\n",
		"deep flow":           "---\ntags: " + strings.Repeat("[", 9000) + "\n---\nkoala\n",
		"deep closed flow":    "---\ntags: " + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "\n---\nkoala\n",
		"deep block":          "---\na:\n" + deepBlock(300) + "---\nkoala\n",
		"long line":           strings.Repeat("lorem ipsum ", 420000) + "koala",
		"carriage returns":    strings.Repeat("\r", 1<<20) + "koala",
		"newlines":            strings.Repeat("\n", 1<<20) + "koala",
		"quotes":              strings.Repeat("> ", 20000) + "koala",
		"lists":               strings.Repeat("- ", 20000) + "koala",
		"deep list":           deepList(2000) + "koala",
		"headings":            strings.Repeat("## Section\n\ntext\n\n", 20000) + "koala",
		"same headings":       strings.Repeat("# a\nb\n", 70000) + "koala",
		"bullets":             strings.Repeat("- a\n", 70000) + "- koala",
		"fences":              strings.Repeat("```\n", 50001) + "koala",
		"brackets":            "# " + strings.Repeat("[", 100000) + "\n[" + strings.Repeat("[](", 100000) + "koala",
		"dates":               strings.Repeat("2026-03-12 ", 100000) + "koala",
		"dated lines":         strings.Repeat("2026-03-12 a\n", 20000) + "koala",
		"underlines":          strings.Repeat("a\n---\n", 100000) + "koala",
		"open comment":        "<!--" + strings.Repeat("<!-- a\n", 100000) + "koala",
		"open tag":            strings.Repeat("<pre>\n", 100000) + "koala",
		"unclosed front":      "---\n" + strings.Repeat("a: b\n", 100000) + "koala",
		"front of one value":  "---\na: " + strings.Repeat("x ", 30000) + "\n---\nkoala",
		"many keys":           "---\n" + strings.Repeat("a: b\n", 10000) + "---\nkoala",
		"tabs":                strings.Repeat("\t", 100000) + "koala",
		"wide characters":     strings.Repeat("记", 400000) + "koala",
		"base64":              "![](data:image/png;base64," + strings.Repeat("QUJD", 100000) + ") koala",
		"invalid bytes":       strings.Repeat("\xfd\xff\xfe", 100000) + "koala",
		"unicode white space": strings.Repeat("\u3000\n", 100000) + "koala",
	} {
		t.Run(name, func(t *testing.T) {
			for _, path := range []string{"n.md", "MEMORY.md"} {
				f := memfile.Parse(path, []byte(raw), nil)
				if len(f.Units) == 0 || !strings.Contains(f.Units[len(f.Units)-1].Text, "koala") {
					t.Errorf("%s: the text is in no unit", path)
				}
				if len(f.Units) > memfile.MaxUnits {
					t.Errorf("%s: %d units", path, len(f.Units))
				}
			}
		})
	}
}

func deepBlock(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i+1) + "a:\n")
	}
	return b.String()
}

func deepList(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat("  ", i) + "- a\n")
	}
	return b.String()
}
