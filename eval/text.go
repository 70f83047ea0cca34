package eval

import (
	"fmt"
	"strings"

	"github.com/memsearch/memsearch/internal/english"
)

// Text renders the report as plain tables.
func (r *Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d adversarial, %d without judgement; %s in %s\n", english.Count(r.Questions, "question"), r.Adversarial, r.Unjudged,
		english.Count(r.Documents, "document"), english.Count(r.Indexes, "index"))
	if r.MissingDocuments > 0 {
		fmt.Fprintf(&b, "%s that judgements name not in the corpus; no arm can find them\n", english.Count(r.MissingDocuments, "document"))
	}
	if r.NoDocuments > 0 {
		fmt.Fprintf(&b, "%s of conversations that have no documents\n", english.Count(r.NoDocuments, "question"))
	}
	b.WriteByte('\n')
	header := fmt.Sprintf("%-26s %6s %7s %7s %7s %7s %7s %7s %7s\n", "arm", "n", fmt.Sprintf("nDCG@%d", r.Cut), "R@1", "R@5", "R@10", "R@100", "MRR", fmt.Sprintf("hit@%d", r.Cut))
	b.WriteString(header)
	row := func(name string, n int, s Scores) {
		fmt.Fprintf(&b, "%-26s %6d %7.3f %7.3f %7.3f %7.3f %7.3f %7.3f %7.3f\n", name, n, s.NDCG, s.R1, s.R5, s.R10, s.R100, s.MRR, s.Hit)
	}
	for _, a := range r.Arms {
		row(a.Arm, r.Questions, a.All)
		fmt.Fprintf(&b, "%-26s %6s", "  95 %", "")
		for _, m := range metricNames {
			i := a.Intervals[m]
			fmt.Fprintf(&b, " %s-%s", short(i.Low), short(i.High))
		}
		b.WriteByte('\n')
		for _, c := range a.Categories {
			row("  "+c.Category, c.N, c.Scores)
		}
		if a.Adversarial != nil {
			row("  adversarial (apart)", a.Adversarial.N, a.Adversarial.Scores)
		}
	}
	if len(r.Differences) > 0 {
		b.WriteString("\ndifferences, paired bootstrap, 95 %\n")
	}
	for _, d := range r.Differences {
		fmt.Fprintf(&b, "%s - %s\n", d.Arm, d.Minus)
		for _, m := range metricNames {
			i := d.Metric[m]
			fmt.Fprintf(&b, "  %-5s %+.4f [%+.4f, %+.4f]\n", m, i.Mean, i.Low, i.High)
		}
	}
	for _, f := range r.RunFiles {
		fmt.Fprintf(&b, "wrote %s\n", f)
	}
	return b.String()
}

// short prints .123 for 0.123.
func short(x float64) string { return strings.TrimPrefix(fmt.Sprintf("%.3f", x), "0") }

// Text renders the report as plain tables.
func (r *ConfidenceReport) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d answerable, %d not\n\n", r.Arm, r.Positives, r.Negatives)
	fmt.Fprintf(&b, "AUC %.3f [%.3f, %.3f]   calibration error %.3f\n", r.AUC.Mean, r.AUC.Low, r.AUC.High, r.ECE)
	floors := []FloorReport{r.Floor}
	if r.Given != nil {
		floors = append(floors, *r.Given)
	}
	for _, f := range floors {
		fmt.Fprintf(&b, "floor %.4f empties %.2f %% of the answerable, %.1f %% of the others\n", f.Floor, 100*f.Lost, 100*f.Emptied)
	}
	fmt.Fprintf(&b, "\n%-32s %6s %6s  %-16s %s\n", "not answerable, asked of", "n", "AUC", "95 %", "emptied")
	for _, s := range r.Sources {
		fmt.Fprintf(&b, "%-32s %6d %6.3f  [%.3f, %.3f]   %.3f\n", s.Source, s.N, s.AUC.Mean, s.AUC.Low, s.AUC.High, s.Emptied)
	}
	fmt.Fprintf(&b, "\n%-12s %6s %10s %10s\n", "confidence", "n", "said", "true")
	for _, x := range r.Bins {
		fmt.Fprintf(&b, "%.1f to %.1f   %6d %10.3f %10.3f\n", x.From, x.To, x.N, x.Confidence, x.Answerable)
	}
	return b.String()
}
