package stats

import (
	"cmp"
	"slices"
)

// Holm returns the p-values adjusted for testing them all, in the order given
// (Holm 1979, A simple sequentially rejective multiple test procedure, Scandinavian
// Journal of Statistics 6:65). The smallest of m is multiplied by m, the next by
// m - 1, and so on, none ends under one before it, none over 1. Rejecting what is
// at or under alpha keeps the chance of any wrong rejection at or under alpha,
// however the tests depend on each other.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	adjusted := make([]float64, len(p))
	var highest float64
	for rank, i := range order {
		highest = max(highest, min(1, p[i]*float64(len(p)-rank)))
		adjusted[i] = highest
	}
	return adjusted
}
