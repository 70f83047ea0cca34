package replay

import "github.com/memsearch/memsearch/eval/replay/stats"

// compare compares two arms on the tasks that were run in both. What depends on
// the other comparisons is left to [conclude].
func (a *analysis) compare(base, other int) *Comparison {
	var tasks []pairedTask
	for _, t := range a.h.Tasks {
		if x, y := a.runs[t.ID][base], a.runs[t.ID][other]; len(x) > 0 && len(y) > 0 {
			tasks = append(tasks, pairedTask{t.ID, pairs(x, y)})
		}
	}
	return compareTasks(a.h.Arms[other], a.h.Arms[base], tasks, a.h.Seed)
}

// pairs pairs the runs of a task by repetition. Where one arm has more, each of
// its runs meets the mean of the other.
func pairs(x, y []*Record) []stats.Pair {
	a, b := outcomes(x), outcomes(y)
	if len(a) != len(b) {
		a, b = level(a, max(len(a), len(b))), level(b, max(len(a), len(b)))
	}
	out := make([]stats.Pair, len(a))
	for i := range a {
		out[i] = stats.Pair{Base: a[i], Other: b[i]}
	}
	return out
}

// level returns x, or its mean n times when it has fewer than n.
func level(x []float64, n int) []float64 {
	if len(x) == n {
		return x
	}
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = sum / float64(len(x))
	}
	return out
}
