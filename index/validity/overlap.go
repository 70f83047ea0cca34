package validity

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/index/key"
)

// An Overlap is a unit that occurred within a span that was asked about.
type Overlap struct {
	Key         key.Key
	Span        memsearch.Span // when it occurred, in UTC
	Granularity memsearch.Granularity
	Source      memsearch.DateSource
}

// spanClasses are the longest spans of the classes by which occurred spans are
// indexed. A span of a class that overlaps [a, b) begins after a less the
// class's length, so that the index finds it; a longer one is in the last class,
// which is read whole. A day has up to 27 hours where clocks change.
var spanClasses = [...]time.Duration{27 * time.Hour, 8 * 24 * time.Hour, 32 * 24 * time.Hour, 93 * 24 * time.Hour, 367 * 24 * time.Hour}

const (
	classLong = len(spanClasses)
	// firstWeak begins the classes, again by length, of what is dated only by
	// its file's modification time.
	firstWeak = classLong + 1
)

func classOf(from, until int64, source memsearch.DateSource) int {
	class := 0
	// Unsigned, so that open ends do not overflow.
	for class < classLong && uint64(until-from) > uint64(spanClasses[class].Microseconds()) {
		class++
	}
	if source == memsearch.DateModTime {
		class += firstWeak
	}
	return class
}

// Overlapping returns up to limit units (0: all) that occurred within one of
// spans: dates read from the memory before those of the file's modification
// time, then the finest granularity, the shortest span, the earliest, and last
// by unit id. Validity plays no part.
func (r *Reader) Overlapping(ctx context.Context, spans []memsearch.Span, limit int) ([]Overlap, error) {
	var found []overlap
	err := r.use(ctx, func(c *conn) error {
		for _, first := range []int{0, firstWeak} {
			for _, s := range spans {
				if err := c.overlapping(ctx, s, first, &found); err != nil {
					return err
				}
			}
			slices.SortFunc(found, func(a, b overlap) int { return cmp.Or(a.compare(b), cmp.Compare(a.key, b.key)) })
			found = slices.CompactFunc(found, func(a, b overlap) bool { return a.key == b.key })
			if limit > 0 && len(found) >= limit {
				break
			}
		}
		if limit > 0 && len(found) > limit {
			// Of the units that tie with the last place all must be looked at.
			end := limit
			for end < len(found) && found[end].compare(found[limit-1]) == 0 {
				end++
			}
			found = found[:end]
		}
		return c.breakTies(ctx, found)
	})
	if err != nil {
		return nil, fmt.Errorf("find dates: %w", err)
	}
	if limit > 0 && len(found) > limit {
		found = found[:limit]
	}
	return public(found), nil
}

// Within returns every unit that occurred within one of spans, once, in the
// order of their keys. That of [Reader.Overlapping] costs a look at each unit
// whose place is shared, which are nearly all when a whole year is asked about.
func (r *Reader) Within(ctx context.Context, spans []memsearch.Span) ([]Overlap, error) {
	var found []overlap
	err := r.use(ctx, func(c *conn) error {
		for _, first := range []int{0, firstWeak} {
			for _, s := range spans {
				if err := c.overlapping(ctx, s, first, &found); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("find dates: %w", err)
	}
	slices.SortFunc(found, func(a, b overlap) int { return cmp.Compare(a.key, b.key) })
	return public(slices.CompactFunc(found, func(a, b overlap) bool { return a.key == b.key })), nil
}

func public(found []overlap) []Overlap {
	out := make([]Overlap, len(found))
	for i, o := range found {
		out[i] = Overlap{Key: o.key, Span: spanOf(o.from, o.until), Granularity: o.granularity, Source: o.source}
	}
	return out
}

type overlap struct {
	key         key.Key
	from, until int64
	granularity memsearch.Granularity
	source      memsearch.DateSource
	unitID      string // set to break ties
}

func (o overlap) compare(p overlap) int {
	weak := func(o overlap) int {
		if o.source == memsearch.DateModTime {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(weak(o), weak(p)), cmp.Compare(o.granularity, p.granularity),
		// Unsigned, so that open ends do not overflow.
		cmp.Compare(uint64(o.until-o.from), uint64(p.until-p.from)), cmp.Compare(o.from, p.from))
}

// overlapping appends what overlaps s of the classes from first on.
func (c *conn) overlapping(ctx context.Context, s memsearch.Span, first int, found *[]overlap) error {
	from, until := bounds(s)
	if from >= until {
		return nil
	}
	sources := dateSources()
	for class := range classLong + 1 {
		least := int64(openFrom)
		if from != openFrom && class != classLong {
			least = from - spanClasses[class].Microseconds()
		}
		err := c.each(ctx, `SELECT key, occurred_from, occurred_until, granularity, date_source FROM unit
			WHERE occurred_class = ? AND occurred_from >= ? AND occurred_from < ? AND occurred_until > ?`,
			[]any{int64(first + class), least, until, from}, func(s *scanner) error {
				*found = append(*found, overlap{
					key: key.Key(s.int()), from: s.int(), until: s.int(),
					granularity: memsearch.Granularity(s.int()), source: word(s, sources),
				})
				return nil
			})
		if err != nil {
			return err
		}
	}
	return nil
}

// breakTies orders equal neighbours by unit id.
func (c *conn) breakTies(ctx context.Context, found []overlap) error {
	for i := 0; i < len(found); {
		end := i + 1
		for end < len(found) && found[end].compare(found[i]) == 0 {
			end++
		}
		tied := found[i:end]
		i = end
		if len(tied) == 1 {
			continue
		}
		for j := range tied {
			err := c.each(ctx, "SELECT unit_id FROM unit WHERE key = ?", []any{int64(tied[j].key)}, func(s *scanner) error {
				tied[j].unitID = s.text()
				return nil
			})
			if err != nil {
				return err
			}
		}
		slices.SortFunc(tied, func(a, b overlap) int { return cmp.Compare(a.unitID, b.unitID) })
	}
	return nil
}
