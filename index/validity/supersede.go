package validity

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"github.com/memsearch/memsearch"
)

// An edge says that one memory names another in its supersedes.
type edge struct {
	from, to string
	status   memsearch.Status // of from
	start    memsearch.Bound  // from's valid_from, else its created_at
}

// cuts is the shape in which a memory's Cut is stored.
type cuts struct {
	kind    int64
	begins  bool
	at, day int64 // math.MaxInt64: none
}

// column is the value of the cut column.
func (c *cuts) column() int64 {
	if c.begins {
		return c.kind | cutBegins
	}
	return c.kind
}

func (c *cuts) add(b memsearch.Bound) {
	c.kind = max(c.kind, cutDated)
	switch {
	case b.IsZero():
		c.kind = cutUndated
	case b.Date:
		c.day = min(c.day, memsearch.CivilDay(b.Time))
	default:
		c.at = min(c.at, b.Time.UnixMicro())
	}
}

// cutsOf returns how the edges shorten the memories they point to, and which
// memories they come from.
func cutsOf(edges []edge) map[string]*cuts {
	group, _ := components(edges)
	out := map[string]*cuts{}
	of := func(id string) *cuts {
		if out[id] == nil {
			out[id] = &cuts{at: math.MaxInt64, day: math.MaxInt64}
		}
		return out[id]
	}
	for _, e := range edges {
		if !accepted(e.status) || group[e.from] == group[e.to] {
			continue
		}
		to, from := of(e.to), of(e.from)
		to.add(e.start)
		from.begins = true
	}
	return out
}

// cyclesOf returns the groups of memories that supersede one another, and those
// that name themselves, each sorted by id.
func cyclesOf(edges []edge) [][]string {
	_, groups := components(edges)
	own := map[string]bool{}
	for _, e := range edges {
		if accepted(e.status) && e.from == e.to {
			own[e.from] = true
		}
	}
	groups = slices.DeleteFunc(groups, func(g []string) bool { return len(g) == 1 && !own[g[0]] })
	for _, g := range groups {
		slices.Sort(g)
	}
	slices.SortFunc(groups, func(a, b []string) int { return cmp.Compare(a[0], b[0]) })
	return groups
}

// components returns the strongly connected components of the accepted edges
// (Tarjan's algorithm, with its own stack because chains may be long).
func components(edges []edge) (group map[string]int, groups [][]string) {
	next := successors(edges)
	type frame struct {
		id   string
		edge int
	}
	var (
		index = make(map[string]int, len(next))
		low   = make(map[string]int, len(next))
		open  []string
		calls []frame
	)
	group = make(map[string]int, len(next))
	for _, root := range slices.Sorted(maps.Keys(next)) {
		if _, seen := index[root]; seen {
			continue
		}
		calls = append(calls, frame{id: root})
		for len(calls) > 0 {
			f := &calls[len(calls)-1]
			if f.edge == 0 {
				index[f.id] = len(index)
				low[f.id] = index[f.id]
				open = append(open, f.id)
			}
			if f.edge < len(next[f.id]) {
				to := next[f.id][f.edge]
				f.edge++
				if _, seen := index[to]; !seen {
					calls = append(calls, frame{id: to})
				} else if _, done := group[to]; !done {
					low[f.id] = min(low[f.id], index[to])
				}
				continue
			}
			if low[f.id] == index[f.id] {
				at := len(open) - 1
				for open[at] != f.id {
					at--
				}
				for _, id := range open[at:] {
					group[id] = len(groups)
				}
				groups = append(groups, slices.Clone(open[at:]))
				open = open[:at]
			}
			done := *f
			calls = calls[:len(calls)-1]
			if len(calls) > 0 {
				parent := calls[len(calls)-1].id
				low[parent] = min(low[parent], low[done.id])
			}
		}
	}
	return group, groups
}

// successors returns the graph of the accepted edges, every node a key.
func successors(edges []edge) map[string][]string {
	next := map[string][]string{}
	for _, e := range edges {
		if accepted(e.status) {
			next[e.from] = append(next[e.from], e.to)
			if _, ok := next[e.to]; !ok {
				next[e.to] = nil
			}
		}
	}
	return next
}

// edges reads every edge of the table.
func (c *conn) edges(ctx context.Context) ([]edge, error) {
	var out []edge
	err := c.each(ctx, `SELECT memory_id, status, valid_from, valid_from_day, created_at, supersedes
		FROM unit WHERE (supersedes <> '' OR superseded_by <> '') AND supersedes <> ''`, nil, func(s *scanner) error {
		e := edge{from: s.text(), status: memsearch.Status(s.text()), start: s.bound()}
		if at := s.time(); e.start.IsZero() && !at.IsZero() {
			e.start = memsearch.Bound{Time: at}
		}
		for _, to := range s.list() {
			e.to = to
			out = append(out, e)
		}
		return nil
	})
	return out, err
}
