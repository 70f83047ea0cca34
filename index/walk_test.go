package index_test

import (
	"testing"

	"github.com/memsearch/memsearch/index"
)

// A walk that began before another writer published a generation has not seen
// the files of that generation; they must not pass for removed.
func TestWalkBegunBeforeAnotherSync(t *testing.T) {
	f := newFixture(t, small, nil)
	f.sync()
	w := f.ix.BeginWalk(t.Context())
	w.Wait()
	f.write("new.md", "A note that came later: zanzibar.\n")
	f.sync()
	r, err := f.ix.Sync(t.Context(), index.SyncOptions{Walk: w})
	if err != nil {
		t.Fatal(err)
	}
	if r.Published || r.Removed != 0 || r.State != index.StateEqual {
		t.Errorf("sync with the older walk: %+v", r)
	}
	if got := lexicalIDs(t, f.ix, "zanzibar"); len(got) != 1 {
		t.Errorf("zanzibar finds %q", got)
	}
}

func TestWalkBegunBeforeSync(t *testing.T) {
	f := newFixture(t, small, nil)
	f.sync()
	f.write("new.md", "A note that came later: zanzibar.\n")
	w := f.ix.BeginWalk(t.Context())
	r, err := f.ix.Sync(t.Context(), index.SyncOptions{Walk: w})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Published || r.Added != 1 || r.State != index.StateContent {
		t.Errorf("sync: %+v", r)
	}
}
