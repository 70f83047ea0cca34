package replay

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/memsearch/memsearch/eval/replay/stats"
	"github.com/memsearch/memsearch/internal/english"
)

// Markdown returns the report as a page of Markdown.
func (r *Report) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Replay of %s\n\n", cell(r.Header.Set))
	for _, line := range r.about() {
		fmt.Fprintf(&b, "- %s\n", cell(line))
	}
	b.WriteString("\n## Verdicts\n\n")
	for _, line := range r.verdicts() {
		fmt.Fprintf(&b, "- %s\n", cell(line))
	}
	for _, t := range r.tables() {
		t.markdown(&b)
	}
	return b.String()
}

// about says what was run.
func (r *Report) about() []string {
	h := &r.Header
	out := []string{fmt.Sprintf("set %s (%s), %s", h.Set, h.SetHash, english.Count(len(r.Tasks), "task"))}
	if r.Runs < r.Planned {
		out = append(out, fmt.Sprintf("%d of %s", r.Runs, english.Count(r.Planned, "run")))
	} else {
		out = append(out, english.Count(r.Runs, "run"))
	}
	out = append(out, fmt.Sprintf("runner %s, budget %s, seed %d", h.Runner, english.Count(h.Budget, "token"), h.Seed))
	if strings.HasPrefix(h.Runner, "exec ") {
		out = append(out, "what the commands cost is not known; each counts as one call")
	}
	if h.Candidate != "" {
		out = append(out, "candidate memory "+h.Candidate)
	}
	if d := r.Detectable; d.Tasks > 0 {
		out = append(out, d.String())
	}
	if j := h.Judge; j.Answers > 0 {
		agree := stats.Wilson(j.Answers-j.TooKind-j.TooHarsh, j.Answers, .95)
		out = append(out, fmt.Sprintf("judge %s agrees with the label of %s of %s (95 %% interval %s, kappa %.2f)",
			h.JudgeModel, percent(agree.Estimate), english.Count(j.Answers, "given answer"), between(agree), j.Kappa))
	}
	return append(out, r.Notes...)
}

// String says it in a sentence.
func (d *Detectable) String() string {
	if !d.Reached {
		are := "are"
		if d.Tasks == 1 {
			are = "is"
		}
		return fmt.Sprintf("%s %s too few to find any difference with a chance of %s, when %s of them differ between two arms",
			english.Count(d.Tasks, "task"), are, percent(stats.DefaultPower), percent(d.Discordant))
	}
	return fmt.Sprintf("%s find a difference of %.1f points in pass rates with a chance of %s, when %s of them differ between two arms (%s corrected)",
		english.Count(d.Tasks, "task"), 100*d.Diff, percent(stats.DefaultPower), percent(d.Discordant), english.Count(d.Comparisons, "comparison"))
}

// Summary returns the report in a few lines: what was run and the verdicts.
func (r *Report) Summary() []string { return append(r.about(), r.verdicts()...) }

// verdicts says in one line for each arm what it did to the outcome.
func (r *Report) verdicts() []string {
	var out []string
	if c := r.Candidate; c != nil {
		out = append(out, fmt.Sprintf("the candidate %s is %s; it stood in the context of %s", c.ID, c.Verdict, english.Count(c.Injected, "run")))
	}
	for i := range r.Arms {
		c := r.Arms[i].Against
		if c == nil {
			continue
		}
		out = append(out, fmt.Sprintf("%s against %s: %s; difference %+.1f points %s, %s",
			c.Arm, c.Base, c.Conclusion(), 100*c.Diff.Estimate, spread(c.Diff), c.counts()))
		if len(c.Harmful) > 0 {
			out = append(out, fmt.Sprintf("%s harms %s", c.Arm, strings.Join(c.Harmful, ", ")))
		}
	}
	if len(out) == 0 {
		out = append(out, "there is nothing to compare: the arm "+ArmNone+" and one other are needed")
	}
	return out
}

// Conclusion is the verdict with its reason.
func (c *Comparison) Conclusion() string {
	if c.Why == "" {
		return c.Verdict
	}
	return c.Verdict + ": " + c.Why
}

func (c *Comparison) counts() string {
	return fmt.Sprintf("%d helpful, %d neutral, %d harmful of %s", len(c.Helpful), len(c.Neutral), len(c.Harmful), english.Count(c.Tasks, "task"))
}

// A table is one part of a report, for Markdown and HTML alike.
type table struct {
	title   string
	note    string
	columns []string // figures, but for some of text
	rows    [][]string
	lead    int // columns of text at the beginning, beside the first
	text    int // and at the end
}

func (t *table) add(row ...string) { t.rows = append(t.rows, row) }

func (t *table) markdown(b *strings.Builder) {
	if len(t.rows) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", t.title)
	if t.note != "" {
		fmt.Fprintf(b, "%s\n\n", t.note)
	}
	line := func(row []string) {
		for _, s := range row {
			fmt.Fprintf(b, "| %s ", cell(s))
		}
		b.WriteString("|\n")
	}
	line(t.columns)
	for i := range t.columns {
		if t.figure(i) {
			b.WriteString("| ---: ")
		} else {
			b.WriteString("| --- ")
		}
	}
	b.WriteString("|\n")
	for _, row := range t.rows {
		line(row)
	}
}

// figure reports whether column i holds figures.
func (t *table) figure(i int) bool { return i > t.lead && i < len(t.columns)-t.text }

// cell keeps a text from ending its cell or line, and from being markup: what a
// set or a model is called comes from elsewhere.
func cell(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", `\<`, "`", "\\`", "*", `\*`, "[", `\[`).Replace(s)
}

// base names the arm that the others are compared with.
func (r *Report) base() string {
	for i := range r.Arms {
		if c := r.Arms[i].Against; c != nil {
			return c.Base
		}
	}
	return ArmNone
}

func (r *Report) tables() []table {
	return []table{r.outcomeTable(), r.comparisonTable(), r.tagTable(), r.recallTable(), r.chainTable(), r.costTable(), r.errorTable(), r.taskTable()}
}

func (r *Report) outcomeTable() table {
	t := table{title: "Outcome", note: "Share of tasks that pass, with 95 % intervals over tasks.",
		columns: []string{"arm", "tasks", "runs", "passed", "pass rate", "interval"}}
	for i := range r.Arms {
		a := &r.Arms[i]
		t.add(a.Arm, strconv.Itoa(a.Tasks), strconv.Itoa(a.Runs), strconv.Itoa(a.Passed), percent(a.Pass.Estimate), between(a.Pass))
	}
	return t
}

func (r *Report) comparisonTable() table {
	t := table{title: "Against " + r.base(), note: "The same tasks in both arms, difference in points of pass rate. p is exact and two-sided; p (Holm) is adjusted for all arms.",
		columns: []string{"arm", "difference", "helpful", "neutral", "harmful", "p", "p (Holm)", "verdict"}, text: 1}
	for i := range r.Arms {
		if c := r.Arms[i].Against; c != nil {
			t.add(c.Arm, signed(c.Diff), strconv.Itoa(len(c.Helpful)), strconv.Itoa(len(c.Neutral)), strconv.Itoa(len(c.Harmful)),
				pvalue(c.P), pvalue(c.Holm), c.Verdict)
		}
	}
	return t
}

func (r *Report) tagTable() table {
	t := table{title: "By kind of task", columns: []string{"arm", "kind", "tasks", "pass rate", "interval"}, lead: 1}
	for i := range r.Arms {
		for _, tag := range r.Arms[i].Tags {
			t.add(r.Arms[i].Arm, tag.Tag, strconv.Itoa(tag.Tasks), percent(tag.Pass.Estimate), between(tag.Pass))
		}
	}
	return t
}

func (r *Report) recallTable() table {
	t := table{title: "Recall", note: "Runs. Right: of tasks that have right memories, those with one there, found, in the context. Wrong, superseded: a memory in the context that must not be.",
		columns: []string{"arm", "memories a run", "without any", "need one", "right there", "right found", "right in context", "wrong", "superseded", "degraded"}}
	for i := range r.Arms {
		a := &r.Arms[i]
		if c := a.Recall; a.Arm != ArmNone {
			t.add(a.Arm, decimal(c.Injected), strconv.Itoa(c.Nothing), strconv.Itoa(c.GoldRuns), strconv.Itoa(c.GoldStored), strconv.Itoa(c.GoldFound),
				strconv.Itoa(c.GoldInjected), strconv.Itoa(c.WrongRuns), strconv.Itoa(c.StaleRuns), strconv.Itoa(c.Degraded))
		}
	}
	return t
}

func (r *Report) chainTable() table {
	t := table{title: "Where the chain broke", note: "Runs of tasks that need a memory, but for those that had it and ended in an error.",
		columns: []string{"arm", "not stored", "not found", "not injected", "not used", "used wrongly", "held"}}
	for i := range r.Arms {
		a := &r.Arms[i]
		if c := a.Chain; c != (ChainReport{}) {
			row := []string{a.Arm}
			for _, n := range []int{c.NotStored, c.NotFound, c.NotInjected, c.NotUsed, c.UsedWrongly, c.Held} {
				row = append(row, strconv.Itoa(n))
			}
			t.rows = append(t.rows, row)
		}
	}
	return t
}

func (r *Report) costTable() table {
	t := table{title: "Cost", note: "Means of a run; money of all runs and of a hundred turns of the user. Corrections: turns of a hundred that the user would have to correct.",
		columns: []string{"arm", "context tokens", "tokens in", "tokens out", "calls", "money", "money/100 turns", "judging", "corrections/100 turns", "p50 ms", "p95 ms"}}
	for i := range r.Arms {
		c := r.Arms[i].Cost
		t.add(r.Arms[i].Arm, decimal(c.ContextTokens), decimal(c.TokensIn), decimal(c.TokensOut), decimal(c.Calls), money(c.Money), money(c.Per100Turns),
			money(c.JudgeMoney), decimal(c.Corrections), decimal(c.Latency.P50MS), decimal(c.Latency.P95MS))
	}
	return t
}

func (r *Report) errorTable() table {
	t := table{title: "Errors", note: "Runs that ended in an error. They count as failed.", columns: []string{"arm", "kind", "runs"}, lead: 1}
	for i := range r.Arms {
		for _, kind := range slices.Sorted(maps.Keys(r.Arms[i].Errors)) {
			t.add(r.Arms[i].Arm, kind, strconv.Itoa(r.Arms[i].Errors[kind]))
		}
	}
	return t
}

// taskTable has one row for each task.
func (r *Report) taskTable() table {
	t := table{title: "Tasks", note: "Passed of run, the effect against " + r.base() + " (+ helpful, - harmful), and where the chain broke.", columns: []string{"task", "kind"}}
	for i := range r.Arms {
		t.columns = append(t.columns, r.Arms[i].Arm)
	}
	t.text = len(t.columns) - 1
	for i := range r.Tasks {
		task := &r.Tasks[i]
		row := []string{task.ID, kindOf(task.Tags)}
		for j := range task.Arms {
			row = append(row, task.Arms[j].short())
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// short is a task in one arm as a cell of a table.
func (t *TaskArm) short() string {
	if t.Runs == 0 {
		return "not run"
	}
	effect := map[string]string{EffectHelpful: " +", EffectHarmful: " -"}[t.Effect]
	parts := []string{fmt.Sprintf("%d/%d%s", t.Passed, t.Runs, effect)}
	for _, why := range []string{t.Broke, t.Error} {
		if why != "" {
			parts = append(parts, why)
		}
	}
	return strings.Join(parts, ", ")
}

// kindOf is which of the three kinds a task is of.
func kindOf(tags []string) string {
	for _, tag := range tags {
		if tag == TagHelps || tag == TagNeutral || tag == TagTrap {
			return tag
		}
	}
	return ""
}

func percent(v float64) string { return strconv.FormatFloat(100*v, 'f', 1, 64) + " %" }

func between(i stats.Interval) string {
	return fmt.Sprintf("%.1f to %.1f", 100*i.Low, 100*i.High)
}

// signed is a difference of pass rates, in percentage points.
func signed(i stats.Interval) string { return fmt.Sprintf("%+.1f %s", 100*i.Estimate, spread(i)) }

// spread is the interval of a difference. Where all tasks differ by as much, or none
// does, there is none to be had.
func spread(i stats.Interval) string {
	if i.Low == i.High {
		return "(no spread)"
	}
	return fmt.Sprintf("(%+.1f to %+.1f)", 100*i.Low, 100*i.High)
}

// pvalue keeps a small p-value from looking like none.
func pvalue(p float64) string {
	if p < .0001 {
		return "< .0001"
	}
	return strings.TrimPrefix(strconv.FormatFloat(p, 'f', 4, 64), "0")
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

func money(v float64) string { return strconv.FormatFloat(v, 'f', 4, 64) }
