package replay

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
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

// compareArms compares arm of after with base of before on the tasks that were run
// in both, each by its pass rates: repetitions of two arms have nothing to do with
// each other. Its p is not corrected and its verdict not given yet; see [conclude].
func compareArms(before *Report, base string, after *Report, arm string) *Comparison {
	c := &Comparison{Arm: arm, Base: base, Test: TestMcNemar, Helpful: []string{}, Harmful: []string{}, Neutral: []string{}}
	tasks := map[string]*TaskArm{}
	each(before, base, func(id string, t *TaskArm) { tasks[id] = t })
	var pairs []stats.Pair
	each(after, arm, func(id string, t *TaskArm) {
		was := tasks[id]
		switch effect(was, t) {
		case "":
			return
		case EffectHelpful:
			c.Helpful = append(c.Helpful, id)
		case EffectHarmful:
			c.Harmful = append(c.Harmful, id)
		case EffectNeutral:
			c.Neutral = append(c.Neutral, id)
		}
		pairs = append(pairs, stats.Pair{Base: was.Rate(), Other: t.Rate()})
		if max(was.Runs, t.Runs) > 1 {
			c.Test = TestSign
		}
	})
	c.Tasks, c.Diff = len(pairs), stats.PairedBootstrap(pairs, stats.DefaultDraws, after.Header.Seed)
	if c.Test == TestMcNemar {
		c.P = stats.McNemar(len(c.Helpful), len(c.Harmful))
	} else {
		c.P = stats.SignTest(len(c.Helpful), len(c.Harmful))
	}
	return c
}

// effect says how a task went in other compared with base; empty when one of them
// was not run. Equal shares are equal numbers, whatever they are shares of.
func effect(base, other *TaskArm) string {
	if base == nil || base.Runs == 0 || other.Runs == 0 {
		return ""
	}
	switch cmp.Compare(other.Rate(), base.Rate()) {
	case 1:
		return EffectHelpful
	case -1:
		return EffectHarmful
	}
	return EffectNeutral
}

// conclude corrects the p-values of comparisons that stand in one report and
// gives their verdicts.
func conclude(list []*Comparison) {
	p := make([]float64, len(list))
	for i, c := range list {
		p[i] = c.P
	}
	left := len(list) // comparisons that Holm's method corrects for once it has rejected the others
	for i, adjusted := range stats.Holm(p) {
		if list[i].Holm = adjusted; adjusted <= stats.DefaultAlpha {
			left--
		}
	}
	for _, c := range list {
		better, worse := len(c.Helpful), len(c.Harmful)
		ok, why := stats.Enough(c.Tasks, better+worse, left)
		switch {
		case c.Holm <= stats.DefaultAlpha && better > worse && c.Diff.Estimate > 0:
			c.Verdict = VerdictBetter
		case c.Holm <= stats.DefaultAlpha && better < worse && c.Diff.Estimate < 0:
			c.Verdict = VerdictWorse
		case c.Holm <= stats.DefaultAlpha:
			// The test counts tasks, and the few that went the other way did so by more.
			c.Verdict, c.Why = VerdictNoDifference, "most tasks that differ go one way, the pass rate does not"
		case !ok:
			c.Verdict, c.Why = VerdictNotEnough, why
		default:
			c.Verdict = VerdictNoDifference
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
		c := compareArms(before, a.Arm, after, a.Arm)
		all = append(all, c)
		out.Arms = append(out.Arms, ComparedArm{Arm: a.Arm, Outcome: c, Before: a.Cost, After: b.Cost})
	}
	for i := range after.Arms {
		if before.Arm(after.Arms[i].Arm) == nil {
			out.Notes = append(out.Notes, fmt.Sprintf("Only the second has the arm %s.", after.Arms[i].Arm))
		}
	}
	for i, r := range []*Report{before, after} {
		which, errs := [...]string{"first", "second"}[i], 0
		for j := range r.Arms {
			errs += r.Arms[j].errors()
		}
		if r.Runs < r.Planned {
			out.Notes = append(out.Notes, fmt.Sprintf("The %s has only %d of %s.", which, r.Runs, english.Count(r.Planned, "run")))
		}
		if errs > 0 {
			out.Notes = append(out.Notes, fmt.Sprintf("In the %s %s ended in an error and count as failed.", which, english.Count(errs, "run")))
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
	out := changedSettings(before, after)
	for _, c := range []Change{
		{"runner", before.Runner, after.Runner},
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

// changedSettings lists the settings that differ by name, as far as the headers say
// them.
func changedSettings(before, after *Header) []Change {
	out := []Change{}
	if before.Settings == after.Settings {
		return out
	}
	keys := slices.Concat(slices.Collect(maps.Keys(before.Given)), slices.Collect(maps.Keys(after.Given)))
	slices.Sort(keys)
	for _, k := range slices.Compact(keys) {
		c := Change{"setting " + k, given(before, k), given(after, k)}
		if c.Before != c.After {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		out = append(out, Change{"hash of settings", before.Settings, after.Settings})
	}
	return out
}

func given(h *Header, key string) string {
	if v, ok := h.Given[key]; ok {
		return v
	}
	return "as it is by default"
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
	out := table{title: "Outcome", note: "The second less the first on the same tasks, in points of pass rate, with 95 % intervals.",
		columns: []string{"arm", "tasks", "difference", "better", "same", "worse", "p", "p (Holm)", "verdict"}, text: 1}
	names := table{title: "Tasks that changed", columns: []string{"arm", "better", "worse"}, text: 2}
	cost := table{title: "Cost", note: "Means of a run, first and second.", columns: []string{"arm", "context tokens", "tokens in", "tokens out", "calls", "money/100 turns"}}
	for _, a := range c.Arms {
		o := a.Outcome
		out.add(a.Arm, strconv.Itoa(o.Tasks), signed(o.Diff), strconv.Itoa(len(o.Helpful)), strconv.Itoa(len(o.Neutral)), strconv.Itoa(len(o.Harmful)),
			pvalue(o.P), pvalue(o.Holm), o.Conclusion())
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
