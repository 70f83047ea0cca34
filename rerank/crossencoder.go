package rerank

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/internal/tokens"
)

// A Ranker scores documents for a query: a larger score is more relevant. It
// scores every document once, and is safe for concurrent use.
type Ranker interface {
	Rank(ctx context.Context, r llm.RankRequest) (*llm.RankReply, error)
}

// CrossEncoderOptions configures a [CrossEncoder]. Nil and the zero value work.
type CrossEncoderOptions struct {
	// Model is the name of the model, for answers and for the cache.
	Model string

	// Budget is how many tokens the query and all documents may take.
	//
	// If zero, [DefaultBudget].
	Budget int

	// Snippet is how many tokens of a candidate's text are shown.
	//
	// If zero, [DefaultSnippet].
	Snippet int

	// MaxCalls is how many calls one task may take, with those made again after
	// a failure.
	//
	// If zero, [DefaultMaxCalls].
	MaxCalls int

	// Cache, if non-nil, keeps verdicts.
	Cache *Cache
}

// A CrossEncoder scores each candidate by itself, all in one call. It is safe for
// concurrent use.
type CrossEncoder struct {
	ranker Ranker
	opts   CrossEncoderOptions
}

// NewCrossEncoder returns a reranker that asks r.
func NewCrossEncoder(r Ranker, o *CrossEncoderOptions) *CrossEncoder {
	c := &CrossEncoder{ranker: r}
	if o != nil {
		c.opts = *o
	}
	c.opts.Budget = cmp.Or(c.opts.Budget, DefaultBudget)
	c.opts.Snippet = cmp.Or(c.opts.Snippet, DefaultSnippet)
	c.opts.MaxCalls = cmp.Or(c.opts.MaxCalls, DefaultMaxCalls)
	return c
}

// Rerank scores as many of t's candidates as fit the budget, in one call. Only the
// query is compared with them: such models know no conversation.
func (c *CrossEncoder) Rerank(ctx context.Context, t Task) (*Answer, error) {
	s := newSession("cross-encoder", c.opts.Model, nil, c.opts.Cache, limited{})
	if len(t.Candidates) == 0 {
		return s.answer, nil
	}
	query, aside := share(t.Query, c.opts.Budget/8)
	docs := c.documents(&t, c.opts.Budget-aside)
	if query == "" || len(docs) == 0 {
		return nil, fmt.Errorf("rerank: %w: %d tokens", ErrBudget, c.opts.Budget)
	}
	key := cacheKey(s.kind, c.opts.Model, t.Sample, append([]string{query}, docs...)...)
	picks, err := s.verdict(len(docs), key, func() (*entry, error) {
		reply, err := c.ranker.Rank(ctx, llm.RankRequest{Query: query, Documents: docs, MaxCalls: c.opts.MaxCalls, Prompt: s.kind, Sample: t.Sample})
		if reply != nil {
			s.answer.Cost.Add(reply.Cost)
		}
		if err != nil {
			return nil, err
		}
		return scored(reply, len(docs))
	})
	if err != nil {
		return s.spent(), fmt.Errorf("rerank: %w", err)
	}
	s.answer.Judged = len(docs)
	for _, p := range picks {
		s.answer.Picks = append(s.answer.Picks, Pick{Index: p.N - 1, Grade: p.Grade})
	}
	s.finish()
	return s.answer, nil
}

// documents returns the texts of as many candidates as fit. A first one that does
// not fit is cut, and stands alone.
func (c *CrossEncoder) documents(t *Task, room int) []string {
	about := terms(t.Query)
	var docs []string
	for i := range t.Candidates {
		doc := newBody(&t.Candidates[i], c.opts.Snippet, about).plain()
		n := tokens.Bound(doc)
		if i == 0 && n > room {
			if doc = snippet(doc, room, strings.Clone); doc != "" {
				docs = append(docs, doc)
			}
			break
		}
		if room -= n; room < 0 {
			break
		}
		docs = append(docs, doc)
	}
	return docs
}

// plain returns the body without the dress of JSON.
func (b body) plain() string {
	var parts []string
	for _, s := range []string{b.Date, b.Summary, b.Text} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "\n")
}

// errScores is returned for a reply that does not score every document once.
var errScores = errors.New("not every document has one score")

// scored returns the documents by score.
func scored(reply *llm.RankReply, n int) (*entry, error) {
	picks := make([]entryPick, 0, len(reply.Scores))
	for _, x := range reply.Scores {
		picks = append(picks, entryPick{N: x.Index + 1, Grade: x.Score})
	}
	e := collect(n, picks)
	if len(e.Picks) != n || len(picks) != n {
		return nil, errScores
	}
	slices.SortFunc(e.Picks, func(a, b entryPick) int { return cmp.Or(cmp.Compare(b.Grade, a.Grade), a.N-b.N) })
	return e, nil
}
