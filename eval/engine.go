package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/embed"
	"github.com/memsearch/memsearch/index"
	"github.com/memsearch/memsearch/recall"
)

// EngineOptions configures the engine under test. The zero value works.
type EngineOptions struct {
	Embedder embed.Embedder // nil: the arms vector and hybrid have no vectors
	Zone     *time.Location // nil: UTC
	Now      time.Time      // for questions without a query_date
	Index    *index.Options // other index settings; Embedder and Zone replace its own
	Recall   *recall.Options
	Oracle   *Oracle // answers for the arm [ArmOracle]; Recall has a reranker that asks it
}

// NewBuilder returns a Builder of memsearch's own engine, in memory.
func NewBuilder(o *EngineOptions) Builder {
	if o == nil {
		o = &EngineOptions{}
	}
	return func(ctx context.Context, docs []Document) (Ranker, error) { return newEngine(ctx, docs, o) }
}

// An engine ranks with the same code as a recall.
type engine struct {
	index   *index.Index
	snap    *index.Snapshot
	recall  *recall.Engine
	options recall.Options
	now     time.Time
	ids     map[string]string // path of a Markdown document -> its id
	oracle  *Oracle
	docs    map[string]Document
}

func newEngine(ctx context.Context, docs []Document, o *EngineOptions) (_ *engine, err error) {
	var io index.Options
	if o.Index != nil {
		io = *o.Index
	}
	io.Embedder, io.Zone = o.Embedder, o.Zone
	e := &engine{now: o.Now, ids: map[string]string{}, oracle: o.Oracle, docs: map[string]Document{}}
	list := make([]index.Document, len(docs))
	for i, d := range docs {
		list[i] = index.Document{Path: d.Path, Raw: d.Raw, ID: d.ID, Title: d.Title, Text: d.Text, CreatedAt: d.CreatedAt}
		e.docs[d.ID] = d
		if d.Raw != nil {
			e.ids[d.Path] = d.ID
		}
	}
	if e.index, err = index.Memory(ctx, list, &io); err != nil {
		return nil, err
	}
	if e.snap, err = e.index.Snapshot(ctx); err != nil {
		return nil, errors.Join(err, e.index.Close())
	}
	var ro recall.Options
	if o.Recall != nil {
		ro = *o.Recall
	}
	if v, ok := embed.As[recall.Vocabulary](o.Embedder); ok {
		ro.Vocabulary = v
	}
	e.options = ro
	e.recall = recall.New([]recall.Scope{{Name: "eval", Snapshot: e.snap}}, &ro)
	return e, nil
}

// Rank implements Ranker. A document stands where its best unit does.
func (e *engine) Rank(ctx context.Context, q Question, arm string, depth int) ([]Ranked, error) {
	units, err := e.units(ctx, e.query(q, depth), arm)
	if err != nil {
		return nil, err
	}
	var out []Ranked
	seen := map[string]bool{}
	for _, u := range units {
		id := e.document(u.Path, u.MemoryID)
		if !seen[id] && len(out) < depth {
			seen[id] = true
			out = append(out, Ranked{ID: id, Score: u.Score})
		}
	}
	return out, nil
}

// document returns the id of the document that a unit is of. A Markdown file is
// known by its path: the id of its memory is its own.
func (e *engine) document(path, memory string) string { return cmp.Or(e.ids[path], memory) }

func (e *engine) units(ctx context.Context, q memsearch.Query, arm string) ([]recall.Ranked, error) {
	if arm == ArmOracle {
		if e.oracle == nil {
			return nil, fmt.Errorf("arm %s without an oracle: %w", arm, ErrOptions)
		}
		units, _, err := e.recall.RankWithModel(ctx, q, OracleDepth)
		return units, err
	}
	a, err := recall.ParseArms(arm)
	if err != nil {
		return nil, err
	}
	units, _, err := e.recall.Rank(ctx, q, a)
	return units, err
}

// Tell implements Teller.
func (e *engine) Tell(grades map[string]int) {
	if e.oracle == nil {
		return
	}
	var docs []Document
	for id, g := range grades {
		if d, ok := e.docs[id]; ok && g > 0 {
			docs = append(docs, d)
		}
	}
	slices.SortFunc(docs, func(a, b Document) int { return strings.Compare(a.ID, b.ID) })
	e.oracle.Ask(docs, grades)
}

func (e *engine) query(q Question, k int) memsearch.Query {
	now := q.Now
	if now.IsZero() {
		now = e.now
	}
	return memsearch.Query{Text: q.Text, Now: now, K: k, Rerank: memsearch.RerankNever}
}

// Close implements Ranker.
func (e *engine) Close() error {
	e.recall.Wait()
	return errors.Join(e.snap.Close(), e.index.Close())
}

// Judge implements Judger with as many memories as a recall returns.
func (e *engine) Judge(ctx context.Context, q Question, arm string) (Judgement, error) {
	a, err := recall.ParseArms(arm)
	if err != nil {
		return Judgement{}, err
	}
	j, err := e.recall.Judge(ctx, e.query(q, memsearch.DefaultK), a)
	return Judgement(j), err
}
