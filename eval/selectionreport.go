package eval

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/memsearch/memsearch/internal/english"
)

// summarise makes means and intervals of the rows of one number of memories.
func (o *SelectionOptions) summarise(p *pool, rows []SelectionRow) SelectionSize {
	size := SelectionSize{Memories: len(p.docs), Asked: p.asked, Questions: len(rows) / len(o.Arms)}
	by := map[string][]SelectionRow{}
	for _, r := range rows {
		by[r.Arm] = append(by[r.Arm], r)
	}
	base := by[ArmHybrid]
	for _, arm := range o.Arms {
		size.Arms = append(size.Arms, o.arm(arm, by[arm], base))
	}
	return size
}

// selectionMetrics are the metrics with intervals.
var selectionMetrics = []struct {
	name  string
	value func(*SelectionRow) float64
}{
	{"r5", func(r *SelectionRow) float64 { return r.R5 }},
	{"ndcg", func(r *SelectionRow) float64 { return r.NDCG }},
}

func (o *SelectionOptions) arm(name string, rows, base []SelectionRow) SelectionArm {
	a := SelectionArm{Arm: name, Intervals: map[string]Interval{}}
	mean := func(value func(*SelectionRow) float64) float64 {
		sum := 0.0
		for i := range rows {
			sum += value(&rows[i])
		}
		return sum / float64(len(rows))
	}
	a.R5 = mean(func(r *SelectionRow) float64 { return r.R5 })
	a.NDCG = mean(func(r *SelectionRow) float64 { return r.NDCG })
	a.Calls = mean(func(r *SelectionRow) float64 { return float64(r.Cost.Calls) })
	a.TokensIn = mean(func(r *SelectionRow) float64 { return float64(r.Cost.TokensIn) })
	a.TokensOut = mean(func(r *SelectionRow) float64 { return float64(r.Cost.TokensOut) })
	a.Money = mean(func(r *SelectionRow) float64 { return r.Cost.Money })
	a.Asked = mean(func(r *SelectionRow) float64 { return share(r.Asked) })
	a.Same = mean(func(r *SelectionRow) float64 { return share(r.Same) })
	a.Nothing = mean(func(r *SelectionRow) float64 { return share(r.Injected == 0) })
	var precision, latency []float64
	for i := range rows {
		r := &rows[i]
		latency = append(latency, r.Latency)
		if r.Failed {
			a.Failed++
		}
		if r.Injected > 0 {
			precision = append(precision, float64(r.Relevant)/float64(r.Injected))
		}
	}
	interval := Bootstrap(precision, o.Resamples, o.Seed)
	a.Precision, a.Intervals["precision"] = interval.Mean, interval
	for _, m := range selectionMetrics {
		x := make([]float64, len(rows))
		for i := range rows {
			x[i] = m.value(&rows[i])
		}
		a.Intervals[m.name] = Bootstrap(x, o.Resamples, o.Seed)
		if name == ArmHybrid || len(base) != len(rows) {
			continue
		}
		for i := range rows {
			x[i] -= m.value(&base[i])
		}
		if a.Minus == nil {
			a.Minus = map[string]Interval{}
		}
		a.Minus[m.name] = Bootstrap(x, o.Resamples, o.Seed)
	}
	slices.Sort(latency)
	a.Latency = LatencyReport{P50: quantile(latency, .5), P95: quantile(latency, .95)}
	return a
}

func share(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Text renders the report as plain tables.
func (r *SelectionReport) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s with an answer among %s\n", english.Count(r.Judged, "question"), english.Count(r.Corpus, "document"))
	switch {
	case r.Oracle:
		b.WriteString("the model is an oracle that answers from the judgements: what it reaches is a ceiling, no estimate of any model\n")
	case len(r.Models) > 0:
		fmt.Fprintf(&b, "model %s\n", strings.Join(r.Models, ", "))
	}
	for _, s := range r.Sizes {
		fmt.Fprintf(&b, "\n%d memories, %s", s.Memories, english.Count(s.Questions, "question"))
		if s.Memories < s.Asked {
			fmt.Fprintf(&b, " (%d were asked for, the corpus has no more)", s.Asked)
		}
		fmt.Fprintf(&b, "\n%-23s %6s %13s %7s %9s %7s %6s %6s %9s %7s %9s %5s %8s %8s\n", "arm", "R@5", "95 %", "nDCG@10", "precision",
			"nothing", "asked", "calls", "tokens in", "out", "money", "same", "p50 ms", "p95 ms")
		for _, a := range s.Arms {
			precision := "-"
			if a.Nothing < 1 {
				precision = fmt.Sprintf("%.3f", a.Precision)
			}
			i := a.Intervals["r5"]
			fmt.Fprintf(&b, "%-23s %6.3f %13s %7.3f %9s %7.3f %6.2f %6.2f %9.0f %7.1f %9.2g %5.2f %8.1f %8.1f\n", a.Arm, a.R5, short(i.Low)+"-"+short(i.High),
				a.NDCG, precision, a.Nothing, a.Asked, a.Calls, a.TokensIn, a.TokensOut, a.Money, a.Same, a.Latency.P50, a.Latency.P95)
		}
		for _, a := range s.Arms {
			if d, ok := a.Minus["ndcg"]; ok {
				fmt.Fprintf(&b, "  %s - hybrid: R@5 %+.3f [%+.3f, %+.3f], nDCG@10 %+.3f [%+.3f, %+.3f]\n", a.Arm, a.Minus["r5"].Mean, a.Minus["r5"].Low,
					a.Minus["r5"].High, d.Mean, d.Low, d.High)
			}
			if a.Failed > 0 {
				fmt.Fprintf(&b, "  %s: the model failed on %s, the fused order answered\n", a.Arm, english.Count(a.Failed, "question"))
			}
		}
	}
	if c := r.Spent; c.Calls > 0 {
		fmt.Fprintf(&b, "\nspent with all repetitions: %s, %d tokens in, %d out, %.4g\n", english.Count(c.Calls, "call"), c.TokensIn, c.TokensOut, c.Money)
	}
	if r.Stopped != "" {
		fmt.Fprintf(&b, "\nSTOPPED: %s; the figures are of the questions before\n", r.Stopped)
	}
	return b.String()
}

// Dump writes what each arm made of each question, one JSON object a line.
func (r *SelectionReport) Dump(w io.Writer) error {
	enc := json.NewEncoder(w)
	for _, row := range r.Rows {
		if err := enc.Encode(row); err != nil {
			return fmt.Errorf("write rows: %w", err)
		}
	}
	return nil
}
