package core_test

import (
	"os"
	"path/filepath"
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
