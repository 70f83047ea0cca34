package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/rerank"
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
	hits, err := e.fused(ctx, a, arms, trace)
	if err != nil {
		return nil, nil, err
	}
	return e.ranked(hits), trace, nil
}

// fused returns the units of up to a.K memories in the fused order, without texts.
func (e *Engine) fused(ctx context.Context, a *ask, arms Arms, trace *memsearch.Trace) ([]hit, error) {
	var lists []*collector
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
			return nil, fmt.Errorf("rank scope %s: %w", sc.Name, err)
		}
		lists = append(lists, c)
	}
	return fuseScopes(lists, a.K), nil
}

func (e *Engine) ranked(hits []hit) []Ranked {
	out := make([]Ranked, len(hits))
	for i, h := range hits {
		out[i] = Ranked{UnitID: h.row.UnitID, MemoryID: h.row.MemoryID, Path: h.row.Path,
			Scope: e.scopes[h.scope].Name, Score: h.score, Confidence: h.confidence}
	}
	return out
}

// RankWithModel is [Engine.Rank] with the arms of the options, whose first units,
// of up to n memories, the Reranker of the options then orders whatever the gate
// says: what it picks comes first, all others follow in the fused order. The answer
// tells what that took.
func (e *Engine) RankWithModel(ctx context.Context, q memsearch.Query, n int) ([]Ranked, *rerank.Answer, error) {
	if e.opts.Reranker == nil {
		return nil, nil, fmt.Errorf("rank with a model: %w", errNoReranker)
	}
	a, err := e.prepare(q)
	if err != nil {
		return nil, nil, err
	}
	r := e.newRecalling(a, q.Text)
	hits, err := e.fused(ctx, a, e.opts.Arms, r.res.Trace)
	if err != nil {
		return nil, nil, err
	}
	memories := map[memoryKey]bool{}
	t := r.task()
	for i := range hits {
		h := &hits[i]
		if memories[memoryKey{h.scope, h.row.MemoryID}] = true; len(memories) > n {
			break
		}
		if h.text, err = e.scopes[h.scope].Snapshot.Text(ctx, h.row); err != nil {
			return nil, nil, fmt.Errorf("read %s: %w", h.row.UnitID, err)
		}
		t.Candidates = append(t.Candidates, h.candidate())
	}
	if len(t.Candidates) == 0 {
		return nil, &rerank.Answer{}, nil
	}
	said, err := e.opts.Reranker.Rerank(ctx, t)
	answer, err := r.take(said, err, len(t.Candidates))
	if err != nil {
		return nil, said, fmt.Errorf("rerank: %w", err)
	}
	out := make([]hit, 0, len(hits))
	picked := make([]bool, len(hits))
	for _, p := range answer.Picks {
		picked[p.Index] = true
		out = append(out, hits[p.Index])
	}
	for i, h := range hits {
		if !picked[i] {
			out = append(out, h)
		}
	}
	return e.ranked(out), answer, nil
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
func fuseScopes(lists []*collector, limit int) []hit {
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
