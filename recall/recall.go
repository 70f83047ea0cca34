package recall

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/index"
	"github.com/memsearch/memsearch/index/lexical"
	"github.com/memsearch/memsearch/index/validity"
	"github.com/memsearch/memsearch/rerank"
)

// A Lexical retriever scores every unit against the words of a text.
type Lexical interface {
	// Lexical returns scores by unit ordinal. They are only read.
	Lexical(ctx context.Context, text string) (*lexical.Result, error)
}

// A Vector retriever compares every unit with the meaning of a text.
type Vector interface {
	// Vector returns cosines by unit ordinal, or nil without an error when the
	// index has no vectors.
	Vector(ctx context.Context, text string) (*index.VectorResult, error)
}

// A Temporal retriever finds the units that occurred in one of several spans.
type Temporal interface {
	// Temporal returns the units whose span overlaps one of spans, at most limit
	// unless that is 0.
	Temporal(ctx context.Context, spans []memsearch.Span, limit int) ([]index.TemporalHit, error)
}

// A Filter says which units may not be returned at all.
type Filter interface {
	// Excluded returns the ordinals that f leaves out.
	Excluded(ctx context.Context, f validity.Filter) (index.Mask, error)
}

// Records holds what is known of a unit besides its text.
type Records interface {
	// Len is the number of units. Ordinals run below it, in the byte order of
	// unit ids.
	Len() int

	// Records returns the row of each ordinal, in that order.
	Records(ctx context.Context, ords []uint32) ([]validity.Row, error)
}

// A Reader reads the text of a unit from its file.
type Reader interface {
	// Text returns an error that wraps [index.ErrStale] when the file no longer
	// holds the text that was indexed.
	Text(ctx context.Context, row validity.Row) (string, error)
}

// A Snapshot is one state of the index of one scope. It is safe for concurrent
// use and stays as it is while a recall runs.
type Snapshot interface {
	Lexical
	Vector
	Temporal
	Filter
	Records
	Reader
}

// A Vocabulary is the list of words an embedding model was trained on. What is
// not in it gets a vector from its spelling, without meaning.
type Vocabulary interface {
	Lookup(token string) (id int32, ok bool)
}

// A Scope is one index that the caller may read.
type Scope struct {
	Name     string
	Snapshot Snapshot
}

// Options configures an [Engine]. The zero value works.
type Options struct {
	// Floor is the confidence in the best hit below which the answer is empty.
	//
	// If zero, it is [DefaultFloor]; below zero there is no floor.
	Floor float64

	// InjectFloor is the confidence below which a hit stays out of the context.
	//
	// If zero, it is [DefaultInjectFloor]; below zero every hit may go in.
	InjectFloor float64

	// Vocabulary, if non-nil, says which words of a query the embedding model
	// knows; the built-in model is one. A word that neither it nor the index
	// knows cannot be answered, however near its vector comes by chance. Without
	// it the model is taken to know every word.
	Vocabulary Vocabulary

	// Arms are the retrievers that take part, for an evaluation of some of them.
	//
	// If zero, all do.
	Arms Arms

	// Reranker, if non-nil, judges the candidates of queries that the gate lets
	// through. Whatever goes wrong with it, the fused order answers.
	Reranker rerank.Reranker

	// Selector, if non-nil, picks memories from the catalog in place of a search,
	// for every query that does not forbid it. Whatever goes wrong with it, a
	// search answers. Reranker then plays no part.
	Selector Selector

	// Candidates is how many memories the Reranker judges.
	//
	// If zero, it is [DefaultCandidates]. It is never less than the query's K.
	Candidates int

	// GateMargin is the lead of the first hit over the second, as a share of its
	// score, from which on the Reranker is not asked.
	//
	// If zero, it is [DefaultGateMargin]; below zero no lead is large enough.
	GateMargin float64

	// RerankTimeout bounds the whole stage. So does a deadline of the context, of
	// which the last quarter second, at most a quarter, is kept for the answer.
	//
	// If zero, it is [DefaultRerankTimeout].
	RerankTimeout time.Duration

	// Clock, if non-nil, gives a query without a time its time, and measures
	// the stages. Without it such a query is refused and nothing is measured.
	Clock func() time.Time

	// Logger, if non-nil, is told of degraded answers.
	Logger *slog.Logger
}

// Defaults of [Options].
const (
	DefaultCandidates    = 20
	DefaultRerankTimeout = 10 * time.Second
)

// A Selector picks memories from a catalog. It may fail, and may pick none; the
// indexes of its picks are those of the lines. When it fails, the answer is
// non-nil if something was spent.
type Selector interface {
	Select(ctx context.Context, t rerank.Task, catalog []rerank.Line) (*rerank.Answer, error)
}

// An Engine answers queries over an ordered list of scopes. It is safe for
// concurrent use.
type Engine struct {
	scopes  []Scope
	opts    Options
	running sync.WaitGroup
}

// New returns an Engine over scopes, the most important first. A nil opts is the
// same as a zero Options.
func New(scopes []Scope, opts *Options) *Engine {
	e := &Engine{scopes: scopes}
	if opts != nil {
		e.opts = *opts
	}
	if e.opts.Floor == 0 {
		e.opts.Floor = DefaultFloor
	}
	if e.opts.InjectFloor == 0 {
		e.opts.InjectFloor = DefaultInjectFloor
	}
	e.opts.Arms = cmp.Or(e.opts.Arms, ArmHybrid)
	e.opts.Candidates = cmp.Or(e.opts.Candidates, DefaultCandidates)
	e.opts.GateMargin = cmp.Or(e.opts.GateMargin, DefaultGateMargin)
	e.opts.RerankTimeout = cmp.Or(e.opts.RerankTimeout, DefaultRerankTimeout)
	if e.opts.Logger == nil {
		e.opts.Logger = slog.New(slog.DiscardHandler)
	}
	return e
}

// Wait returns when no retriever runs any more. One that was given up on at a
// deadline may still read its snapshot, so call it before closing one. A reranker
// that was given up on reads none, and is not waited for.
func (e *Engine) Wait() { e.running.Wait() }
