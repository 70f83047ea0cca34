package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// DefaultAlpha is the error of the first kind that a verdict may have.
const DefaultAlpha = .05

// DefaultPower is the chance of finding a difference that is there, by which a
// task set is judged before it is run.
const DefaultPower = .8

// McNemar returns the exact two-sided p-value of McNemar's test for tasks that
// were run once in each of two arms: b passed only in the one, c only in the other;
// tasks that agree do not matter (McNemar 1947, Note on the sampling error of the
// difference between correlated proportions or percentages, Psychometrika 12:153).
// Given b + c, b is binomial with 1/2 when the arms do not differ. No difference
// gives 1. It is the conditional test and not its mid-p variant, which finds more
// but does not promise to keep to alpha (Fagerland, Lydersen and Laake 2013, The
// McNemar test for binary matched-pairs data, BMC Medical Research Methodology 13:91).
func McNemar(b, c int) float64 { return SignTest(b, c) }

// SignTest returns the exact two-sided p-value of the sign test: plus tasks went
// better, minus went worse, ties are left out (Conover 1999, Practical
// Nonparametric Statistics, section 3.4). It is twice the smaller tail of the
// binomial with 1/2, at most 1. A repeated task went better when more of its runs
// passed: repetitions are no tasks, and are not counted one by one.
func SignTest(plus, minus int) float64 {
	n := plus + minus
	if n <= 0 {
		return 1
	}
	return min(1, 2*binomial(n, .5).CDF(float64(min(plus, minus))))
}

func binomial(n int, p float64) distuv.Binomial { return distuv.Binomial{N: float64(n), P: p} }

// Power returns the chance that McNemar's exact test on n tasks ends at or under
// alpha, when a task passes only in the one arm with probability plus and only in
// the other with probability minus. The number of tasks that differ is itself
// random, so the power given each number is weighed by that number's probability
// (SAS/STAT User's Guide, The POWER Procedure, PAIREDFREQ statement with
// DIST=EXACT_COND; Duffy 1984, Asymptotic and exact power for the McNemar test and
// its analogue with R controls per case, Biometrics 40:1005). With plus equal to
// minus it is the test's true error of the first kind.
func Power(n int, plus, minus, alpha float64) float64 {
	return powerOf(criticals(n, alpha), plus, minus)
}

// MinimumDetectable returns the smallest difference of pass rates that McNemar's
// exact test on n tasks finds with that power, when the share discordant of
// the tasks differs between the arms at all. It is the difference at which [Power]
// reaches power, with plus + minus = discordant. A difference cannot be larger than
// the share that differs: false means that even then the power is not reached.
func MinimumDetectable(n int, discordant, alpha, power float64) (float64, bool) {
	crit := criticals(n, alpha)
	at := func(diff float64) float64 {
		return powerOf(crit, (discordant+diff)/2, (discordant-diff)/2)
	}
	if at(discordant) < power {
		return 0, false
	}
	low, high := 0.0, discordant
	for range 40 {
		if mid := (low + high) / 2; at(mid) < power {
			low = mid
		} else {
			high = mid
		}
	}
	return high, true
}

// criticals returns for 0 to n discordant tasks the largest smaller count that the
// test rejects, or -1 where it never rejects.
func criticals(n int, alpha float64) []int {
	crit := make([]int, n+1)
	k := -1
	for d := range crit {
		// One task more raises the critical count by one at most, and never lowers it.
		if 2*(k+1) < d && SignTest(k+1, d-k-1) <= alpha {
			k++
		}
		crit[d] = k
	}
	return crit
}

func powerOf(crit []int, plus, minus float64) float64 {
	plus, minus = max(plus, 0), max(minus, 0)
	both := plus + minus
	if both <= 0 {
		return 0
	}
	both = min(both, 1)
	differ := binomial(len(crit)-1, both)
	var sum float64
	for d, k := range crit {
		if k < 0 {
			continue
		}
		reject := tailAt(d, k, plus/(plus+minus)) + tailAt(d, k, minus/(plus+minus))
		sum += probability(differ, d) * reject
	}
	return min(sum, 1)
}

// tailAt returns P(X <= k) of the binomial with k < d. The ends of p are limits
// that the library's incomplete beta function does not take.
func tailAt(d, k int, p float64) float64 {
	switch {
	case p <= 0:
		return 1
	case p >= 1:
		return 0
	}
	return binomial(d, p).CDF(float64(k))
}

// probability is b's probability of k, with the ends of p as limits.
func probability(b distuv.Binomial, k int) float64 {
	switch {
	case b.P >= 1 && float64(k) == b.N:
		return 1
	case b.P >= 1:
		return 0
	}
	return b.Prob(float64(k))
}

// Enough says whether a comparison of two arms may be given as a verdict: n tasks
// were run in both, discordant of them differ, and comparisons tests are corrected
// together ([Holm]). It is no when even a split in which every differing task goes
// the same way could not bring the corrected p-value down to [DefaultAlpha]: the
// smallest p-value of the exact test is 2 * (1/2)^discordant. One comparison
// needs 6 differing tasks, five need 8. The reason goes on from "not enough
// evidence: ".
func Enough(n, discordant, comparisons int) (ok bool, why string) {
	comparisons = max(comparisons, 1)
	need := int(math.Ceil(1 + math.Log2(float64(comparisons)/DefaultAlpha)))
	corrected := ""
	if comparisons > 1 {
		corrected = fmt.Sprintf(" after correction for %d comparisons", comparisons)
	}
	switch {
	case n <= 0:
		return false, "no task was run in both arms"
	case n < need:
		tasks := "tasks were"
		if n == 1 {
			tasks = "task was"
		}
		return false, fmt.Sprintf("%d %s run in both arms, and no result of fewer than %d can reach p = %g%s", n, tasks, need, DefaultAlpha, corrected)
	case discordant < need:
		return false, fmt.Sprintf("the two differ on %d of %d tasks, and fewer than %d that differ cannot reach p = %g%s",
			discordant, n, need, DefaultAlpha, corrected)
	}
	return true, ""
}
