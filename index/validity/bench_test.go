package validity_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/index/key"
	"github.com/memsearch/memsearch/index/validity"
)

// many yields n units, a tenth of them with bounds or superseded, dated over
// five years.
func many(n int) iter.Seq[validity.Row] {
	return func(yield func(validity.Row) bool) {
		rng := rand.New(rand.NewPCG(1, 2))
		epoch := time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC)
		for i := range n {
			at := epoch.AddDate(0, 0, rng.IntN(5*365))
			r := validity.Row{
				Key: key.Make(uint32(i), 0, 0), UnitID: fmt.Sprintf("mem_%014d", i), Path: fmt.Sprintf("project/note-%d.md", i),
				Hash: "0123456789abcdef", FileHash: "0123456789abcdef", Summary: "a short summary of what the note is about", Tags: []string{"one", "two"},
				Category: memsearch.Categories[rng.IntN(4)], CreatedAt: at, Tokens: 80, Packable: true,
				Occurred: memsearch.Occurred{Span: memsearch.Span{From: at, Until: at.AddDate(0, 0, 1)}, Granularity: memsearch.GranularityDay,
					Source: memsearch.DateFrontMatter},
			}
			r.MemoryID = r.UnitID
			switch i % 20 {
			case 0:
				r.Valid.Until = memsearch.Bound{Time: at, Date: true}
			case 1:
				r.Supersedes = []string{fmt.Sprintf("mem_%014d", i-1)}
			case 2:
				r.Occurred.Span.Until = at.AddDate(1, 0, 0)
				r.Occurred.Granularity = memsearch.GranularityYear
			}
			if !yield(r) {
				return
			}
		}
	}
}

func table(b *testing.B, n int) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "v.db")
	if err := validity.Write(b.Context(), path, "", nil, many(n)); err != nil {
		b.Fatal(err)
	}
	return path
}

const size = 100_000

func BenchmarkWrite(b *testing.B) {
	path := filepath.Join(b.TempDir(), "v.db")
	i := 0
	for b.Loop() {
		i++
		if err := validity.Write(b.Context(), fmt.Sprintf("%s%d", path, i), "", nil, many(10_000)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWriteOne(b *testing.B) {
	base := table(b, size)
	i := 0
	for b.Loop() {
		i++
		one := func(yield func(validity.Row) bool) {
			yield(validity.Row{Key: key.Make(7, 0, 0), UnitID: "x", MemoryID: "x"})
		}
		if err := validity.Write(b.Context(), fmt.Sprintf("%s%d", base, i), base, []uint32{7}, one); err != nil {
			b.Fatal(err)
		}
	}
}

type query struct {
	name string
	run  func(*validity.Reader) error
}

func queries(b *testing.B) []query {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	day := memsearch.Span{From: time.Date(2024, 5, 6, 0, 0, 0, 0, time.UTC), Until: time.Date(2024, 5, 7, 0, 0, 0, 0, time.UTC)}
	excluded := func(f validity.Filter) func(*validity.Reader) error {
		return func(r *validity.Reader) error {
			_, err := r.Excluded(b.Context(), f)
			return err
		}
	}
	return []query{
		{"open", func(*validity.Reader) error { return nil }},
		{"current", excluded(validity.Filter{Now: now, Turn: "t"})},
		{"category", excluded(validity.Filter{Now: now, Categories: memsearch.Categories[:1]})},
		{"since", excluded(validity.Filter{Now: now, Since: day.From})},
		{"day", func(r *validity.Reader) error {
			_, err := r.Overlapping(b.Context(), []memsearch.Span{day}, 100)
			return err
		}},
		{"year", func(r *validity.Reader) error {
			_, err := r.Overlapping(b.Context(), []memsearch.Span{{From: day.From, Until: day.From.AddDate(1, 0, 0)}}, 1000)
			return err
		}},
		{"fetch 30", func(r *validity.Reader) error {
			var keys []key.Key
			for i := range 30 {
				keys = append(keys, key.Make(uint32(i*3001), 0, 0))
			}
			_, err := r.Fetch(b.Context(), keys)
			return err
		}},
		{"list 100", func(r *validity.Reader) error {
			_, err := r.List(b.Context(), validity.ListFilter{Limit: 100})
			return err
		}},
		{"pinned", func(r *validity.Reader) error {
			_, err := r.List(b.Context(), validity.ListFilter{Pinned: true})
			return err
		}},
		{"stats", func(r *validity.Reader) error {
			_, err := r.Stats(b.Context())
			return err
		}},
	}
}

// BenchmarkQuery measures queries on a warm reader, and with "cold" on one that
// is opened for it.
func BenchmarkQuery(b *testing.B) {
	path := table(b, size)
	for _, q := range queries(b) {
		b.Run(q.name+"/cold", func(b *testing.B) {
			for b.Loop() {
				r, err := validity.Open(path)
				if err != nil {
					b.Fatal(err)
				}
				if err := q.run(r); err != nil {
					b.Fatal(err)
				}
				r.Close()
			}
		})
		b.Run(q.name+"/warm", func(b *testing.B) {
			r, err := validity.Open(path)
			if err != nil {
				b.Fatal(err)
			}
			defer r.Close()
			for b.Loop() {
				if err := q.run(r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
