package replay

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/memsearch/memsearch/eval/replay/stats"
	"github.com/memsearch/memsearch/internal/english"
)

// Names of the tests of a [Comparison].
const (
	TestMcNemar = "mcnemar" // every task was run once in both arms
	TestSign    = "sign"    // tasks were repeated
)

// A pairedTask is a task that was run in two arms: one pair for each repetition.
type pairedTask struct {
	id    string
	pairs []stats.Pair
}

// compareTasks compares two arms on the tasks that were run in both. Its p is
// not corrected and its verdict not given yet; see [conclude].
func compareTasks(arm, base string, tasks []pairedTask, seed uint64) *Comparison {
	c := &Comparison{Arm: arm, Base: base, Tasks: len(tasks), Test: TestMcNemar, Helpful: []string{}, Harmful: []string{}, Neutral: []string{}}
	var clusters [][]stats.Pair
	for _, t := range tasks {
		clusters = append(clusters, t.pairs)
		if len(t.pairs) > 1 {
			c.Test = TestSign
		}
		switch plus, minus, _ := stats.Signs([][]stats.Pair{t.pairs}); {
		case plus > 0:
			c.Helpful = append(c.Helpful, t.id)
		case minus > 0:
			c.Harmful = append(c.Harmful, t.id)
		default:
			c.Neutral = append(c.Neutral, t.id)
		}
	}
	c.Diff = stats.PairedBootstrap(clusters, stats.DefaultDraws, seed)
	if c.Test == TestMcNemar {
		c.P = stats.McNemar(len(c.Helpful), len(c.Harmful))
	} else {
		c.P = stats.SignTest(len(c.Helpful), len(c.Harmful))
	}
	return c
}

// conclude corrects the p-values of comparisons that stand in one report and
// gives their verdicts.
func conclude(list []*Comparison) {
	p := make([]float64, len(list))
	for i, c := range list {
		p[i] = c.P
	}
	for i, adjusted := range stats.Holm(p) {
		c := list[i]
		c.Holm = adjusted
		ok, why := stats.Enough(c.Tasks, len(c.Helpful)+len(c.Harmful), len(list))
		switch {
		case !ok:
			c.Verdict, c.Why = VerdictNotEnough, why
		case c.Holm > stats.DefaultAlpha:
			c.Verdict = VerdictNoDifference
		case len(c.Helpful) > len(c.Harmful):
			c.Verdict = VerdictBetter
		default:
			c.Verdict = VerdictWorse
		}
	}
}

// ErrCompare is wrapped when two replays cannot be compared.
var ErrCompare = errors.New("compare: not the same tasks")

// ComparedVersion is the version of a comparison of two replays as JSON.
//
// History: 1, the first.
const ComparedVersion = 1

// A Compared is what the second of two replays of the same tasks did differently
// from the first.
type Compared struct {
	V       int           `json:"v"`
	Set     string        `json:"set"`
	SetHash string        `json:"set_hash"`
	Changed []Change      `json:"changed"` // what is not the same in the two
	Arms    []ComparedArm `json:"arms"`    // those in both, in the order of the first
	Notes   []string      `json:"notes,omitempty"`
}

// A Change is a setting in which two replays differ.
type Change struct {
	What   string `json:"what"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// A ComparedArm is one arm in two replays. The base of Outcome is the first;
// helpful are tasks that went better in the second.
type ComparedArm struct {
	Arm     string      `json:"arm"`
	Outcome *Comparison `json:"outcome"`
	Before  CostReport  `json:"before"`
	After   CostReport  `json:"after"`
}

// Compare compares two replays, arm by arm, on the tasks that were run in both.
// The sets must be the same, tasks, vaults and all; whatever else differs is
// listed. Arms that only one of them has are named in the notes.
func Compare(before, after *Report) (*Compared, error) {
	if before.Header.SetHash != after.Header.SetHash {
		return nil, fmt.Errorf("%w: set %s (%s) and set %s (%s)", ErrCompare,
			before.Header.Set, before.Header.SetHash, after.Header.Set, after.Header.SetHash)
	}
	out := &Compared{V: ComparedVersion, Set: after.Header.Set, SetHash: after.Header.SetHash, Changed: changes(&before.Header, &after.Header), Arms: []ComparedArm{}}
	var all []*Comparison
	for i := range before.Arms {
		a := &before.Arms[i]
		b := after.Arm(a.Arm)
		if b == nil {
			out.Notes = append(out.Notes, fmt.Sprintf("Only the first has the arm %s.", a.Arm))
			continue
		}
		c := compareTasks(a.Arm, a.Arm, pairTasks(before, after, a.Arm), after.Header.Seed)
		all = append(all, c)
		out.Arms = append(out.Arms, ComparedArm{Arm: a.Arm, Outcome: c, Before: a.Cost, After: b.Cost})
	}
	for i := range after.Arms {
		if before.Arm(after.Arms[i].Arm) == nil {
			out.Notes = append(out.Notes, fmt.Sprintf("Only the second has the arm %s.", after.Arms[i].Arm))
		}
	}
	for i, r := range []*Report{before, after} {
		if r.Runs < r.Planned {
			out.Notes = append(out.Notes, fmt.Sprintf("The %s has only %d of %s.", [...]string{"first", "second"}[i], r.Runs, english.Count(r.Planned, "run")))
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: there is no arm that both have", ErrCompare)
	}
	conclude(all)
	return out, nil
}

// changes lists what differs between two replays of one set.
func changes(before, after *Header) []Change {
	out := []Change{}
	for _, c := range []Change{
		{"runner", before.Runner, after.Runner},
		{"settings", before.Settings, after.Settings},
		{"judge", before.JudgeModel, after.JudgeModel},
		{"budget", strconv.Itoa(before.Budget), strconv.Itoa(after.Budget)},
		{"repetitions", strconv.Itoa(before.Repetitions), strconv.Itoa(after.Repetitions)},
		{"seed", strconv.FormatUint(before.Seed, 10), strconv.FormatUint(after.Seed, 10)},
		{"candidate", before.Candidate, after.Candidate},
	} {
		if c.Before != c.After {
			out = append(out, c)
		}
	}
	return out
}

// pairTasks pairs the tasks of an arm that were run in both replays, by their
// pass rates: repetitions of two replays have nothing to do with each other.
func pairTasks(before, after *Report, arm string) []pairedTask {
	rates := map[string]*TaskArm{}
	each(before, arm, func(id string, t *TaskArm) { rates[id] = t })
	var out []pairedTask
	each(after, arm, func(id string, t *TaskArm) {
		if was := rates[id]; was != nil {
			p := pairedTask{id: id, pairs: []stats.Pair{{Base: was.Rate(), Other: t.Rate()}}}
			if max(was.Runs, t.Runs) > 1 { // the same mean, and not of single runs
				p.pairs = append(p.pairs, p.pairs[0])
			}
			out = append(out, p)
		}
	})
	return out
}

// each calls f with the tasks of r that were run in arm.
func each(r *Report, arm string, f func(id string, t *TaskArm)) {
	for i := range r.Tasks {
		for j := range r.Tasks[i].Arms {
			if t := &r.Tasks[i].Arms[j]; t.Arm == arm && t.Runs > 0 {
				f(r.Tasks[i].ID, t)
			}
		}
	}
}

// Markdown returns the comparison as a page of Markdown.
func (c *Compared) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Two replays of %s\n\n", cell(c.Set))
	if len(c.Changed) == 0 {
		b.WriteString("- nothing but chance and what a model does is different\n")
	}
	for _, ch := range c.Changed {
		fmt.Fprintf(&b, "- %s: %s, then %s\n", ch.What, cell(orNone(ch.Before)), cell(orNone(ch.After)))
	}
	for _, n := range c.Notes {
		fmt.Fprintf(&b, "- %s\n", cell(n))
	}
	out := table{title: "Outcome", note: "The second less the first, on the same tasks, with 95 % intervals.",
		columns: []string{"arm", "tasks", "difference", "better", "same", "worse", "p", "p (Holm)", "verdict"}, text: 1}
	names := table{title: "Tasks that changed", columns: []string{"arm", "better", "worse"}, text: 2}
	cost := table{title: "Cost", note: "Means of a run, first and second.", columns: []string{"arm", "context tokens", "tokens in", "tokens out", "calls", "money/100 turns"}}
	for _, a := range c.Arms {
		o := a.Outcome
		out.add(a.Arm, strconv.Itoa(o.Tasks), signed(o.Diff), strconv.Itoa(len(o.Helpful)), strconv.Itoa(len(o.Neutral)), strconv.Itoa(len(o.Harmful)),
			pvalue(o.P), pvalue(o.Holm), o.verdict())
		if len(o.Helpful)+len(o.Harmful) > 0 {
			names.add(a.Arm, strings.Join(o.Helpful, ", "), strings.Join(o.Harmful, ", "))
		}
		two := func(v func(*CostReport) float64, write func(float64) string) string {
			return write(v(&a.Before)) + " / " + write(v(&a.After))
		}
		cost.add(a.Arm, two(func(c *CostReport) float64 { return c.ContextTokens }, decimal), two(func(c *CostReport) float64 { return c.TokensIn }, decimal),
			two(func(c *CostReport) float64 { return c.TokensOut }, decimal), two(func(c *CostReport) float64 { return c.Calls }, decimal),
			two(func(c *CostReport) float64 { return c.Per100Turns }, money))
	}
	for _, t := range []table{out, names, cost} {
		t.markdown(&b)
	}
	return b.String()
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
