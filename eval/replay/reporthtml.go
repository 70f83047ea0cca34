package replay

import (
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"strings"

	"github.com/memsearch/memsearch/eval/replay/plot"
)

//go:embed report.html.tmpl
var pageSource string

// A chart is a drawing with what it is called.
type chart struct {
	Title, Note string
	SVG         template.HTML
}

// page is what the template of the page reads.
type page struct {
	Title    string
	About    []string
	Verdicts []string
	Charts   []chart
	Tables   []pageTable
}

type pageTable struct {
	Title, Note string
	Columns     []pageCell
	Rows        [][]pageCell
	Long        bool // folded away at first
}

type pageCell struct {
	Text   string
	Figure bool
	Class  string
}

// longTable is from how many rows a table is folded away.
const longTable = 30

// HTML returns the report as one page that loads nothing from anywhere.
func (r *Report) HTML() (string, error) {
	t, err := template.New("report").Parse(pageSource)
	if err != nil {
		return "", fmt.Errorf("write report: %w", err)
	}
	p := page{Title: "Replay of " + r.Header.Set, About: r.about(), Verdicts: r.verdicts(), Charts: r.charts()}
	for _, t := range r.tables() {
		if len(t.rows) > 0 {
			p.Tables = append(p.Tables, t.page())
		}
	}
	var b strings.Builder
	if err := t.Execute(&b, &p); err != nil {
		return "", fmt.Errorf("write report: %w", err)
	}
	return b.String(), nil
}

func (t *table) page() pageTable {
	row := func(cells []string) []pageCell {
		var out []pageCell
		for i, s := range cells {
			c := pageCell{Text: s, Figure: t.figure(i)}
			switch {
			case strings.HasSuffix(s, " -") || strings.Contains(s, " -,"):
				c.Class = EffectHarmful
			case strings.HasSuffix(s, " +") || strings.Contains(s, " +,"):
				c.Class = EffectHelpful
			}
			out = append(out, c)
		}
		return out
	}
	out := pageTable{Title: t.title, Note: t.note, Columns: row(t.columns), Long: len(t.rows) >= longTable}
	for _, cells := range t.rows {
		out.Rows = append(out.Rows, row(cells))
	}
	return out
}

// charts draws what the tables say. Charts without anything to show are left
// out.
func (r *Report) charts() []chart {
	var outcomes []plot.Outcome
	var costs []plot.CostPoint
	var chains []plot.Chain
	for i := range r.Arms {
		a := &r.Arms[i]
		outcomes = append(outcomes, plot.Outcome{Arm: a.Arm, Rate: a.Pass.Estimate, Low: a.Pass.Low, High: a.Pass.High, N: a.Tasks})
		costs = append(costs, plot.CostPoint{Arm: a.Arm, Cost: r.costOf(a), Rate: a.Pass.Estimate, Low: a.Pass.Low, High: a.Pass.High})
		if c := a.Chain; c != (ChainReport{}) {
			chains = append(chains, plot.Chain{Arm: a.Arm, NotStored: c.NotStored, NotFound: c.NotFound, NotInjected: c.NotInjected,
				NotUsed: c.NotUsed, UsedWrongly: c.UsedWrongly, Held: c.Held})
		}
	}
	names, effects := r.effects()
	var out []chart
	for _, c := range []chart{
		{"Outcome by arm", "Share of tasks that pass, with 95 % intervals.", template.HTML(plot.Outcomes(outcomes))},
		{"Cost against outcome", "", template.HTML(plot.Cost(r.costUnit(), costs))},
		{"Where the chain broke", "Runs of tasks that need a memory, but for those that had it and ended in an error.", template.HTML(plot.Chains(chains))},
		{"Helpful and harmful, task by task", "To the right: the task goes better than in the arm " + r.base() + "; to the left: worse.", template.HTML(plot.Effects(names, effects))},
	} { // plot escapes every name that it draws
		if c.SVG != "" {
			out = append(out, c)
		}
	}
	return out
}

// effects are the differences of pass rates against the base.
func (r *Report) effects() (names []string, out []plot.Effect) {
	base := -1
	for i := range r.Arms {
		if r.Arms[i].Arm == r.base() {
			base = i
		} else {
			names = append(names, r.Arms[i].Arm)
		}
	}
	if base < 0 || len(names) == 0 {
		return nil, nil
	}
	for i := range r.Tasks {
		t := &r.Tasks[i]
		e := plot.Effect{Task: t.ID}
		for j := range t.Arms {
			if j == base {
				continue
			}
			diff := math.NaN()
			if t.Arms[j].Runs > 0 && t.Arms[base].Runs > 0 {
				diff = t.Arms[j].Rate() - t.Arms[base].Rate()
			}
			e.Diff = append(e.Diff, diff)
		}
		out = append(out, e)
	}
	return names, out
}

// costOf is what the chart of costs shows: the model's tokens, or those of the
// context when the runner does not know what it used.
func (r *Report) costOf(a *ArmReport) float64 {
	if r.tokensKnown() {
		return a.Cost.TokensIn + a.Cost.TokensOut
	}
	return a.Cost.ContextTokens
}

func (r *Report) costUnit() string {
	if r.tokensKnown() {
		return "tokens per run"
	}
	return "context tokens per run"
}

// tokensKnown reports whether every arm says what its model read.
func (r *Report) tokensKnown() bool {
	for i := range r.Arms {
		if r.Arms[i].Cost.TokensIn == 0 {
			return false
		}
	}
	return len(r.Arms) > 0
}
