package core

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/embed"
	"github.com/memsearch/memsearch/index"
	"github.com/memsearch/memsearch/index/validity"
	"github.com/memsearch/memsearch/recall"
)

// Recall returns the few memories that matter for q, packed under its budget. The
// error is non-nil only when the query is unusable ([recall.ErrQuery]), the role
// forbids it ([ErrRole]) or ctx is done; everything else that goes wrong is in
// the Result.
func (m *Memory) Recall(ctx context.Context, q memsearch.Query) (*memsearch.Result, error) {
	done, err := m.beginRead()
	if err != nil {
		return nil, err
	}
	defer done()
	q = m.defaults(q)
	if res := m.builder.refuse(q); res != nil {
		return res, nil
	}
	return m.search(ctx, q)
}

// defaults fills what the query leaves to the settings.
func (m *Memory) defaults(q memsearch.Query) memsearch.Query {
	if q.K == 0 {
		q.K = m.settings.K
	}
	if q.Budget == 0 {
		q.Budget = m.settings.Budget
	}
	if q.Rerank == "" {
		q.Rerank = m.settings.Rerank.Mode
	}
	if q.Now.IsZero() {
		q.Now = m.now().In(m.settings.Zone)
	}
	return q
}

// search answers q over the views.
func (m *Memory) search(ctx context.Context, q memsearch.Query) (*memsearch.Result, error) {
	ctx, done := withPatience(ctx)
	defer done()
	var res *memsearch.Result
	err := m.overViews(ctx, func(scopes []recall.Scope) (*memsearch.Result, error) {
		e := recall.New(scopes, m.recallOptions())
		defer e.Wait()
		var err error
		res, err = e.Recall(ctx, q)
		return res, err
	})
	return res, err
}

// overViews calls ask with the published indexes while it looks for changed
// files, and once more when there were any. What went wrong becomes part of the
// last result.
func (m *Memory) overViews(ctx context.Context, ask func([]recall.Scope) (*memsearch.Result, error)) error {
	walks := make([]*index.Walk, len(m.scopes))
	for i, s := range m.scopes {
		walks[i] = s.beginWalk(ctx)
		defer walks[i].Wait()
	}
	views, errs := m.open(ctx)
	defer func() { closeViews(views) }()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	fresh := make([]freshness, len(m.scopes))
	var wg sync.WaitGroup
	for i, s := range m.scopes {
		if views[i] != nil {
			wg.Go(func() { fresh[i] = s.refresh(ctx, walks[i]) })
		}
	}
	res, err := ask(m.searchable(views))
	wg.Wait()
	if err != nil {
		return err
	}
	moved := false
	for i, f := range fresh {
		if !f.published {
			continue
		}
		if v, err := m.scopes[i].open(ctx); err == nil {
			closeViews(views[i : i+1])
			views[i], moved = v, true
		}
	}
	if moved {
		if res, err = ask(m.searchable(views)); err != nil {
			return err
		}
	}
	m.annotate(res, views, fresh, errs)
	return nil
}

// annotate tells the result what was not right.
func (m *Memory) annotate(res *memsearch.Result, views []*view, fresh []freshness, errs []error) {
	if res.Model == "none" && m.embedder == nil {
		res.Model = m.model
	}
	res.Zone = m.settings.Zone.String()
	for _, l := range m.lost {
		note(res, l.name, []string{fmt.Sprintf("cannot be searched: %v", l.err)}, true)
	}
	for i, s := range m.scopes {
		note(res, s.name, fresh[i].blind, true)
		res.Stale += fresh[i].stale
		if views[i] != nil {
			note(res, s.name, views[i].reasons, false)
			note(res, s.name, views[i].blind, true)
		}
		if errs[i] != nil {
			note(res, s.name, []string{fmt.Sprintf("cannot be searched: %v", errs[i])}, true)
			if len(m.scopes) == 1 {
				res.Status = memsearch.StateUnavailable
			}
		}
	}
}

// open opens every scope at once. A scope that fails has no view.
func (m *Memory) open(ctx context.Context) ([]*view, []error) {
	views, errs := make([]*view, len(m.scopes)), make([]error, len(m.scopes))
	var wg sync.WaitGroup
	for i, s := range m.scopes {
		wg.Go(func() { views[i], errs[i] = s.open(ctx) })
	}
	wg.Wait()
	return views, errs
}

func closeViews(views []*view) {
	for _, v := range views {
		if v != nil {
			v.snap.Close() // reading only: nothing can be lost
		}
	}
}

// A snapshot also lists memories, for what stands in every context.
type snapshot struct{ *index.Snapshot }

func (s snapshot) List(ctx context.Context, f validity.ListFilter) ([]validity.Row, error) {
	return s.Validity().List(ctx, f)
}

// searchable returns the scopes that could be opened.
func (m *Memory) searchable(views []*view) []recall.Scope {
	var scopes []recall.Scope
	for i, v := range views {
		if v != nil {
			scopes = append(scopes, recall.Scope{Name: m.scopes[i].name, Snapshot: snapshot{v.snap}})
		}
	}
	return scopes
}

func (m *Memory) recallOptions() *recall.Options {
	o := &recall.Options{InjectFloor: m.settings.InjectThreshold, Clock: m.now, Logger: m.log}
	if v, ok := embed.As[recall.Vocabulary](m.embedder); ok {
		o.Vocabulary = v
	}
	m.models.use(o)
	return o
}

// note adds reasons to a result and makes it degraded. An empty answer stays empty
// unless the reasons are blind: something that was not looked at may be what was
// asked for.
func note(res *memsearch.Result, scope string, reasons []string, blind bool) {
	for _, r := range reasons {
		res.Reasons = append(res.Reasons, scope+": "+r)
	}
	if len(reasons) > 0 && (res.Status == memsearch.StateOK || blind && res.Status == memsearch.StateEmpty) {
		res.Status = memsearch.StateDegraded
	}
}

// IsQueryError reports whether err is the asker's to mend.
func IsQueryError(err error) bool { return errors.Is(err, recall.ErrQuery) }
