package index_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch/index"
)

var errFault = errors.New("injected fault")

// faultAt returns a hook that fails the n-th operation (counted from 0) and, as
// for a process that died, all later ones.
func faultAt(n int, forever bool) (hook func(op, name string) error, hit *bool) {
	var mu sync.Mutex
	count := 0
	hit = new(bool)
	return func(op, name string) error {
		mu.Lock()
		defer mu.Unlock()
		count++
		if count-1 == n || *hit && forever {
			*hit = true
			return fmt.Errorf("%s %s: %w", op, name, errFault)
		}
		return nil
	}, hit
}

// TestFaults stops a sync at every file operation, once with the clean-up that an
// error brings and once without. The old generation answers, and the next sync
// heals.
func TestFaults(t *testing.T) {
	for _, forever := range []bool{false, true} {
		t.Run(fmt.Sprint("dead=", forever), func(t *testing.T) {
			f := newFixture(t, small, nil)
			f.sync()
			old := answers(t, f.ix)
			f.write("region.md", strings.ReplaceAll(small["region.md"], "November", "December"))
			f.write("new.md", "A note about deploy steps.\n")
			f.remove("tea.md")
			base := t.TempDir()
			copyTree(t, f.dir, base)
			restat(t, f.dir, base)
			g := &fixture{t: t, dir: f.dir}
			ref := g.open(&index.Options{Embedder: model(t), InMemory: true})
			syncOf(t, ref, index.SyncOptions{})
			want := answers(t, ref)
			for n := 0; ; n++ {
				f := &fixture{t: t, dir: filepath.Join(t.TempDir(), "vault")}
				copyTree(t, base, f.dir)
				restat(t, base, f.dir)
				hook, hit := faultAt(n, forever)
				ix := f.open(&index.Options{Embedder: model(t), Hook: hook})
				_, err := ix.Sync(t.Context(), index.SyncOptions{})
				if !*hit {
					if err != nil {
						t.Fatalf("without a fault: %v", err)
					}
					if n < 15 {
						t.Errorf("only %d operations pass the hook", n)
					}
					return
				}
				if err := ix.Close(); err != nil { // lets go of the old generation
					t.Error(err)
				}
				ix = f.open(nil)
				// Old or new, nothing in between: the fault may lie behind the
				// rename of CURRENT.
				if got := answers(t, ix); cmp.Diff(want, got) != "" && cmp.Diff(old, got) != "" {
					t.Errorf("fault %d (%v): answers are neither old nor new:\n%s", n, err, cmp.Diff(want, got))
				}
				syncOf(t, ix, index.SyncOptions{})
				if d := cmp.Diff(want, answers(t, ix)); d != "" {
					t.Errorf("fault %d (%v): after the next sync (-want +got):\n%s", n, err, d)
				}
				clean(t, ix)
				f.write("later.md", "Later.\n")
				syncOf(t, ix, index.SyncOptions{})
				tidy(t, f.dir)
				if t.Failed() {
					t.Fatalf("fault %d: %v", n, err)
				}
			}
		})
	}
}

// restat gives the copies the times of the originals.
func restat(t *testing.T, from, to string) {
	t.Helper()
	for name := range tree(t, from) {
		fi, err := os.Stat(from + name)
		if err == nil {
			err = os.Chtimes(to+name, fi.ModTime(), fi.ModTime())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// tidy fails the test if the index directory holds more than one generation or
// an unfinished file.
func tidy(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, ".memsearch"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, "gen-") {
			name = "gen"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	if d := cmp.Diff([]string{".gitignore", "CURRENT", "gen", "lock"}, names); d != "" {
		t.Errorf("index directory (-want +got):\n%s", d)
	}
}

// TestKill kills a syncing process again and again. What it leaves is read and
// healed.
func TestKill(t *testing.T) {
	f := newFixture(t, small, nil)
	f.sync()
	for i := range 12 {
		f.write(fmt.Sprintf("n%d.md", i), fmt.Sprintf("Note %d about production in region %d.\n", i, i))
		cmd, _ := start(t, "rebuild", f.dir)
		time.Sleep(time.Duration(20+17*i) * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		ix := f.open(nil)
		if err := readOnce(ix); err != nil {
			t.Errorf("after kill %d: %v", i, err)
		}
		syncOf(t, ix, index.SyncOptions{Wait: 10 * time.Second})
		clean(t, ix)
		if err := ix.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := f.ix.Close(); err != nil {
		t.Error(err)
	}
	f.write("last.md", "last\n")
	syncOf(t, f.open(nil), index.SyncOptions{})
	tidy(t, f.dir)
}

// TestProcesses lets two writers and eight readers loose on a vault that is
// edited meanwhile.
func TestProcesses(t *testing.T) {
	f := newFixture(t, small, nil)
	f.sync()
	var stops []func()
	for _, role := range []string{"write", "rebuild", "read", "read", "read", "read", "read", "read", "read", "read"} {
		_, stop := start(t, role, f.dir)
		stops = append(stops, stop)
	}
	for i := range 20 {
		f.write(fmt.Sprintf("n%d.md", i%5), fmt.Sprintf("Edit %d of a note about production.\n", i))
		time.Sleep(50 * time.Millisecond)
	}
	for _, stop := range stops {
		stop()
	}
	f.sync()
	clean(t, f.ix)
}

// TestDamage overwrites 32 bytes at several places of every file of an index. It
// is noticed before anything is answered, and healed.
func TestDamage(t *testing.T) {
	f := newFixture(t, small, nil)
	f.sync()
	want := answers(t, f.ix)
	if err := f.ix.Close(); err != nil {
		t.Fatal(err)
	}
	base := filepath.Join(f.dir, ".memsearch")
	pristine := tree(t, base)
	for name, content := range pristine {
		if strings.HasSuffix(name, "lock") || name == "/.gitignore" {
			continue
		}
		size := int64(len(content))
		for _, at := range []int64{0, size / 3, size / 2, max(0, size-32)} {
			for _, warm := range []bool{false, true} {
				f.damage(t, name, at, warm, want)
			}
		}
	}
}

func (f *fixture) damage(t *testing.T, name string, at int64, warm bool, want *answer) {
	t.Helper()
	g := &fixture{t: t, dir: filepath.Join(t.TempDir(), "vault")}
	copyTree(t, f.dir, g.dir)
	restat(t, f.dir, g.dir)
	ix := g.open(nil)
	if warm {
		if err := readOnce(ix); err != nil {
			t.Fatalf("before damage to %s: %v", name, err)
		}
	}
	p := g.dir + "/.memsearch" + name
	fi, err := os.Stat(p)
	if err != nil {
		t.Fatal(err)
	}
	overwrite(t, p, at)
	// Nothing but the change time gives it away.
	if err := os.Chtimes(p, fi.ModTime(), fi.ModTime()); err != nil {
		t.Fatal(err)
	}
	var u *index.Unusable
	if s, err := ix.Snapshot(t.Context()); !errors.As(err, &u) || u.State != index.StateCorrupt {
		if err == nil {
			err = s.Close()
		}
		// CURRENT is not needed to go on with what is open, and another manifest
		// than the verified one is never read.
		if !warm || name != "/CURRENT" && !strings.HasSuffix(name, "manifest.json") {
			t.Errorf("32 bytes of %s at %d overwritten (warm=%v): Snapshot gives %v", name, at, warm, err)
		}
	}
	syncOf(t, ix, index.SyncOptions{})
	if d := cmp.Diff(want, answers(t, ix)); d != "" {
		t.Errorf("after damage to %s at %d and a sync (-want +got):\n%s", name, at, d)
	}
	clean(t, ix)
	if err := ix.Close(); err != nil {
		t.Error(err)
	}
}

func overwrite(t *testing.T, name string, at int64) {
	t.Helper()
	w, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	old := make([]byte, 32)
	n, _ := w.ReadAt(old, at) // fewer at the end
	for i := range old[:n] {
		old[i] ^= 0xa5
	}
	_, err = w.WriteAt(old[:n], at)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestUnwritable tells a read-only directory and a full disk from other errors,
// and goes on in memory.
func TestUnwritable(t *testing.T) {
	f := newFixture(t, small, nil)
	f.sync()
	want := answers(t, f.ix)
	f.write("new.md", "A note about deploy steps.\n")
	for _, tt := range []struct {
		errno syscall.Errno
		want  error
	}{{syscall.EROFS, index.ErrReadOnly}, {syscall.EACCES, index.ErrReadOnly}, {syscall.ENOSPC, index.ErrFull}} {
		ix := f.open(&index.Options{Embedder: model(t), Hook: func(op, name string) error { return &os.PathError{Op: op, Path: name, Err: tt.errno} }})
		if _, err := ix.Sync(t.Context(), index.SyncOptions{}); !errors.Is(err, tt.want) {
			t.Errorf("Sync with %v: %v, want %v", tt.errno, err, tt.want)
		}
		if d := cmp.Diff(want, answers(t, ix)); d != "" {
			t.Errorf("old generation after %v:\n%s", tt.errno, d)
		}
	}
	mem := f.open(&index.Options{Embedder: model(t), InMemory: true})
	syncOf(t, mem, index.SyncOptions{})
	clean(t, mem)
	f.sync()
	if d := cmp.Diff(answers(t, f.ix), answers(t, mem)); d != "" {
		t.Errorf("in memory (-disk +memory):\n%s", d)
	}
}

// TestReadersWriteNothing opens snapshots of an index and looks at its directory.
func TestReadersWriteNothing(t *testing.T) {
	f := newFixture(t, small, nil)
	f.sync()
	before := tree(t, f.dir)
	ix := f.open(&index.Options{Embedder: model(t), Hook: func(op, name string) error { return errFault }})
	if err := readOnce(ix); err != nil {
		t.Error(err)
	}
	if s, why, err := ix.State(t.Context()); s != index.StateEqual || err != nil {
		t.Errorf("State = %v, %q, %v", s, why, err)
	}
	if _, err := ix.Sync(t.Context(), index.SyncOptions{}); err != nil {
		t.Errorf("Sync without changes: %v", err)
	}
	clean(t, ix)
	if d := cmp.Diff(before, tree(t, f.dir)); d != "" {
		t.Errorf("files (-before +after):\n%s", d)
	}
}

// TestBusy waits for another writer no longer than it is told to.
func TestBusy(t *testing.T) {
	f := newFixture(t, small, nil)
	f.sync()
	var inside bool
	other := f.open(&index.Options{Embedder: model(t), Hook: func(op, name string) error {
		if !inside && op == "sync" {
			inside = true
			_, err := f.ix.Sync(context.Background(), index.SyncOptions{Rebuild: true})
			if !errors.Is(err, index.ErrBusy) {
				t.Errorf("Sync beside a writer: %v, want %v", err, index.ErrBusy)
			}
			if err := readOnce(f.ix); err != nil {
				t.Errorf("read beside a writer: %v", err)
			}
		}
		return nil
	}})
	syncOf(t, other, index.SyncOptions{Rebuild: true})
	if !inside {
		t.Error("the hook was not called")
	}
}
