package recall

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/memsearch/memsearch"
)

// Reasons of an empty answer.
const (
	ReasonIgnore  = "the query asks to answer without memory"
	ReasonNothing = "no memory matches the query"
	ReasonFloor   = "no memory is likely to answer the query"
	ReasonAlready = "everything relevant was recalled before"
	ReasonTools   = "what matches is about tools in use"
	ReasonModel   = "the model finds no memory that answers the query"
)

// Recall answers q. The only errors are those of the query itself, which wrap
// [ErrQuery], and a canceled ctx; whatever else goes wrong is told in the result's
// status and reasons. When ctx has a deadline, what was found by then answers.
func (e *Engine) Recall(ctx context.Context, q memsearch.Query) (*memsearch.Result, error) {
	a, err := e.prepare(q)
	if err != nil {
		return nil, err
	}
	r := e.newRecalling(a, q.Text)
	if a.ignored() {
		r.ignore()
		return r.res, nil
	}
	if a.cut {
		r.reason(fmt.Sprintf("the query was cut to %d bytes", MaxText))
	}
	if err := r.run(ctx); err != nil {
		return nil, err
	}
	return r.res, nil
}

// A recalling is one query on its way through the stages.
type recalling struct {
	engine   *Engine
	ask      *ask
	res      *memsearch.Result
	lists    []*collector // of the scopes that could be searched
	failed   int          // scopes that could not be searched at all
	degraded bool
	empty    string // why a scope that was searched gave nothing

	standing []Piece // go into the context whatever is found
	trailing []Piece // go in after all else
}

func (e *Engine) newRecalling(a *ask, text string) *recalling {
	res := memsearch.NewResult(text, memsearch.StateOK)
	res.Budget, res.SelectedBy, res.Zone = a.Budget, SelectedByFusion, a.Now.Location().String()
	res.Trace = &memsearch.Trace{Dates: a.dateWords(), Dropped: map[string]int{}}
	return &recalling{engine: e, ask: a, res: res}
}

// ignored reports whether the user wants an answer without memory.
func (a *ask) ignored() bool {
	return ignoresMemory(a.text) || a.Request != "" && ignoresMemory(a.Request)
}

// ignore makes the answer empty because the user asked for it.
func (r *recalling) ignore() {
	r.res.Status, r.res.Trace = memsearch.StateEmpty, nil
	r.reason(ReasonIgnore)
}

func (r *recalling) reason(s string) { r.res.Reasons = append(r.res.Reasons, s) }

// degrade says that the answer may be incomplete.
func (r *recalling) degrade(sc Scope, what string, err error) {
	r.degraded = true
	r.reason(fmt.Sprintf("%s: %s: %v", sc.Name, what, err))
	r.engine.opts.Logger.Warn("recall degraded", "scope", sc.Name, "stage", what, "err", err)
}

// timed runs one stage.
func (r *recalling) timed(stage string, f func()) {
	clock := r.engine.opts.Clock
	if clock == nil {
		f()
		return
	}
	start := clock()
	f()
	r.res.Timings[stage] += float64(clock().Sub(start)) / float64(time.Millisecond)
}

func (r *recalling) run(ctx context.Context) error {
	if r.selects() {
		hits, err := r.selected(ctx)
		if err == nil {
			r.settle(len(hits))
			r.finish(hits)
			return nil
		}
		if errors.Is(ctx.Err(), context.Canceled) {
			return context.Cause(ctx)
		}
		r.fallBack("selection", err, "a search answers")
	}
	defer func() {
		for _, c := range r.lists {
			c.search.close()
		}
	}()
	for i, sc := range r.engine.scopes {
		if err := r.scope(ctx, i, sc); err != nil {
			return err
		}
	}
	hits := fuseScopes(r.lists, r.ask.K)
	gate := r.gate(hits)
	if gate.Ask && r.engine.opts.Selector == nil {
		var err error
		if hits, err = r.rerank(ctx, hits); err != nil {
			return err
		}
	}
	for _, c := range r.lists {
		c.describe(r.res.Trace)
		r.res.Already = append(r.res.Already, c.already...)
		r.res.Stale += c.dropped[dropStale]
	}
	r.res.Trace.Gate = gate
	r.settle(len(hits))
	r.finish(hits)
	return nil
}

// finish writes the answer.
func (r *recalling) finish(hits []hit) {
	r.fill(hits)
	if !r.ask.Explain {
		r.res.Trace.Terms = nil
	}
	r.timed("pack", func() { r.pack(hits) })
}

// scope searches one scope and collects its hits.
func (r *recalling) scope(ctx context.Context, i int, sc Scope) error {
	var s *search
	r.timed("search", func() { s = r.engine.searchScope(ctx, sc, r.ask, r.engine.opts.Arms) })
	kept := false
	defer func() {
		if !kept {
			s.close()
		}
	}()
	if errors.Is(ctx.Err(), context.Canceled) {
		return context.Cause(ctx)
	}
	for st, err := range s.errs {
		if err != nil {
			r.degrade(sc, stageNames[st], err)
		}
	}
	if !s.searched() {
		r.failed++
		return nil
	}
	if v := s.fusion.vec; v != nil && r.res.Model == "none" {
		r.res.Model = v.Model
	}
	// The search is over: what is left takes a moment, and a deadline that has
	// passed must not throw the answer away.
	ctx = context.WithoutCancel(ctx)
	c := &collector{collection: newCollection(r.ask.K), search: s, judge: newJudge(s, r.engine.opts.Vocabulary), scope: i}
	var err error
	r.timed("collect", func() { err = r.collect(ctx, c) })
	if err != nil {
		r.degrade(sc, "records", err)
		if len(c.hits) == 0 {
			c.describe(r.res.Trace)
			r.failed++
			return nil
		}
	}
	if c.readErr != nil {
		r.degrade(sc, "text", c.readErr)
	}
	r.lists, kept = append(r.lists, c), true
	return nil
}

// longText is the length in bytes from which a query is a pasted text rather than
// a question. No note matches much of one, so the confidence in it is low
// whatever it finds, and only one that matches nothing is empty.
const longText = 600

// collect fills c unless nothing speaks for any unit of its scope.
func (r *recalling) collect(ctx context.Context, c *collector) error {
	if c.judge.nothing() {
		r.empty = ReasonNothing
		return nil
	}
	if err := c.collect(ctx); err != nil {
		return err
	}
	best := 0.0
	for _, h := range c.hits {
		best = max(best, h.confidence)
	}
	if best < r.engine.opts.Floor && len(c.hits) > 0 && !(c.judge.matched && len(r.ask.text) > longText) {
		r.empty = ReasonFloor
		r.res.Confidence = max(r.res.Confidence, best)
		c.dropped[dropFloor] += len(c.hits)
		c.hits = nil
	}
	c.search.signals(c.hits)
	return nil
}

// settle decides the status.
func (r *recalling) settle(hits int) {
	res := r.res
	switch {
	case len(r.engine.scopes) == 0:
		res.Status = memsearch.StateUnavailable
		r.reason("there is no scope to search")
	case r.failed == len(r.engine.scopes):
		res.Status = memsearch.StateUnavailable
	case r.degraded:
		res.Status = memsearch.StateDegraded
	case hits > 0:
		res.Status = memsearch.StateOK
	case res.Stale > 0:
		res.Status = memsearch.StateDegraded
		r.reason("what matches was changed since it was indexed")
	default:
		res.Status = memsearch.StateEmpty
		switch {
		case r.empty == ReasonModel:
			r.reason(ReasonModel)
		case len(res.Already) > 0:
			r.reason(ReasonAlready)
		case res.Trace.Dropped[dropTools] > 0:
			r.reason(ReasonTools)
		case r.empty != "":
			r.reason(r.empty)
		default:
			r.reason(ReasonNothing)
		}
	}
}

// fill writes hits into the result.
func (r *recalling) fill(hits []hit) {
	for i := range hits {
		h := &hits[i]
		if i == 0 {
			r.res.Confidence = h.confidence
		}
		r.res.Hits = append(r.res.Hits, h.public(r.engine.scopes[h.scope].Name, r.ask.Explain))
		if !slices.Contains(r.res.Sources, h.row.Path) {
			r.res.Sources = append(r.res.Sources, h.row.Path)
		}
	}
}

// scopeName returns the name of a scope where memories must be told apart by it:
// when there are several.
func (r *recalling) scopeName(i int) string {
	if len(r.engine.scopes) < 2 {
		return ""
	}
	return r.engine.scopes[i].Name
}

// content returns what may go into the context, by its worth: the hits that are
// likely enough to help and what stands there anyway take turns, so that in a small
// budget neither keeps the other out.
func (r *recalling) content(hits []hit) []Piece {
	var found, pieces []Piece
	for i := range hits {
		if !hits[i].picked && hits[i].confidence < r.engine.opts.InjectFloor {
			continue
		}
		p := hits[i].piece(r.scopeName(hits[i].scope))
		if at := indexPiece(r.standing, p); at >= 0 {
			p = r.standing[at] // in its own section
		}
		found = append(found, p)
	}
	for i := range max(len(found), len(r.standing)) {
		for _, list := range [][]Piece{found, r.standing} {
			if i < len(list) && indexPiece(pieces, list[i]) < 0 {
				pieces = append(pieces, list[i])
			}
		}
	}
	pieces = append(pieces, r.trailing...)
	tellApart(pieces)
	return pieces
}

// pack writes the context.
func (r *recalling) pack(hits []hit) {
	p := Pack(r.content(hits), r.ask.Budget)
	r.res.Context, r.res.Tokens = p.Text, p.Tokens
	r.res.Injected = append(r.res.Injected, p.Used...)
}
