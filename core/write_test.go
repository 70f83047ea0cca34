package core_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/internal/vault"
)

func fact(text string) core.NewMemory {
	return core.NewMemory{Body: text, Memory: memsearch.Memory{Category: memsearch.CategoryProject, Summary: core.Summarise(text), Source: memsearch.Source{Trust: memsearch.TrustUser}}}
}

// TestLifeCycle asks before and after each change who is the lead.
func TestLifeCycle(t *testing.T) {
	m := open(t, nil, core.Scope{Name: "user", Dir: t.TempDir()})
	who := func(asOf string) string {
		t.Helper()
		q := memsearch.Query{Text: "who is the lead"}
		if asOf != "" {
			q.AsOf = time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
		}
		res, err := m.Recall(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, h := range res.Hits {
			out = append(out, strings.TrimSpace(h.Text))
		}
		return strings.Join(out, "|")
	}
	n := fact("The lead is Ines.")
	n.Memory.Valid.From = memsearch.Bound{Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Date: true}
	ines, err := m.Remember(t.Context(), "", n)
	if err != nil || ines.IndexErr != nil {
		t.Fatal(err, ines)
	}
	bruno, err := m.Supersede(t.Context(), ines.Memory.ID, fact("The lead is Bruno."), memsearch.Bound{Time: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), Date: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := who(""); got != "The lead is Bruno." {
		t.Errorf("now: %q", got)
	}
	if got := who("2026-06-01"); got != "The lead is Ines." {
		t.Errorf("in June: %q", got)
	}
	chain, err := m.History(t.Context(), bruno.Memory.ID)
	if err != nil || len(chain) != 2 || chain[0].ID != ines.Memory.ID || !chain[1].Current || chain[0].Current {
		t.Errorf("history is %+v, %v", chain, err)
	}
	if _, err := m.Retire(t.Context(), bruno.Memory.ID, memsearch.Bound{}, "left"); err != nil {
		t.Fatal(err)
	}
	if got := who(""); got != "" {
		t.Errorf("after he left: %q", got)
	}
	for _, id := range []string{"mem_none", ""} {
		if _, err := m.Confirm(t.Context(), id); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("Confirm(%q): %v", id, err)
		}
	}
	_, err = m.Confirm(t.Context(), bruno.Memory.ID)
	if refused, ok := errors.AsType[*core.RefusedError](err); !ok || refused.Rule != vault.RuleStatus {
		t.Errorf("Confirm of a retired memory: %v", err)
	}
}

func TestRememberAll(t *testing.T) {
	m := open(t, nil, core.Scope{Name: "user", Dir: t.TempDir()})
	out, err := m.RememberAll(t.Context(), "", []core.NewMemory{fact("The ferry leaves at six."), fact(""), fact("The tram leaves at seven.")})
	if err != nil || len(out) != 3 {
		t.Fatalf("%+v, %v", out, err)
	}
	for i, refused := range []bool{false, true, false} {
		if (out[i].Refused != nil) != refused {
			t.Errorf("outcome %d is %+v", i, out[i])
		}
	}
	if res := recall(t, m, "tram"); len(res.Hits) == 0 || res.Hits[0].MemoryID != out[2].Memory.ID {
		t.Errorf("hits %v", hits(res))
	}
	var units []string
	err = m.Passages(t.Context(), core.ListOptions{Current: true}, func(p core.Passage) error {
		units = append(units, strings.TrimSpace(p.Text))
		return nil
	})
	if err != nil || len(units) != 2 {
		t.Errorf("passages %q, %v", units, err)
	}
}

// TestForgetInGit guards against a clean report while history still holds the
// text.
func TestForgetInGit(t *testing.T) {
	t.Run("folder", func(t *testing.T) { testForgetInGit(t, "sub/bird.md") })
	if runtime.GOOS != "windows" {
		t.Run("name that git reads as a pattern", func(t *testing.T) { testForgetInGit(t, ":(x)bird.md") })
	}
}

func testForgetInGit(t *testing.T, name string) {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Log("no git here: only the files are checked")
	}
	dir := folder(t, map[string]string{name: "---\nid: mem_bird\n---\nThe marabou sits on the mast.\n", "other.md": "Nothing.\n"})
	commit := func(args ...string) {
		t.Helper()
		if git == "" {
			return
		}
		c := exec.Command(git, append([]string{"-C", dir, "-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"}, args...)...)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	commit("init", "-q")
	commit("add", ".")
	commit("commit", "-qm", "one")
	m := open(t, nil, core.Scope{Name: "user", Dir: dir})
	dry, err := m.Forget(t.Context(), true, "mem_bird")
	if err != nil || len(dry) != 1 || !dry[0].DryRun {
		t.Fatalf("dry run: %+v, %v", dry, err)
	}
	reports, err := m.Forget(t.Context(), false, "mem_bird")
	if len(reports) != 1 {
		t.Fatalf("%+v, %v", reports, err)
	}
	r := reports[0]
	if diff := cmp.Diff([]string{name}, r.Removed); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
	if r.LeftTerms != 0 || len(r.LeftFiles) > 0 || r.LeftRows != 0 || r.SeenTerms == 0 || len(r.Checked) == 0 {
		t.Errorf("report %+v; want it seen before and nothing left", r)
	}
	if git == "" {
		return
	}
	if len(r.GitCommits) != 1 || r.Clean || !errors.Is(err, core.ErrForget) {
		t.Errorf("commits %v, clean %v, %v; want the commit named", r.GitCommits, r.Clean, err)
	}
}

func TestFix(t *testing.T) {
	dir := folder(t, map[string]string{
		"old.md":   "---\nid: mem_old\ncreated_at: 2026-01-01T00:00:00Z\n---\nThe gate is green.\n",
		"new.md":   "---\nid: mem_new\ncreated_at: 2026-02-01T00:00:00Z\nsupersedes: [mem_old]\n---\nThe gate is red.\n",
		"plain.md": "Plain.\n",
	})
	m := open(t, nil, core.Scope{Name: "user", Dir: dir})
	found, err := m.Doctor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, f := range found {
		codes = append(codes, f.Path+" "+f.Code)
	}
	if diff := cmp.Diff([]string{" index-missing", "plain.md no-id"}, codes); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	fixed, err := m.Fix(t.Context())
	if err != nil || len(fixed) != 1 || len(fixed[0].Stamped) != 1 || len(fixed[0].Refused) != 0 {
		t.Fatalf("Fix: %+v, %v", fixed, err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "old.md"))
	if err != nil || !strings.Contains(string(raw), "status: superseded") {
		t.Errorf("the half-done supersede is not finished: %s", raw)
	}
	if found, err = m.Doctor(t.Context()); err != nil || len(found) != 0 {
		t.Errorf("afterwards: %+v, %v", found, err)
	}
	checks, err := m.Check(t.Context())
	if err != nil || !checks[0].Clean {
		t.Errorf("check: %+v, %v", checks, err)
	}
}

func TestSummarise(t *testing.T) {
	long := strings.Repeat("word ", 60) // 300 characters
	for _, tt := range []struct{ text, want string }{
		{"One line.", "One line."},
		{"\n\n# Title\n\nBody", "Title"},
		{"- first\n- second", "first"},
		{"a\tb\r\nc", "a b"},
		{"", ""},
		{"###\n\n> quote", "quote"},
		{"> [!note] Said aloud", "Said aloud"},
		{"> [!tip]-\n> Folded", "Folded"},
		{"First sentence. " + long, "First sentence."},
		{"第一句。" + strings.Repeat("字", 300), "第一句。"},
		{strings.TrimSpace(long), strings.TrimSpace(long[:195]) + "…"},
		{strings.Repeat("字", 201), strings.Repeat("字", 199) + "…"},
		{strings.Repeat("字", 200), strings.Repeat("字", 200)},
	} {
		if got := core.Summarise(tt.text); got != tt.want {
			t.Errorf("Summarise(%.30q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

// TestChainOfSuccessors guards against a history that takes a memory for current
// because only its successor says that it is over.
func TestChainOfSuccessors(t *testing.T) {
	m := open(t, nil, core.Scope{Name: "user", Dir: folder(t, map[string]string{
		"a.md": "---\nid: a\nstatus: active\nvalid_from: 2026-01-01\n---\nThe lead is Ines.\n",
		"b.md": "---\nid: b\nstatus: active\nvalid_from: 2026-05-01\nsupersedes: [a]\n---\nThe lead is Bruno.\n",
		"c.md": "---\nid: c\nstatus: active\nvalid_from: 2026-09-01\nsupersedes: [b]\n---\nThe lead is Chen.\n",
		"d.md": "---\nid: d\nstatus: candidate\nvalid_from: 2026-10-01\nsupersedes: [c]\n---\nThe lead is Dora.\n",
	})})
	type link struct {
		ID, From, To string
		Status       memsearch.Status
		Current      bool
		By           []string
	}
	links := func(items []core.Item) (out []link) {
		for _, it := range items {
			out = append(out, link{it.ID, it.ValidFrom, it.ValidTo, it.Status, it.Current, it.SupersededBy})
		}
		return out
	}
	want := []link{
		{"a", "2026-01-01", "2026-05-01", memsearch.StatusSuperseded, false, []string{"b"}},
		{"b", "2026-05-01", "2026-09-01", memsearch.StatusSuperseded, false, []string{"c"}},
		{"c", "2026-09-01", "", memsearch.StatusActive, true, []string{}},
		{"d", "2026-10-01", "", memsearch.StatusCandidate, false, []string{}},
	}
	chain, err := m.History(t.Context(), "b")
	if diff := cmp.Diff(want, links(chain)); diff != "" || err != nil {
		t.Errorf("history (-want +got):\n%s%v", diff, err)
	}
	it, err := m.Show(t.Context(), "a")
	if err != nil || it.Status != memsearch.StatusSuperseded || it.ValidTo != "2026-05-01" {
		t.Errorf("show: %+v %v", it, err)
	}
	for status, want := range map[memsearch.Status]int{memsearch.StatusSuperseded: 2, memsearch.StatusActive: 1, memsearch.StatusCandidate: 1, memsearch.StatusRetired: 0} {
		if got, err := m.List(t.Context(), core.ListOptions{Statuses: []memsearch.Status{status}}); err != nil || len(got) != want {
			t.Errorf("list of %s: %+v %v, want %d", status, got, err, want)
		}
	}
	if got, err := m.List(t.Context(), core.ListOptions{Statuses: []memsearch.Status{memsearch.StatusSuperseded}, Limit: 1}); err != nil || len(got) != 1 {
		t.Errorf("list of one: %+v %v", got, err)
	}
}
