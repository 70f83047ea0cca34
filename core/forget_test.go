package core_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch/core"
)

// TestForgetName guards against a clean report while the name of a forgotten file
// stands elsewhere.
func TestForgetName(t *testing.T) {
	for _, tt := range []struct {
		path, elsewhere string
		found           bool
	}{
		{"notes/nightingale-budget.md", "See nightingale-budget for the sum.", true},
		{"notes/nightingale-budget.md", "See [[nightingale-budget]].", true},
		{"notes/nightingale-budget.md", "See nightingale-budgets.", false},
		{"user/nightingale-20261129-mem_20261129101500_k3f9a2.md", "Ask about nightingale.", true},
		{"夜莺计划.md", "关于夜莺计划的预算", true},
		{"a/budget.md", "The budget is tight.", false},                                              // short words stand anywhere
		{"a/2026-03-12.md", "On 2026-03-12 it rained.", false},                                      // a day
		{"user/preference-20261129-mem_20261129101500_k3f9a2.md", "A preference of mine.", false},   // a kind
		{"mem_20261129101500_k3f9a2.md", "supersedes mem_20261129101500_k3f9a2 of that day", false}, // an id
	} {
		dir := folder(t, map[string]string{tt.path: "Two million.\n", "other.md": tt.elsewhere + "\n"})
		m := open(t, nil, core.Scope{Name: "user", Dir: dir})
		items, err := m.List(t.Context(), core.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(items, func(it core.Item) bool { return it.Path == tt.path })
		if i < 0 {
			t.Fatalf("%s is not among %+v", tt.path, items)
		}
		reports, err := m.Forget(t.Context(), false, items[i].ID)
		if errors.Is(err, core.ErrForget) != tt.found || len(reports) != 1 {
			t.Fatalf("%s: %+v %v", tt.path, reports, err)
		}
		want := []string{}
		if tt.found {
			want = append(want, "other.md")
		}
		if diff := cmp.Diff(want, reports[0].OtherFiles); diff != "" {
			t.Errorf("%s beside %q (-want +got):\n%s", tt.path, tt.elsewhere, diff)
		}
	}
}

// TestForgetLeavesNoName looks into every file of a vault for the name that a
// writer proposed.
func TestForgetLeavesNoName(t *testing.T) {
	dir := t.TempDir()
	m := open(t, nil, core.Scope{Name: "user", Dir: dir})
	n := fact("The sum is two million.")
	n.Name = "nightingale"
	w, err := m.Remember(t.Context(), "", n)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Forget(t.Context(), false, w.Memory.ID); err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(name)
		if strings.Contains(name+string(raw), "nightingale") {
			t.Errorf("the name stands in %s", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
