package lexical

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
	segment "github.com/blevesearch/scorch_segment_api/v2"
	zap "github.com/blevesearch/zapx/v17"

	"github.com/memsearch/memsearch/index/key"
)

// Dead is the key of a document number that is no longer in use.
const Dead = ^key.Key(0)

// A Reader searches one index. It is safe for concurrent use once [Reader.Bind]
// was called.
type Reader struct {
	dir   string
	list  *list
	segs  []*readSegment
	docs  int      // document numbers in use, dead ones too
	units []uint32 // by document number
	n     int      // units
	pool  sync.Pool
}

// A readSegment is an open segment. Its documents are numbered from base on.
type readSegment struct {
	segment.Segment
	base    uint32
	deleted *roaring.Bitmap
}

// openSegment opens a segment file. Damaged files can make bleve panic; that is
// an error here.
func openSegment(dir string, s segInfo) (seg segment.Segment, err error) {
	defer guard(&err)
	seg, err = new(zap.ZapPlugin).Open(zapPath(dir, s.Name))
	if err != nil {
		return nil, fmt.Errorf("open segment: %w", err)
	}
	if seg.Count() != uint64(s.Docs) {
		_ = seg.Close() // only read
		return nil, fmt.Errorf("%w: segment %s has %d documents, not %d", ErrCorrupt, s.Name, seg.Count(), s.Docs)
	}
	return seg, nil
}

// guard turns a panic over damaged postings into an error.
func guard(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%w: %v", ErrCorrupt, r)
	}
}

// Open opens the index in dir for reading.
func Open(dir string) (*Reader, error) {
	l, err := readList(dir)
	if err != nil {
		return nil, err
	}
	r := &Reader{dir: dir, list: l}
	for _, s := range l.Segments {
		seg, err := openSegment(dir, s)
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		r.add(seg, s)
	}
	return r, nil
}

// Memory builds an index in memory.
func Memory(ctx context.Context, docs iter.Seq[Doc]) (*Reader, error) {
	r := &Reader{list: &list{}}
	b := newBatch()
	flush := func() error {
		seg, err := b.build()
		if err != nil {
			return err
		}
		t := b.table()
		for _, lens := range t.lens {
			r.list.Stats.add(lens, 1)
		}
		s := segInfo{Docs: len(t.keys), table: t}
		r.list.Segments = append(r.list.Segments, s)
		r.add(seg, s)
		b = newBatch()
		return nil
	}
	for d := range docs {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		b.add(d)
		if b.bytes >= batchBytes || len(b.docs) >= batchDocs {
			if err := flush(); err != nil {
				return nil, err
			}
		}
	}
	if len(b.docs) > 0 {
		if err := flush(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *Reader) add(seg segment.Segment, s segInfo) {
	r.segs = append(r.segs, &readSegment{Segment: seg, base: uint32(r.docs), deleted: s.deleted})
	r.docs += s.Docs
}

// Keys returns the key of every document number, [Dead] for those not in use.
func (r *Reader) Keys() ([]key.Key, error) {
	keys := make([]key.Key, 0, r.docs)
	for i := range r.list.Segments {
		s := &r.list.Segments[i]
		t, err := s.load(r.dir)
		if err != nil {
			return nil, err
		}
		for n, k := range t.keys {
			if s.deleted != nil && s.deleted.Contains(uint32(n)) {
				k = Dead
			}
			keys = append(keys, k)
		}
	}
	return keys, nil
}

// Stats returns what is live in the index.
func (r *Reader) Stats() Stats { return r.list.Stats }

// Bind says which unit ordinal, below n, each document number belongs to. What
// it says of dead numbers is ignored. The slice is kept.
func (r *Reader) Bind(units []uint32, n int) error {
	if len(units) != r.docs {
		return fmt.Errorf("%w: %d documents are bound to units, not %d", ErrCorrupt, len(units), r.docs)
	}
	for i := range r.segs {
		s := r.segs[i]
		for d := range uint32(r.list.Segments[i].Docs) {
			if u := units[s.base+d]; int(u) >= n && (s.deleted == nil || !s.deleted.Contains(d)) {
				return fmt.Errorf("%w: document %d is of unit %d of %d", ErrCorrupt, s.base+d, u, n)
			}
		}
	}
	r.units, r.n = units, n
	return nil
}

// Dictionary calls fn with every term of every field, those of deleted documents
// too, until fn returns false.
func (r *Reader) Dictionary(fn func(term string) bool) (err error) {
	defer guard(&err)
	for _, s := range r.segs {
		for _, name := range fieldNames {
			d, err := s.Segment.Dictionary(name)
			if err != nil {
				return fmt.Errorf("read dictionary: %w", err)
			}
			it := d.AutomatonIterator(nil, nil, nil)
			for {
				e, err := it.Next()
				if err != nil {
					return fmt.Errorf("read dictionary: %w", err)
				}
				if e == nil {
					break
				}
				if !fn(e.Term) {
					return nil
				}
			}
		}
	}
	return nil
}

// Close releases the files.
func (r *Reader) Close() error {
	var errs []error
	for _, s := range r.segs {
		errs = append(errs, s.Close())
	}
	r.segs = nil
	return errors.Join(errs...)
}
