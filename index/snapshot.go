package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/embed"
	"github.com/memsearch/memsearch/index/key"
	"github.com/memsearch/memsearch/index/lexical"
	"github.com/memsearch/memsearch/index/validity"
	"github.com/memsearch/memsearch/internal/memfile"
	"github.com/memsearch/memsearch/internal/vault"
)

// A Snapshot is one generation, held open: what it answers does not change while
// files and index go on changing. It is safe for concurrent use until it is
// closed. Units are named by their ordinals, 0 to Len()-1, which follow the byte
// order of their ids.
type Snapshot struct {
	ix     *Index
	g      *generation
	closed atomic.Bool
}

// Snapshot returns the current generation. The error is an [*Unusable] one when
// there is none that can be read: the next [Index.Sync] makes one.
func (ix *Index) Snapshot(ctx context.Context) (*Snapshot, error) {
	g, err := ix.acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("open snapshot: %w", err)
	}
	return &Snapshot{ix: ix, g: g}, nil
}

// Close releases the snapshot. A second Close does nothing.
func (s *Snapshot) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	return s.g.unref()
}

// Len returns the number of units.
func (s *Snapshot) Len() int { return s.g.units.len() }

// Generation returns the number of the generation. In memory they count from 1.
func (s *Snapshot) Generation() int { return s.g.num }

// Missing returns the number of units that wait for their vectors.
func (s *Snapshot) Missing() int { return s.g.manifest.Missing }

// Zone returns the zone in which the files' naive times were read.
func (s *Snapshot) Zone() string { return s.g.manifest.Zone }

// UnitID returns the id of the unit with the ordinal ord.
func (s *Snapshot) UnitID(ord uint32) string { return s.g.units.id(ord) }

// Ordinal returns the ordinal of the unit called id.
func (s *Snapshot) Ordinal(id string) (uint32, bool) { return s.g.units.find(id) }

// Lexical scores the units by keywords.
func (s *Snapshot) Lexical(ctx context.Context, text string) (*lexical.Result, error) {
	return s.g.lexical.Search(ctx, text, s.ix.opts.Params)
}

// A VectorResult scores the units by meaning.
type VectorResult struct {
	Cos     []float32 // by ordinal
	Known   bool      // the model knows something of the query; if not, Cos is all zero
	Model   string    // name of the model
	Missing int       // units that wait for their vectors
}

// Vector scores the units by meaning. Without a model the result is nil. The
// error is an [ErrModel] when the vectors of the snapshot are of another model:
// the next [Index.Sync] makes new ones.
func (s *Snapshot) Vector(ctx context.Context, text string) (*VectorResult, error) {
	e := s.ix.opts.Embedder
	if e == nil {
		return nil, nil
	}
	if want := s.ix.model(); s.g.manifest.Model != want {
		return nil, fmt.Errorf("search vectors of %s: %w", modelName(s.g.manifest.Model), ErrModel)
	}
	q, err := s.queryVector(ctx, e, text)
	if err != nil {
		return nil, fmt.Errorf("embed query: %w", err)
	}
	r := &VectorResult{Model: e.Fingerprint().Model, Missing: s.g.manifest.Missing, Cos: make([]float32, s.Len())}
	r.Known = slices.ContainsFunc(q, func(x float32) bool { return x != 0 })
	if r.Known && s.g.vectors != nil {
		if err := s.g.vectors.Scan(ctx, q, r.Cos); err != nil {
			return nil, fmt.Errorf("search vectors: %w", err)
		}
	}
	return r, nil
}

func (s *Snapshot) queryVector(ctx context.Context, e embed.Embedder, text string) ([]float32, error) {
	if w, ok := embed.As[embed.Weigher](e); ok {
		if s.g.vectors == nil {
			return w.EmbedQuery(text, nil, 0), nil
		}
		return w.EmbedQuery(text, s.g.vectors.DF, s.Len()), nil
	}
	rows, err := e.Embed(ctx, []string{text}, embed.Query)
	if err != nil {
		return nil, err
	}
	if len(rows) != 1 {
		return nil, fmt.Errorf("got %d rows for one text", len(rows))
	}
	return rows[0], nil
}

// A TemporalHit is a unit that occurred within a span that was asked about.
type TemporalHit struct {
	Ord         uint32
	Span        memsearch.Span
	Granularity memsearch.Granularity
	Source      memsearch.DateSource
}

// Temporal returns up to limit units that occurred within one of spans, finest
// granularity first; dates that are mere modification times come last. With a
// limit of 0 it returns them all, in the order of their ordinals.
func (s *Snapshot) Temporal(ctx context.Context, spans []memsearch.Span, limit int) ([]TemporalHit, error) {
	var found []validity.Overlap
	var err error
	if limit == 0 {
		found, err = s.g.validity.Within(ctx, spans)
	} else {
		found, err = s.g.validity.Overlapping(ctx, spans, limit)
	}
	if err != nil {
		return nil, err
	}
	hits := make([]TemporalHit, len(found))
	for i, o := range found {
		ord, err := s.ordinal(o.Key)
		if err != nil {
			return nil, err
		}
		hits[i] = TemporalHit{Ord: ord, Span: o.Span, Granularity: o.Granularity, Source: o.Source}
	}
	if limit == 0 {
		slices.SortFunc(hits, func(a, b TemporalHit) int { return cmp.Compare(a.Ord, b.Ord) })
	}
	return hits, nil
}

func (s *Snapshot) ordinal(k key.Key) (uint32, error) {
	ord, ok := s.g.units.ordinal(k)
	if !ok {
		return 0, fmt.Errorf("validity table has a unit with key %x, the index has none", uint64(k))
	}
	return ord, nil
}

// A Mask is a set of ordinals.
type Mask []uint64

// NewMask returns an empty set for ordinals below n.
func NewMask(n int) Mask { return make(Mask, (n+63)/64) }

// Set adds ord.
func (m Mask) Set(ord uint32) { m[ord/64] |= 1 << (ord % 64) }

// Has reports whether ord is in m.
func (m Mask) Has(ord uint32) bool { return int(ord/64) < len(m) && m[ord/64]>>(ord%64)&1 != 0 }

// Count returns the number of ordinals in m.
func (m Mask) Count() int {
	n := 0
	for _, w := range m {
		n += bits.OnesCount64(w)
	}
	return n
}

// Excluded returns the units that f leaves out.
func (s *Snapshot) Excluded(ctx context.Context, f validity.Filter) (Mask, error) {
	keys, err := s.g.validity.Excluded(ctx, f)
	if err != nil {
		return nil, err
	}
	m := NewMask(s.Len())
	for _, k := range keys {
		ord, err := s.ordinal(k)
		if err != nil {
			return nil, err
		}
		m.Set(ord)
	}
	return m, nil
}

// Records returns what is known of the units, in the order of ords.
func (s *Snapshot) Records(ctx context.Context, ords []uint32) ([]validity.Row, error) {
	keys := make([]key.Key, len(ords))
	for i, ord := range ords {
		if int(ord) >= s.Len() {
			return nil, fmt.Errorf("fetch unit %d: there are %d", ord, s.Len())
		}
		keys[i] = s.g.units.keys[ord]
	}
	return s.g.validity.Fetch(ctx, keys)
}

// Validity returns the table behind the snapshot, for questions that are not
// about ranks. It must not be used after [Snapshot.Close].
func (s *Snapshot) Validity() *validity.Reader { return s.g.validity }

// Text returns the text of a unit from its file. The error is [ErrStale] when
// the file no longer holds it at the same lines.
func (s *Snapshot) Text(ctx context.Context, row validity.Row) (string, error) {
	if err := context.Cause(ctx); err != nil {
		return "", err
	}
	raw, err := s.read(row.Path)
	if err != nil {
		if _, gone := unread(err); gone {
			return "", fmt.Errorf("read %s: %w", row.Path, ErrStale)
		}
		return "", err
	}
	if hexSum(xxhash.Sum64(raw)) == row.FileHash {
		text, _ := memfile.Decode(raw)
		if row.Bytes[0] < 0 || row.Bytes[0] > row.Bytes[1] || row.Bytes[1] > len(text) {
			return "", fmt.Errorf("read %s: bytes %v of %d: %w", row.Path, row.Bytes, len(text), ErrStale)
		}
		return text[row.Bytes[0]:row.Bytes[1]], nil
	}
	// Another part of the file may have changed. The front matter decides what
	// the unit means, so it must say the same.
	f := memfile.Parse(row.Path, raw, &memfile.Options{ModTime: time.Unix(0, 0), Zone: s.ix.opts.Zone})
	if sameMemory(f.Memory, row) {
		for _, u := range f.Units {
			if u.Hash == row.Hash && u.Lines == row.Lines {
				return u.Text, nil
			}
		}
	}
	return "", fmt.Errorf("read %s: %w", row.Path, ErrStale)
}

// sameMemory reports whether m still says of itself what decides whether and how
// row is returned.
func sameMemory(m memsearch.Memory, row validity.Row) bool {
	return m.Status == row.Status && m.Category == row.Category && m.Kind == row.Kind && m.Summary == row.Summary &&
		sameBound(m.Valid.From, row.Valid.From) && sameBound(m.Valid.Until, row.Valid.Until)
}

func sameBound(a, b memsearch.Bound) bool { return a.Date == b.Date && a.Time.Equal(b.Time) }

// read returns the bytes of the file called path. Nearly every name is spelt on
// disk as it is here; for the others the sources know how.
func (s *Snapshot) read(path string) ([]byte, error) {
	raw, err := s.ix.src.ReadEntry(vault.Entry{Path: path, OSPath: path})
	if err == nil {
		return raw, nil
	}
	list, lerr := s.g.sources()
	if lerr != nil {
		return nil, errors.Join(err, lerr)
	}
	if i := findSource(list, path); i >= 0 && list[i].OSPath != path {
		return s.ix.src.ReadEntry(list[i].entry())
	}
	return nil, err
}
