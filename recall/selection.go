package recall

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/index/validity"
	"github.com/memsearch/memsearch/rerank"
)

// selects reports whether a model picks from the catalog in place of a search.
func (r *recalling) selects() bool {
	return r.engine.opts.Selector != nil && r.ask.Rerank != memsearch.RerankNever && len(r.engine.scopes) > 0
}

// An entry is a memory in the catalog: those of its units that may be returned.
type entry struct {
	scope int
	units []validity.Row // at least one
}

// selected returns the memories that the model picks from the catalog.
func (r *recalling) selected(ctx context.Context) (hits []hit, err error) {
	c := &collector{collection: newCollection(r.ask.K), search: &search{ask: r.ask}} // knows what may not be shown
	var entries []entry
	r.timed("catalog", func() { entries, err = r.catalog(ctx, c) })
	if err != nil {
		return nil, err
	}
	var a *rerank.Answer
	if len(entries) > 0 {
		lines, t := r.catalogLines(ctx, entries), r.task()
		r.timed("rerank", func() {
			a, err = r.judged(ctx, func(ctx context.Context) (*rerank.Answer, error) { return r.engine.opts.Selector.Select(ctx, t, lines) })
			a, err = r.take(a, err, len(lines))
		})
		if err != nil {
			return nil, err
		}
		r.empty = ReasonModel
		r.load(context.WithoutCancel(ctx), c, entries, a)
	}
	c.candidates = len(entries)
	c.describe(r.res.Trace)
	r.res.Already = append(r.res.Already, c.already...)
	r.res.Stale += c.dropped[dropStale]
	return c.hits, nil
}

// catalog lists the memories that may be returned, newest first.
func (r *recalling) catalog(ctx context.Context, c *collector) ([]entry, error) {
	var out []entry
	f := validity.ListFilter{Categories: r.ask.Categories, ValidAt: r.ask.AsOf, Units: true}
	if r.ask.AsOf.IsZero() {
		f.CurrentAt = r.ask.Now
	}
	for i, sc := range r.engine.scopes {
		l := lister(sc.Snapshot)
		if l == nil {
			return nil, fmt.Errorf("list memories of %s: %w", sc.Name, errors.ErrUnsupported)
		}
		rows, err := l.List(ctx, f)
		if err != nil {
			return nil, fmt.Errorf("list memories of %s: %w", sc.Name, err)
		}
		where := map[string]int{} // of a memory in out
		for _, row := range rows {
			if why := c.unwanted(&hit{row: row}, memoryKey{i, row.MemoryID}); why != "" {
				c.drop(why)
				continue
			}
			at, ok := where[row.MemoryID]
			if !ok {
				at = len(out)
				where[row.MemoryID] = at
				out = append(out, entry{scope: i})
			}
			out[at].units = append(out[at].units, row)
		}
	}
	if len(r.engine.scopes) > 1 {
		slices.SortStableFunc(out, func(a, b entry) int { return b.units[0].CreatedAt.Compare(a.units[0].CreatedAt) })
	}
	return out, nil
}

// catalogLines returns the entries as a model sees them.
func (r *recalling) catalogLines(ctx context.Context, entries []entry) []rerank.Line {
	lines := make([]rerank.Line, len(entries))
	for i, e := range entries {
		h := hit{row: e.units[0]}
		if h.row.Summary == "" && h.row.Title == "" && i < rerank.SelectLines { // no more are shown
			// What cannot be read now is read again, and told of, when it is picked.
			h.text, _ = r.engine.scopes[e.scope].Snapshot.Text(ctx, h.row)
		}
		lines[i] = rerank.Line{ID: h.row.MemoryID, Category: string(h.row.Category), Path: h.row.Path, Date: toldDate(h.row.Occurred), Summary: h.summary()}
	}
	return lines
}

// load fills c with the picked memories, each with up to three units.
func (r *recalling) load(ctx context.Context, c *collector, entries []entry, a *rerank.Answer) {
	for i, p := range a.Picks {
		e := entries[p.Index]
		c.search.scope = r.engine.scopes[e.scope]
		verdict := memsearch.Step{Stage: "rerank", Rank: i + 1, Note: "picked by " + a.Model}
		n := 0
		for _, row := range e.units {
			h := hit{row: row, scope: e.scope, picked: true, verdict: verdict}
			if n < maxUnits && c.read(ctx, &h) {
				n++
				c.hits = append(c.hits, h)
			}
		}
		if c.readErr != nil {
			r.degrade(c.search.scope, "text", c.readErr)
			c.readErr = nil
		}
	}
}
