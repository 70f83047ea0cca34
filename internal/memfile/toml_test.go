package memfile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/memfile"
)

func TestTOML(t *testing.T) {
	type facts struct {
		ID, Title, Summary string
		Tags, Aliases      []string
		Created            string
		Pinned             bool
		Valid              string
	}
	for _, c := range []struct {
		name, front string
		want        facts
		lines       []int // of further problems
	}{
		{"plain", `id = "bees"|title = "About bees" # the title|date = 2026-03-12|tags = ["garden", 'honey']|description = "Bees \"hum\" caf\u00e9"|pinned = true`,
			facts{ID: "bees", Title: "About bees", Summary: `Bees "hum" café`, Tags: []string{"garden", "honey"}, Created: "2026-03-12T00:00:00Z", Pinned: true}, nil},
		{"literal", `title = 'C:\bees'|"summary" = "# no comment"`, facts{Title: `C:\bees`, Summary: "# no comment"}, nil},
		{"long strings", `summary = """|Two|lines"""|title = '''one'''|id = "x"`, facts{ID: "x", Title: "one", Summary: "Two lines"}, nil},
		{"list on many lines", `tags = [|  "a", # first|  "b",|]|aliases = [["x"], "y"]|date = "2026-03-12T10:15:00+08:00"`,
			facts{Tags: []string{"a", "b"}, Aliases: []string{"x", "y"}, Created: "2026-03-12T10:15:00+08:00"}, nil},
		{"tables", `title = "t"|[extra]|id = "no"|summary = "no"|[taxonomies]|tags = ["a"]`, facts{Title: "t", Tags: []string{"a"}}, nil},
		{"times", `date = 2026-03-12 10:15:00Z|valid_from = 2026-01-01|updated = 2026-03-13`, facts{Created: "2026-03-12T10:15:00Z", Valid: "2026-01-01"}, nil},
		{"what is not understood", `title = "open|source = {a = 1}|summary = "good"|tags = [{a = 1}]|id = "x" y`, facts{Summary: "good"}, nil},
		{"odd values", `id = "x"|date = "soon"|id = "y"`, facts{ID: "x"}, []int{3, 4}},
	} {
		for _, end := range []string{"\n", "\r\n", "\r"} {
			text := strings.ReplaceAll("+++|"+c.front+"|+++|koala|", "|", end)
			f := memfile.Parse("a.md", []byte(text), nil)
			m := f.Memory
			got := facts{Title: m.Title, Summary: m.Summary, Tags: m.Tags, Aliases: m.Aliases, Pinned: m.Pinned}
			if !m.DerivedID {
				got.ID = m.ID
			}
			if !m.CreatedAt.IsZero() {
				got.Created = m.CreatedAt.Format(time.RFC3339)
			}
			if !m.Valid.From.IsZero() {
				got.Valid = m.Valid.From.Time.Format(time.DateOnly)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("%s, %q (-want +got):\n%s", c.name, end, d)
			}
			if len(f.Units) != 1 || f.Units[0].Text != "koala" {
				t.Errorf("%s: units %+v", c.name, f.Units)
			}
			var lines []int
			for _, p := range f.Problems {
				if p.Code != memfile.ProblemBroken {
					lines = append(lines, p.Line)
				} else if p.Fixable {
					t.Errorf("%s: %+v", c.name, p)
				}
			}
			if d := cmp.Diff(c.lines, lines, cmp.Transformer("sorted", func(l []int) map[int]bool {
				m := map[int]bool{}
				for _, n := range l {
					m[n] = true
				}
				return m
			})); d != "" {
				t.Errorf("%s: lines of problems (-want +got):\n%s", c.name, d)
			}
		}
	}
}

// A file is dated by its path, but not by a folder when it says more itself.
func TestDateByPath(t *testing.T) {
	for _, c := range []struct{ path, text, want, source string }{
		{"2026/03/14.md", "koala", "2026-03-14", "file_name"},
		{"journal/2026/03/14.md", "koala", "2026-03-14", "file_name"},
		{"notes/2026-03-14-standup.md", "koala", "2026-03-14", "file_name"},
		{"2026/03/14.md", "---\ndate: 2026-05-01\n---\nkoala", "2026-03-14", "file_name"},
		{"2026-03-14/standup.md", "koala", "2026-03-14", "file_name"},
		{"2026-03-14/standup.md", "---\ndate: 2026-05-01\n---\nkoala", "2026-05-01", "front_matter"},
		{"2026-03-14/2026-03-15.md", "koala", "2026-03-15", "file_name"},
		{"2026-03-14/standup.md", "# 2026-04-02\n\nkoala", "2026-04-02", "heading"},
		{"2026/03/standup.md", "koala", "2020-01-01", "mtime"},
		{"1.2/2026/13/14.md", "koala", "2020-01-01", "mtime"},
	} {
		f := memfile.Parse(c.path, []byte(c.text), &memfile.Options{ModTime: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)})
		if len(f.Units) != 1 {
			t.Fatalf("%s: %d units", c.path, len(f.Units))
		}
		o := f.Units[0].Occurred
		if got := o.Span.From.Format(time.DateOnly); got != c.want || o.Source != memsearch.DateSource(c.source) {
			t.Errorf("%s %q: %s by %s, want %s by %s", c.path, c.text, got, o.Source, c.want, c.source)
		}
	}
	daily := "# Morning\n\nTea.\n\n# Evening\n\nWine.\n"
	for path, want := range map[string]int{"2026/03/14.md": 2, "2026-03/14.md": 2, "2026-03-14.md": 2, "2026/03/14-plan.md": 1, "plan.md": 1} {
		if f := memfile.Parse(path, []byte(daily), nil); len(f.Units) != want {
			t.Errorf("%s: %d units, want %d", path, len(f.Units), want)
		}
	}
}
