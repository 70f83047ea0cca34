//go:build unix

package vault_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/memfile"
	"github.com/memsearch/memsearch/internal/vault"
)

var errInjected = errors.New("injected")

// current returns the bodies of the memories that a reader takes for facts: the
// active ones that no other active one supersedes.
func current(files map[string]string) map[string]bool {
	var all []memsearch.Memory
	over := map[string]bool{}
	body := map[string]string{}
	for name, text := range files {
		if filepath.Base(name) == "MEMORY.md" || filepath.Ext(name) != ".md" {
			continue
		}
		f := memfile.Parse(name, []byte(text), nil)
		if f.Memory.Status == memsearch.StatusActive {
			all = append(all, f.Memory)
			body[f.Memory.ID] = f.Text[f.Body[0]:]
			for _, id := range f.Memory.Supersedes {
				over[id] = true
			}
		}
	}
	out := map[string]bool{}
	for _, m := range all {
		if !over[m.ID] {
			out[body[m.ID]] = true
		}
	}
	return out
}

var start = map[string]string{
	"reference/old.md": "---\nid: old\ncreated_at: 2026-01-01\n---\nus-east-1 is where production runs\n",
	"log.md":           "# Log\n\n## 2026-01-01\n\nThe first entry of the log.\n\n## 2026-01-02\n\nThe second entry of the log.\n",
	"MEMORY.md":        "# Mine\n\n- [old region](reference/old.md) my own hook\n- a line\n",
}

const (
	oldBody = "us-east-1 is where production runs\n"
	newBody = "eu-central-1 is where production runs\n"
)

// operations are the writes whose interruption is tried, with the facts before
// and after each.
var operations = map[string]struct {
	do    func(ctx context.Context, w *vault.Writer) error
	facts []string // after it, beside the log
}{
	"create": {func(ctx context.Context, w *vault.Writer) error {
		_, err := w.Create(ctx, fact("Region", newBody))
		return err
	}, []string{oldBody, newBody}},
	"supersede": {func(ctx context.Context, w *vault.Writer) error {
		_, err := w.Supersede(ctx, "reference/old.md", fact("Region", newBody), memsearch.Bound{})
		return err
	}, []string{newBody}},
	"retire": {func(ctx context.Context, w *vault.Writer) error {
		return w.Retire(ctx, "reference/old.md", memsearch.Bound{Time: now}, "moved")
	}, nil},
	"confirm": {func(ctx context.Context, w *vault.Writer) error {
		return w.Confirm(ctx, "reference/old.md", now)
	}, []string{oldBody}},
	"forget": {func(ctx context.Context, w *vault.Writer) error {
		_, err := w.Forget(ctx, []vault.Target{{Path: "reference/old.md"}}, false)
		return err
	}, nil},
}

// Each write is stopped at every single file operation: once with that operation
// failing alone, once with every later one failing too, as after a kill. The
// facts are then those of before or of after, and the next writer leaves the
// vault clean.
func TestFaultAtEveryOperation(t *testing.T) {
	for op, tt := range operations {
		for _, dies := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s dies=%v", op, dies), func(t *testing.T) {
				t.Parallel()
				for n := 0; faultAt(t, op, tt.do, tt.facts, n, dies); n++ {
				}
			})
		}
	}
}

// faultAt reports whether the write came to its n-th operation.
func faultAt(t *testing.T, op string, do func(context.Context, *vault.Writer) error, facts []string, n int, dies bool) bool {
	before, after := map[string]bool{oldBody: true, start["log.md"]: true}, map[string]bool{start["log.md"]: true}
	for _, b := range facts {
		after[b] = true
	}
	dir := memoryDir(t)
	fill(t, dir, start)
	plain := writer(t, dir, options()) // makes the lock before the count starts
	ops, at := 0, ""
	opts := options()
	opts.Hook = func(op, name string) error {
		if ops++; ops == n+1 {
			at = op + " " + name
		}
		if ops == n+1 || dies && ops > n {
			return errInjected
		}
		return nil
	}
	w, err := open(t, dir, opts).Writer()
	if err == nil {
		err = do(t.Context(), w)
	}
	if ops <= n {
		if err != nil {
			t.Errorf("without a fault: %v", err)
		}
		return false
	}

	files := tree(t, dir)
	got := current(files)
	if !maps.Equal(got, before) && !maps.Equal(got, after) || err == nil && !maps.Equal(got, after) {
		t.Errorf("fault at %s: error %v, facts are %q", at, err, slices.Collect(maps.Keys(got)))
	}
	if files["log.md"] != start["log.md"] {
		t.Errorf("fault at %s: a file that has nothing to do with it changed", at)
	}
	if list := files["MEMORY.md"]; !strings.HasPrefix(list, "# Mine\n\n") || !strings.Contains(list, "- a line\n") {
		t.Errorf("fault at %s: the user's lines of MEMORY.md: %q", at, list)
	}

	if err := plain.RefreshCatalog(t.Context()); err != nil {
		t.Errorf("fault at %s: next write: %v", at, err)
	}
	if left := temps(t, dir); len(left) > 0 {
		t.Errorf("fault at %s: left behind: %v", at, left)
	}
	settled := tree(t, dir)
	if !maps.Equal(current(settled), got) {
		t.Errorf("fault at %s: the repair changed facts: %q", at, slices.Collect(maps.Keys(current(settled))))
	}
	old := memfile.Parse("x.md", []byte(settled["reference/old.md"]), nil).Memory
	if op == "supersede" && got[newBody] && old.Status != memsearch.StatusSuperseded {
		t.Errorf("fault at %s: after the repair the old memory is %s", at, old.Status)
	}
	if stale, err := open(t, dir, options()).CatalogStale(t.Context()); stale || err != nil {
		t.Errorf("fault at %s: catalog stale: %v, %v", at, stale, err)
	}
	return true
}

// Repair also marks what a hand-written memory supersedes, but not on a cycle.
func TestRepair(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, map[string]string{
		"a.md":                         "---\nid: a\n---\na\n",
		"b.md":                         "---\nid: b\nsupersedes: [a]\nvalid_from: 2026-02-03\n---\nb\n",
		"c.md":                         "---\nid: c\nsupersedes: [d]\n---\nc\n",
		"d.md":                         "---\nid: d\nsupersedes: [c]\n---\nd\n",
		"e.md":                         "---\n{id: e}\n---\ncannot be spliced\n",
		"f.md":                         "---\nid: f\nsupersedes: [e]\n---\nf\n",
		"x/.memsearch-AB.tmp":          "torn",
		".memsearch-CD.tmp":            "torn",
		".memsearch/.memsearch-EF.tmp": "the index's own",
	})
	if err := writer(t, dir, options()).Repair(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := tree(t, dir)
	delete(got, "MEMORY.md")
	want := map[string]string{
		"a.md":                         "---\nid: a\nstatus: superseded\nsuperseded_by: [b]\nvalid_to: 2026-02-03\nupdated_at: 2026-11-29T10:15:00Z\n---\na\n",
		"b.md":                         "---\nid: b\nsupersedes: [a]\nvalid_from: 2026-02-03\n---\nb\n",
		"c.md":                         "---\nid: c\nsupersedes: [d]\n---\nc\n",
		"d.md":                         "---\nid: d\nsupersedes: [c]\n---\nd\n",
		"e.md":                         "---\n{id: e}\n---\ncannot be spliced\n",
		"f.md":                         "---\nid: f\nsupersedes: [e]\n---\nf\n",
		".memsearch/.memsearch-EF.tmp": "the index's own",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// childDir makes a run of this test binary the child of TestKilledChild.
const childDir = "MEMSEARCH_TEST_CHILD_VAULT"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		child(dir)
	}
	os.Exit(m.Run())
}

// child supersedes one memory after another and says at which operation it is,
// until it is killed.
func child(dir string) {
	opts := options()
	opts.Hook = func(op, name string) error {
		fmt.Println(op, name)
		return nil
	}
	v, err := vault.Open(dir, opts)
	if err != nil {
		panic(err)
	}
	w, err := v.Writer()
	if err != nil {
		panic(err)
	}
	path := "reference/old.md"
	for i := 0; ; i++ {
		n := fact("Region", fmt.Sprintf("region %d\n", i))
		n.Memory.CreatedAt = now.Add(time.Duration(i) * time.Second)
		m, err := w.Supersede(context.Background(), path, n, memsearch.Bound{})
		if err != nil {
			panic(err)
		}
		path = m.Path
	}
}

// A process that is killed in a chain of supersedes leaves one current fact, and
// the next writer finishes what it began.
func TestKilledChild(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, after := range []int{7, 19, 23, 31, 44, 58, 71} {
		dir := t.TempDir()
		fill(t, dir, map[string]string{"reference/old.md": start["reference/old.md"]})
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), childDir+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for range after {
			if !lines.Scan() {
				t.Fatal("the child ended by itself")
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, out)
		cmd.Wait() // it was killed

		if facts := current(tree(t, dir)); len(facts) != 1 {
			t.Errorf("killed at operation %d: facts are %v", after, facts)
		}
		opts := options()
		if err := writer(t, dir, opts).RefreshCatalog(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left := temps(t, dir); len(left) > 0 {
			t.Errorf("killed at operation %d: left behind: %v", after, left)
		}
		active := 0
		for p, text := range tree(t, dir) {
			if m := memfile.Parse(p, []byte(text), nil).Memory; p != "MEMORY.md" && m.Status == memsearch.StatusActive {
				active++
			}
		}
		if active != 1 {
			t.Errorf("killed at operation %d: %d active memories after the repair", after, active)
		}
	}
}
