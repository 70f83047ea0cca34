package index_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
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
			r, err := f.ix.Forget(t.Context(), index.ForgetOptions{Texts: []string{canary}, Wait: time.Second})
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
