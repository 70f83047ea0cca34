package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/index"
	"github.com/memsearch/memsearch/index/validity"
	"github.com/memsearch/memsearch/rerank"
)

// selects reports whether a model picks from the catalog in place of a search.
func (r *recalling) selects() bool {
	return r.engine.opts.Selector != nil && r.ask.Rerank != memsearch.RerankNever && len(r.engine.scopes) > 0
}

// An entry is a memory in the catalog.
type entry struct {
	scope int
	row   validity.Row // its first unit
}

// selected returns the memories that the model picks from the catalog.
func (r *recalling) selected(ctx context.Context) (hits []hit, err error) {
	var entries []entry
	r.timed("catalog", func() { entries, err = r.catalog(ctx) })
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		r.empty = ReasonNothing
		return nil, nil
	}
	lines := make([]rerank.Line, len(entries))
	for i, e := range entries {
		lines[i] = rerank.Line{ID: e.row.MemoryID, Category: string(e.row.Category), Path: e.row.Path, Date: dateText(e.row.Occurred),
			Summary: cmp.Or(e.row.Summary, e.row.Title)}
		if lines[i].Summary == "" && i < rerank.SelectLines { // no more are shown
			lines[i].Summary = r.firstLine(ctx, e)
		}
	}
	var a *rerank.Answer
	r.timed("rerank", func() {
		a, err = r.judged(ctx, func(ctx context.Context) (*rerank.Answer, error) {
			return r.engine.opts.Selector.Select(ctx, r.task(), lines)
		})
		a, err = r.take(a, err, len(lines))
	})
	if err != nil {
		return nil, err
	}
	r.res.Trace.Candidates = len(entries)
	return r.loaded(ctx, entries, a)
}

// firstLine returns what a memory without a summary begins with.
func (r *recalling) firstLine(ctx context.Context, e entry) string {
	text, err := r.engine.scopes[e.scope].Snapshot.Text(ctx, e.row)
	if err != nil {
		return "" // it is not there any more, or is read again when it is picked
	}
	h := hit{row: e.row, text: text}
	return h.summary()
}

// catalog lists the memories that may be returned, newest first.
func (r *recalling) catalog(ctx context.Context) ([]entry, error) {
	var out []entry
	all := *r.ask
	all.Surfaced = nil // of units: what of a memory the agent has shows when it is read
	c := filterer(&all)
	for i, sc := range r.engine.scopes {
		l := lister(sc.Snapshot)
		if l == nil {
			continue
		}
		f := validity.ListFilter{Categories: r.ask.Categories}
		if r.ask.AsOf.IsZero() {
			f.CurrentAt = r.ask.Now
		}
		rows, err := l.List(ctx, f)
		if err != nil {
			return nil, fmt.Errorf("list memories of %s: %w", sc.Name, err)
		}
		for _, row := range rows {
			h := hit{row: row, scope: i}
			if holds(&row, r.ask) && c.unwanted(&h, memoryKey{i, row.MemoryID}) == "" {
				out = append(out, entry{i, row})
			}
		}
	}
	if len(r.engine.scopes) > 1 {
		slices.SortStableFunc(out, func(a, b entry) int { return b.row.CreatedAt.Compare(a.row.CreatedAt) })
	}
	return out, nil
}

// filterer returns a collector that only knows what may not be shown.
func filterer(a *ask) *collector {
	return &collector{collection: newCollection(a.K), search: &search{ask: a}}
}

// loaded reads the picked memories, each with up to three units.
func (r *recalling) loaded(ctx context.Context, entries []entry, a *rerank.Answer) ([]hit, error) {
	c := filterer(r.ask)
	for i, p := range a.Picks {
		e := entries[p.Index]
		sc := r.engine.scopes[e.scope]
		rows, err := lister(sc.Snapshot).List(ctx, validity.ListFilter{Under: e.row.Path, Units: true})
		if err != nil {
			return nil, fmt.Errorf("read units of %s: %w", e.row.Path, err)
		}
		c.search.scope = sc
		for _, row := range rows {
			h := hit{row: row, scope: e.scope, picked: true,
				verdict: memsearch.Step{Stage: "rerank", Rank: i + 1, Note: fmt.Sprintf("picked by %s", a.Model)}}
			k := memoryKey{e.scope, row.MemoryID}
			if row.MemoryID != e.row.MemoryID || !holds(&row, r.ask) || c.unwanted(&h, k) != "" || !c.read(ctx, &h) {
				continue
			}
			c.memories[k]++
			c.hits = append(c.hits, h)
		}
	}
	if c.readErr != nil && !errors.Is(c.readErr, index.ErrStale) {
		r.degrade(r.engine.scopes[0], "text", c.readErr)
	}
	r.res.Already = append(r.res.Already, c.already...)
	r.res.Stale += c.dropped[dropStale]
	if len(c.hits) == 0 {
		r.empty = ReasonModel
	}
	return c.hits, nil
}
