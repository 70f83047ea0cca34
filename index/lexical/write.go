package lexical

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"os"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	segment "github.com/blevesearch/scorch_segment_api/v2"
	zap "github.com/blevesearch/zapx/v17"
)

// Sizes of segments. A search looks into every segment, so there are few; a
// batch takes about fifteen times its text in memory while it is built, which is
// most of what indexing takes at all.
const (
	maxSegments = 8
	batchBytes  = 3 << 19
	batchDocs   = 1 << 15
)

// A writer makes one folder.
type writer struct {
	dir, base string
	list      *list
	fresh     map[string]bool // segments written by this writer
}

// Write builds the index in dir, which must be absent or empty: what base holds
// (empty: nothing) without the files that drop names, and docs. A nil drop names
// none. Everything is on disk when it returns.
func Write(ctx context.Context, dir, base string, drop func(file uint32) bool, docs iter.Seq[Doc]) (Stats, error) {
	w := &writer{dir: dir, base: base, list: &list{Next: 1}, fresh: map[string]bool{}}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Stats{}, fmt.Errorf("write keyword index: %w", err)
	}
	if base != "" {
		if err := w.carry(drop); err != nil {
			return Stats{}, err
		}
	}
	if err := w.addAll(ctx, docs); err != nil {
		return Stats{}, err
	}
	if err := w.compact(ctx); err != nil {
		return Stats{}, err
	}
	if err := w.finish(); err != nil {
		return Stats{}, err
	}
	return w.list.Stats, nil
}

// carry takes over base and marks what is dropped.
func (w *writer) carry(drop func(file uint32) bool) error {
	l, err := readList(w.base)
	if err != nil {
		return err
	}
	w.list = l
	if drop == nil {
		return nil
	}
	for i := range l.Segments {
		s := &l.Segments[i]
		t, err := s.load(w.base)
		if err != nil {
			return err
		}
		if s.deleted == nil {
			s.deleted = roaring.New()
		}
		for n, k := range t.keys {
			if drop(k.File()) && s.deleted.CheckedAdd(uint32(n)) {
				s.Dead++
				l.Stats.add(t.lens[n], -1)
			}
		}
	}
	return nil
}

// addAll writes docs as new segments.
func (w *writer) addAll(ctx context.Context, docs iter.Seq[Doc]) error {
	b := newBatch()
	for d := range docs {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		b.add(d)
		if b.bytes >= batchBytes || len(b.docs) >= batchDocs {
			if err := w.flush(b); err != nil {
				return err
			}
			b = newBatch()
		}
	}
	if len(b.docs) == 0 {
		return nil
	}
	return w.flush(b)
}

func (w *writer) flush(b *batch) error {
	seg, err := b.build()
	if err != nil {
		return err
	}
	t := b.table()
	for _, lens := range t.lens {
		w.list.Stats.add(lens, 1)
	}
	return w.add(t, func(path string) error {
		return seg.(segment.UnpersistedSegment).Persist(path)
	})
}

// add puts a segment with these documents into the folder.
func (w *writer) add(t *table, persist func(path string) error) error {
	s := segInfo{Name: fmt.Sprintf("%08d", w.list.Next), Docs: len(t.keys), table: t}
	w.list.Next++
	if err := persist(zapPath(w.dir, s.Name)); err != nil {
		return fmt.Errorf("write segment: %w", err)
	}
	if err := t.write(docsPath(w.dir, s.Name)); err != nil {
		return err
	}
	w.fresh[s.Name] = true
	w.list.Segments = append(w.list.Segments, s)
	return nil
}

// compact drops dead segments and merges small ones, and those that are mostly
// dead, until there are few.
func (w *writer) compact(ctx context.Context) error {
	l := w.list
	l.Segments = slices.DeleteFunc(l.Segments, func(s segInfo) bool {
		if s.live() > 0 {
			return false
		}
		w.discard(s)
		return true
	})
	slices.SortStableFunc(l.Segments, func(a, b segInfo) int { return cmp.Compare(b.live(), a.live()) })
	var merge []segInfo
	keep := l.Segments[:0:0]
	for i, s := range l.Segments {
		if s.Dead > s.Docs/2 || len(l.Segments) > maxSegments && i >= maxSegments/2 {
			merge = append(merge, s)
		} else {
			keep = append(keep, s)
		}
	}
	if len(merge) == 0 {
		return nil
	}
	l.Segments = keep
	return w.merge(ctx, merge)
}

// merge writes the live documents of segs as one segment.
func (w *writer) merge(ctx context.Context, segs []segInfo) error {
	var (
		opened []segment.Segment
		drops  []*roaring.Bitmap
		out    table
	)
	defer func() {
		for _, s := range opened {
			_ = s.Close() // only read
		}
	}()
	for i := range segs {
		s := &segs[i]
		dir := w.base
		if w.fresh[s.Name] {
			dir = w.dir
		}
		seg, err := openSegment(dir, *s)
		if err != nil {
			return err
		}
		opened, drops = append(opened, seg), append(drops, s.deleted)
		t, err := s.load(dir)
		if err != nil {
			return err
		}
		for n, k := range t.keys {
			if s.deleted == nil || !s.deleted.Contains(uint32(n)) {
				out.keys, out.lens = append(out.keys, k), append(out.lens, t.lens[n])
			}
		}
	}
	cancel := make(chan struct{})
	defer context.AfterFunc(ctx, func() { close(cancel) })()
	err := w.add(&out, func(path string) error {
		_, _, err := new(zap.ZapPlugin).Merge(opened, drops, path, cancel, nil)
		return err
	})
	if err != nil {
		return err
	}
	for _, s := range segs {
		w.discard(s)
	}
	return nil
}

// discard removes the files of a segment that this writer made.
func (w *writer) discard(s segInfo) {
	if w.fresh[s.Name] {
		_ = os.Remove(zapPath(w.dir, s.Name)) // what stays is never read
		_ = os.Remove(docsPath(w.dir, s.Name))
	}
}

// finish links what is carried over and writes the list.
func (w *writer) finish() error {
	for _, s := range w.list.Segments {
		if w.fresh[s.Name] {
			continue
		}
		for _, path := range []func(dir, name string) string{zapPath, docsPath} {
			if err := share(path(w.base, s.Name), path(w.dir, s.Name)); err != nil {
				return fmt.Errorf("share segment: %w", err)
			}
		}
	}
	if err := w.list.write(w.dir); err != nil {
		return err
	}
	if err := syncDir(w.dir); err != nil {
		return fmt.Errorf("write keyword index: %w", err)
	}
	return nil
}
