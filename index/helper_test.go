package index_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/embed"
	"github.com/memsearch/memsearch/embed/static"
	"github.com/memsearch/memsearch/index"
	"github.com/memsearch/memsearch/index/validity"
	"github.com/memsearch/memsearch/internal/vault"
)

// day0 is a moment after every date in the tests' files.
var day0 = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// A fixture is a vault in a temporary directory and an index over it.
type fixture struct {
	t   testing.TB
	dir string
	ix  *index.Index
}

func newFixture(t testing.TB, files map[string]string, opts *index.Options) *fixture {
	t.Helper()
	f := &fixture{t: t, dir: t.TempDir()}
	for name, text := range files {
		f.write(name, text)
	}
	f.ix = f.open(opts)
	return f
}

// open returns another index over the same directories.
func (f *fixture) open(opts *index.Options) *index.Index {
	f.t.Helper()
	v, err := vault.Open(f.dir, &vault.Options{ReadOnly: true})
	if err != nil {
		f.t.Fatal(err)
	}
	if opts == nil {
		opts = &index.Options{Embedder: model(f.t)}
	}
	ix, err := index.Open(filepath.Join(f.dir, ".memsearch"), v, opts)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() {
		if err := errors.Join(ix.Close(), v.Close()); err != nil {
			f.t.Error(err)
		}
	})
	return ix
}

func model(t testing.TB) *static.Model {
	t.Helper()
	m, err := static.Shared()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (f *fixture) write(name, text string) {
	f.t.Helper()
	p := filepath.Join(f.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) remove(name string) {
	f.t.Helper()
	if err := os.Remove(filepath.Join(f.dir, filepath.FromSlash(name))); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) rename(from, to string) {
	f.t.Helper()
	p := filepath.Join(f.dir, filepath.FromSlash(to))
	if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
		f.t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(f.dir, filepath.FromSlash(from)), p); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) sync() *index.SyncReport {
	f.t.Helper()
	return syncOf(f.t, f.ix, index.SyncOptions{})
}

func syncOf(t testing.TB, ix *index.Index, o index.SyncOptions) *index.SyncReport {
	t.Helper()
	r, err := ix.Sync(context.Background(), o)
	if err != nil {
		t.Fatalf("Sync: %v", err)
	}
	return r
}

func snapshot(t testing.TB, ix *index.Index) *index.Snapshot {
	t.Helper()
	s, err := ix.Snapshot(context.Background())
	if err != nil {
		t.Fatalf("Snapshot: %v", err)
	}
	return s
}

// clean fails the test unless index and files agree.
func clean(t testing.TB, ix *index.Index) {
	t.Helper()
	r, err := ix.Check(context.Background())
	if err != nil {
		t.Fatalf("Check: %v", err)
	}
	for _, d := range r.Differences {
		t.Errorf("Check: %v", d)
	}
}

// lexical returns the ids of the units that match, best first, ties by id.
func lexicalIDs(t testing.TB, ix *index.Index, text string) []string {
	t.Helper()
	s := snapshot(t, ix)
	defer s.Close()
	r, err := s.Lexical(context.Background(), text)
	if err != nil {
		t.Fatalf("Lexical: %v", err)
	}
	return ranked(s, r.Score)
}

func ranked(s *index.Snapshot, score []float32) []string {
	var ords []uint32
	for ord := range score {
		if score[ord] > 0 {
			ords = append(ords, uint32(ord))
		}
	}
	slices.SortStableFunc(ords, func(a, b uint32) int {
		switch {
		case score[a] > score[b]:
			return -1
		case score[a] < score[b]:
			return 1
		}
		return 0
	})
	ids := []string{}
	for _, ord := range ords {
		ids = append(ids, s.UnitID(ord))
	}
	return ids
}

// An answer is all that a snapshot says about some questions, with units by id.
type answer struct {
	Units    []string
	Lexical  map[string]map[string]float32
	Mass     map[string]map[string]float32
	Vector   map[string]map[string]float32
	Temporal []string
	Excluded []string
	Rows     []validity.Row
}

var questions = []string{"deploy region eu-central-1", "where does production run", "茶 饮料", "2026-03-12", "release steps tag", "alpha beta gamma"}

func answers(t testing.TB, ix *index.Index) *answer {
	t.Helper()
	ctx := context.Background()
	s := snapshot(t, ix)
	defer s.Close()
	a := &answer{Lexical: map[string]map[string]float32{}, Mass: map[string]map[string]float32{}, Vector: map[string]map[string]float32{}}
	ords := []uint32{}
	for ord := range uint32(s.Len()) {
		a.Units = append(a.Units, s.UnitID(ord))
		ords = append(ords, ord)
	}
	named := func(score []float32) map[string]float32 {
		m := map[string]float32{}
		for ord, x := range score {
			m[s.UnitID(uint32(ord))] = x
		}
		return m
	}
	for _, q := range questions {
		l, err := s.Lexical(ctx, q)
		if err != nil {
			t.Fatalf("Lexical(%q): %v", q, err)
		}
		a.Lexical[q], a.Mass[q] = named(l.Score), named(l.Mass)
		v, err := s.Vector(ctx, q)
		if err != nil {
			t.Fatalf("Vector(%q): %v", q, err)
		}
		if v != nil {
			a.Vector[q] = named(v.Cos)
		}
	}
	hits, err := s.Temporal(ctx, []memsearch.Span{{}}, 0)
	if err != nil {
		t.Fatalf("Temporal: %v", err)
	}
	for _, h := range hits {
		a.Temporal = append(a.Temporal, fmt.Sprint(s.UnitID(h.Ord), h.Span, h.Granularity, h.Source))
	}
	mask, err := s.Excluded(ctx, validity.Filter{Now: day0})
	if err != nil {
		t.Fatalf("Excluded: %v", err)
	}
	for _, ord := range ords {
		if mask.Has(ord) {
			a.Excluded = append(a.Excluded, s.UnitID(ord))
		}
	}
	if a.Rows, err = s.Records(ctx, ords); err != nil {
		t.Fatalf("Records: %v", err)
	}
	for i := range a.Rows {
		a.Rows[i].Key = 0
	}
	return a
}

// tree returns every file below dir with its content.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		files[strings.TrimPrefix(p, dir)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func copyTree(t testing.TB, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// A failing embedder stands for a server that is down while broken is set.
type failing struct {
	embed.Embedder
	broken bool
	calls  int
}

var errDown = errors.New("server is down")

func (e *failing) Embed(ctx context.Context, texts []string, kind embed.Kind) ([][]float32, error) {
	e.calls++
	if e.broken {
		return nil, errDown
	}
	return e.Embedder.Embed(ctx, texts, kind)
}
