package eval

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// A Judgement is how sure an engine is that what it searched answers a question.
type Judgement struct {
	Confidence float64
	Features   map[string]float64 // what it rests on; may be nil
}

// A Judger says how sure it is of an answer. A Ranker that is one can be given
// to [Confidence].
type Judger interface {
	Judge(ctx context.Context, q Question, arm string) (Judgement, error)
}

// ConfidenceOptions configures [Confidence]. Nil and zero fields are the
// defaults.
type ConfidenceOptions struct {
	Arm       string      // empty: [ArmHybrid]
	Against   []NamedDocs // other corpora that answer none of the questions
	MaxLost   float64     // share of answerable questions a floor may empty; zero: [DefaultMaxLost]
	Floor     float64     // a floor to report on beside the chosen one
	Resamples int         // zero: [DefaultResamples]
	Seed      uint64
	Dump      io.Writer             // when set, one JSON object a judgement goes there
	Progress  func(done, total int) // told after each judgement; may be nil
}

// NamedDocs is a corpus with the name that reports call it.
type NamedDocs struct {
	Name string
	Docs []Document
}

// DefaultMaxLost is the default of [ConfidenceOptions.MaxLost].
const DefaultMaxLost = .01

// ElsewhereSource names the negatives asked of another conversation.
const ElsewhereSource = "another conversation"

// reliabilityBins is how many equal parts of 0 to 1 a reliability table has.
const reliabilityBins = 10

// A ConfidenceReport is the outcome of [Confidence].
type ConfidenceReport struct {
	Arm       string           `json:"arm"`
	Positives int              `json:"positives"` // judged questions asked of their own corpus
	Negatives int              `json:"negatives"` // asked of one that cannot answer them
	AUC       Interval         `json:"auc"`
	ECE       float64          `json:"ece"` // with both kinds weighing the same
	Bins      []ReliabilityBin `json:"bins"`
	Floor     FloorReport      `json:"floor"` // the highest that loses at most MaxLost
	Given     *FloorReport     `json:"given,omitempty"`
	Sources   []SourceReport   `json:"sources"`
}

// A ReliabilityBin compares what was said with what is true.
type ReliabilityBin struct {
	From       float64 `json:"from"`
	To         float64 `json:"to"`
	N          int     `json:"n"`
	Confidence float64 `json:"confidence"` // weighted mean
	Answerable float64 `json:"answerable"` // weighted share
}

// A FloorReport says what a floor of confidence does.
type FloorReport struct {
	Floor   float64 `json:"floor"`
	Lost    float64 `json:"lost"`    // share of answerable questions below it
	Emptied float64 `json:"emptied"` // share of negatives below it
}

// A SourceReport is about the negatives of one source.
type SourceReport struct {
	Source  string   `json:"source"`
	N       int      `json:"n"`
	AUC     Interval `json:"auc"`
	Emptied float64  `json:"emptied"` // at the report's floor
}

// A judged is one question asked of one corpus.
type judged struct {
	question   int // position among the questions
	source     string
	answerable bool
	Judgement
}

// Confidence asks every judged question of its own conversation, where it can be
// answered, and of the next one in order of name and each corpus in Against,
// where it cannot. Questions of the category "adversarial" are left out: whether
// their own conversation answers them is the trap. A question is asked elsewhere
// at the time of the latest question there, so that no memory is of the future.
func Confidence(ctx context.Context, build Builder, docs []Document, qs []Question, qrels Qrels, opts *ConfidenceOptions) (*ConfidenceReport, error) {
	o := confidenceOptions(opts)
	qs = slices.DeleteFunc(slices.Clone(qs), func(q Question) bool { return len(qrels[q.ID]) == 0 || q.Category == Adversarial })
	if len(qs) == 0 {
		return nil, fmt.Errorf("no question has a judgement: %w", ErrNoData)
	}
	gs := groups(docs, qs)
	if len(gs) == 1 && len(o.Against) == 0 {
		return nil, ErrNoNegatives
	}
	c := &confiding{ctx: ctx, build: build, opts: o, number: map[string]int{}, total: len(qs) * (1 + len(o.Against))}
	for i, q := range qs {
		c.number[q.ID] = i
	}
	if len(gs) > 1 {
		c.total += len(qs)
	}
	for i, g := range gs {
		parts := []part{{"", true, g.questions}}
		if len(gs) > 1 {
			parts = append(parts, part{ElsewhereSource, false, asked(gs[(i+1)%len(gs)].questions, latest(g.questions))})
		}
		if err := c.ask(g.docs, parts); err != nil {
			return nil, fmt.Errorf("conversation %q: %w", g.name, err)
		}
	}
	for _, a := range o.Against {
		if err := c.ask(a.Docs, []part{{a.Name, false, asked(qs, time.Time{})}}); err != nil {
			return nil, fmt.Errorf("corpus %s: %w", a.Name, err)
		}
	}
	return c.report(len(qs)), nil
}

func confidenceOptions(opts *ConfidenceOptions) ConfidenceOptions {
	var o ConfidenceOptions
	if opts != nil {
		o = *opts
	}
	o.Arm = cmp.Or(o.Arm, ArmHybrid)
	o.MaxLost = cmp.Or(o.MaxLost, DefaultMaxLost)
	o.Resamples = cmp.Or(o.Resamples, DefaultResamples)
	return o
}

// A part is questions of one kind that are asked of one index.
type part struct {
	source     string
	answerable bool
	questions  []Question
}

// latest returns the time of the latest question.
func latest(qs []Question) time.Time {
	var t time.Time
	for _, q := range qs {
		if q.Now.After(t) {
			t = q.Now
		}
	}
	return t
}

// asked returns the questions as asked at t.
func asked(qs []Question, t time.Time) []Question {
	out := slices.Clone(qs)
	for i := range out {
		out[i].Now = t
	}
	return out
}

// A confiding collects judgements.
type confiding struct {
	ctx    context.Context
	build  Builder
	opts   ConfidenceOptions
	number map[string]int
	all    []judged
	total  int
}

// errNoJudger is a mistake of the caller.
var errNoJudger = errors.New("the engine does not say how sure it is")

func (c *confiding) ask(docs []Document, parts []part) (err error) {
	ranker, err := c.build(c.ctx, docs)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ranker.Close()) }()
	judger, ok := ranker.(Judger)
	if !ok {
		return errNoJudger
	}
	for _, p := range parts {
		for _, q := range p.questions {
			if c.ctx.Err() != nil {
				return context.Cause(c.ctx)
			}
			j, err := judger.Judge(c.ctx, q, c.opts.Arm)
			if err != nil {
				return fmt.Errorf("judge %s: %w", q.ID, err)
			}
			if err := c.dump(q, p, j); err != nil {
				return err
			}
			c.all = append(c.all, judged{c.number[q.ID], p.source, p.answerable, j})
			if c.opts.Progress != nil {
				c.opts.Progress(len(c.all), c.total)
			}
		}
	}
	return nil
}

func (c *confiding) dump(q Question, p part, j Judgement) error {
	if c.opts.Dump == nil {
		return nil
	}
	row := struct {
		ID         string             `json:"id"`
		Category   string             `json:"category,omitempty"`
		Source     string             `json:"source,omitempty"`
		Answerable bool               `json:"answerable"`
		Confidence float64            `json:"confidence"`
		Features   map[string]float64 `json:"features,omitempty"`
	}{q.ID, q.Category, p.source, p.answerable, j.Confidence, j.Features}
	if err := json.NewEncoder(c.opts.Dump).Encode(row); err != nil {
		return fmt.Errorf("write judgements: %w", err)
	}
	return nil
}

func (c *confiding) report(questions int) *ConfidenceReport {
	o := c.opts
	r := &ConfidenceReport{Arm: o.Arm, Positives: questions, Negatives: len(c.all) - questions}
	slices.SortStableFunc(c.all, func(a, b judged) int { return cmp.Compare(a.Confidence, b.Confidence) })
	r.AUC = auc(c.all, questions, o.Resamples, o.Seed)
	r.Bins, r.ECE = reliability(c.all)
	floor := highestFloor(c.all, o.MaxLost)
	r.Floor = atFloor(c.all, floor)
	if o.Floor > 0 {
		f := atFloor(c.all, o.Floor)
		r.Given = &f
	}
	var names []string
	for _, j := range c.all {
		if !j.answerable && !slices.Contains(names, j.source) {
			names = append(names, j.source)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		part := slices.DeleteFunc(slices.Clone(c.all), func(j judged) bool { return !j.answerable && j.source != name })
		r.Sources = append(r.Sources, SourceReport{Source: name, N: len(part) - questions,
			AUC: auc(part, questions, o.Resamples, o.Seed), Emptied: atFloor(part, floor).Emptied})
	}
	return r
}

// auc returns the probability that an answerable question is judged surer than
// one that is not, ties counting half (Mann and Whitney 1947), with an interval
// from drawing questions together with all their judgements. The judgements
// stand in order of confidence.
func auc(all []judged, questions, resamples int, seed uint64) Interval {
	weight := make([]float64, questions)
	for i := range weight {
		weight[i] = 1
	}
	out := Interval{Mean: weightedAUC(all, weight)}
	rng := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	draws := make([]float64, resamples)
	for i := range draws {
		clear(weight)
		for range questions {
			weight[rng.IntN(questions)]++
		}
		draws[i] = weightedAUC(all, weight)
	}
	slices.Sort(draws)
	out.Low, out.High = quantile(draws, .025), quantile(draws, .975)
	return out
}

func weightedAUC(all []judged, weight []float64) float64 {
	var won, below, positives float64
	for i := 0; i < len(all); {
		var pos, neg float64
		v := all[i].Confidence
		for ; i < len(all) && all[i].Confidence == v; i++ {
			if w := weight[all[i].question]; all[i].answerable {
				pos += w
			} else {
				neg += w
			}
		}
		won += pos * (below + neg/2)
		below += neg
		positives += pos
	}
	if positives*below == 0 {
		return 0
	}
	return won / (positives * below)
}

// reliability returns the table and the expected calibration error (Naeini et
// al. 2015), with answerable questions and negatives weighing the same in all:
// how often an agent asks what its memory cannot answer is not known.
func reliability(all []judged) ([]ReliabilityBin, float64) {
	var n [2]float64
	for _, j := range all {
		n[kind(j)]++
	}
	bins := make([]ReliabilityBin, reliabilityBins)
	weight := make([]float64, reliabilityBins)
	for i := range bins {
		bins[i].From, bins[i].To = float64(i)/reliabilityBins, float64(i+1)/reliabilityBins
	}
	for _, j := range all {
		i := min(int(j.Confidence*reliabilityBins), reliabilityBins-1)
		w := .5 / n[kind(j)]
		bins[i].N++
		bins[i].Confidence += w * j.Confidence
		bins[i].Answerable += w * float64(kind(j))
		weight[i] += w
	}
	ece := 0.
	for i := range bins {
		b := &bins[i]
		ece += math.Abs(b.Confidence - b.Answerable)
		if weight[i] > 0 {
			b.Confidence /= weight[i]
			b.Answerable /= weight[i]
		}
	}
	return bins, ece
}

func kind(j judged) int {
	if j.answerable {
		return 1
	}
	return 0
}

// highestFloor returns the highest confidence below which at most the share
// lost of the answerable questions lies.
func highestFloor(all []judged, lost float64) float64 {
	var positives []float64
	for _, j := range all {
		if j.answerable {
			positives = append(positives, j.Confidence)
		}
	}
	return positives[min(int(lost*float64(len(positives))), len(positives)-1)]
}

func atFloor(all []judged, floor float64) FloorReport {
	r := FloorReport{Floor: floor}
	var n [2]float64
	for _, j := range all {
		n[kind(j)]++
		if j.Confidence < floor {
			if j.answerable {
				r.Lost++
			} else {
				r.Emptied++
			}
		}
	}
	r.Lost /= max(n[1], 1)
	r.Emptied /= max(n[0], 1)
	return r
}
