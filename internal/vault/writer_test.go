//go:build unix

package vault_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/atomicfile"
	"github.com/memsearch/memsearch/internal/memfile"
	"github.com/memsearch/memsearch/internal/secrets"
	"github.com/memsearch/memsearch/internal/vault"
)

var now = time.Date(2026, 11, 29, 10, 15, 0, 0, time.UTC)

// counter is a source of ids that differ: aaaaaa, bbbbbb, …
type counter struct{ n byte }

func (c *counter) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 10 + c.n%16
	}
	c.n++
	return len(p), nil
}

var scanner = secrets.New() // its rules take a while to load

func options() *vault.Options {
	return &vault.Options{Now: func() time.Time { return now }, Rand: &counter{}, Wait: 10 * time.Second, Secrets: scanner}
}

// memoryDir returns a folder that lies in memory where that can be had: tests
// with thousands of syncs need not wait for a disk.
func memoryDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "vault-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func writer(t *testing.T, dir string, opts *vault.Options) *vault.Writer {
	t.Helper()
	w, err := open(t, dir, opts).Writer()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func fact(summary, body string) vault.NewMemory {
	return vault.NewMemory{
		Memory: memsearch.Memory{
			Category: memsearch.CategoryReference, Kind: memsearch.KindDecision, Summary: summary,
			Source: memsearch.Source{Trust: memsearch.TrustUser},
		},
		Body: body,
	}
}

// tree maps the files of a vault to their content, without what is ours.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.Name() == vault.JournalDir {
			return fs.SkipDir
		}
		if !e.Type().IsRegular() {
			return nil
		}
		b, err := os.ReadFile(p)
		name, _ := filepath.Rel(dir, p)
		got[filepath.ToSlash(name)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func journalText(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	names, _ := filepath.Glob(filepath.Join(dir, vault.JournalDir, "*.jsonl"))
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(string(b))
	}
	return all.String()
}

func temps(t *testing.T, dir string) (left []string) {
	t.Helper()
	filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if ok, _ := path.Match(atomicfile.TempPattern, filepath.Base(p)); ok {
			left = append(left, p)
		}
		return err
	})
	return left
}

func TestCreate(t *testing.T) {
	dir := t.TempDir()
	w := writer(t, dir, options())
	n := fact("Production moved to eu-central-1", "It runs in `eu-central-1` now.\n")
	n.Name = "region"
	n.Memory.Tags = []string{"infra", "aws"}
	n.Memory.Valid.From = memsearch.Bound{Time: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), Date: true}
	m, err := w.Create(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	const name = "reference/region-20261129-mem_20261129101500_aaaaaa.md"
	if m.Path != name || m.ID != "mem_20261129101500_aaaaaa" || m.Status != memsearch.StatusActive {
		t.Errorf("got %+v", m)
	}
	want := map[string]string{
		name: `---
id: mem_20261129101500_aaaaaa
category: reference
kind: decision
summary: Production moved to eu-central-1
tags: [infra, aws]
status: active
created_at: 2026-11-29T10:15:00Z
updated_at: 2026-11-29T10:15:00Z
valid_from: 2026-11-01
source: {trust: user}
---
It runs in ` + "`eu-central-1`" + ` now.
`,
		"MEMORY.md": memfile.CatalogBegin + "\n- [Production moved to eu-central-1](" + name + ")\n" + memfile.CatalogEnd + "\n",
	}
	if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(dir, vault.JournalDir, "dirty")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the mark of a write under way stays: %v", err)
	}
}

func TestCreateDefaults(t *testing.T) {
	for name, tt := range map[string]struct {
		kind memsearch.Kind
		name string
		want string
	}{
		"kind":    {memsearch.KindWarning, "", "reference/warning-20261129-mem_20261129101500_aaaaaa.md"},
		"note":    {"", "", "reference/note-20261129-mem_20261129101500_aaaaaa.md"},
		"Chinese": {"", "生产环境", "reference/生产环境-20261129-mem_20261129101500_aaaaaa.md"},
		"NFD":     {"", "cafe\u0301", "reference/caf\u00e9-20261129-mem_20261129101500_aaaaaa.md"},
	} {
		t.Run(name, func(t *testing.T) {
			n := fact("s", "b")
			n.Memory.Kind, n.Name = tt.kind, tt.name
			m, err := writer(t, t.TempDir(), options()).Create(t.Context(), n)
			if err != nil || m.Path != tt.want {
				t.Errorf("got %q, %v; want %q", m.Path, err, tt.want)
			}
		})
	}
}

func TestSupersede(t *testing.T) {
	dir := t.TempDir()
	old := "\ufeff---\r\nid: old\r\n# why\r\nstatus: active   # for now\r\ncustom: {a: 1}\r\n---\r\nus-east-1\r\n"
	fill(t, dir, map[string]string{"old.md": old})
	w := writer(t, dir, options())
	at := memsearch.Bound{Time: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), Date: true}
	m, err := w.Supersede(t.Context(), "old.md", fact("Region", "eu-central-1"), at)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"old"}, m.Supersedes); diff != "" || m.Valid.From != at {
		t.Errorf("new memory: %+v\n%s", m, diff)
	}
	want := "\ufeff---\r\nid: old\r\n# why\r\nstatus: superseded   # for now\r\ncustom: {a: 1}\r\n" +
		"superseded_by: [mem_20261129101500_aaaaaa]\r\nvalid_to: 2026-11-01\r\nupdated_at: 2026-11-29T10:15:00Z\r\n---\r\nus-east-1\r\n"
	if diff := cmp.Diff(want, tree(t, dir)["old.md"]); diff != "" {
		t.Errorf("old file (-want +got):\n%s", diff)
	}
	if list := tree(t, dir)["MEMORY.md"]; strings.Contains(list, "old.md") || !strings.Contains(list, m.Path) {
		t.Errorf("catalog: %s", list)
	}

	// What is over cannot be superseded again.
	_, err = w.Supersede(t.Context(), "old.md", fact("Region", "again"), at)
	if r, ok := errors.AsType[*vault.RefusedError](err); !ok || r.Rule != vault.RuleStatus {
		t.Errorf("superseding twice: %v", err)
	}
}

func TestRetireAndConfirm(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, map[string]string{
		"a.md": "---\nid: a\nvalid_from: 2026-01-01\n---\na\n",
		"b.md": "---\nid: b\nstatus: candidate\nsource: {trust: assistant}\nsupersedes: [a]\n---\nb\n",
		"c.md": "no front matter\n",
	})
	w := writer(t, dir, options())
	day := func(d int) memsearch.Bound {
		return memsearch.Bound{Time: time.Date(2026, 11, d, 0, 0, 0, 0, time.UTC), Date: true}
	}
	if err := w.Retire(t.Context(), "c.md", day(5), "wrong"); err != nil {
		t.Fatal(err)
	}
	if err := w.Confirm(t.Context(), "b.md", now); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"a.md": "---\nid: a\nvalid_from: 2026-01-01\nstatus: superseded\nsuperseded_by: [b]\nupdated_at: 2026-11-29T10:15:00Z\n---\na\n",
		"b.md": "---\nid: b\nstatus: active\nsource: {trust: assistant, confirmed_by: user}\nsupersedes: [a]\n" +
			"last_confirmed_at: 2026-11-29T10:15:00Z\nupdated_at: 2026-11-29T10:15:00Z\n---\nb\n",
		"c.md": "---\nstatus: retired\nvalid_to: 2026-11-05\nupdated_at: 2026-11-29T10:15:00Z\n---\nno front matter\n",
	}
	got := tree(t, dir)
	delete(got, "MEMORY.md")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for name, err := range map[string]error{
		"retire retired":     w.Retire(t.Context(), "c.md", day(6), ""),
		"confirm superseded": w.Confirm(t.Context(), "a.md", now),
	} {
		if r, ok := errors.AsType[*vault.RefusedError](err); !ok || r.Rule != vault.RuleStatus {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !strings.Contains(journalText(t, dir), `"event":"retired","id":"path_`) {
		t.Errorf("journal: %s", journalText(t, dir))
	}
}

func TestStampID(t *testing.T) {
	dir := t.TempDir()
	derived := memfile.PathID("a.md")
	fill(t, dir, map[string]string{
		"a.md": "plain\n",
		"b.md": "---\nid: b\nsupersedes: [" + derived + "]\n---\nb\n",
	})
	w := writer(t, dir, options())
	id, err := w.StampID(t.Context(), "a.md")
	if err != nil || id != "mem_20261129101500_aaaaaa" {
		t.Fatal(id, err)
	}
	want := map[string]string{
		"a.md": "---\nid: " + id + "\n---\nplain\n",
		"b.md": "---\nid: b\nsupersedes: [" + derived + ", " + id + "]\n---\nb\n",
	}
	if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if again, err := w.StampID(t.Context(), "a.md"); err != nil || again != id {
		t.Errorf("again: %q, %v", again, err)
	}
}

func TestReadOnly(t *testing.T) {
	opts := options()
	opts.ReadOnly = true
	dir := t.TempDir()
	if _, err := open(t, dir, opts).Writer(); !errors.Is(err, vault.ErrReadOnly) {
		t.Errorf("got %v, want %v", err, vault.ErrReadOnly)
	}
	denied := options()
	denied.Hook = func(op, name string) error { return &fs.PathError{Op: op, Path: name, Err: fs.ErrPermission} }
	if _, err := open(t, dir, denied).Writer(); !errors.Is(err, vault.ErrReadOnly) {
		t.Errorf("got %v, want %v", err, vault.ErrReadOnly)
	}
	if got, _ := os.ReadDir(dir); len(got) > 0 {
		t.Errorf("left behind: %v", got)
	}
}

func TestBusy(t *testing.T) {
	dir := t.TempDir()
	hold, held := make(chan struct{}), make(chan struct{})
	opts := options()
	opts.Hook = func(op, name string) error {
		if op == "mkdir" && name == "reference" {
			close(held)
			<-hold
		}
		return nil
	}
	first := writer(t, dir, opts)
	done := make(chan error)
	go func() {
		_, err := first.Create(context.Background(), fact("a", "a"))
		done <- err
	}()
	<-held
	short := options()
	short.Wait = 20 * time.Millisecond
	second := writer(t, dir, short)
	if _, err := second.Create(t.Context(), fact("b", "b")); !errors.Is(err, vault.ErrBusy) {
		t.Errorf("got %v, want %v", err, vault.ErrBusy)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := second.Create(ctx, fact("b", "b")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	close(hold)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// An editor that saves between our read and our rename loses nothing.
func TestLostUpdate(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.md")
	fill(t, dir, map[string]string{"a.md": "---\nid: a\n---\nfirst\n"})
	edits := 0
	opts := options()
	opts.Hook = func(op, target string) error {
		if op == "rename" && target == "a.md" && edits < 3 {
			edits++
			f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteString("user line\n")
			return err
		}
		return nil
	}
	if err := writer(t, dir, opts).Retire(t.Context(), "a.md", memsearch.Bound{}, ""); err != nil {
		t.Fatal(err)
	}
	want := "---\nid: a\nstatus: retired\nupdated_at: 2026-11-29T10:15:00Z\n---\nfirst\nuser line\nuser line\nuser line\n"
	if diff := cmp.Diff(want, tree(t, dir)["a.md"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWriterStaysInside(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	fill(t, outside, map[string]string{"a.md": "outside"})
	fill(t, dir, map[string]string{
		"reference": "->" + outside, "link.md": "->" + filepath.Join(outside, "a.md"), "project": "->sub", "sub/x.md": "x",
		"MEMORY.md": "->" + filepath.Join(outside, "a.md"),
	})
	w := writer(t, dir, options())
	for name, err := range map[string]error{
		"folder out": func() error { _, err := w.Create(t.Context(), fact("a", "a")); return err }(),
		"folder in": func() error {
			n := fact("a", "a")
			n.Memory.Category = memsearch.CategoryProject
			_, err := w.Create(t.Context(), n)
			return err
		}(),
		"link":      w.Retire(t.Context(), "link.md", memsearch.Bound{}, ""),
		"parent":    w.Retire(t.Context(), "../"+filepath.Base(outside)+"/a.md", memsearch.Bound{}, ""),
		"absolute":  w.Retire(t.Context(), filepath.Join(outside, "a.md"), memsearch.Bound{}, ""),
		"in folder": w.Confirm(t.Context(), "project/x.md", now),
		"forget":    func() error { _, err := w.Forget(t.Context(), []vault.Target{{Path: "link.md"}}, false); return err }(),
		"journal":   w.Retire(t.Context(), vault.JournalDir+"/x.md", memsearch.Bound{}, ""),
	} {
		if r, ok := errors.AsType[*vault.RefusedError](err); !ok || r.Rule != vault.RulePath {
			t.Errorf("%s: got %v, want a refusal by rule %s", name, err, vault.RulePath)
		}
	}
	if err := w.RefreshCatalog(t.Context()); err == nil {
		t.Error("a catalog that is a link was refreshed")
	}
	if diff := cmp.Diff(map[string]string{"a.md": "outside"}, tree(t, outside)); diff != "" {
		t.Errorf("outside (-want +got):\n%s", diff)
	}
}

// TestDuplicate: what a memory says already is not written a second time unless
// that is asked for, or the memory is over when the new one begins.
func TestDuplicate(t *testing.T) {
	dir := t.TempDir()
	w := writer(t, dir, options())
	first, err := w.Create(t.Context(), fact("Region", "Production runs in eu-central-1."))
	if err != nil {
		t.Fatal(err)
	}
	double := fact("Where it runs", "production  runs\nin EU-central-1")
	_, err = w.Create(t.Context(), double)
	refused, ok := errors.AsType[*vault.RefusedError](err)
	if !ok || refused.Rule != vault.RuleExists || refused.Field != "body" || !strings.Contains(refused.Reason, first.ID) {
		t.Errorf("a duplicate: %v, want one that names %s", err, first.ID)
	}
	again := double
	again.Name, again.Again = "again", true
	if _, err := w.Create(t.Context(), again); err != nil {
		t.Errorf("a duplicate that was asked for: %v", err)
	}
	w = writer(t, t.TempDir(), options())
	first, err = w.Create(t.Context(), fact("Region", "Production runs in eu-central-1."))
	if err != nil {
		t.Fatal(err)
	}
	double.Name = "successor"
	if _, err := w.Supersede(t.Context(), first.Path, double, memsearch.Bound{}); err != nil {
		t.Errorf("a successor of the same words: %v", err)
	}
}
