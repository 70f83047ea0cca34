package memfile_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/memfile"
	"pgregory.net/rapid"
)

func TestSplice(t *testing.T) {
	at := time.Date(2026, 11, 29, 10, 15, 0, 0, time.UTC)
	day := memsearch.Bound{Time: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), Date: true}
	for _, tt := range []struct {
		name, raw string
		changes   []memfile.Change
		want      string
	}{
		{"one value", "---\nid: a\nstatus: active\ntags:\n    - x\n---\ntext\n", []memfile.Change{{"status", "retired"}},
			"---\nid: a\nstatus: retired\ntags:\n    - x\n---\ntext\n"},
		{"comment stays", "---\nstatus: active   # candidate | active\n# alone\n\nid: a\n---\n", []memfile.Change{{"status", memsearch.StatusRetired}},
			"---\nstatus: retired   # candidate | active\n# alone\n\nid: a\n---\n"},
		{"comment behind nothing", "---\nvalid_to:        # exclusive\nid: a\n---\n", []memfile.Change{{"valid_to", day}},
			"---\nvalid_to: 2026-11-01        # exclusive\nid: a\n---\n"},
		{"comment behind a list", "---\ntags: [a, b] # mine\n---\n", []memfile.Change{{"tags", []string{"c"}}},
			"---\ntags: [c] # mine\n---\n"},
		{"list over lines", "---\ntags:\n  - a # one\n\n  - b\n\n# next\nid: a\n---\n", []memfile.Change{{"tags", []string{"c", "d"}}},
			"---\ntags: [c, d]\n\n# next\nid: a\n---\n"},
		{"block scalar", "---\nsummary: |\n  a\n\n  # b\nid: a\n---\n", []memfile.Change{{"summary", "c"}},
			"---\nsummary: c\nid: a\n---\n"},
		{"new key", "---\nid: a\n\n---\ntext\n", []memfile.Change{{"updated_at", at}},
			"---\nid: a\n\nupdated_at: 2026-11-29T10:15:00Z\n---\ntext\n"},
		{"delete", "---\nid: a\ntags:\n- x\n- y\n# c\nstatus: active\n---\ntext\n", []memfile.Change{{"tags", nil}},
			"---\nid: a\n# c\nstatus: active\n---\ntext\n"},
		{"delete every one", "---\nid: a\nstatus: x\nb: 1\nstatus: y\n---\n", []memfile.Change{{"status", nil}}, "---\nid: a\nb: 1\n---\n"},
		{"delete the last", "---\nid: a\n---\ntext\n", []memfile.Change{{"id", nil}}, "---\n---\ntext\n"},
		{"delete what is not there", "text\n", []memfile.Change{{"id", nil}}, "text\n"},
		{"BOM and CRLF", "\ufeff---\r\nid: a\r\nstatus: active\r\n---\r\ntext\r\n", []memfile.Change{{"status", "retired"}, {"pinned", true}},
			"\ufeff---\r\nid: a\r\nstatus: retired\r\npinned: true\r\n---\r\ntext\r\n"},
		{"CR", "---\rid: a\r---\rtext\r", []memfile.Change{{"id", "b"}, {"tags", []string{"c"}}}, "---\rid: b\rtags: [c]\r---\rtext\r"},
		{"no front matter", "\ufefftext\r\n", []memfile.Change{{"id", "a"}}, "\ufeff---\r\nid: a\r\n---\r\ntext\r\n"},
		{"empty file", "", []memfile.Change{{"id", "a"}}, "---\nid: a\n---\n"},
		{"empty block", "---\n---\ntext", []memfile.Change{{"id", "a"}}, "---\nid: a\n---\ntext"},
		{"comments only", "---\n# c\n---\ntext", []memfile.Change{{"id", "a"}}, "---\n# c\nid: a\n---\ntext"},
		{"rule first", "---\n\nprose\n", []memfile.Change{{"id", "a"}}, "---\nid: a\n---\n---\n\nprose\n"},
		{"quoted key", "---\n\"status\": active\n---\n", []memfile.Change{{"status", "retired"}}, "---\n\"status\": retired\n---\n"},
		{"other spelling", "---\nCreated-At: 2026-01-02\n---\n", []memfile.Change{{"created_at", at}}, "---\nCreated-At: 2026-11-29T10:15:00Z\n---\n"},
		{"colon in the value", "---\nsummary: \"a: b\"\nx: 1\n---\n", []memfile.Change{{"summary", "c: d"}}, "---\nsummary: \"c: d\"\nx: 1\n---\n"},
		{"source", "---\nsource:\n  session_id: s\n  trust: tool\nid: a\n---\n", []memfile.Change{{"source", memsearch.Source{SessionID: "t", NodeIDs: []string{"n1", "a,b"}}}},
			"---\nsource: {session_id: t, node_ids: [n1, \"a,b\"]}\nid: a\n---\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := memfile.Splice([]byte(tt.raw), tt.changes)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestSpliceRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, raw string
		change    memfile.Change
		want      error
	}{
		{"broken YAML", "---\ntitle: a: b: [c\n---\n", memfile.Change{"id", "a"}, memfile.ErrFrontMatter},
		{"never closed", "---\nid: a\n\ntext\n", memfile.Change{"id", "b"}, memfile.ErrFrontMatter},
		{"TOML", "+++\nid = 1\n+++\n", memfile.Change{"id", "b"}, memfile.ErrFrontMatter},
		{"braces", "---\n{id: a, status: active}\n---\n", memfile.Change{"id", "b"}, memfile.ErrFrontMatter},
		{"anchor in use", "---\ntags: &t [a]\naliases: *t\n---\n", memfile.Change{"tags", []string{"b"}}, memfile.ErrFrontMatter},
		{"explicit key", "---\n? id\n: a\n---\n", memfile.Change{"id", "b"}, memfile.ErrFrontMatter},
		{"key of two words", "---\nid: a\n---\n", memfile.Change{"a b", "b"}, memfile.ErrFrontMatter},
		{"unknown type", "---\nid: a\n---\n", memfile.Change{"id", struct{}{}}, memfile.ErrFrontMatter},
		{"UTF-16", utf16le("---\nid: a\n---\n"), memfile.Change{"id", "b"}, memfile.ErrEncoding},
		{"UTF-16 without a mark", "000\x000\x000\x00", memfile.Change{"a", "0"}, memfile.ErrEncoding},
		{"UTF-16 once the key is gone", "---\nb: " + strings.Repeat("b", 40) + "\n---\n" + strings.Repeat("0\x00", 20), memfile.Change{"b", nil}, memfile.ErrFrontMatter},
		{"Latin-1", "caf\xe9\n", memfile.Change{"id", "b"}, memfile.ErrEncoding},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := memfile.Splice([]byte(tt.raw), []memfile.Change{tt.change})
			if !errors.Is(err, tt.want) || got != nil {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	if _, err := memfile.Splice([]byte("x"), []memfile.Change{{"id", "a"}, {"id", "b"}}); !errors.Is(err, memfile.ErrFrontMatter) {
		t.Errorf("the same key twice: %v", err)
	}
}

// TestSpliceNUL guards against front matter that is not found because of a NUL,
// which is read as a space, and against a NUL that goes when other lines change.
func TestSpliceNUL(t *testing.T) {
	for raw, want := range map[string]string{
		"---\x00\n---":                      "---\x00\na: \"0\"\n---",
		"---\nb:\x001\n---\nx\x00y\n":       "---\nb:\x001\na: \"0\"\n---\nx\x00y\n",
		"---\nb: 1\na: 1\n---\nx\x00\n\x00": "---\nb: 1\na: \"0\"\n---\nx\x00\n\x00",
	} {
		got, err := memfile.Splice([]byte(raw), []memfile.Change{{"a", "0"}})
		if err != nil || string(got) != want {
			t.Errorf("%q: %q, %v; want %q", raw, got, err, want)
		}
	}
}

// TestSpliceKeepsTheRest splices random blocks: the changed keys must read back
// and every other line must stay, byte for byte.
func TestSpliceKeepsTheRest(t *testing.T) {
	entries := []string{
		"summary: one # c", "summary: |\n  a\n\n  b", "summary: >-\n  a\n  b", "summary:", "summary: \"a # b\"",
		"status: active", "\"status\": 'active'   # quoted", "status:    ",
		"tags: [a, b]", "tags:\n- a\n- b", "tags:\n    - a # one\n\n    - b", "tags: [a,\n  b,\n]",
		"created_at: 2026-01-02", "pinned: false", "other: {a: 1, b: [2]}", "more:\n  deep:\n    - x: 1\n      y: 2",
	}
	values := []memfile.Change{
		{"summary", "new: text, with \"quotes\" # and more"}, {"summary", nil}, {"summary", "纯文本"},
		{"status", memsearch.StatusRetired}, {"tags", []string{"x", "y: z", "2026-01-01"}}, {"tags", nil},
		{"created_at", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}, {"pinned", true}, {"catalog", false}, {"confidence", 0.5},
	}
	rapid.Check(t, func(t *rapid.T) {
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
		used := make(map[string]bool)
		lines, kept := []string{"id: m"}, []string{"id: m"}
		change := rapid.SampledFrom(values).Draw(t, "change")
		for _, e := range rapid.SliceOfN(rapid.SampledFrom(entries), 0, 6).Draw(t, "entries") {
			key := strings.Trim(e[:strings.Index(e, ":")], `"`)
			if used[key] {
				continue
			}
			used[key] = true
			own := strings.Split(e, "\n")
			if key != change.Key {
				kept = append(kept, own...)
			}
			lines = append(lines, own...)
			gap := rapid.SampledFrom([][]string{nil, {""}, {"# comment"}, {"", "# comment", ""}}).Draw(t, "gap")
			lines, kept = append(lines, gap...), append(kept, gap...)
		}
		body := eol + "text" + eol + "---" + eol + "more  "
		bom := rapid.SampledFrom([]string{"", "\ufeff"}).Draw(t, "bom")
		var raw strings.Builder
		raw.WriteString(bom + "---" + eol)
		for _, l := range lines {
			raw.WriteString(l + eol)
		}
		raw.WriteString("---" + eol + body)

		out, err := memfile.Splice([]byte(raw.String()), []memfile.Change{change})
		if err != nil {
			t.Fatalf("%q: %v", raw.String(), err)
		}
		got := string(out)
		if !strings.HasPrefix(got, bom+"---"+eol) || !strings.HasSuffix(got, "---"+eol+body) {
			t.Fatalf("%q became %q", raw.String(), got)
		}
		rest := strings.Split(strings.TrimSuffix(strings.TrimPrefix(got, bom+"---"+eol), "---"+eol+body), eol)
		for _, l := range kept {
			for len(rest) > 0 && rest[0] != l {
				rest = rest[1:]
			}
			if len(rest) == 0 {
				t.Fatalf("%q became %q: the line %q is gone", raw.String(), got, l)
			}
			rest = rest[1:]
		}
		checkChanged(t, memfile.Parse("n.md", out, nil).Memory, change)
	})
}

func checkChanged(t *rapid.T, m memsearch.Memory, c memfile.Change) {
	got := map[string]any{
		"summary": m.Summary, "status": m.Status, "tags": m.Tags, "created_at": m.CreatedAt,
		"pinned": m.Pinned, "catalog": !m.CatalogOff, "confidence": m.Confidence,
	}[c.Key]
	want := c.Value
	if want == nil {
		want = map[string]any{"summary": "", "tags": []string(nil)}[c.Key]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", c.Key, diff)
	}
}

func TestFormat(t *testing.T) {
	at := time.Date(2026, 11, 29, 10, 15, 0, 0, time.UTC)
	m := memsearch.Memory{
		ID: "mem_20261129101500_k3f9a2", Path: "x.md", Category: "reference", Kind: "decision",
		Summary: "Production moved: eu", Catalog: "Where", Tags: []string{"infra", "no", "a b"}, Status: "active", Packable: true,
		CanonicalKey: "production.region", Confidence: 0.9, CreatedAt: at, UpdatedAt: at, LastConfirmedAt: at,
		Valid:      memsearch.Validity{From: memsearch.Bound{Time: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), Date: true}},
		Supersedes: []string{"mem_a"},
		Source:     memsearch.Source{SessionID: "s-481", TurnID: "t-9", NodeIDs: []string{"n12", "n14"}, Trust: "user", ConfirmedBy: "n14"},
	}
	want := `---
id: mem_20261129101500_k3f9a2
category: reference
kind: decision
summary: "Production moved: eu"
catalog: Where
tags: [infra, "no", a b]
status: active
canonical_key: production.region
confidence: 0.9
created_at: 2026-11-29T10:15:00Z
updated_at: 2026-11-29T10:15:00Z
last_confirmed_at: 2026-11-29T10:15:00Z
valid_from: 2026-11-01
supersedes: [mem_a]
source: {session_id: s-481, turn_id: t-9, node_ids: [n12, n14], trust: user, confirmed_by: n14}
---
Body
`
	if diff := cmp.Diff(want, string(memfile.Format(m, "Body"))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestFormatReadsBack formats memories with awkward strings: all must read back
// the same.
func TestFormatReadsBack(t *testing.T) {
	str := rapid.OneOf(
		rapid.SampledFrom([]string{"", "yes", "No", "null", "~", "1e3", "0x1f", "1:20", "2026-01-02", "2026-01-02T03:04:05Z", "- a", "? a", "a: b", "a #b", "a:",
			"#a", "'a'", `"a"`, "[a]", "{a}", "*a", "&a", "!a", "%a", "@a", "`a`", "a, b", ",", "|", ">", "\\n", "=", "<<", ".inf", "NaN", "记忆：考拉", "🎉", "---", "...", "é\u2028x", "12 Main St", "v1.2"}),
		rapid.String(),
	)
	rapid.Check(t, func(t *rapid.T) {
		clean := func(name string) string {
			return strings.Join(strings.FieldsFunc(str.Draw(t, name), func(r rune) bool {
				return r <= ' ' || r == 0x7f || r == 0x85 || r == 0xa0 || r >= 0x1680 && r <= 0x3000
			}), " ")
		}
		m := memsearch.Memory{
			ID: "m", Path: "n.md", Summary: clean("summary"), Catalog: "c" + clean("catalog"), CanonicalKey: clean("key"),
			Status: memsearch.StatusActive, Packable: true, Confidence: rapid.Float64Range(0, 1).Draw(t, "confidence"),
		}
		for i := range rapid.IntRange(0, 3).Draw(t, "tags") {
			if s := clean(fmt.Sprint("tag ", i)); s != "" {
				m.Supersedes = append(m.Supersedes, s)
			}
		}
		m.Source.SessionID = clean("session")
		f := memfile.Parse("n.md", memfile.Format(m, "text"), nil)
		if len(f.Problems) > 0 {
			t.Fatalf("problems: %v in %q", f.Problems, f.Text)
		}
		m.Title = f.Memory.Title
		if diff := cmp.Diff(m, f.Memory); diff != "" {
			t.Fatalf("%q (-want +got):\n%s", f.Text, diff)
		}
	})
}
