package lexical

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch/index/analysis"
	"github.com/memsearch/memsearch/index/key"
)

const sampleDir = "../testdata/backcompat/v1/index/gen-2/lexical"

// TestBackcompat reads the folder that version 1 left in the sample of package
// index, part by part: which terms it holds is the analyzer's affair, so an index
// of an older analyzer is refused as a whole and rebuilt. When formatVersion is
// raised, a sample v2 joins this one, and of v1 it is enough that readList refuses
// it.
func TestBackcompat(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(sampleDir, listName))
	if err != nil {
		t.Fatal(err)
	}
	l := new(list)
	if err := json.Unmarshal(b, l); err != nil {
		t.Fatal(err)
	}
	if l.Version != 1 || l.Next != 3 || len(l.Segments) != 2 {
		t.Fatalf("list: %+v", l)
	}
	_, err = readList(sampleDir)
	if present := l.Version == formatVersion && l.Analysis == analysis.Version; present && err != nil || !present && !errors.Is(err, ErrVersion) {
		t.Errorf("readList: %v", err)
	}
	// Of the 10 documents the 3 of the first form of a file are deleted.
	deleted := roaring.New()
	if err := deleted.UnmarshalBinary(l.Segments[0].Deleted); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]uint32{0, 1, 2}, deleted.ToArray()); d != "" || l.Segments[0].Dead != 3 || l.Segments[1].Deleted != nil {
		t.Errorf("deleted (-want +got):\n%s", d)
	}
	if got, want := l.Stats.Docs, int64(7); got != want {
		t.Errorf("%d documents, want %d", got, want)
	}
	if got, want := l.Stats.Has[analysis.FieldTags], int64(1); got != want {
		t.Errorf("%d documents with tags, want %d", got, want)
	}

	// The files 1 to 5, the second of which is empty: units of file 1, the guide
	// in two pieces, and two memories; then file 6, which file 1 became.
	want := [][]key.Key{
		{key.Make(1, 0, 0), key.Make(1, 1, 0), key.Make(1, 2, 0), key.Make(3, 0, 0), key.Make(3, 0, 1), key.Make(4, 0, 0), key.Make(5, 0, 0)},
		{key.Make(6, 0, 0), key.Make(6, 1, 0), key.Make(6, 2, 0)},
	}
	var total Stats
	for i := range l.Segments {
		s := &l.Segments[i]
		table, err := s.load(sampleDir)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want[i], table.keys); d != "" {
			t.Errorf("keys of %s (-want +got):\n%s", s.Name, d)
		}
		for n, k := range table.keys {
			if k.File() != 1 {
				total.add(table.lens[n], 1)
			}
		}
		seg, err := openSegment(sampleDir, *s)
		if err != nil {
			t.Fatal(err)
		}
		defer seg.Close()
		// Ids are stored as the bytes of the keys.
		for n, k := range want[i] {
			var id []byte
			err := seg.VisitStoredFields(uint64(n), func(field string, _ byte, value []byte, _ []uint64) bool {
				if field == idField {
					id = append(id, value...)
				}
				return true
			})
			if got, ok := key.Parse(id); err != nil || !ok || got != k {
				t.Errorf("id of document %d in %s: %x, %v", n, s.Name, id, err)
			}
		}
	}
	if d := cmp.Diff(l.Stats, total); d != "" {
		t.Errorf("stats (-list +tables):\n%s", d)
	}
}

// "release" stands, stemmed, in every line of the guide: 60 times in its two
// pieces, and once in a unit of file 1.
func TestBackcompatPostings(t *testing.T) {
	seg, err := openSegment(sampleDir, segInfo{Name: "00000001", Docs: 7})
	if err != nil {
		t.Fatal(err)
	}
	defer seg.Close()
	d, err := seg.Dictionary(fieldNames[analysis.FieldBody])
	if err != nil {
		t.Fatal(err)
	}
	list, err := d.PostingsList([]byte("releas"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	freqs := map[uint64]uint64{}
	for it := list.Iterator(true, false, false, nil); ; {
		p, err := it.Next()
		if err != nil {
			t.Fatal(err)
		}
		if p == nil {
			break
		}
		freqs[p.Number()] = p.Frequency()
	}
	if len(freqs) != 3 || freqs[0] != 1 || freqs[3]+freqs[4] != 60 {
		t.Errorf("postings of releas: %v", freqs)
	}
}
