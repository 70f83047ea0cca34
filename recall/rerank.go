package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/rerank"
)

// Values of a result's SelectedBy.
const (
	SelectedByFusion       = "fusion"
	SelectedByModel        = "llm"
	SelectedByCrossEncoder = "cross-encoder"
)

const (
	// grace is what a reranker has left of the stage, when its context is done, to
	// say what it spent.
	grace = 50 * time.Millisecond

	// reserve is the most that the stage leaves of a caller's deadline, for what
	// comes after it.
	reserve = 250 * time.Millisecond
)

// errNoReranker is why a query that asks for a model does not get one.
var errNoReranker = errors.New("no model is configured for it")

// errDeadline is why a reranker had less time than it may take.
var errDeadline = errors.New("no answer within what the deadline of the recall leaves")

// errVerdict is what is wrong with an answer that means nothing.
var errVerdict = errors.New("the reranker gave no answer")

// rerank lets the model judge more candidates than the hits of the fused order and
// returns what it leaves. When it cannot, the hits stay as they are. The only
// error is a canceled ctx.
func (r *recalling) rerank(ctx context.Context, hits []hit) (kept []hit, err error) {
	if r.engine.opts.Reranker == nil {
		if r.ask.Rerank == memsearch.RerankAlways {
			r.fallBack("reranking", errNoReranker, "the fused order answers")
		}
		return hits, nil
	}
	r.timed("rerank", func() { kept, err = r.reranked(ctx, hits) })
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		r.fallBack("reranking", err, "the fused order answers")
		return hits, nil
	}
	return kept, nil
}

// fallBack degrades the answer because a model did not help.
func (r *recalling) fallBack(what string, err error, instead string) {
	r.degraded = true
	r.reason(fmt.Sprintf("%s failed: %v; %s", what, err, instead))
	r.engine.opts.Logger.Warn("recall degraded", "stage", what, "err", err)
}

func (r *recalling) reranked(ctx context.Context, hits []hit) ([]hit, error) {
	lists, candidates := r.deeper(ctx, hits)
	t := r.task()
	for i := range candidates {
		t.Candidates = append(t.Candidates, candidates[i].candidate())
	}
	a, err := r.judged(ctx, func(ctx context.Context) (*rerank.Answer, error) { return r.engine.opts.Reranker.Rerank(ctx, t) })
	if a, err = r.take(a, err, len(candidates)); err != nil {
		return nil, err
	}
	r.lists = lists
	return r.pick(candidates, a), nil
}

// deeper collects more candidates from the scopes that have hits. Where that
// fails, the hits are all there is. The lists of the hits stay as they are, since
// they answer when the model does not.
func (r *recalling) deeper(ctx context.Context, hits []hit) ([]*collector, []hit) {
	limit := max(r.ask.K, r.engine.opts.Candidates)
	if limit == r.ask.K {
		return r.lists, hits
	}
	ctx = context.WithoutCancel(ctx)
	lists := make([]*collector, len(r.lists))
	for i, c := range r.lists {
		if len(c.hits) == 0 {
			lists[i] = c
			continue
		}
		more := *c
		more.collection = newCollection(limit)
		if err := more.collect(ctx); err != nil {
			r.degrade(c.search.scope, "candidates", err)
			return r.lists, hits
		}
		if more.readErr != nil && c.readErr == nil {
			r.degrade(c.search.scope, "text", more.readErr)
		}
		c.search.signals(more.hits)
		lists[i] = &more
	}
	return lists, fuseScopes(lists, limit)
}

// task returns what a model is told besides the candidates. The same question is the
// same on another day, unless it is about a day that depends on it.
func (r *recalling) task() rerank.Task {
	t := rerank.Task{Query: r.ask.text, Request: r.ask.Request, Recent: r.ask.Recent, Dates: r.ask.dateWords()}
	if r.ask.relative() {
		t.Now = r.ask.Now
	}
	return t
}

// toldDate is the date that a model is told. When a file was last written is no date of
// what it says, and another one in every copy.
func toldDate(o memsearch.Occurred) string {
	if o.Source == memsearch.DateModTime {
		return ""
	}
	return dateText(o)
}

func (h *hit) candidate() rerank.Candidate {
	return rerank.Candidate{ID: h.row.UnitID, Hash: h.row.Hash, Path: h.row.Path, Category: h.row.Category, Kind: h.row.Kind,
		Date: toldDate(h.row.Occurred), Summary: cmp.Or(h.row.Summary, h.row.Title), Text: h.text}
}

// judged waits for ask no longer than the stage may take, also when ask pays no
// heed to its context. Nobody waits for one that goes on after that.
func (r *recalling) judged(ctx context.Context, ask func(context.Context) (*rerank.Answer, error)) (*rerank.Answer, error) {
	limit := r.engine.opts.RerankTimeout
	slow := fmt.Errorf("no answer within %s", limit)
	if end, ok := ctx.Deadline(); ok {
		left := time.Until(end)
		if left -= min(left/4, reserve); left < limit {
			limit, slow = left, errDeadline
		}
	}
	if limit <= 0 {
		return nil, slow
	}
	asking, cancel := context.WithTimeoutCause(ctx, limit-min(limit/4, grace), slow)
	type verdict struct {
		a   *rerank.Answer
		err error
	}
	said := make(chan verdict, 1)
	go func() {
		defer cancel()
		v := verdict{err: errPanic}
		defer func() {
			if p := recover(); p != nil {
				r.engine.opts.Logger.Warn("reranker panicked", "panic", fmt.Sprintf("%T", p)) // its value may hold a text
			}
			said <- v
		}()
		v.a, v.err = ask(asking)
		if v.err != nil && asking.Err() != nil {
			v.err = context.Cause(asking) // says it in plainer words
		}
	}()
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case v := <-said:
		return v.a, v.err
	case <-late.C:
		return nil, slow
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// take writes what an answer cost and says, checks that it says something, and
// returns it without what makes no sense. The reranker may have given the same
// answer to others.
func (r *recalling) take(said *rerank.Answer, err error, shown int) (*rerank.Answer, error) {
	if said == nil {
		return nil, cmp.Or(err, errVerdict)
	}
	a := *said
	if math.IsNaN(a.Cost.Money) || math.IsInf(a.Cost.Money, 0) {
		a.Cost.Money = 0 // JSON has no such number
	}
	r.res.Cost.Add(a.Cost)
	a.Judged = min(max(a.Judged, 0), shown)
	r.res.Trace.Rerank = &memsearch.RerankTrace{Model: a.Model, Prompt: a.Prompt, Shown: shown, Judged: a.Judged, Cached: a.Cached, Notes: a.Notes}
	if err != nil {
		return nil, err
	}
	seen := make([]bool, shown)
	valid := make([]rerank.Pick, 0, len(a.Picks))
	for _, p := range a.Picks {
		if p.Index >= 0 && p.Index < shown && !seen[p.Index] && !math.IsNaN(p.Grade) {
			seen[p.Index] = true
			valid = append(valid, p)
		}
	}
	if len(valid) == 0 && (len(a.Picks) > 0 || a.Judged == 0) {
		return nil, errVerdict
	}
	a.Picks = valid
	r.res.Trace.Rerank.Picked = len(valid)
	r.res.SelectedBy = SelectedByModel
	if a.Prompt == "" {
		r.res.SelectedBy = SelectedByCrossEncoder
	}
	return &a, nil
}

// pick returns the candidates that the model kept, in its order, then those that
// it did not see, in theirs, of no more memories than asked for.
func (r *recalling) pick(candidates []hit, a *rerank.Answer) []hit {
	picked := make([]bool, len(candidates))
	var out []hit
	memories := map[memoryKey]bool{}
	add := func(h hit) {
		k := memoryKey{h.scope, h.row.MemoryID}
		if memories[k] || len(memories) < r.ask.K {
			memories[k] = true
			out = append(out, h)
		}
	}
	for i, p := range a.Picks {
		picked[p.Index] = true
		h := candidates[p.Index]
		h.picked = a.Prompt != "" // a cross-encoder orders, it does not choose
		h.verdict = memsearch.Step{Stage: "rerank", Rank: i + 1, Note: fmt.Sprintf("grade %.4g of %s", p.Grade, a.Model)}
		add(h)
	}
	for i, h := range candidates {
		switch {
		case picked[i]:
		case i >= a.Judged:
			add(h)
		default:
			r.res.Trace.Dropped[dropModel]++
		}
	}
	if len(out) == 0 {
		r.empty = ReasonModel
	}
	return out
}
