package validity

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/index/key"
)

// Fetch returns the rows of keys, in their order. It fails with [ErrNotFound]
// when one has none.
func (r *Reader) Fetch(ctx context.Context, keys []key.Key) ([]Row, error) {
	out := make([]Row, 0, len(keys))
	err := r.use(ctx, func(c *conn) error {
		for _, k := range keys {
			before := len(out)
			if err := c.rows(ctx, &out, " WHERE key = ?", int64(k.UnitKey())); err != nil {
				return err
			}
			if len(out) == before {
				return fmt.Errorf("%w: key %#x", ErrNotFound, uint64(k))
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("fetch units: %w", err)
	}
	return out, nil
}

// Memory returns the units of the memory called id, in the order of their keys;
// none if there is no such memory.
func (r *Reader) Memory(ctx context.Context, id string) ([]Row, error) {
	var out []Row
	err := r.use(ctx, func(c *conn) error { return c.rows(ctx, &out, " WHERE memory_id = ? ORDER BY key", id) })
	if err != nil {
		return nil, fmt.Errorf("fetch memory: %w", err)
	}
	return out, nil
}

// rows appends what selectRow with tail finds.
func (c *conn) rows(ctx context.Context, out *[]Row, tail string, args ...any) error {
	return c.each(ctx, selectRow+tail, args, func(s *scanner) error {
		r, err := decode(s.s)
		if err == nil {
			*out = append(*out, r)
		}
		return err
	})
}

// A ListFilter says which memories to list. The zero value lists all.
type ListFilter struct {
	Statuses   []memsearch.Status
	Categories []memsearch.Category
	Kinds      []memsearch.Kind
	Tag        string    // one of the memory's tags is this
	Under      string    // the path is this or below it
	Pinned     bool      // only pinned memories
	CurrentAt  time.Time // if not zero, only current facts at that moment
	ValidAt    time.Time // if not zero, only what held at that moment
	Since      time.Time // if not zero, only what was recorded at or after it
	Units      bool      // list every unit, not the first of each memory
	Limit      int       // most rows to return; 0: all
}

// List returns the first unit of each memory that f wants, newest created_at
// first, then by path and key; memories without a created_at come last.
func (r *Reader) List(ctx context.Context, f ListFilter) ([]Row, error) {
	where, args := f.where()
	var out []Row
	err := r.use(ctx, func(c *conn) error {
		return c.each(ctx, selectRow+where, args, func(s *scanner) error {
			r, err := decode(s.s)
			if err != nil || !f.wants(&r) {
				return err
			}
			out = append(out, r)
			if len(out) == f.Limit {
				return errEnough
			}
			return nil
		})
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, fmt.Errorf("list memories: %w", err)
	}
	return out, nil
}

// errEnough ends a query early.
var errEnough = errors.New("enough rows")

// wants decides what the statement does not.
func (f *ListFilter) wants(r *Row) bool {
	return (f.Tag == "" || slices.Contains(r.Tags, f.Tag)) &&
		(f.CurrentAt.IsZero() || r.CurrentAt(f.CurrentAt)) &&
		(f.ValidAt.IsZero() || r.ValidAt(f.ValidAt))
}

// Recent returns the memories recorded at or after since, newest first.
func (r *Reader) Recent(ctx context.Context, since time.Time) ([]Row, error) {
	return r.List(ctx, ListFilter{Since: since})
}

func (f *ListFilter) where() (string, []any) {
	var conds []string
	var args []any
	add := func(cond string, a ...any) {
		conds = append(conds, cond)
		args = append(args, a...)
	}
	if !f.Units {
		add("key = (SELECT min(key) FROM unit AS first WHERE first.memory_id = unit.memory_id)")
	}
	oneOf(add, "status", f.Statuses)
	oneOf(add, "category", f.Categories)
	oneOf(add, "kind", f.Kinds)
	if f.Under != "" {
		dir := strings.TrimSuffix(f.Under, "/") + "/"
		add("(path = ? OR substr(path, 1, length(?)) = ?)", f.Under, dir, dir)
	}
	if f.Tag != "" {
		add("tags <> ''")
	}
	if f.Pinned {
		add("pinned = 1")
	}
	if !f.Since.IsZero() {
		add("created_at >= ?", f.Since.UnixMicro())
	}
	tail := " ORDER BY created_at DESC NULLS LAST, path, key"
	if len(conds) == 0 {
		return tail, nil
	}
	return " WHERE " + strings.Join(conds, " AND ") + tail, args
}

// oneOf adds the condition that column is one of values. They go in as one JSON
// list, so that the statement's text, under which it is kept, is always the same.
func oneOf[T ~string](add func(string, ...any), column string, values []T) {
	if len(values) == 0 {
		return
	}
	list, _ := json.Marshal(values) // strings always marshal
	add(column+" IN (SELECT value FROM json_each(?))", string(list))
}

// Chain returns the memories that supersede or are superseded by the one called
// id, at any distance, itself included: the first unit of each, oldest first by
// valid_from (else created_at), then by id. Both supersedes and superseded_by
// count, whatever the status.
func (r *Reader) Chain(ctx context.Context, id string) ([]Row, error) {
	var out []Row
	err := r.use(ctx, func(c *conn) error {
		links, err := c.links(ctx)
		if err != nil {
			return err
		}
		seen := map[string]bool{id: true}
		for todo := []string{id}; len(todo) > 0; {
			next := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			for _, other := range links[next] {
				if !seen[other] {
					seen[other] = true
					todo = append(todo, other)
				}
			}
		}
		for _, id := range slices.Sorted(maps.Keys(seen)) {
			if err := c.rows(ctx, &out, " WHERE memory_id = ? ORDER BY key LIMIT 1", id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("follow supersedes: %w", err)
	}
	slices.SortStableFunc(out, func(a, b Row) int { return cmp.Or(a.start().Compare(b.start()), cmp.Compare(a.MemoryID, b.MemoryID)) })
	return out, nil
}

// start is when the memory begins, for ordering.
func (r *Row) start() time.Time {
	if !r.Valid.From.IsZero() {
		return r.Valid.From.Time
	}
	return r.CreatedAt
}

// links returns both directions of supersedes and superseded_by.
func (c *conn) links(ctx context.Context) (map[string][]string, error) {
	links := map[string][]string{}
	err := c.each(ctx, `SELECT memory_id, supersedes, superseded_by FROM unit WHERE supersedes <> '' OR superseded_by <> ''`,
		nil, func(s *scanner) error {
			id := s.text()
			for _, other := range append(s.list(), s.list()...) {
				links[id] = append(links[id], other)
				links[other] = append(links[other], id)
			}
			return nil
		})
	return links, err
}

// Cycles returns the groups of memories that supersede one another in a circle
// or name themselves. Such edges do not count.
func (r *Reader) Cycles(ctx context.Context) ([][]string, error) {
	var edges []edge
	err := r.use(ctx, func(c *conn) (err error) {
		edges, err = c.edges(ctx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find cycles: %w", err)
	}
	return cyclesOf(edges), nil
}

// Stats counts memories.
type Stats struct {
	Units      int
	Memories   int
	Statuses   map[memsearch.Status]int
	Categories map[memsearch.Category]int // "" for unknown
}

// Stats returns the counts of the whole table.
func (r *Reader) Stats(ctx context.Context) (Stats, error) {
	out := Stats{Statuses: map[memsearch.Status]int{}, Categories: map[memsearch.Category]int{}}
	err := r.use(ctx, func(c *conn) error {
		return c.each(ctx, `SELECT status, category, count(DISTINCT memory_id), count(*) FROM unit GROUP BY status, category`,
			nil, func(s *scanner) error {
				status, category := memsearch.Status(s.text()), memsearch.Category(s.text())
				memories := int(s.int())
				out.Statuses[status] += memories
				out.Categories[category] += memories
				out.Memories += memories
				out.Units += int(s.int())
				return nil
			})
	})
	if err != nil {
		return Stats{}, fmt.Errorf("count memories: %w", err)
	}
	return out, nil
}
