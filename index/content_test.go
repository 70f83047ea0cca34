package index_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/embed"
	"github.com/memsearch/memsearch/index"
	"github.com/memsearch/memsearch/index/validity"
	"github.com/memsearch/memsearch/internal/vault"
)

// A fakeSource has files whose times are set by hand.
type fakeSource struct {
	entries []vault.Entry
	skips   []vault.Skip
	text    map[string]string
	read    atomic.Int64 // files read
}

func (s *fakeSource) Walk(context.Context) ([]vault.Entry, []vault.Skip, error) {
	return s.entries, s.skips, nil
}

func (s *fakeSource) ReadEntry(e vault.Entry) ([]byte, error) {
	s.read.Add(1)
	if t, ok := s.text[e.Path]; ok {
		return []byte(t), nil
	}
	return nil, &fs.PathError{Op: "open", Path: e.Path, Err: fs.ErrPermission}
}

// TestRacy edits a file without moving any of its times. The edit is noticed
// when the first sync read the file within the granularity of its times.
func TestRacy(t *testing.T) {
	at := time.Date(2026, 11, 30, 8, 0, 0, 123456789, time.UTC)
	for _, tt := range []struct {
		name    string
		changed time.Time     // time of the file
		after   time.Duration // from then to the sync
		noticed bool
	}{
		{"at once", at, 0, true},
		{"within a tick", at, 10 * time.Millisecond, true},
		{"later", at, time.Second, false},
		{"clock behind", at, -time.Hour, true},
		{"whole seconds, soon", at.Truncate(time.Second), 1500 * time.Millisecond, true},
		{"whole seconds, later", at.Truncate(time.Second), 3 * time.Second, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ns := tt.changed.UnixNano()
			src := &fakeSource{
				entries: []vault.Entry{{Path: "a.md", OSPath: "a.md", Size: 6, MTime: ns, CTime: ns, Inode: 7}},
				text:    map[string]string{"a.md": "alpha\n"},
			}
			now := tt.changed.Add(tt.after)
			ix, err := index.Open(t.TempDir(), src, &index.Options{Now: func() time.Time { return now }})
			if err != nil {
				t.Fatal(err)
			}
			defer ix.Close()
			syncOf(t, ix, index.SyncOptions{})
			src.text["a.md"] = "gamma\n"
			now = now.Add(time.Hour)
			syncOf(t, ix, index.SyncOptions{})
			if got := len(lexicalIDs(t, ix, "gamma")) == 1; got != tt.noticed {
				t.Errorf("noticed = %v, want %v", got, tt.noticed)
			}
		})
	}
}

// TestSettled guards against files that every sync reads again because they were
// indexed as soon as they were written, and against a generation for a few of them.
func TestSettled(t *testing.T) {
	for _, n := range []int{10, 100} {
		at := time.Date(2026, 11, 30, 8, 0, 0, 123456789, time.UTC)
		src := &fakeSource{text: map[string]string{}}
		for i := range n {
			name := fmt.Sprintf("%03d.md", i)
			src.entries = append(src.entries, vault.Entry{Path: name, OSPath: name, Size: 6, MTime: at.UnixNano(), CTime: at.UnixNano(), Inode: uint64(i + 1)})
			src.text[name] = "alpha\n"
		}
		now := at
		ix, err := index.Open(t.TempDir(), src, &index.Options{Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		defer ix.Close()
		syncOf(t, ix, index.SyncOptions{})
		if r := syncOf(t, ix, index.SyncOptions{}); r.Published {
			t.Errorf("%d files: a second sync at once wrote a generation", n)
		}
		now = now.Add(time.Minute)
		if r := syncOf(t, ix, index.SyncOptions{MaxFiles: 5}); r.Published {
			t.Errorf("%d files: a sync for a recall wrote a generation", n)
		}
		if r := syncOf(t, ix, index.SyncOptions{}); r.Published != (n == 100) || r.Changed+r.Added+r.Removed != 0 {
			t.Errorf("%d files, a minute later: %+v", n, r)
		}
		clean(t, ix)
		read := src.read.Load()
		if r := syncOf(t, ix, index.SyncOptions{}); r.Published || n == 100 && src.read.Load() != read {
			t.Errorf("%d files, settled: published %v, %d files read", n, r.Published, src.read.Load()-read)
		}
	}
}

// TestUnreadable counts a file that cannot be read as skipped, without making a
// new generation at every sync, and indexes it once it can be read.
func TestUnreadable(t *testing.T) {
	src := &fakeSource{
		entries: []vault.Entry{
			{Path: "a.md", OSPath: "a.md", Size: 6, MTime: 1, CTime: 1, Inode: 1},
			{Path: "b.md", OSPath: "b.md", Size: 5, MTime: 1, CTime: 1, Inode: 2},
		},
		text: map[string]string{"a.md": "alpha\n"},
	}
	ix, err := index.Open(t.TempDir(), src, &index.Options{Now: func() time.Time { return day0 }})
	if err != nil {
		t.Fatal(err)
	}
	defer ix.Close()
	r := syncOf(t, ix, index.SyncOptions{})
	if r.Files != 2 || r.Indexed != 1 || r.Skipped != 1 || len(r.Skips) != 1 || r.Skips[0].Path != "b.md" {
		t.Errorf("first sync: %+v", r)
	}
	if r := syncOf(t, ix, index.SyncOptions{}); r.Published || r.Skipped != 1 {
		t.Errorf("second sync: %+v", r)
	}
	clean(t, ix)
	src.text["b.md"] = "beta\n"
	if r := syncOf(t, ix, index.SyncOptions{}); !r.Published || r.Indexed != 2 || r.Changed != 1 {
		t.Errorf("third sync: %+v", r)
	}
	// A file that the walk refuses is there and counted; a folder is no file.
	src.skips = []vault.Skip{{Path: "escape.md", Reason: vault.ReasonLinkOut}, {Path: ".hidden/", Reason: vault.ReasonHidden}}
	if r := syncOf(t, ix, index.SyncOptions{}); r.Files != 3 || r.Indexed != 2 || r.Skipped != 1 || len(r.Skips) != 2 {
		t.Errorf("fourth sync: %+v", r)
	}
	clean(t, ix)
}

// TestSameTimesEdit edits in place and puts the modification time back, as an
// editor or a restored backup may.
func TestSameTimesEdit(t *testing.T) {
	f := newFixture(t, map[string]string{"a.md": "alpha alpha\n"}, nil)
	f.sync()
	p := filepath.Join(f.dir, "a.md")
	fi, err := os.Stat(p)
	if err != nil {
		t.Fatal(err)
	}
	f.write("a.md", "gamma gamma\n")
	if err := os.Chtimes(p, fi.ModTime(), fi.ModTime()); err != nil {
		t.Fatal(err)
	}
	if r := f.sync(); r.Changed != 1 {
		t.Errorf("sync after the edit: %+v", r)
	}
	if got := lexicalIDs(t, f.ix, "alpha"); len(got) != 0 {
		t.Errorf("the old word finds %q", got)
	}
}

// TestDuplicateIDs gives an id to the first path that asks for it, in whatever
// order the files came.
func TestDuplicateIDs(t *testing.T) {
	text := func(n string) string { return "---\nid: mem_x\n---\ncontent " + n + "\n" }
	orders := [][]string{{"a.md", "b.md", "c.md"}, {"c.md", "b.md", "a.md"}, {"b.md", "c.md", "a.md"}}
	for _, order := range orders {
		f := newFixture(t, nil, nil)
		for _, name := range order {
			f.write(name, text(name))
			f.sync()
		}
		clean(t, f.ix)
		s := snapshot(t, f.ix)
		ord, ok := s.Ordinal("mem_x")
		if !ok || s.Len() != 3 {
			t.Fatalf("order %v: %d units, mem_x is there: %v", order, s.Len(), ok)
		}
		rows, err := s.Records(t.Context(), []uint32{ord})
		if err != nil || rows[0].Path != "a.md" {
			t.Errorf("order %v: mem_x is %v, %v", order, rows, err)
		}
		s.Close()
		f.remove("a.md")
		f.sync()
		clean(t, f.ix)
		if got := lexicalIDs(t, f.ix, "content b"); !slices.Contains(got, "mem_x") {
			t.Errorf("order %v: without a.md: %q", order, got)
		}
	}
}

// TestEmbedderDown publishes words and dates without vectors and adds the vectors
// once the server answers.
func TestEmbedderDown(t *testing.T) {
	e := &failing{Embedder: model(t), broken: true}
	f := newFixture(t, small, &index.Options{Embedder: e})
	r := f.sync()
	if !r.Published || r.Missing != 4 || !errors.Is(r.EmbedErr, errDown) {
		t.Errorf("sync with the server down: %+v", r)
	}
	if got := lexicalIDs(t, f.ix, "eu-central-1"); len(got) == 0 || got[0] != "mem_region" {
		t.Errorf("eu-central-1 finds %q", got)
	}
	if r := f.sync(); r.Published || r.Missing != 4 || !errors.Is(r.EmbedErr, errDown) {
		t.Errorf("sync with the server still down: %+v", r)
	}
	if r, err := f.ix.Check(t.Context()); err != nil || r.Missing != 4 || r.Clean() {
		t.Errorf("check without vectors: %+v, %v", r, err)
	}
	f.write("more.md", "One more note.\n")
	if r := f.sync(); !r.Published || r.Missing != 5 || r.Added != 1 {
		t.Errorf("sync of an edit with the server down: %+v", r)
	}
	e.broken = false
	if r := f.sync(); !r.Published || r.Missing != 0 || r.Changed != 0 {
		t.Errorf("sync with the server back: %+v", r)
	}
	clean(t, f.ix)
	got := answers(t, f.ix)
	syncOf(t, f.ix, index.SyncOptions{Rebuild: true})
	same(t, "rebuild", answers(t, f.ix), got)
}

// A renamed embedder is another model to everybody.
type renamed struct{ embed.Embedder }

func (r renamed) Fingerprint() embed.Fingerprint {
	f := r.Embedder.Fingerprint()
	f.Model = "other"
	return f
}

// TestModelChange searches words while the vectors are of another model.
func TestModelChange(t *testing.T) {
	f := newFixture(t, small, nil)
	f.sync()
	other := f.open(&index.Options{Embedder: renamed{model(t)}})
	if s, why, err := other.State(t.Context()); s != index.StateModel || why == "" || err != nil {
		t.Errorf("State = %v, %q, %v", s, why, err)
	}
	s := snapshot(t, other)
	if v, err := s.Vector(t.Context(), "region"); v != nil || !errors.Is(err, index.ErrModel) {
		t.Errorf("Vector = %v, %v, want %v", v, err, index.ErrModel)
	}
	s.Close()
	if got := lexicalIDs(t, other, "eu-central-1"); len(got) == 0 || got[0] != "mem_region" {
		t.Errorf("eu-central-1 finds %q", got)
	}
	if r := syncOf(t, other, index.SyncOptions{MaxFiles: 2}); r.Published || r.Stale != 5 || r.State != index.StateModel {
		t.Errorf("limited sync: %+v", r)
	}
	if r := syncOf(t, other, index.SyncOptions{}); !r.Published || r.State != index.StateModel {
		t.Errorf("sync: %+v", r)
	}
	s = snapshot(t, other)
	if v, err := s.Vector(t.Context(), "region"); err != nil || v.Model != "other" || !v.Known {
		t.Errorf("Vector = %v, %v", v, err)
	}
	s.Close()

	none := f.open(&index.Options{})
	syncOf(t, none, index.SyncOptions{})
	s = snapshot(t, none)
	defer s.Close()
	if v, err := s.Vector(t.Context(), "region"); v != nil || err != nil {
		t.Errorf("without a model: Vector = %v, %v", v, err)
	}
}

// TestOptionsChange rebuilds when dates are read in another zone.
func TestOptionsChange(t *testing.T) {
	f := newFixture(t, small, nil)
	f.sync()
	zone := time.FixedZone("UTC+8", 8*3600)
	other := f.open(&index.Options{Embedder: model(t), Zone: zone})
	if s, _, err := other.State(t.Context()); s != index.StateOptions || err != nil {
		t.Errorf("State = %v, %v", s, err)
	}
	if r := syncOf(t, other, index.SyncOptions{}); !r.Published || r.State != index.StateOptions {
		t.Errorf("sync: %+v", r)
	}
	s := snapshot(t, other)
	defer s.Close()
	if s.Zone() != "UTC+8" {
		t.Errorf("Zone = %q", s.Zone())
	}
	day := memsearch.Span{From: time.Date(2026, 3, 12, 0, 0, 0, 0, zone), Until: time.Date(2026, 3, 13, 0, 0, 0, 0, zone)}
	hits, err := s.Temporal(t.Context(), []memsearch.Span{day}, 0)
	if err != nil || len(hits) != 1 || !hits[0].Span.From.Equal(day.From) || hits[0].Granularity != memsearch.GranularityDay {
		t.Errorf("Temporal = %v, %v", hits, err)
	}
}

// TestMaxFiles leaves an index alone that is far behind, and says how far.
func TestMaxFiles(t *testing.T) {
	f := newFixture(t, small, nil)
	limit := index.SyncOptions{MaxFiles: 2}
	if r := syncOf(t, f.ix, limit); !r.Published {
		t.Errorf("without an index the limit must not count: %+v", r)
	}
	for i := range 3 {
		f.write(fmt.Sprintf("new%d.md", i), "new\n")
	}
	if r := syncOf(t, f.ix, limit); r.Published || r.Stale != 3 || r.Indexed != 4 {
		t.Errorf("three new files: %+v", r)
	}
	f.remove("new1.md")
	if r := syncOf(t, f.ix, limit); !r.Published || r.Stale != 0 || r.Added != 2 {
		t.Errorf("two new files: %+v", r)
	}
}

// TestText reads units from their files and notices those that changed.
func TestText(t *testing.T) {
	f := newFixture(t, small, nil)
	f.sync()
	s := snapshot(t, f.ix)
	defer s.Close()
	row := func(id string) validity.Row {
		t.Helper()
		ord, ok := s.Ordinal(id)
		if !ok {
			t.Fatalf("no unit %s", id)
		}
		rows, err := s.Records(t.Context(), []uint32{ord})
		if err != nil {
			t.Fatal(err)
		}
		return rows[0]
	}
	r := row("mem_region")
	if got, err := s.Text(t.Context(), r); err != nil || strings.TrimSpace(got) != "Production runs in eu-central-1 since November." {
		t.Errorf("Text = %q, %v", got, err)
	}
	for _, tt := range []struct {
		what string
		edit func()
	}{
		{"body", func() { f.write("region.md", strings.ReplaceAll(small["region.md"], "runs", "sits")) }},
		{"front matter", func() {
			f.write("region.md", strings.Replace(small["region.md"], "---\n", "---\nstatus: retired\n", 1))
		}},
		{"file", func() { f.remove("region.md") }},
	} {
		tt.edit()
		if got, err := s.Text(t.Context(), r); !errors.Is(err, index.ErrStale) {
			t.Errorf("after an edit of the %s: Text = %q, %v, want %v", tt.what, got, err, index.ErrStale)
		}
	}
}

// TestRename moves a file. Its old name is gone from every index, its unit found
// under the new one.
func TestRename(t *testing.T) {
	f := newFixture(t, small, nil)
	f.sync()
	f.rename("old.md", "archive/former.md")
	if r := f.sync(); r.Added != 1 || r.Removed != 1 {
		t.Errorf("sync: %+v", r)
	}
	s := snapshot(t, f.ix)
	defer s.Close()
	ord, ok := s.Ordinal("mem_old")
	if !ok {
		t.Fatal("mem_old is gone")
	}
	rows, err := s.Records(t.Context(), []uint32{ord})
	if err != nil || rows[0].Path != "archive/former.md" {
		t.Errorf("Records = %v, %v", rows, err)
	}
	clean(t, f.ix)
}

// TestCheckFinds makes the index disagree with the files in every way.
func TestCheckFinds(t *testing.T) {
	f := newFixture(t, small, nil)
	r, err := f.ix.Check(t.Context())
	if err != nil || r.Clean() || r.State != index.StateMissing {
		t.Errorf("without an index: %+v, %v", r, err)
	}
	f.sync()
	f.write("tea.md", "我喜欢咖啡。\n")
	f.write("new.md", "new\n")
	f.remove("old.md")
	r, err = f.ix.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, d := range r.Differences {
		paths = append(paths, d.Path)
	}
	slices.Sort(paths)
	want := []string{"", "new.md", "old.md", "tea.md"}
	if d := cmp.Diff(want, slices.Compact(paths)); d != "" {
		t.Errorf("paths of %v (-want +got):\n%s", r.Differences, d)
	}
}

// TestGivenVaults indexes real and odd folders: every file is indexed or skipped
// with a reason, check is clean and no byte of the vault changed.
func TestGivenVaults(t *testing.T) {
	data := os.Getenv("MEMSEARCH_DATA")
	if data == "" {
		data = filepath.Join("..", "..", "shared", "data")
	}
	vaults, err := filepath.Glob(filepath.Join(data, "vault_*", "files"))
	if err != nil {
		t.Fatal(err)
	}
	if len(vaults) == 0 {
		t.Skip("no vaults in MEMSEARCH_DATA")
	}
	for _, from := range vaults {
		t.Run(filepath.Base(filepath.Dir(from)), func(t *testing.T) {
			f := newFixture(t, nil, nil)
			copyTree(t, from, f.dir)
			before := tree(t, f.dir)
			r := f.sync()
			if r.Indexed+r.Skipped != r.Files {
				t.Errorf("%d indexed + %d skipped, %d files", r.Indexed, r.Skipped, r.Files)
			}
			clean(t, f.ix)
			after := tree(t, f.dir)
			for name := range after {
				if strings.HasPrefix(name, "/.memsearch/") {
					delete(after, name)
				}
			}
			if d := cmp.Diff(before, after, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("the vault changed:\n%s", d)
			}
		})
	}
}

// TestCatalogFollowsFiles reads a MEMORY.md again when a file that it links to
// comes or goes: a line that leads to a file is a catalog line, any other is a
// fact.
func TestCatalogFollowsFiles(t *testing.T) {
	f := newFixture(t, map[string]string{
		"MEMORY.md": "# Memory\n\n- [Quinces](quince.md): how to cook quinces\n- Persimmons are ripe in November\n",
	}, nil)
	f.sync()
	if got := lexicalIDs(t, f.ix, "quinces"); len(got) != 1 {
		t.Errorf("without the file quinces finds %q", got)
	}
	f.write("quince.md", "Boil them for an hour.\n")
	if r := f.sync(); r.Added != 1 || r.Changed != 0 {
		t.Errorf("sync: %+v", r)
	}
	clean(t, f.ix)
	for _, id := range lexicalIDs(t, f.ix, "cook") {
		t.Errorf("the catalog line is found as %s", id)
	}
	f.remove("quince.md")
	f.sync()
	clean(t, f.ix)
	if got := lexicalIDs(t, f.ix, "cook"); len(got) != 1 {
		t.Errorf("after the file went cook finds %q", got)
	}
}

// TestVaultUnreadable does not take a vault that cannot be listed for an index
// that cannot be written.
func TestVaultUnreadable(t *testing.T) {
	ix, err := index.Open(t.TempDir(), &lost{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ix.Close()
	if _, err := ix.Sync(t.Context(), index.SyncOptions{}); !errors.Is(err, fs.ErrPermission) || errors.Is(err, index.ErrReadOnly) {
		t.Errorf("Sync = %v", err)
	}
}

type lost struct{ fakeSource }

func (*lost) Walk(context.Context) ([]vault.Entry, []vault.Skip, error) {
	return nil, nil, fs.ErrPermission
}
