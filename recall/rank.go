package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/memsearch/memsearch"
)

// A Ranked is a unit in a ranking.
type Ranked struct {
	UnitID   string
	MemoryID string
	Path     string
	Scope    string
	Score    float64

	// Confidence is the probability that the unit answers, by the table that
	// decides about empty answers.
	Confidence float64
}

// Rank returns the ranking of the units of up to q.K memories by the given arms,
// best first, without reading texts, packing or a floor: what an evaluation
// compares. Filters by validity, time and category apply.
func (e *Engine) Rank(ctx context.Context, q memsearch.Query, arms Arms) ([]Ranked, *memsearch.Trace, error) {
	if arms == 0 || arms&^ArmHybrid != 0 {
		return nil, nil, fmt.Errorf("%w: no such arms: %v", ErrQuery, arms)
	}
	a, err := e.prepare(q)
	if err != nil {
		return nil, nil, err
	}
	trace := &memsearch.Trace{Dates: a.dateWords(), Dropped: map[string]int{}}
	var lists []*collection
	for i, sc := range e.scopes {
		s := e.searchScope(ctx, sc, a, arms)
		c := &collector{collection: newCollection(a.K), search: s, judge: newJudge(s, e.opts.Vocabulary), scope: i, plain: true}
		err := errors.Join(s.errs[:]...)
		if err == nil {
			err = c.collect(ctx)
		}
		c.describe(trace)
		s.close()
		if err != nil {
			return nil, nil, fmt.Errorf("rank scope %s: %w", sc.Name, err)
		}
		lists = append(lists, c.collection)
	}
	hits := fuseScopes(lists, a.K)
	out := make([]Ranked, len(hits))
	for i, h := range hits {
		out[i] = Ranked{UnitID: h.row.UnitID, MemoryID: h.row.MemoryID, Path: h.row.Path,
			Scope: e.scopes[h.scope].Name, Score: h.score, Confidence: h.confidence}
	}
	return out, trace, nil
}

// describe adds what the scope's list went through to the trace.
func (c *collector) describe(t *memsearch.Trace) {
	if lex := c.search.fusion.lex; lex != nil {
		for _, term := range lex.Terms {
			t.Terms = append(t.Terms, fmt.Sprintf("%s idf %.2f df %d", term.Text, term.IDF, term.DF))
		}
	}
	t.Candidates += c.candidates
	for why, n := range c.dropped {
		t.Dropped[why] += n
	}
}

// fuseScopes joins the lists of several scopes by the rank each hit has in its
// own, since scores of different indexes cannot be compared. Equal ranks stand
// in the order of the scopes. Texts that an earlier hit has are left out, and
// the list ends before it holds more than limit memories.
func fuseScopes(lists []*collection, limit int) []hit {
	if len(lists) == 1 {
		return lists[0].hits
	}
	var all []hit
	for _, l := range lists {
		for i, h := range l.hits {
			share := 1 / float64(RankConstant+i+1)
			h.steps = append(h.steps, memsearch.Step{Stage: "scope", Rank: i + 1, Delta: share,
				Note: fmt.Sprintf("score %.4f in its own scope", h.score)})
			h.score = share
			all = append(all, h)
		}
	}
	slices.SortStableFunc(all, func(a, b hit) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.scope, b.scope)) })
	joined := newCollection(limit)
	for _, h := range all {
		k := memoryKey{h.scope, h.row.MemoryID}
		if joined.memories[k] == 0 && len(joined.memories) == limit {
			break
		}
		if h.text != "" && !joined.fresh(&h) {
			continue
		}
		joined.memories[k]++
		joined.hits = append(joined.hits, h)
	}
	return joined.hits
}
