package index

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch/index/key"
	"github.com/memsearch/memsearch/index/lexical"
	"github.com/memsearch/memsearch/internal/memfile"
)

var someSources = []source{
	{Path: "a.md", OSPath: "a.md", Size: 1, MTime: 2, CTime: 3, Inode: 4, Hash: 5, File: 6, Units: 7, ID: "mem_a"},
	{Path: "é.md", OSPath: "e\u0301.md", MTime: -1, Hash: 1<<64 - 1, Racy: true, Modified: true, Linked: true, Declared: "mem_e", ID: "mem_e"},
	{Path: "z.md", OSPath: "z.md", Unread: true, Racy: true, Skip: "permission denied"},
}

func TestSourcesRoundTrip(t *testing.T) {
	for _, list := range [][]source{{}, someSources} {
		got, err := decodeSources(encodeSources(list))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(list, got); d != "" {
			t.Errorf("sources (-want +got):\n%s", d)
		}
	}
}

func TestUnitTable(t *testing.T) {
	a, b, c := key.Make(2, 0, 0), key.Make(1, 1, 0), key.Make(1, 0, 0)
	table, err := newUnitTable([]unitRef{{"m#b", b}, {"n", a}, {"m#a", c}})
	if err != nil {
		t.Fatal(err)
	}
	dead := ^key.Key(0)
	if err := table.mapDocs([]key.Key{key.Make(1, 1, 3), dead, a}, dead); err != nil {
		t.Fatal(err)
	}
	if err := table.mapDocs([]key.Key{key.Make(9, 0, 0)}, dead); err == nil {
		t.Error("a document of no unit is mapped")
	}
	if err := table.mapDocs([]key.Key{key.Make(1, 1, 3), dead, a}, dead); err != nil {
		t.Fatal(err)
	}
	got, err := decodeUnits(table.encode())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(table, got, cmp.AllowUnexported(unitTable{})); d != "" {
		t.Errorf("units (-want +got):\n%s", d)
	}
	// Byte order of the ids: m#a, m#b, n.
	for ord, want := range []struct {
		id string
		k  key.Key
	}{{"m#a", c}, {"m#b", b}, {"n", a}} {
		if id := got.id(uint32(ord)); id != want.id {
			t.Errorf("id %d = %q, want %q", ord, id, want.id)
		}
		if o, ok := got.ordinal(want.k + 5); !ok || o != uint32(ord) {
			t.Errorf("ordinal of %s = %d, %v, want %d", want.id, o, ok, ord)
		}
		if o, ok := got.find(want.id); !ok || o != uint32(ord) {
			t.Errorf("find(%s) = %d, %v, want %d", want.id, o, ok, ord)
		}
	}
	if d := cmp.Diff([]uint32{1, noUnit, 2}, got.docs); d != "" {
		t.Errorf("docs (-want +got):\n%s", d)
	}
	for _, id := range []string{"", "m#", "mm", "o"} {
		if _, ok := got.find(id); ok {
			t.Errorf("find(%q) finds something", id)
		}
	}
}

func TestManifest(t *testing.T) {
	m := &manifest{Format: 1, Options: "o", Model: "m", Zone: "UTC", NextFile: 3, Indexed: 2, Units: 2,
		Lexical: lexical.Stats{Docs: 2}, Derived: []derived{{"a", 1, "x"}}}
	b, err := m.encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeManifest(b)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(m, got); d != "" {
		t.Errorf("manifest (-want +got):\n%s", d)
	}
	for i := range b {
		damaged := bytes.Clone(b)
		damaged[i] ^= 1
		if got, err := decodeManifest(damaged); err == nil && !cmp.Equal(m, got) {
			t.Errorf("with byte %d changed: %+v", i, got)
		}
	}
}

func TestPointer(t *testing.T) {
	want := pointer{gen: 12, sum: 0xabc}
	if got, err := decodePointer(want.encode()); got != want || err != nil {
		t.Errorf("decodePointer(%q) = %v, %v", want.encode(), got, err)
	}
	if got := string(want.encode()); got != "gen-12 0000000000000abc\n" {
		t.Errorf("encode = %q", got)
	}
	for _, s := range []string{"", "gen-12\n", "gen-12 abc\n", "gen-0 0000000000000abc\n", "gen-012 0000000000000abc\n",
		"../x 0000000000000abc\n", "gen-12 0000000000000abc", "gen-12 0000000000000abc\n\n", "gen-12 0000000000000ABC\n"} {
		if got, err := decodePointer([]byte(s)); err == nil {
			t.Errorf("decodePointer(%q) = %v", s, got)
		}
	}
}

func TestAssignIDs(t *testing.T) {
	// The second file asks for the id that the first has from its path.
	first := memfile.PathID("a.md")
	list := []source{
		{Path: "a.md"},
		{Path: "b.md", Declared: first},
		{Path: "c.md", Declared: "x"},
		{Path: "d.md", Declared: "x", ID: memfile.PathID("d.md")},
		{Path: "e.md", Declared: "x", Skip: "empty"},
		{Path: "f.md", Declared: "y"},
	}
	var moved []string
	assignIDs(list, func(s *source) { moved = append(moved, s.Path) })
	var got []string
	for _, s := range list {
		got = append(got, s.ID)
	}
	want := []string{first, memfile.PathID("b.md"), "x", memfile.PathID("d.md"), "", "y"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("ids (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"a.md", "b.md", "c.md", "f.md"}, moved); d != "" {
		t.Errorf("moved (-want +got):\n%s", d)
	}
}

// FuzzIndexFiles feeds any bytes to the readers of our own files. What they
// accept is written as it was read.
func FuzzIndexFiles(f *testing.F) {
	f.Add(encodeSources(someSources))
	table, err := newUnitTable([]unitRef{{"a", key.Make(1, 0, 0)}, {"b", key.Make(2, 0, 0)}})
	if err != nil {
		f.Fatal(err)
	}
	table.docs = []uint32{0, noUnit, 1}
	f.Add(table.encode())
	f.Add(pointer{gen: 1}.encode())
	// Ends within the second of its tables.
	f.Add([]byte("MSUNITS\n\x01\x00\x00\x00\x02\x00\x00\x00000000000000000000000000"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if list, err := decodeSources(b); err == nil {
			again, err := decodeSources(encodeSources(list))
			if err != nil || !cmp.Equal(list, again) {
				t.Errorf("sources: %v, %v, want %v", again, err, list)
			}
		}
		if u, err := decodeUnits(b); err == nil {
			for ord := range u.keys {
				if got, ok := u.ordinal(u.keys[ord]); ok && u.keys[got] != u.keys[ord].UnitKey() {
					t.Errorf("ordinal of unit %d is %d", ord, got)
				}
				u.find(u.id(uint32(ord)))
			}
			if !bytes.Equal(u.encode(), b) {
				t.Error("units are not written as they were read")
			}
		}
		if p, err := decodePointer(b); err == nil && !bytes.Equal(p.encode(), b) {
			t.Errorf("pointer %v", p)
		}
		if m, err := decodeManifest(b); err == nil && m == nil {
			t.Error("no manifest and no error")
		}
	})
}

func BenchmarkDecodeSources(b *testing.B) {
	var list []source
	for i := range 10_000 {
		name := fmt.Sprintf("folder/note-%05d.md", i)
		list = append(list, source{Path: name, OSPath: name, File: uint32(i), ID: memfile.PathID(name)})
	}
	raw := encodeSources(list)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		if _, err := decodeSources(raw); err != nil {
			b.Fatal(err)
		}
	}
}
