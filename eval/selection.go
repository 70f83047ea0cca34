package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/recall"
	"github.com/memsearch/memsearch/rerank"
)

// The arms of a comparison of selections that ask a model. The others are those of
// [Arms] but for temporal.
const (
	ArmGated        = "hybrid+rerank(gated)"
	ArmAlways       = "hybrid+rerank(always)"
	ArmSelection    = "llm-selection"
	ArmCrossEncoder = "cross-encoder"
)

// SelectionArms lists the arms of [Selection] in the order of the tables.
var SelectionArms = []string{ArmBM25, ArmVector, ArmHybrid, ArmGated, ArmAlways, ArmSelection, ArmCrossEncoder}

// SelectionOptions configures [Selection]. Arms whose model is nil are left out.
type SelectionOptions struct {
	Arms      []string // nil: all of [SelectionArms] that have a model
	Sizes     []int    // memories to choose from; nil: [DefaultSizes]
	Questions int      // at most, of each size; zero: [DefaultQuestions]
	Repeat    int      // how often each question is asked to see whether the answer stays; zero: [DefaultRepeat]
	Seed      uint64   // of the sample and the bootstrap
	Resamples int      // zero: [DefaultResamples]

	Listwise     rerank.Reranker
	CrossEncoder rerank.Reranker
	Selector     recall.Selector
	Oracle       *Oracle // if non-nil, it is told each question before it is asked

	Candidates int // zero: [recall.DefaultCandidates]
	Budget     int // tokens of a context; zero: [memsearch.DefaultBudget]

	Progress func(done, total int) // may be nil
}

// Defaults of [SelectionOptions].
const (
	DefaultQuestions = 100
	DefaultRepeat    = 5
)

// DefaultSizes are numbers of memories around the point where a catalog no longer
// holds them all.
var DefaultSizes = []int{50, 200, 1000, 10_000}

// selectionK is how many memories an answer has in a comparison.
const selectionK = 10

// A SelectionReport is the outcome of [Selection].
type SelectionReport struct {
	Judged  int             `json:"judged"`    // questions there are to sample from
	Corpus  int             `json:"documents"` // likewise
	Oracle  bool            `json:"oracle"`    // the model answered from the judgements: figures are ceilings
	Models  []string        `json:"models,omitempty"`
	Repeat  int             `json:"repeat"`
	Sizes   []SelectionSize `json:"sizes"`
	Stopped string          `json:"stopped,omitempty"` // why not everything was asked
	Rows    []SelectionRow  `json:"-"`                 // one for each size, question and arm
	Spent   memsearch.Cost  `json:"spent"`             // with repetitions
}

// A SelectionSize is what the arms reached among so many memories.
type SelectionSize struct {
	Memories  int            `json:"memories"`
	Asked     int            `json:"asked_memories"` // differs when the corpus is too small
	Questions int            `json:"questions"`
	Arms      []SelectionArm `json:"arms"`
}

// A SelectionArm is what one arm reached. Means are over questions.
type SelectionArm struct {
	Arm       string              `json:"arm"`
	R5        float64             `json:"r5"`
	NDCG      float64             `json:"ndcg"`      // at 10
	Precision float64             `json:"precision"` // relevant injected documents among those injected, of questions that injected any; 0 when none did
	Nothing   float64             `json:"nothing"`   // share of questions that injected nothing
	Asked     float64             `json:"asked"`     // share of questions that a model was asked about
	Failed    int                 `json:"failed"`    // questions whose model gave no usable answer; the fused order answered
	Calls     float64             `json:"calls"`
	TokensIn  float64             `json:"tokens_in"`
	TokensOut float64             `json:"tokens_out"`
	Money     float64             `json:"money"`
	Same      float64             `json:"same"` // share of questions with the same selection each time
	Intervals map[string]Interval `json:"intervals"`
	Minus     map[string]Interval `json:"minus_hybrid,omitempty"`
	Latency   LatencyReport       `json:"latency_ms"` // of the first time; the only figures that differ between runs
}

// A LatencyReport holds quantiles of the time of an answer, in milliseconds.
type LatencyReport struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
}

// A SelectionRow is what one arm made of one question.
type SelectionRow struct {
	Memories int             `json:"memories"`
	Question string          `json:"question"`
	Arm      string          `json:"arm"`
	R5       float64         `json:"r5"`
	NDCG     float64         `json:"ndcg"`
	R10      float64         `json:"r10"`
	Injected int             `json:"injected"`
	Relevant int             `json:"relevant_injected"`
	Same     bool            `json:"same"`
	Asked    bool            `json:"asked"`
	Failed   bool            `json:"failed"`
	Gate     *memsearch.Gate `json:"gate,omitempty"`
	Cost     memsearch.Cost  `json:"cost"`
	Latency  float64         `json:"latency_ms"`
}

// errStop ends an evaluation before its end without an error.
type errStop struct{ error }

// Selection compares ways to choose what goes into a context, on the same
// questions, among growing numbers of memories. Each number is one index with the
// relevant documents of the questions, at most half of it, and others drawn at
// random, of all conversations together. When a cap of the model client is
// reached it stops, says so in the report and leaves out the question that it was
// at. Replies that a cassette lacks are an error.
func Selection(ctx context.Context, eo *EngineOptions, docs []Document, qs []Question, qrels Qrels, opts *SelectionOptions) (*SelectionReport, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	judged := answerable(docs, qs, qrels)
	if len(judged) == 0 {
		return nil, fmt.Errorf("no question has a relevant document in the corpus: %w", ErrNoData)
	}
	rep := &SelectionReport{Judged: len(judged), Corpus: len(docs), Oracle: o.Oracle != nil, Repeat: o.Repeat}
	rng := rand.New(rand.NewPCG(o.Seed, 0x5e1ec7))
	rng.Shuffle(len(judged), func(i, j int) { judged[i], judged[j] = judged[j], judged[i] })
	order := rng.Perm(len(docs))
	var pools []pool
	total := 0
	for _, size := range o.Sizes {
		p := newPool(docs, judged, qrels, order, size, o.Questions)
		total += len(p.questions)
		pools = append(pools, p)
		if len(docs) <= size {
			break // larger ones would be the same
		}
	}
	done := 0
	for _, p := range pools {
		rows, err := o.pool(ctx, eo, &p, qrels, func() {
			if done++; o.Progress != nil {
				o.Progress(done, total)
			}
		}, &rep.Spent)
		stop, stopped := errors.AsType[errStop](err)
		if err != nil && !stopped {
			return nil, err
		}
		if len(rows) > 0 {
			rep.Rows = append(rep.Rows, rows...)
			rep.Sizes = append(rep.Sizes, o.summarise(&p, rows))
		}
		if stopped {
			rep.Stopped = stop.Error()
			break
		}
	}
	if len(rep.Sizes) == 0 {
		return nil, fmt.Errorf("not one question was answered: %s", cmp.Or(rep.Stopped, "there is none"))
	}
	return rep, nil
}

func (opts *SelectionOptions) withDefaults() (SelectionOptions, error) {
	var o SelectionOptions
	if opts != nil {
		o = *opts
	}
	has := map[string]bool{ArmBM25: true, ArmVector: true, ArmHybrid: true, ArmGated: o.Listwise != nil, ArmAlways: o.Listwise != nil,
		ArmSelection: o.Selector != nil, ArmCrossEncoder: o.CrossEncoder != nil}
	if o.Arms == nil {
		for _, a := range SelectionArms {
			if has[a] {
				o.Arms = append(o.Arms, a)
			}
		}
	}
	for _, a := range o.Arms {
		if !slices.Contains(SelectionArms, a) {
			return o, fmt.Errorf("arm %q is none of %s: %w", a, strings.Join(SelectionArms, ", "), ErrOptions)
		}
		if !has[a] {
			return o, fmt.Errorf("arm %q needs a model: %w", a, ErrOptions)
		}
	}
	if o.Sizes == nil {
		o.Sizes = DefaultSizes
	}
	o.Sizes = slices.Sorted(slices.Values(o.Sizes))
	o.Questions, o.Repeat = cmp.Or(o.Questions, DefaultQuestions), cmp.Or(o.Repeat, DefaultRepeat)
	if o.Questions < 1 || o.Repeat < 1 || len(o.Sizes) == 0 || o.Sizes[0] < 2 {
		return o, fmt.Errorf("questions and repetitions must be at least 1, sizes at least 2: %w", ErrOptions)
	}
	return o, nil
}

// answerable returns the questions that are not adversarial and have a relevant
// document, in the order of their ids.
func answerable(docs []Document, qs []Question, qrels Qrels) []Question {
	have := map[string]bool{}
	for _, d := range docs {
		have[d.ID] = true
	}
	var out []Question
	for _, q := range qs {
		if q.Category == Adversarial {
			continue
		}
		for id := range qrels[q.ID] {
			if have[id] {
				out = append(out, q)
				break
			}
		}
	}
	slices.SortFunc(out, func(a, b Question) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// A pool is a number of memories with the questions that they answer.
type pool struct {
	asked     int // memories
	docs      []Document
	byID      map[string]*Document
	questions []Question
}

// newPool takes the documents of the first questions, up to half of size, and
// fills up with others in the given order.
func newPool(docs []Document, qs []Question, qrels Qrels, order []int, size, most int) pool {
	p := pool{asked: size, byID: map[string]*Document{}}
	all := map[string]*Document{}
	for i := range docs {
		all[docs[i].ID] = &docs[i]
	}
	in := map[string]bool{}
	for _, q := range qs {
		var fresh []string
		for id := range qrels[q.ID] {
			if all[id] != nil && !in[id] {
				fresh = append(fresh, id)
			}
		}
		if len(in)+len(fresh) > max(size/2, 1) && len(p.questions) > 0 || len(p.questions) == most {
			continue
		}
		for _, id := range fresh {
			in[id] = true
		}
		p.questions = append(p.questions, q)
	}
	for _, i := range order {
		if len(in) >= size {
			break
		}
		in[docs[i].ID] = true
	}
	for i := range docs { // in the order of the corpus
		if d := &docs[i]; in[d.ID] {
			p.docs = append(p.docs, *d)
			p.byID[d.ID] = d
		}
	}
	return p
}

// relevant returns the documents of the pool that answer q.
func (p *pool) relevant(q Question, qrels Qrels) ([]Document, map[string]int) {
	var docs []Document
	grades := map[string]int{}
	for id, g := range qrels[q.ID] {
		if d := p.byID[id]; d != nil {
			docs = append(docs, *d)
			grades[id] = g
		}
	}
	slices.SortFunc(docs, func(a, b Document) int { return strings.Compare(a.ID, b.ID) })
	return docs, grades
}

// pool asks the questions of p with every arm.
func (o *SelectionOptions) pool(ctx context.Context, eo *EngineOptions, p *pool, qrels Qrels, tick func(), total *memsearch.Cost) (rows []SelectionRow, err error) {
	e, err := newEngine(ctx, p.docs, eo)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	arms := make([]*chooser, len(o.Arms))
	for i, name := range o.Arms {
		arms[i] = o.chooser(e, name)
	}
	for _, q := range p.questions {
		docs, grades := p.relevant(q, qrels)
		if o.Oracle != nil {
			o.Oracle.Ask(docs, grades)
		}
		var these []SelectionRow
		for _, a := range arms {
			row, err := a.row(ctx, e, q, grades, o.Repeat, total)
			if err != nil {
				return rows, err
			}
			row.Memories = len(p.docs)
			these = append(these, row)
		}
		rows = append(rows, these...)
		tick()
	}
	return rows, nil
}

// A chooser is one arm over one index.
type chooser struct {
	arm    string
	engine *recall.Engine
	mode   memsearch.RerankMode
	budget int
	sample int
	err    error // the last of the model
}

func (o *SelectionOptions) chooser(e *engine, arm string) *chooser {
	c := &chooser{arm: arm, mode: memsearch.RerankAlways, budget: o.Budget}
	ro := e.options
	ro.Candidates = o.Candidates
	ro.RerankTimeout = time.Hour // an evaluation waits; the profile bounds each call
	switch arm {
	case ArmGated:
		c.mode, ro.Reranker = memsearch.RerankAuto, watched{c, o.Listwise, nil}
	case ArmAlways:
		ro.Reranker = watched{c, o.Listwise, nil}
	case ArmCrossEncoder:
		ro.Reranker = watched{c, o.CrossEncoder, nil}
	case ArmSelection:
		ro.Selector = watched{c, nil, o.Selector}
	default:
		c.mode = memsearch.RerankNever
		ro.Arms, _ = recall.ParseArms(arm) // one of ours
	}
	c.engine = recall.New([]recall.Scope{{Name: "eval", Snapshot: e.snap}}, &ro)
	return c
}

// watched asks the model with the sample of the chooser and keeps its error.
type watched struct {
	c        *chooser
	reranker rerank.Reranker
	selector recall.Selector
}

func (w watched) Rerank(ctx context.Context, t rerank.Task) (a *rerank.Answer, err error) {
	t.Sample = w.c.sample
	a, w.c.err = w.reranker.Rerank(ctx, t)
	return a, w.c.err
}

func (w watched) Select(ctx context.Context, t rerank.Task, catalog []rerank.Line) (a *rerank.Answer, err error) {
	t.Sample = w.c.sample
	a, w.c.err = w.selector.Select(ctx, t, catalog)
	return a, w.c.err
}

// row asks q as often as wanted. The first answer counts.
func (c *chooser) row(ctx context.Context, e *engine, q Question, grades map[string]int, repeat int, total *memsearch.Cost) (SelectionRow, error) {
	row := SelectionRow{Question: q.ID, Arm: c.arm, Same: true}
	var first []string
	for c.sample = range repeat {
		c.err = nil
		query := e.query(q, selectionK)
		query.Rerank, query.Budget = c.mode, c.budget
		start := time.Now()
		res, err := c.engine.Recall(ctx, query)
		took := time.Since(start)
		if err != nil {
			return row, fmt.Errorf("question %s with %s: %w", q.ID, c.arm, err)
		}
		total.Add(res.Cost)
		if err := fatal(c.err); err != nil {
			return row, err
		}
		if c.sample > 0 {
			row.Same = row.Same && slices.Equal(first, res.Injected)
			continue
		}
		first = slices.Clone(res.Injected)
		row.Latency = float64(took) / float64(time.Millisecond)
		row.Cost, row.Failed = res.Cost, c.err != nil
		if res.Trace != nil {
			row.Asked, row.Gate = res.Trace.Rerank != nil, res.Trace.Gate
		}
		e.measure(&row, res, grades)
	}
	return row, nil
}

// fatal returns the error of a model that ends the evaluation, nil for one that a
// recall lives with.
func fatal(err error) error {
	if missing, ok := errors.AsType[*llm.MissingError](err); ok {
		return missing
	}
	_, capped := errors.AsType[*llm.CapError](err)
	if capped || errors.Is(err, llm.ErrLedger) || errors.Is(err, llm.ErrNoKey) {
		return errStop{err}
	}
	return nil
}

// measure compares a result with the judgements. Documents stand where their best
// unit does.
func (e *engine) measure(row *SelectionRow, res *memsearch.Result, grades map[string]int) {
	var ranking []string
	of := map[string]string{} // unit -> document
	for _, h := range res.Hits {
		id := e.document(h.Path, h.MemoryID)
		of[h.ID] = id
		if !slices.Contains(ranking, id) {
			ranking = append(ranking, id)
		}
	}
	s := score(ranking, grades, selectionK)
	row.R5, row.NDCG, row.R10 = s.R5, s.NDCG, s.R10
	seen := map[string]bool{}
	for _, unit := range res.Injected {
		id := of[unit]
		if seen[id] {
			continue
		}
		seen[id] = true
		row.Injected++
		if grades[id] > 0 {
			row.Relevant++
		}
	}
}
