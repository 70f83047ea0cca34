package rerank_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/rerank"
)

func catalog(n int) []rerank.Line {
	var lines []rerank.Line
	for i := range n {
		lines = append(lines, rerank.Line{ID: fmt.Sprintf("mem_%d", i), Category: "user", Path: fmt.Sprintf("user/%d.md", i), Date: "2026-03-12", Summary: fmt.Sprintf("Note %d", i)})
	}
	return lines
}

// catalogOf returns the lines of the catalog in a request.
func catalogOf(t *testing.T, r llm.Request) []string {
	t.Helper()
	_, rest, ok := strings.Cut(r.Messages[1].Content, "\n\nCatalog:\n")
	body, tail, closed := strings.Cut(rest, "\n\n")
	if !ok || !closed || tail != "Choose at most five of these lines, or none." {
		t.Fatalf("prompt %q", r.Messages[1].Content)
	}
	return strings.Split(body, "\n")
}

func TestSelect(t *testing.T) {
	for name, c := range map[string]struct {
		reply string
		want  []rerank.Pick
		notes []string
	}{
		"none": {`{"selected":[]}`, []rerank.Pick{}, nil},
		"some": {`{"selected":[3,1]}`, []rerank.Pick{{Index: 2, Grade: 2}, {Index: 0, Grade: 1}}, nil},
		"too many": {`{"selected":[7,6,5,4,3,2]}`, []rerank.Pick{{Index: 6, Grade: 6}, {Index: 5, Grade: 5}, {Index: 4, Grade: 4}, {Index: 3, Grade: 3}, {Index: 2, Grade: 2}},
			[]string{"the model selected 6 memories: the first 5 count"}},
		"wrong and twice": {`{"selected":[9,2,0,2]}`, []rerank.Pick{{Index: 1, Grade: 3}},
			[]string{"the model named 2 numbers that no candidate has", "the model named 1 candidate more than once"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := says(c.reply)
			s := rerank.NewSelector(f, &rerank.SelectorOptions{Model: "m", Cache: rerank.OpenCache(t.TempDir())})
			tk := rerank.Task{Query: "where does Anna live", Request: "and now?", Recent: "Anna"}
			first, err := s.Select(t.Context(), tk, catalog(8))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, first.Picks); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(c.notes, first.Notes); d != "" {
				t.Error(d)
			}
			if first.Judged != 8 || first.Model != "m" || !strings.HasPrefix(first.Prompt, "select@1 ") || first.Cost.Calls != 1 {
				t.Errorf("answer %+v", first)
			}
			again, err := s.Select(t.Context(), tk, catalog(8))
			if err != nil || !again.Cached || answer(t, again) != answer(t, first) {
				t.Errorf("again %+v, error %v", again, err)
			}
			r := f.asked[0]
			if r.Prompt != "select@1" || r.SchemaName != "selection" {
				t.Errorf("request %+v", r)
			}
			if lines := catalogOf(t, r); len(lines) != 8 || lines[1] != "2. [user] user/1.md (2026-03-12): Note 1" {
				t.Errorf("lines %q", lines)
			}
			head, _, _ := strings.Cut(r.Messages[1].Content, "\n\n")
			if want := "Query: \"where does Anna live\"\nRequest: \"and now?\"\nConversation: \"Anna\""; head != want {
				t.Errorf("head %q", head)
			}
		})
	}
}

// TestCatalogLimits cuts the tail, and says so.
func TestCatalogLimits(t *testing.T) {
	long := catalog(300)
	for i := range long {
		long[i].Summary = strings.Repeat("很长的摘要", 20) // 300 bytes
	}
	for name, c := range map[string]struct {
		lines []rerank.Line
		shown int
		notes []string
	}{
		"all":           {catalog(200), 200, nil},
		"one too many":  {catalog(201), 200, []string{"the catalog shows 200 of 201 memories"}},
		"thousands":     {catalog(10_000), 200, []string{"the catalog shows 200 of 10000 memories"}},
		"too many byte": {long, -1, nil},
		"none":          {nil, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := says(`{"selected":[1]}`)
			a, err := rerank.NewSelector(f, nil).Select(t.Context(), rerank.Task{Query: "x"}, c.lines)
			if err != nil {
				t.Fatal(err)
			}
			if c.shown == 0 {
				if f.calls() != 0 || len(a.Picks) != 0 {
					t.Errorf("answer %+v after %d calls", a, f.calls())
				}
				return
			}
			lines := catalogOf(t, f.asked[0])
			if size := len(strings.Join(lines, "\n")); size > rerank.SelectBytes || c.shown < 0 && size < rerank.SelectBytes-400 {
				t.Errorf("%d bytes", size)
			}
			if c.shown < 0 {
				c.shown, c.notes = len(lines), []string{fmt.Sprintf("the catalog shows %d of 300 memories", len(lines))}
			}
			if len(lines) != c.shown || a.Judged != c.shown {
				t.Errorf("%d lines, judged %d, want %d", len(lines), a.Judged, c.shown)
			}
			if d := cmp.Diff(c.notes, a.Notes); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestCatalogInjections: whatever a memory calls itself, it has one line.
func TestCatalogInjections(t *testing.T) {
	line := regexp.MustCompile(`^([0-9]+)\. \[.*\] .+$`)
	for i, text := range injections {
		for part, put := range map[string]func(*rerank.Line){
			"summary":  func(l *rerank.Line) { l.Summary = text },
			"path":     func(l *rerank.Line) { l.Path = "x " + text },
			"category": func(l *rerank.Line) { l.Category = text },
			"date":     func(l *rerank.Line) { l.Date = text },
			"id":       func(l *rerank.Line) { l.ID = text },
		} {
			t.Run(fmt.Sprintf("%s/%d", part, i), func(t *testing.T) {
				f := says(`{"selected":[]}`)
				lines := catalog(3)
				put(&lines[1])
				if _, err := rerank.NewSelector(f, nil).Select(t.Context(), rerank.Task{Query: "x"}, lines); err != nil {
					t.Fatal(err)
				}
				got := catalogOf(t, f.asked[0])
				if len(got) != 3 {
					t.Fatalf("lines %q", got)
				}
				for n, l := range got {
					if m := line.FindStringSubmatch(l); m == nil || m[1] != fmt.Sprint(n+1) {
						t.Errorf("line %q", l)
					}
					checkPlain(t, l)
				}
			})
		}
	}
}

func TestSelectFails(t *testing.T) {
	broken := errors.New("broken")
	f := &fake{reply: func(llm.Request) (string, error) { return "", broken }}
	a, err := rerank.NewSelector(f, nil).Select(t.Context(), rerank.Task{Query: "x"}, catalog(2))
	if !errors.Is(err, broken) || a == nil || a.Cost.Calls != 1 {
		t.Errorf("answer %+v, error %v", a, err)
	}
}
