package index

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/memsearch/memsearch/embed"
	"github.com/memsearch/memsearch/index/key"
	"github.com/memsearch/memsearch/index/vector"
)

// distinct sorts ids and leaves each once.
func distinct(ids []int32) []int32 {
	slices.Sort(ids)
	return slices.Compact(ids)
}

// vectors yields the vectors of every unit in the order of the ordinals: those
// of fresh files from the spool, the others from the old generation.
func (b *build) vectors(units *unitTable) iter.Seq2[vector.Unit, error] {
	return func(yield func(vector.Unit, error) bool) {
		for _, k := range units.keys {
			u, n, err := b.unitVectors(k)
			if n == 0 {
				b.missing++
			}
			if !yield(u, err) {
				return
			}
		}
	}
}

// unitVectors returns the vectors of the unit with key k. n is 0 when it has
// none yet.
func (b *build) unitVectors(k key.Key) (u vector.Unit, n int, err error) {
	rows, tokens, ok, err := b.spool.get(k)
	if ok || err != nil {
		return vector.Unit{Rows: rows, Tokens: tokens}, len(rows), err
	}
	if b.old != nil {
		if ord, ok := b.old.units.ordinal(k); ok {
			n := 1
			if b.old.manifest.Missing > 0 {
				n = rowCount(b.old.vectors, ord)
			}
			return vector.Unit{From: b.old.vectors, Ord: ord}, n, nil
		}
	}
	return vector.Unit{}, 0, fmt.Errorf("unit with key %x is in neither generation", uint64(k))
}

func vectorOptions(e embed.Embedder) vector.Options {
	f := e.Fingerprint()
	o := vector.Options{Dims: f.Dims, Fingerprint: f.Hash(), Int8: quantised(e)}
	if w, ok := embed.As[embed.Weigher](e); ok {
		o.Vocabulary = w.Vocabulary()
	}
	return o
}

func (b *build) writeVectors(ctx context.Context, path string, units *unitTable) error {
	return vector.Write(ctx, path, vectorOptions(b.ix.opts.Embedder), b.vectors(units))
}

// waiting returns the numbers of the files that have units without vectors.
func (g *generation) waiting() map[uint32]bool {
	files := map[uint32]bool{}
	for ord, k := range g.units.keys {
		if rowCount(g.vectors, uint32(ord)) == 0 {
			files[k.File()] = true
		}
	}
	return files
}

func rowCount(f *vector.File, ord uint32) int { return len(f.UnitRows(ord)) }
