package replay

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/eval/replay/stats"
	"github.com/memsearch/memsearch/internal/english"
)

// maxGuessed is the share of the tasks that cannot be done without memory of
// which some may pass without any, by luck. More means that the answers stand
// somewhere.
const maxGuessed = .2

// assumedDiscordant is the share of tasks that two arms are assumed to do
// differently, where the smallest detectable difference is named before anything
// is known.
const assumedDiscordant = .3

// A LeakError says that the arm without memory knows what only memory can: no
// comparison with it means anything.
type LeakError struct {
	Tasks []string
	Why   []string // of each
}

// Error implements error.
func (e *LeakError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the answer leaks into the arm %s: ", ArmNone)
	for i, t := range e.Tasks {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "task %s (%s)", t, e.Why[i])
	}
	return b.String()
}

// Detectable says what the planned runs could find: each arm against none,
// corrected for their number.
func (h *Header) Detectable() Detectable {
	d := Detectable{Discordant: assumedDiscordant}
	for _, t := range h.Tasks {
		if t.Planned > 0 {
			d.Tasks++
		}
	}
	d.Diff, d.Reached = stats.MinimumDetectable(d.Tasks, d.Discordant, stats.DefaultAlpha/float64(max(1, len(h.Arms)-1)), stats.DefaultPower)
	return d
}

// Analyse says what records show. Runs that ended in an error count as failed.
// The error is a *LeakError when the arm none knows what only memory can.
func Analyse(h *Header, records []Record) (*Report, error) {
	a, err := newAnalysis(h, records)
	if err != nil {
		return nil, fmt.Errorf("analyse: %w", err)
	}
	if err := a.leaks(); err != nil {
		return nil, err
	}
	r := &Report{V: ReportVersion, Header: *h, Runs: len(records), Detectable: h.Detectable(), Arms: []ArmReport{}, Tasks: []TaskReport{}}
	for _, t := range h.Tasks {
		r.Planned += t.Planned
		r.Tasks = append(r.Tasks, a.task(t))
	}
	for i := range h.Arms {
		r.Arms = append(r.Arms, a.arm(i))
	}
	var list []*Comparison
	for i := range r.Arms {
		if c := r.Arms[i].Against; c != nil {
			list = append(list, c)
		}
	}
	conclude(list)
	r.Notes = a.notes(r)
	return r, nil
}

// An analysis has the runs by task and arm.
type analysis struct {
	h    *Header
	runs map[string][][]*Record // task -> arm, as in the header -> runs by repetition
	base int                    // of the arm none; -1
}

func newAnalysis(h *Header, records []Record) (*analysis, error) {
	a := &analysis{h: h, runs: map[string][][]*Record{}, base: slices.Index(h.Arms, ArmNone)}
	for _, t := range h.Tasks {
		if a.runs[t.ID] != nil {
			return nil, fmt.Errorf("the header has the task %s twice", t.ID)
		}
		a.runs[t.ID] = make([][]*Record, len(h.Arms))
	}
	for i := range records {
		r := &records[i]
		arm := slices.Index(h.Arms, r.Arm)
		if arm < 0 || a.runs[r.Task] == nil {
			return nil, fmt.Errorf("a record is of the task %s in the arm %s, which the header lacks", r.Task, r.Arm)
		}
		a.runs[r.Task][arm] = append(a.runs[r.Task][arm], r)
	}
	for _, arms := range a.runs {
		for _, runs := range arms {
			slices.SortStableFunc(runs, func(x, y *Record) int { return cmp.Compare(x.Rep, y.Rep) })
		}
	}
	return a, nil
}

// each calls fn with every run of an arm, in the order of the set.
func (a *analysis) each(arm int, fn func(t *TaskTag, r *Record)) {
	for i := range a.h.Tasks {
		t := &a.h.Tasks[i]
		for _, r := range a.runs[t.ID][arm] {
			fn(t, r)
		}
	}
}

// guessed returns the tasks that need memory and pass without any in at least
// half of their runs, and how many tasks that need memory were run so.
func (a *analysis) guessed() (passed []string, of int) {
	for _, t := range a.h.Tasks {
		if a.base < 0 || !slices.Contains(t.Tags, TagHelps) || len(a.runs[t.ID][a.base]) == 0 {
			continue
		}
		of++
		if 2*count(a.runs[t.ID][a.base], func(r *Record) bool { return r.Pass }) >= len(a.runs[t.ID][a.base]) {
			passed = append(passed, t.ID)
		}
	}
	return passed, of
}

func (a *analysis) leaks() error {
	e := &LeakError{}
	if a.base < 0 {
		return nil
	}
	for _, t := range a.h.Tasks {
		for _, r := range a.runs[t.ID][a.base] {
			if r.Leak != "" {
				e.Tasks, e.Why = append(e.Tasks, t.ID), append(e.Why, "what the agent is given says "+quote(r.Leak))
				break
			}
		}
	}
	if passed, of := a.guessed(); len(passed) > 1 && float64(len(passed)) > maxGuessed*float64(of) {
		for _, id := range passed {
			if !slices.Contains(e.Tasks, id) {
				e.Tasks, e.Why = append(e.Tasks, id), append(e.Why, "it passes without memory")
			}
		}
	}
	if len(e.Tasks) == 0 {
		return nil
	}
	return e
}

func count(runs []*Record, is func(*Record) bool) int {
	n := 0
	for _, r := range runs {
		if is(r) {
			n++
		}
	}
	return n
}

func passed(r *Record) bool { return r.Pass }

// task fills the report of one task.
func (a *analysis) task(t TaskTag) TaskReport {
	out := TaskReport{ID: t.ID, Tags: t.Tags, Arms: []TaskArm{}}
	for i, name := range a.h.Arms {
		runs := a.runs[t.ID][i]
		arm := TaskArm{Arm: name, Runs: len(runs), Passed: count(runs, passed)}
		for _, r := range runs {
			arm.Broke = cmp.Or(arm.Broke, r.broke())
			arm.Error = cmp.Or(arm.Error, r.Error)
		}
		if a.base >= 0 && i != a.base {
			arm.Effect = effect(a.runs[t.ID][a.base], runs)
		}
		out.Arms = append(out.Arms, arm)
	}
	return out
}

// effect compares the pass rates of a task; empty when one has no runs.
func effect(base, other []*Record) string {
	if len(base) == 0 || len(other) == 0 {
		return ""
	}
	// Whole numbers: rates of different denominators are compared exactly.
	switch d := count(other, passed)*len(base) - count(base, passed)*len(other); {
	case d > 0:
		return EffectHelpful
	case d < 0:
		return EffectHarmful
	}
	return EffectNeutral
}

// Places where the chain from a memory to an answer breaks.
const (
	BrokeNotStored   = "not stored"
	BrokeNotFound    = "not found"
	BrokeNotInjected = "not injected"
	BrokeNotUsed     = "not used"
	BrokeUsedWrongly = "used wrongly"
)

// broke returns where the chain of a run broke; empty when it held or when the
// task needs no memory.
func (r *Record) broke() string {
	switch {
	case !r.HasGold || r.Pass:
		return ""
	case !r.GoldStored:
		return BrokeNotStored
	case !r.GoldFound:
		return BrokeNotFound
	case !r.GoldInjected:
		return BrokeNotInjected
	case !r.Repeats:
		return BrokeNotUsed
	}
	return BrokeUsedWrongly
}

// arm fills the report of one arm, but for what depends on the others.
func (a *analysis) arm(i int) ArmReport {
	out := ArmReport{Arm: a.h.Arms[i], Tags: []TagReport{}, Errors: map[string]int{}}
	out.Tasks, out.Pass = a.rate(i, func(TaskTag) bool { return true })
	for _, tag := range []string{TagHelps, TagNeutral, TagTrap} {
		tr := TagReport{Tag: tag}
		if tr.Tasks, tr.Pass = a.rate(i, func(t TaskTag) bool { return slices.Contains(t.Tags, tag) }); tr.Tasks > 0 {
			out.Tags = append(out.Tags, tr)
		}
	}
	var costs costs
	a.each(i, func(t *TaskTag, r *Record) {
		out.Runs++
		if r.Pass {
			out.Passed++
		}
		if r.Error != "" {
			out.Errors[r.Error]++
		}
		out.Recall.add(r)
		out.Chain.add(r)
		costs.add(t, r)
	})
	if out.Runs > 0 {
		out.Recall.Injected /= float64(out.Runs)
	}
	out.Cost = costs.report()
	if a.base >= 0 && i != a.base {
		out.Against = a.compare(a.base, i)
	}
	return out
}

// rate returns the pass rate of an arm on some tasks, with how many there are.
func (a *analysis) rate(arm int, want func(TaskTag) bool) (int, stats.Interval) {
	var clusters [][]float64
	runs, ok := 0, 0
	for _, t := range a.h.Tasks {
		if list := a.runs[t.ID][arm]; want(t) && len(list) > 0 {
			clusters = append(clusters, outcomes(list))
			runs += len(list)
			ok += count(list, passed)
		}
	}
	switch {
	case runs == 0:
		return 0, stats.Interval{}
	case runs == len(clusters):
		return len(clusters), stats.Wilson(ok, runs, .95)
	}
	return len(clusters), stats.Mean(clusters, stats.DefaultDraws, a.h.Seed)
}

func outcomes(runs []*Record) []float64 {
	out := make([]float64, len(runs))
	for i, r := range runs {
		if r.Pass {
			out[i] = 1
		}
	}
	return out
}

func (c *RecallReport) add(r *Record) {
	c.Injected += float64(len(r.Injected))
	tally := func(n *int, is bool) {
		if is {
			*n++
		}
	}
	tally(&c.Nothing, len(r.Injected) == 0)
	tally(&c.GoldRuns, r.HasGold)
	tally(&c.GoldStored, r.HasGold && r.GoldStored)
	tally(&c.GoldFound, r.GoldFound)
	tally(&c.GoldInjected, r.GoldInjected)
	tally(&c.WrongRuns, len(r.Wrong) > 0)
	tally(&c.StaleRuns, len(r.Stale) > 0)
	tally(&c.Degraded, r.Status == string(memsearch.StateDegraded) || r.Status == string(memsearch.StateUnavailable))
}

func (c *ChainReport) add(r *Record) {
	if !r.HasGold {
		return
	}
	switch r.broke() {
	case BrokeNotStored:
		c.NotStored++
	case BrokeNotFound:
		c.NotFound++
	case BrokeNotInjected:
		c.NotInjected++
	case BrokeNotUsed:
		c.NotUsed++
	case BrokeUsedWrongly:
		c.UsedWrongly++
	default:
		c.Held++
	}
}

// costs adds up what the runs of an arm cost.
type costs struct {
	runs, turns, failed, context int
	cost, recall, judge          memsearch.Cost
	latency                      []float64
}

func (c *costs) add(t *TaskTag, r *Record) {
	c.runs++
	c.turns += t.Turns
	if !r.Pass {
		c.failed++
	}
	c.context += r.ContextTokens
	c.cost, c.recall, c.judge = sum(c.cost, r.Cost), sum(c.recall, r.Recall), sum(c.judge, r.JudgeCost)
	c.latency = append(c.latency, r.LatencyMS)
}

func (c *costs) report() CostReport {
	if c.runs == 0 {
		return CostReport{}
	}
	mean := func(n int) float64 { return float64(n) / float64(c.runs) }
	out := CostReport{ContextTokens: mean(c.context), TokensIn: mean(c.cost.TokensIn), TokensOut: mean(c.cost.TokensOut), Calls: mean(c.cost.Calls),
		Money: c.cost.Money, RecallMoney: c.recall.Money, JudgeMoney: c.judge.Money}
	if c.turns > 0 {
		out.Per100Turns = 100 * c.cost.Money / float64(c.turns)
		out.Corrections = 100 * float64(c.failed) / float64(c.turns)
	}
	slices.Sort(c.latency)
	rank := func(q float64) float64 { return c.latency[max(0, int(math.Ceil(q*float64(c.runs)))-1)] }
	out.Latency = Latency{P50MS: rank(.5), P95MS: rank(.95)}
	return out
}

// notes returns what a reader of the figures must know.
func (a *analysis) notes(r *Report) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if r.Runs < r.Planned {
		say("The replay is not complete: %d of %s are there.", r.Runs, english.Count(r.Planned, "run"))
	}
	errs, degraded := 0, 0
	for _, arm := range r.Arms {
		for _, n := range arm.Errors {
			errs += n
		}
		degraded += arm.Recall.Degraded
	}
	if errs > 0 {
		say("%s ended in an error and count as failed.", english.Count(errs, "run"))
	}
	if degraded > 0 {
		say("The recall of %s was degraded; the records say why.", english.Count(degraded, "run"))
	}
	if list, _ := a.guessed(); len(list) > 0 {
		say("Without memory these tasks pass although they need one, by luck or because the answer can be guessed: %s.", strings.Join(list, ", "))
	}
	if j := a.h.Judge; j.TooKind+j.TooHarsh > 0 {
		say("The judge passes %d given answers that are wrong and fails %d that are right, of %d.", j.TooKind, j.TooHarsh, j.Answers)
	}
	return out
}
