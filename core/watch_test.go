package core_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/memsearch/memsearch/core"
)

// TestWatch guards against a long-running process that misses what the system
// reports: new files, files of new folders, edits and removals. Its clock stands
// still, so that no walk happens by the passing of time.
func TestWatch(t *testing.T) {
	t.Run("folder", func(t *testing.T) { testWatch(t, folder(t, birds)) })
	t.Run("link to a folder", func(t *testing.T) {
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(folder(t, birds), link); err != nil {
			t.Fatal(err)
		}
		testWatch(t, link)
	})
}

func testWatch(t *testing.T, dir string) {
	t.Helper()
	m := open(t, &core.Options{Watch: true}, core.Scope{Name: "user", Dir: dir})
	finds := func(query, path string, want bool) {
		t.Helper()
		var got []string
		for range 500 { // reports come a moment after the change
			got = hits(recall(t, m, query))
			if (len(got) > 0 && got[0] == "user:"+path) == want {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("%s: hits %v; want %s first: %v", query, got, path, want)
	}
	finds("heron weir", "heron.md", true)
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("new.md", "The dipper bobs.\n")
	finds("dipper", "new.md", true)
	write("new.md", "The wren sings.\n")
	finds("wren", "new.md", true)
	if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	finds("dipper", "new.md", false)
	write("a/b/deep.md", "The kestrel hovers.\n")
	finds("kestrel", "a/b/deep.md", true)
	if err := os.Remove(filepath.Join(dir, "new.md")); err != nil {
		t.Fatal(err)
	}
	finds("wren", "new.md", false)
}

// TestForgetWatched guards against a process that waits for its next call and
// meanwhile keeps what another forgets.
func TestForgetWatched(t *testing.T) {
	t.Parallel()
	dir := folder(t, birds)
	waits := open(t, &core.Options{Watch: true}, core.Scope{Name: "user", Dir: dir})
	if len(hits(recall(t, waits, "heron weir"))) == 0 {
		t.Fatal("nothing found")
	}
	items, err := waits.List(t.Context(), core.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := open(t, nil, core.Scope{Name: "user", Dir: dir}).Forget(t.Context(), false, items[0].ID); err != nil || !r[0].Clean {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestMoved guards against a process that goes on with a folder that is not the
// one of that name any more, or is blind to one that came back.
func TestMoved(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a folder that is open cannot be moved")
	}
	dir := filepath.Join(t.TempDir(), "v")
	if err := os.Rename(folder(t, birds), dir); err != nil {
		t.Fatal(err)
	}
	m := open(t, &core.Options{Watch: true}, core.Scope{Name: "user", Dir: dir})
	recall(t, m, "heron weir")
	if m.Moved() {
		t.Error("it did not move")
	}
	if err := os.Rename(dir, dir+".old"); err != nil {
		t.Fatal(err)
	}
	if !m.Moved() {
		t.Error("the folder is gone")
	}
	if err := os.Mkdir(dir, 0o755); err != nil || !m.Moved() {
		t.Errorf("the folder is another one: %v", err)
	}
	if err := errors.Join(os.Remove(dir), os.Rename(dir+".old", dir)); err != nil || m.Moved() {
		t.Errorf("the folder is the old one: %v", err)
	}
	time.Sleep(50 * time.Millisecond) // for the reports of all that
	recall(t, m, "heron weir")
	if err := os.WriteFile(filepath.Join(dir, "new.md"), []byte("The dipper bobs.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := hits(recall(t, m, "dipper")); len(got) == 0 || got[0] != "user:new.md" {
		t.Errorf("the folder that came back is not looked at: %v", got)
	}
}

// TestNoIndexFolder guards against calls that refuse each other where the index
// can only be made in memory.
func TestNoIndexFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	m := open(t, nil, core.Scope{Name: "user", Dir: folder(t, birds), IndexDir: filepath.Join(file, "index")})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if items, err := m.List(t.Context(), core.ListOptions{}); err != nil || len(items) == 0 {
				t.Errorf("%d memories, %v", len(items), err)
			}
		})
	}
	wg.Wait()
}
