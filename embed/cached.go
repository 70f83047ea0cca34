package embed

import (
	"context"
	"fmt"
)

// storeEach is how many rows are embedded between two writes to the cache: what
// an interrupted run has paid for is kept up to there.
const storeEach = 512

// Cached is an embedder with a cache before it. It has none of the optional
// abilities itself; find those of the wrapped embedder with [As].
type Cached struct {
	embedder Embedder
	cache    *Cache // nil: the embedder is cheaper than a look-up
	quantise bool
}

// Wrap puts the cache in the file path before e. Passages are cached; queries are
// not, because a search must not write. A [Cheap] embedder is called directly and
// the file is left alone. An embedder that is [Quantised] has its rows cached, and
// returned, as int8 with one scale, so that the first answer is the same as the
// later ones.
func Wrap(e Embedder, path string, opts *CacheOptions) *Cached {
	c := &Cached{embedder: e}
	if cheap, ok := As[Cheap](e); !ok || !cheap.Cheap() {
		c.cache = OpenCache(path, opts)
	}
	if q, ok := As[Quantised](e); ok {
		c.quantise = q.Int8()
	}
	return c
}

// Unwrap returns the wrapped embedder, for [As].
func (c *Cached) Unwrap() Embedder { return c.embedder }

// Cache returns the cache, or nil if the embedder needs none.
func (c *Cached) Cache() *Cache { return c.cache }

// Fingerprint implements [Embedder].
func (c *Cached) Fingerprint() Fingerprint { return c.embedder.Fingerprint() }

// Close closes the cache.
func (c *Cached) Close() error {
	if c.cache == nil {
		return nil
	}
	return c.cache.Close()
}

// Embed implements [Embedder]. A text that occurs twice is embedded once.
func (c *Cached) Embed(ctx context.Context, texts []string, kind Kind) ([][]float32, error) {
	if c.cache == nil || kind != Passage || len(texts) == 0 {
		return c.embedder.Embed(ctx, texts, kind)
	}
	keys := make([]Key, len(texts))
	for i, text := range texts {
		keys[i] = KeyOf(text)
	}
	f := c.embedder.Fingerprint()
	rows, err := c.cache.Lookup(ctx, f, keys)
	if err != nil {
		return nil, err
	}
	first := map[Key]int{} // where a missing text stands first
	var missing []int
	for i, row := range rows {
		if _, seen := first[keys[i]]; row == nil && !seen {
			first[keys[i]] = i
			missing = append(missing, i)
		}
	}
	for len(missing) > 0 {
		part := missing[:min(storeEach, len(missing))]
		missing = missing[len(part):]
		if err := c.fill(ctx, f, texts, keys, part, rows); err != nil {
			return nil, err
		}
	}
	for i, row := range rows {
		if row == nil {
			rows[i] = append([]float32(nil), rows[first[keys[i]]]...)
		}
	}
	return rows, nil
}

// fill embeds and stores the texts at the places in part.
func (c *Cached) fill(ctx context.Context, f Fingerprint, texts []string, keys []Key, part []int, rows [][]float32) error {
	todo, todoKeys := make([]string, len(part)), make([]Key, len(part))
	for k, i := range part {
		todo[k], todoKeys[k] = texts[i], keys[i]
	}
	made, err := c.embedder.Embed(ctx, todo, Passage)
	if err != nil {
		return err
	}
	if len(made) != len(todo) {
		return fmt.Errorf("embed with %s: %d rows for %d texts", f.Model, len(made), len(todo))
	}
	for k, row := range made {
		if len(row) != f.Dims {
			return fmt.Errorf("embed with %s: row of %d, want %d", f.Model, len(row), f.Dims)
		}
		if c.quantise {
			blob, scale := appendRow(nil, row, true)
			made[k] = decodeRow(blob, scale, f.Dims)
		}
		rows[part[k]] = made[k]
	}
	c.cache.Store(ctx, f, todoKeys, made, c.quantise)
	return nil
}
