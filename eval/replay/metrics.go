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

func (e *LeakError) add(task, said string) {
	e.Tasks, e.Why = append(e.Tasks, task), append(e.Why, "what the agent is given says "+quote(said))
}

// Detectable says what the planned runs could find: each arm against none,
// corrected for their number.
func (h *Header) Detectable() Detectable {
	d := Detectable{Discordant: assumedDiscordant, Comparisons: max(1, len(h.Arms)-1)}
	for _, t := range h.Tasks {
		if t.Planned > 0 {
			d.Tasks++
		}
	}
	d.Diff, d.Reached = stats.MinimumDetectable(d.Tasks, d.Discordant, stats.DefaultAlpha/float64(d.Comparisons), stats.DefaultPower)
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
	var list []*Comparison
	for i, name := range h.Arms {
		arm := a.arm(i)
		if a.base >= 0 && i != a.base {
			arm.Against = compareArms(r, h.Arms[a.base], r, name)
			list = append(list, arm.Against)
		}
		r.Arms = append(r.Arms, arm)
	}
	conclude(list)
	r.Candidate = a.candidate(r)
	r.Notes = a.notes(r)
	return r, nil
}

// An analysis has the runs by task and arm.
type analysis struct {
	h    *Header
	runs map[string][][]*Record // task -> arm, as in the header -> runs by repetition
	none int                    // index of that arm; -1
	base int                    // of the arm that the others are compared with; -1
}

func newAnalysis(h *Header, records []Record) (*analysis, error) {
	a := &analysis{h: h, runs: map[string][][]*Record{}, none: slices.Index(h.Arms, ArmNone), base: baseOf(h.Arms)}
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
			for i := 1; i < len(runs); i++ {
				if r := runs[i]; r.Rep == runs[i-1].Rep {
					return nil, fmt.Errorf("two records are of the same run: task %s, arm %s, repetition %d", r.Task, r.Arm, r.Rep)
				}
			}
		}
	}
	return a, nil
}

// baseOf returns the index of the arm that the others are compared with: none, and
// when a candidate is tried, without; -1 when there is neither.
func baseOf(arms []string) int {
	return max(slices.Index(arms, ArmNone), slices.Index(arms, ArmWithout))
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
func (a *analysis) guessed() (list []string, of int) {
	for _, t := range a.h.Tasks {
		if a.none < 0 || !slices.Contains(t.Tags, TagHelps) || len(a.runs[t.ID][a.none]) == 0 {
			continue
		}
		of++
		if 2*passed(a.runs[t.ID][a.none]) >= len(a.runs[t.ID][a.none]) {
			list = append(list, t.ID)
		}
	}
	return list, of
}

func (a *analysis) leaks() error {
	e := &LeakError{}
	if a.none < 0 {
		return nil
	}
	for _, t := range a.h.Tasks {
		for _, r := range a.runs[t.ID][a.none] {
			if r.Leak != "" {
				e.add(t.ID, r.Leak)
				break
			}
		}
	}
	if list, of := a.guessed(); len(list) > 1 && float64(len(list)) > maxGuessed*float64(of) {
		for _, id := range list {
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

// passed counts the runs that did.
func passed(runs []*Record) int {
	n := 0
	for _, r := range runs {
		if r.Pass {
			n++
		}
	}
	return n
}

// task fills the report of one task.
func (a *analysis) task(t TaskTag) TaskReport {
	out := TaskReport{ID: t.ID, Tags: t.Tags, Arms: []TaskArm{}}
	for i, name := range a.h.Arms {
		runs := a.runs[t.ID][i]
		arm := TaskArm{Arm: name, Runs: len(runs), Passed: passed(runs)}
		for _, r := range runs {
			arm.Broke = cmp.Or(arm.Broke, r.broke())
			arm.Error = cmp.Or(arm.Error, r.Error)
		}
		out.Arms = append(out.Arms, arm)
	}
	for i := range out.Arms {
		if a.base >= 0 && i != a.base {
			out.Arms[i].Effect = effect(&out.Arms[a.base], &out.Arms[i])
		}
	}
	return out
}

// Places where the chain from a memory to an answer breaks.
const (
	BrokeNotStored   = "not stored"
	BrokeNotFound    = "not found"
	BrokeNotInjected = "not injected"
	BrokeNotUsed     = "not used"
	BrokeUsedWrongly = "used wrongly"
)

// broke returns where the chain of a run broke; empty when it held, when the task
// needs no memory, and when an error ended a run that had the memory.
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
	case r.Error != "":
		return ""
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
	return out
}

// rate returns the pass rate of an arm on some tasks, with how many there are. Where
// the runs of every task agree, more of them say nothing more than one, and the
// bootstrap would know no spread when all tasks pass.
func (a *analysis) rate(arm int, want func(TaskTag) bool) (int, stats.Interval) {
	var rates []float64
	agree, all := true, 0
	for _, t := range a.h.Tasks {
		list := a.runs[t.ID][arm]
		if !want(t) || len(list) == 0 {
			continue
		}
		n := passed(list)
		rates = append(rates, float64(n)/float64(len(list)))
		agree = agree && (n == 0 || n == len(list))
		if n > 0 {
			all++
		}
	}
	switch {
	case len(rates) == 0:
		return 0, stats.Interval{}
	case agree:
		return len(rates), stats.Wilson(all, len(rates), .95)
	}
	return len(rates), stats.Mean(rates, stats.DefaultDraws, a.h.Seed)
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
	case "":
		if r.Pass {
			c.Held++
		}
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

// odd counts the runs whose command ended as nobody asked: one that cannot be
// started by a shell fails every task alike, and looks like a model that cannot.
func (a *analysis) odd() int {
	n := 0
	for i := range a.h.Arms {
		a.each(i, func(_ *TaskTag, r *Record) {
			if r.Exit != 0 && !slices.ContainsFunc(r.Verdicts, func(v Verdict) bool { return v.Type == "exit" }) {
				n++
			}
		})
	}
	return n
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
		errs += arm.errors()
		degraded += arm.Recall.Degraded
	}
	if errs > 0 {
		say("%s ended in an error and count as failed.", english.Count(errs, "run"))
	}
	if n := a.odd(); n > 0 {
		say("The command of %s ended with another exit code than 0, which no check asks for; the records have it.", english.Count(n, "run"))
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
