package index_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/index"
)

// TestMemory indexes documents that are no files.
func TestMemory(t *testing.T) {
	docs := []index.Document{
		{ID: "D1:1", Title: "Session 1", Text: "Caroline went to the support group", CreatedAt: time.Date(2023, 5, 8, 13, 56, 0, 0, time.UTC)},
		{ID: "D1:2", Text: "Melanie painted a sunrise", CreatedAt: time.Date(2023, 5, 9, 0, 0, 0, 0, time.UTC)},
		{Path: "n.md", Raw: []byte("---\nid: mem_n\n---\nA note about gardening\n")},
	}
	ix, err := index.Memory(t.Context(), docs, &index.Options{Embedder: model(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer ix.Close()
	for query, want := range map[string]string{"support group": "D1:1", "sunrise": "D1:2", "gardening": "mem_n", "9 May 2023": "D1:2"} {
		if got := lexicalIDs(t, ix, query); len(got) == 0 || got[0] != want {
			t.Errorf("%q finds %q, want %s first", query, got, want)
		}
	}
	s := snapshot(t, ix)
	defer s.Close()
	day := memsearch.Span{From: time.Date(2023, 5, 8, 0, 0, 0, 0, time.UTC), Until: time.Date(2023, 5, 9, 0, 0, 0, 0, time.UTC)}
	hits, err := s.Temporal(t.Context(), []memsearch.Span{day}, 0)
	if err != nil || len(hits) != 1 || s.UnitID(hits[0].Ord) != "D1:1" {
		t.Errorf("Temporal = %v, %v", hits, err)
	}
	ord, _ := s.Ordinal("D1:2")
	rows, err := s.Records(t.Context(), []uint32{ord})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := s.Text(t.Context(), rows[0]); text != docs[1].Text || err != nil {
		t.Errorf("Text = %q, %v", text, err)
	}
	clean(t, ix)
}

// TestMemorySync follows edits without a directory.
func TestMemorySync(t *testing.T) {
	f := newFixture(t, small, &index.Options{Embedder: model(t), InMemory: true})
	if s, _, err := f.ix.State(t.Context()); s != index.StateMissing || err != nil {
		t.Errorf("State = %v, %v", s, err)
	}
	f.sync()
	if r := f.sync(); r.Published {
		t.Errorf("sync without changes: %+v", r)
	}
	s := snapshot(t, f.ix)
	f.write("new.md", "A note about gardening\n")
	if r := f.sync(); !r.Published || r.Added != 1 || r.Generation != 2 {
		t.Errorf("sync: %+v", r)
	}
	if _, err := s.Lexical(t.Context(), "region"); err != nil {
		t.Errorf("old snapshot: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if got := lexicalIDs(t, f.ix, "gardening"); len(got) != 1 {
		t.Errorf("gardening finds %q", got)
	}
	if _, err := os.Stat(filepath.Join(f.dir, ".memsearch")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("index directory: %v", err)
	}
}
