package index_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch/index"
)

// TestForget looks for a canary before and after.
func TestForget(t *testing.T) {
	canary := "---\nid: mem_secret\nsummary: Project Zanzibarquartz launch\ntags: [zanzibarquartz]\n---\nThe zanzibarquartz launch code is 8841-quokka.\n"
	for _, memory := range []bool{false, true} {
		t.Run(fmt.Sprint("memory=", memory), func(t *testing.T) {
			f := newFixture(t, small, &index.Options{Embedder: model(t), InMemory: memory})
			f.write("secret.md", canary)
			f.write("other.md", "The launch was in November.\n")
			f.sync()
			f.write("other.md", "The launch was in December.\n")
			f.sync()
			f.remove("secret.md")
			r, err := f.ix.Forget(t.Context(), index.ForgetOptions{Texts: []string{canary}, Wait: 10 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			if r.Before.Terms == 0 || r.Before.Vectors == 0 || !memory && len(r.Before.Files) == 0 {
				t.Errorf("the search is blind: %+v", r.Before)
			}
			if !r.Clean() {
				t.Errorf("left: %+v, held %v", r.After, r.Held)
			}
			clean(t, f.ix)
			if memory {
				return
			}
			for name, content := range tree(t, filepath.Join(f.dir, ".memsearch")) {
				for _, word := range []string{"zanzibarquartz", "Zanzibarquartz", "quokka", "mem_secret"} {
					if strings.Contains(content, word) {
						t.Errorf("%s holds %q", name, word)
					}
				}
			}
			tidy(t, f.dir)
		})
	}
}

// TestForgetNamesReaders reports a generation that somebody still reads.
func TestForgetNamesReaders(t *testing.T) {
	f := newFixture(t, small, nil)
	f.sync()
	other := f.open(nil)
	s := snapshot(t, other)
	f.remove("old.md")
	r, err := f.ix.Forget(t.Context(), index.ForgetOptions{Texts: []string{small["old.md"]}})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]int{1}, r.Held); d != "" || r.Clean() {
		t.Errorf("held (-want +got):\n%s", d)
	}
	if err := errors.Join(s.Close(), other.Close()); err != nil {
		t.Fatal(err)
	}
	r, err = f.ix.Forget(t.Context(), index.ForgetOptions{Texts: []string{small["old.md"]}})
	if err != nil || !r.Clean() {
		t.Errorf("after the reader left: %+v, %v", r, err)
	}
}

// TestForgetInterrupted dies after the file is gone and before the index follows:
// the next sync, even of an index elsewhere, keeps no byte of the text.
func TestForgetInterrupted(t *testing.T) {
	f := newFixture(t, small, nil)
	f.write("secret.md", "---\nid: mem_secret\nsummary: Project Zanzibarquartz\n---\nThe zanzibarquartz code is 8841-quokka.\n")
	f.sync()
	f.write(".memsearch-journal/tombstones.jsonl", "{\"v\":1}\n")
	f.remove("secret.md")
	f.sync()
	for name, content := range tree(t, filepath.Join(f.dir, ".memsearch")) {
		for _, word := range []string{"zanzibarquartz", "Zanzibarquartz", "quokka", "mem_secret"} {
			if strings.Contains(content, word) {
				t.Errorf("%s holds %q", name, word)
			}
		}
	}
	if r := f.sync(); r.Published {
		t.Error("the index is made anew by every sync")
	}
}

// TestForgetFullDisk would rather have no index than one that holds the text.
func TestForgetFullDisk(t *testing.T) {
	f := newFixture(t, small, nil)
	f.write("secret.md", "---\nsummary: Project Zanzibarquartz\n---\nThe zanzibarquartz code.\n")
	first := f.open(nil)
	syncOf(t, first, index.SyncOptions{})
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	full := f.open(&index.Options{Embedder: model(t), Hook: func(op, name string) error {
		if op == "create" && strings.Contains(name, "gen-") {
			return syscall.ENOSPC
		}
		return nil
	}})
	f.remove("secret.md")
	r, err := full.Forget(t.Context(), index.ForgetOptions{Texts: []string{"The zanzibarquartz code.\n"}})
	if err != nil || r.Generation != 0 || len(r.After.Files) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
	for name, content := range tree(t, filepath.Join(f.dir, ".memsearch")) {
		if strings.Contains(strings.ToLower(content), "zanzibarquartz") {
			t.Errorf("%s holds the text", name)
		}
	}
	f.sync()
	clean(t, f.ix)
}

// TestSweepAfterReader deletes what a reader held as soon as an index is asked for.
func TestSweepAfterReader(t *testing.T) {
	f := newFixture(t, small, nil)
	f.sync()
	other := f.open(nil)
	s := snapshot(t, other)
	f.write("new.md", "A new note.\n")
	f.sync()
	if err := errors.Join(s.Close(), other.Close()); err != nil {
		t.Fatal(err)
	}
	if f.sync().Published {
		t.Error("nothing changed")
	}
	tidy(t, f.dir)
}

// TestPointerOfWrongKind heals an index whose small files are no files.
func TestPointerOfWrongKind(t *testing.T) {
	for _, name := range []string{"CURRENT", "gen-1/manifest.json"} {
		for kind, put := range map[string]func(string) error{
			"folder": func(p string) error { return os.Mkdir(p, 0o700) },
			"link":   func(p string) error { return os.Symlink("nothing", p) },
		} {
			t.Run(name+" "+kind, func(t *testing.T) {
				f := newFixture(t, small, nil)
				f.sync()
				p := filepath.Join(f.dir, ".memsearch", filepath.FromSlash(name))
				if err := errors.Join(os.Remove(p), put(p)); err != nil {
					t.Fatal(err)
				}
				again := f.open(nil)
				if r := syncOf(t, again, index.SyncOptions{}); !r.Published {
					t.Errorf("%+v", r)
				}
				clean(t, again)
			})
		}
	}
}
