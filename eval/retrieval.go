package eval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The arms of a retrieval evaluation.
const (
	ArmBM25     = "bm25"
	ArmVector   = "vector"
	ArmTemporal = "temporal"
	ArmHybrid   = "hybrid"

	// ArmOracle is hybrid with its first [OracleDepth] documents reranked by the
	// oracle of [EngineOptions], for which it has to be asked: the ceiling.
	ArmOracle = "oracle"
)

// OracleDepth is how many memories the arm [ArmOracle] reranks.
const OracleDepth = 100

// Arms lists the arms that are ranked unless others are asked for, in the order of
// the tables.
var Arms = []string{ArmBM25, ArmVector, ArmTemporal, ArmHybrid}

// A Ranked is a document in one ranking.
type Ranked struct {
	ID    string
	Score float64
}

// A Ranker ranks the documents of one conversation, best first, at most depth
// of them, each once. It may return fewer.
type Ranker interface {
	Rank(ctx context.Context, q Question, arm string, depth int) ([]Ranked, error)
	Close() error
}

// A Teller is a [Ranker] that is told the grades of the documents that answer the
// next question, for [ArmOracle].
type Teller interface {
	Tell(grades map[string]int)
}

// A Builder indexes documents for questions that share a conversation.
type Builder func(ctx context.Context, docs []Document) (Ranker, error)

// Options configures [Retrieval]. Nil and zero fields are the defaults.
type Options struct {
	Arms      []string // nil: all of [Arms]
	Cut       int      // cut of nDCG, MRR and hit; zero: [DefaultCut]
	Depth     int      // documents ranked per question; zero: [DefaultDepth]
	Resamples int      // zero: [DefaultResamples]
	Seed      uint64
	RunDir    string                // when set, TREC run files go there
	RunDepth  int                   // documents per question in them; zero: Depth
	Progress  func(done, total int) // told after each question; may be nil
}

// Defaults of [Options].
const (
	DefaultCut   = 10
	DefaultDepth = 100
)

// A Report is the outcome of [Retrieval].
type Report struct {
	Questions   int `json:"questions"`   // judged, without the adversarial ones
	Adversarial int `json:"adversarial"` // judged adversarial ones
	Unjudged    int `json:"unjudged"`    // without a judgement, left out
	Documents   int `json:"documents"`

	// MissingDocuments counts the relevant documents of judged questions that the
	// corpus lacks, NoDocuments the judged questions of conversations without any:
	// both keep the scores of every arm down.
	MissingDocuments int `json:"missing_documents"`
	NoDocuments      int `json:"questions_without_documents"`

	Indexes     int           `json:"indexes"`
	Cut         int           `json:"cut"`
	Arms        []ArmReport   `json:"arms"`
	Differences []Difference  `json:"differences"` // hybrid minus each other arm
	RunFiles    []string      `json:"run_files,omitempty"`
	PerQuestion []QuestionRow `json:"-"`
}

// An ArmReport is what one arm reached.
type ArmReport struct {
	Arm         string              `json:"arm"`
	All         Scores              `json:"all"`
	Intervals   map[string]Interval `json:"intervals"`
	Categories  []CategoryScores    `json:"categories,omitempty"`
	Adversarial *CategoryScores     `json:"adversarial,omitempty"`
}

// CategoryScores are the means of one category.
type CategoryScores struct {
	Category string `json:"category"`
	N        int    `json:"n"`
	Scores   Scores `json:"scores"`
}

// A Difference compares two arms on the same questions.
type Difference struct {
	Arm    string              `json:"arm"`
	Minus  string              `json:"minus"`
	Metric map[string]Interval `json:"metric"`
}

// A QuestionRow holds the scores of one question, by arm.
type QuestionRow struct {
	Question Question
	Scores   map[string]Scores
}

// Retrieval ranks every judged question with every arm. Each conversation is
// indexed alone; see [LoadCorpus].
func Retrieval(ctx context.Context, build Builder, docs []Document, qs []Question, qrels Qrels, opts *Options) (*Report, error) {
	o := options(opts)
	if err := o.check(); err != nil {
		return nil, err
	}
	var judged []Question
	for _, q := range qs {
		if len(qrels[q.ID]) > 0 {
			judged = append(judged, q)
		}
	}
	if len(judged) == 0 {
		return nil, fmt.Errorf("no question has a judgement: %w", ErrNoData)
	}
	rep := &Report{Documents: len(docs), Cut: o.Cut, Unjudged: len(qs) - len(judged)}
	runs := newRuns(o)
	done := 0
	rep.MissingDocuments = missing(docs, judged, qrels)
	for _, g := range groups(docs, judged) {
		rep.Indexes++
		if len(g.docs) == 0 {
			rep.NoDocuments += len(g.questions)
		}
		rows, err := rankGroup(ctx, build, g, qrels, o, runs, func() {
			if done++; o.Progress != nil {
				o.Progress(done, len(judged))
			}
		})
		if err != nil {
			return nil, fmt.Errorf("conversation %q: %w", g.name, err)
		}
		rep.PerQuestion = append(rep.PerQuestion, rows...)
	}
	var err error
	if rep.RunFiles, err = runs.write(); err != nil {
		return nil, err
	}
	rep.summarise(o)
	return rep, nil
}

// missing counts the documents that a judgement of one of qs calls relevant and
// that are not among docs.
func missing(docs []Document, qs []Question, qrels Qrels) int {
	have := make(map[string]bool, len(docs))
	for _, d := range docs {
		have[d.ID] = true
	}
	lost := map[string]bool{}
	for _, q := range qs {
		for id, grade := range qrels[q.ID] {
			if grade > 0 && !have[id] {
				lost[id] = true
			}
		}
	}
	return len(lost)
}

func options(opts *Options) Options {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Arms == nil {
		o.Arms = Arms
	}
	if o.Cut == 0 {
		o.Cut = DefaultCut
	}
	if o.Depth == 0 {
		o.Depth = max(DefaultDepth, o.RunDepth)
	}
	if o.RunDepth == 0 {
		o.RunDepth = o.Depth
	}
	return o
}

func (o Options) check() error {
	for _, a := range o.Arms {
		if !slices.Contains(Arms, a) && a != ArmOracle {
			return fmt.Errorf("arm %q is none of %s, %s: %w", a, strings.Join(Arms, ", "), ArmOracle, ErrOptions)
		}
	}
	if o.Cut < 1 || o.Depth < 1 || o.RunDepth < 1 {
		return fmt.Errorf("cut and depth must be at least 1: %w", ErrOptions)
	}
	return nil
}

// ranked lists the arms to rank: those asked for and, for run files, vector.
func (o Options) ranked() []string {
	arms := slices.Clone(o.Arms)
	if o.RunDir != "" && !slices.Contains(arms, ArmVector) {
		arms = append(arms, ArmVector)
	}
	return arms
}

func rankGroup(ctx context.Context, build Builder, g group, qrels Qrels, o Options, runs *runs, tick func()) (rows []QuestionRow, err error) {
	ranker, err := build(ctx, g.docs)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ranker.Close()) }()
	for _, q := range g.questions {
		row := QuestionRow{Question: q, Scores: map[string]Scores{}}
		if t, ok := ranker.(Teller); ok {
			t.Tell(qrels[q.ID])
		}
		for _, arm := range o.ranked() {
			if err := ctx.Err(); err != nil {
				return nil, context.Cause(ctx)
			}
			list, err := ranker.Rank(ctx, q, arm, max(o.Depth, o.RunDepth))
			if err != nil {
				return nil, fmt.Errorf("rank %s with %s: %w", q.ID, arm, err)
			}
			runs.add(arm, q.ID, list)
			ids := make([]string, len(list))
			for i, r := range list {
				ids[i] = r.ID
			}
			row.Scores[arm] = score(ids, qrels[q.ID], o.Cut)
		}
		rows = append(rows, row)
		tick()
	}
	return rows, nil
}

// summarise fills the means and intervals from the rows.
func (r *Report) summarise(o Options) {
	slices.SortStableFunc(r.PerQuestion, func(a, b QuestionRow) int { return strings.Compare(a.Question.ID, b.Question.ID) })
	var main, adv []QuestionRow
	for _, row := range r.PerQuestion {
		if row.Question.Category == Adversarial {
			adv = append(adv, row)
		} else {
			main = append(main, row)
		}
	}
	r.Questions, r.Adversarial = len(main), len(adv)
	for _, arm := range o.Arms {
		a := ArmReport{Arm: arm, All: mean(column(main, arm)), Intervals: map[string]Interval{}}
		for _, m := range metricNames {
			a.Intervals[m] = Bootstrap(values(main, arm, m), o.Resamples, o.Seed)
		}
		a.Categories = categories(main, arm)
		if len(adv) > 0 {
			a.Adversarial = &CategoryScores{Category: Adversarial, N: len(adv), Scores: mean(column(adv, arm))}
		}
		r.Arms = append(r.Arms, a)
	}
	if !slices.Contains(o.Arms, ArmHybrid) {
		return
	}
	for _, arm := range o.Arms {
		if arm == ArmHybrid {
			continue
		}
		d := Difference{Arm: ArmHybrid, Minus: arm, Metric: map[string]Interval{}}
		for _, m := range metricNames {
			x, y := values(main, ArmHybrid, m), values(main, arm, m)
			for i := range x {
				x[i] -= y[i]
			}
			d.Metric[m] = Bootstrap(x, o.Resamples, o.Seed)
		}
		r.Differences = append(r.Differences, d)
	}
}

func column(rows []QuestionRow, arm string) []Scores {
	out := make([]Scores, len(rows))
	for i, r := range rows {
		out[i] = r.Scores[arm]
	}
	return out
}

func values(rows []QuestionRow, arm, metric string) []float64 {
	out := make([]float64, len(rows))
	for i, r := range rows {
		out[i] = r.Scores[arm].metric(metric)
	}
	return out
}

func categories(rows []QuestionRow, arm string) []CategoryScores {
	by := map[string][]Scores{}
	for _, r := range rows {
		if c := r.Question.Category; c != "" {
			by[c] = append(by[c], r.Scores[arm])
		}
	}
	out := make([]CategoryScores, 0, len(by))
	for c, s := range by {
		out = append(out, CategoryScores{Category: c, N: len(s), Scores: mean(s)})
	}
	slices.SortFunc(out, func(a, b CategoryScores) int { return strings.Compare(a.Category, b.Category) })
	return out
}
