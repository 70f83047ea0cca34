package index

import (
	"context"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/embed"
	"github.com/memsearch/memsearch/index/key"
	"github.com/memsearch/memsearch/index/lexical"
	"github.com/memsearch/memsearch/index/validity"
	"github.com/memsearch/memsearch/index/vector"
	"github.com/memsearch/memsearch/internal/memfile"
	"github.com/memsearch/memsearch/internal/vault"
)

var sample = flag.String("sample", "", "write a sample of the present format to this new folder")

// A sampler embeds by four words: a vector says which of them a text holds.
type sampler struct{}

var samplerWords = [...]string{"region", "production", "release", "茶"}

func (sampler) Fingerprint() embed.Fingerprint {
	return embed.Fingerprint{Model: "sample", Version: "1", Dims: len(samplerWords), Pooling: "sum"}
}

func (sampler) Int8() bool      { return true }
func (sampler) Vocabulary() int { return len(samplerWords) }

func (sampler) AppendTokenIDs(dst []int32, text string) []int32 {
	for i, w := range samplerWords {
		for range strings.Count(text, w) {
			dst = append(dst, int32(i))
		}
	}
	return dst
}

func (s sampler) EmbedQuery(text string, _ func(int32) int, _ int) []float32 {
	row := make([]float32, len(samplerWords))
	for _, id := range s.AppendTokenIDs(nil, text) {
		row[id] = 1
	}
	embed.Normalize(row)
	return row
}

func (s sampler) Embed(_ context.Context, texts []string, _ embed.Kind) ([][]float32, error) {
	rows := make([][]float32, len(texts))
	for i, t := range texts {
		rows[i] = s.EmbedQuery(t, nil, 0)
	}
	return rows, nil
}

const (
	sampleNew = "mem_20261129101500_k3f9a2"
	sampleOld = "mem_20250302090000_p1c2d3"
	sampleGen = "testdata/backcompat/v1/index/gen-2"
)

func openSample(t *testing.T, dir string) *Index {
	t.Helper()
	v, err := vault.Open(filepath.Join(dir, "vault"), &vault.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	ix, err := Open(filepath.Join(dir, "index"), v, &Options{Embedder: sampler{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(ix.Close(), v.Close()); err != nil {
			t.Error(err)
		}
	})
	return ix
}

// makeSample indexes the vault of the sample, all its files first without
// and then with the last line of 2026-03-12.md, so that generation 2 has a
// deleted document.
func makeSample(t *testing.T) {
	t.Helper()
	dir := filepath.Join(*sample, "vault")
	if err := os.CopyFS(dir, os.DirFS("testdata/backcompat/v1/vault")); err != nil {
		t.Fatal(err)
	}
	daily := filepath.Join(dir, "2026-03-12.md")
	whole, err := os.ReadFile(daily)
	if err != nil {
		t.Fatal(err)
	}
	last := strings.LastIndexByte(strings.TrimSuffix(string(whole), "\n"), '\n') + 1
	ix := openSample(t, *sample)
	for _, text := range [][]byte{whole[:last], whole} {
		if err := os.WriteFile(daily, text, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ix.Sync(t.Context(), SyncOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	// git would take it for an order not to keep the rest.
	if err := os.Remove(filepath.Join(*sample, "index", ignoreName)); err != nil {
		t.Fatal(err)
	}
}

// TestBackcompat reads what version 1 left, file by file; the keyword index has
// a test of its own. An index is derived: when [FormatVersion] or the version of
// one of its files is raised, a folder v2 joins this one, and of the files of v1
// whose version is gone it is enough that they are refused with the error that
// leads to a rebuild, which [TestBackcompatSync] goes through. A sample is never
// rewritten; go test -run Backcompat -sample testdata/backcompat/v2 makes the next
// one of the same vault.
func TestBackcompat(t *testing.T) {
	if *sample != "" {
		makeSample(t)
	}
	p, err := readPointer("testdata/backcompat/v1/index")
	if err != nil {
		t.Fatal(err)
	}
	if p.gen != 2 {
		t.Errorf("CURRENT names generation %d", p.gen)
	}
	m, err := p.readManifest(sampleGen)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.verify(t.Context(), sampleGen); err != nil {
		t.Error(err)
	}
	got := *m
	got.Options, got.Lexical, got.Derived = "", lexical.Stats{Docs: m.Lexical.Docs}, nil
	// Five files had the numbers 1 to 5; the changed one, 1, became 6.
	want := manifest{Format: 1, Model: `model="sample" version="1" dims=4 passage="" query="" pooling="sum"`, Zone: "UTC",
		NextFile: 7, Indexed: 4, Skipped: 1, Units: 6, Lexical: lexical.Stats{Docs: 7}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("manifest (-want +got):\n%s", d)
	}
	var names []string
	for _, d := range m.Derived {
		names = append(names, d.Name)
	}
	if d := cmp.Diff([]string{"lexical/00000001.docs", "lexical/00000001.zap", "lexical/00000002.docs", "lexical/00000002.zap",
		"lexical/list.json", "sources.bin", "units.bin", "validity.db", "vectors.bin"}, names); d != "" {
		t.Errorf("derived files (-want +got):\n%s", d)
	}
}

func TestBackcompatSources(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(sampleGen, sourcesName))
	if err != nil {
		t.Fatal(err)
	}
	list, err := decodeSources(b)
	if err != nil {
		t.Fatal(err)
	}
	daily, guide := memfile.PathID("2026-03-12.md"), memfile.PathID("guide.md")
	want := []source{
		{Path: "2026-03-12.md", ID: daily, File: 6, Units: 3},
		{Path: "empty.md", Skip: "empty"},
		{Path: "guide.md", ID: guide, File: 3, Units: 1, Modified: true},
		{Path: "reference/region-new.md", Declared: sampleNew, ID: sampleNew, File: 4, Units: 1},
		{Path: "reference/region-old.md", Declared: sampleOld, ID: sampleOld, File: 5, Units: 1, Modified: true},
	}
	for i := range want {
		s := &want[i]
		raw, err := os.ReadFile(filepath.Join("testdata/backcompat/v1/vault", s.Path))
		if err != nil {
			t.Fatal(err)
		}
		s.OSPath, s.Size, s.Hash = s.Path, int64(len(raw)), xxhash.Sum64(raw)
	}
	for i := range list {
		s := &list[i]
		if s.MTime == 0 || s.Inode == 0 {
			t.Errorf("%s: mtime %d, inode %d", s.Path, s.MTime, s.Inode)
		}
		s.MTime, s.CTime, s.Inode, s.Racy = 0, 0, 0, false // those of the machine that made it
	}
	if d := cmp.Diff(want, list); d != "" {
		t.Errorf("sources (-want +got):\n%s", d)
	}
}

// sampleUnits are the ids of the units in byte order, with their keys.
func sampleUnits() (ids []string, keys []key.Key) {
	daily, guide := memfile.PathID("2026-03-12.md"), memfile.PathID("guide.md")
	units := map[string]key.Key{
		sampleNew: key.Make(4, 0, 0), sampleOld: key.Make(5, 0, 0), guide: key.Make(3, 0, 0),
		daily + "#morning": key.Make(6, 0, 0), daily + "#下午": key.Make(6, 1, 0), daily + "#evening": key.Make(6, 2, 0),
	}
	for id := range units {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		keys = append(keys, units[id])
	}
	return ids, keys
}

func TestBackcompatUnits(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(sampleGen, unitsName))
	if err != nil {
		t.Fatal(err)
	}
	u, err := decodeUnits(b)
	if err != nil {
		t.Fatal(err)
	}
	ids, keys := sampleUnits()
	var got []string
	for ord := range uint32(u.len()) {
		got = append(got, u.id(ord))
	}
	if d := cmp.Diff(ids, got); d != "" {
		t.Errorf("ids (-want +got):\n%s", d)
	}
	if d := cmp.Diff(keys, u.keys); d != "" {
		t.Errorf("keys (-want +got):\n%s", d)
	}
	// The first segment holds the files 1 to 5 as they were: three units of file 1,
	// deleted, and the guide in two pieces. The second holds file 6.
	at := func(k key.Key) uint32 { return uint32(slices.Index(keys, k)) }
	guide := at(key.Make(3, 0, 0))
	want := []uint32{noUnit, noUnit, noUnit, guide, guide, at(key.Make(4, 0, 0)), at(key.Make(5, 0, 0)),
		at(key.Make(6, 0, 0)), at(key.Make(6, 1, 0)), at(key.Make(6, 2, 0))}
	if d := cmp.Diff(want, u.docs); d != "" {
		t.Errorf("documents (-want +got):\n%s", d)
	}
}

func TestBackcompatVectors(t *testing.T) {
	f, err := vector.Open(filepath.Join(sampleGen, vectorsName))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Units() != 6 || f.Rows() != 6 || f.Dims() != 4 || !f.Int8() || f.Fingerprint() != (sampler{}).Fingerprint().Hash() {
		t.Errorf("%d units, %d rows of %d, int8 %v, fingerprint %x", f.Units(), f.Rows(), f.Dims(), f.Int8(), f.Fingerprint())
	}
	_, keys := sampleUnits()
	half := float32(math.Sqrt(0.5))
	for _, tt := range []struct {
		key    key.Key
		row    []float32
		tokens []int32
	}{
		{key.Make(3, 0, 0), []float32{0, 0, 1, 0}, []int32{2}},
		{key.Make(4, 0, 0), []float32{half, half, 0, 0}, []int32{0, 1}},
		{key.Make(5, 0, 0), []float32{half, half, 0, 0}, []int32{0, 1}},
		{key.Make(6, 0, 0), []float32{0, 0, 1, 0}, []int32{2}},
		{key.Make(6, 1, 0), []float32{0, 0, 0, 1}, []int32{3}},
		{key.Make(6, 2, 0), []float32{0, 0, 0, 0}, nil},
	} {
		ord := uint32(slices.Index(keys, tt.key))
		rows := f.UnitRows(ord)
		near := cmp.Comparer(func(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-6 })
		if d := cmp.Diff([][]float32{tt.row}, rows, near); d != "" {
			t.Errorf("rows of %x (-want +got):\n%s", uint64(tt.key), d)
		}
		tokens, err := f.UnitTokens(nil, ord)
		if err != nil || !slices.Equal(tokens, tt.tokens) {
			t.Errorf("tokens of %x: %v, %v; want %v", uint64(tt.key), tokens, err, tt.tokens)
		}
	}
	for id, want := range []int{2, 2, 2, 1} {
		if got := f.DF(int32(id)); got != want {
			t.Errorf("%d units have the token %d, want %d", got, id, want)
		}
	}
}

func TestBackcompatValidity(t *testing.T) {
	r, err := validity.Open(filepath.Join(sampleGen, validityName))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rows, err := r.Fetch(t.Context(), []key.Key{key.Make(4, 0, 0), key.Make(5, 0, 0), key.Make(6, 1, 0)})
	if err != nil {
		t.Fatal(err)
	}
	day := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	created := time.Date(2026, 11, 29, 18, 15, 0, 0, time.FixedZone("", 8*3600))
	want := []validity.Row{
		{Key: key.Make(4, 0, 0), UnitID: sampleNew, MemoryID: sampleNew, Path: "reference/region-new.md", Lines: [2]int{17, 17},
			Category: "reference", Kind: "decision", Status: "active", Summary: "The production region moved",
			CanonicalKey: "production.region", Tags: []string{"infra", "区域"}, Tools: []string{"terraform"}, Trust: "user", Confidence: 0.9,
			Session: "s-481", Turn: "t-9", Packable: true,
			Valid:       memsearch.Validity{From: memsearch.Bound{Time: day(2026, 11, 1), Date: true}},
			Occurred:    memsearch.Occurred{Span: memsearch.Span{From: created, Until: created.Add(time.Second)}, Source: memsearch.DateFrontMatter},
			CreatedAt:   created,
			ConfirmedAt: day(2026, 11, 30), Supersedes: []string{sampleOld}},
		{Key: key.Make(5, 0, 0), UnitID: sampleOld, MemoryID: sampleOld, Path: "reference/region-old.md", Lines: [2]int{9, 9},
			Status: "superseded", Pinned: true, Packable: false, Kind: "constraint", Summary: "The only production region",
			Valid:        memsearch.Validity{Until: memsearch.Bound{Time: time.Date(2026, 12, 1, 6, 30, 0, 0, time.UTC)}},
			SupersededBy: []string{sampleNew}, Cut: validity.Cut{On: memsearch.Bound{Time: day(2026, 11, 1), Date: true}}},
		{Key: key.Make(6, 1, 0), UnitID: memfile.PathID("2026-03-12.md") + "#下午", MemoryID: memfile.PathID("2026-03-12.md"),
			Path: "2026-03-12.md", Lines: [2]int{5, 7}, Status: "active", Title: "Morning", Packable: true,
			Occurred: memsearch.Occurred{Span: memsearch.Span{From: day(2026, 3, 12), Until: day(2026, 3, 13)},
				Granularity: memsearch.GranularityDay, Source: memsearch.DateFileName}},
	}
	for i := range rows {
		raw, err := os.ReadFile(filepath.Join("testdata/backcompat/v1/vault", rows[i].Path))
		if err != nil {
			t.Fatal(err)
		}
		if rows[i].FileHash != hexSum(xxhash.Sum64(raw)) || len(rows[i].Hash) != 16 || rows[i].Tokens < 3 {
			t.Errorf("%s: hashes %q and %q, %d tokens", rows[i].UnitID, rows[i].FileHash, rows[i].Hash, rows[i].Tokens)
		}
		if text := string(raw[rows[i].Bytes[0]:rows[i].Bytes[1]]); !strings.Contains(text, []string{"eu-central-1", "us-east-1", "茶"}[i]) {
			t.Errorf("%s: text %q", rows[i].UnitID, text)
		}
		rows[i].Bytes, rows[i].Hash, rows[i].FileHash, rows[i].Tokens = [2]int{}, "", "", 0
	}
	rows[1].Occurred = memsearch.Occurred{} // when the sample was made
	if d := cmp.Diff(want, rows); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
}

// TestBackcompatSync finds the index of version 1 beside its files, as after an
// update of the program: whether it can be read or not, a sync must leave one
// that answers, and agree with the files.
func TestBackcompatSync(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/backcompat/v1")); err != nil {
		t.Fatal(err)
	}
	ix := openSample(t, dir)
	r, err := ix.Sync(t.Context(), SyncOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r.State < StateVersion || r.Indexed != 4 || r.Units != 6 || r.Missing != 0 {
		t.Errorf("sync: %+v", r)
	}
	s, err := ix.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	l, err := s.Lexical(t.Context(), "eu-central-1")
	if err != nil {
		t.Fatal(err)
	}
	best := slices.Index(l.Score, slices.Max(l.Score))
	if id := s.UnitID(uint32(best)); id != sampleNew {
		t.Errorf("%s is best, want %s", id, sampleNew)
	}
	c, err := ix.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range c.Differences {
		t.Error(d)
	}
}
