package stats_test

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/memsearch/memsearch/eval/replay/stats"
)

func TestSignTest(t *testing.T) {
	tests := []struct {
		name        string
		plus, minus int
		want        float64
	}{
		{"no difference at all", 0, 0, 1},
		{"one", 1, 0, 1},
		{"even split", 4, 4, 1},
		// Lane, HyperStat Online, "Sign test" (davidmlane.com/hyperstat/B168076.html): 7 of
		// 8 differences are positive, P(7) + P(8) = .03125 + .00391 = .03516, doubled.
		{"Lane", 7, 1, 2 * 9.0 / 256},
		// Nine of ten: 2 (1 + 10) / 1024.
		{"nine of ten", 9, 1, 22.0 / 1024},
		// Five differences cannot reach .05, six can: 2/32 and 2/64.
		{"five of five", 5, 0, .0625},
		{"six of six", 6, 0, .03125},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := stats.SignTest(tt.plus, tt.minus); math.Abs(got-tt.want) > 1e-12 {
				t.Errorf("SignTest(%d, %d) = %v, want %v", tt.plus, tt.minus, got, tt.want)
			}
		})
	}
}

// Critical values of the sign test, two-sided, for n = 1 to 25: the largest count of
// the less frequent sign that is rejected, -1 for none (Triola, Elementary
// Statistics, appendix A, table A-7).
func TestSignTestTable(t *testing.T) {
	tables := []struct {
		alpha    float64
		critical [25]int
	}{
		{.01, [25]int{-1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5}},
		{.02, [25]int{-1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4, 5, 5, 5, 6}},
		{.05, [25]int{-1, -1, -1, -1, -1, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 7}},
		{.10, [25]int{-1, -1, -1, -1, 0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 4, 4, 5, 5, 5, 6, 6, 7, 7, 7}},
	}
	for _, table := range tables {
		for i, critical := range table.critical {
			n := i + 1
			for k := range n/2 + 1 {
				if got := stats.SignTest(k, n-k) <= table.alpha; got != (k <= critical) {
					t.Errorf("alpha %v, %d of %d: rejected %v, the table's critical value is %d", table.alpha, k, n, got, critical)
				}
			}
		}
	}
}

// Presidential approval, Agresti 1990, Categorical Data Analysis, p. 350 (the example
// of R's mcnemar.test): 150 went from approval to disapproval and 86 back. The exact
// p-value is worked out here in whole numbers; chi-square is 17.36, p = 3.1e-05
// (Penn State STAT 504, McNemar test, presidential approval).
func TestMcNemarApproval(t *testing.T) {
	const b, c = 150, 86
	sum := new(big.Int)
	for k := range int64(c + 1) {
		sum.Add(sum, new(big.Int).Binomial(b+c, k))
	}
	want, _ := new(big.Rat).SetFrac(sum.Lsh(sum, 1), new(big.Int).Lsh(big.NewInt(1), b+c)).Float64()
	got := stats.McNemar(b, c)
	if math.Abs(got/want-1) > 1e-9 {
		t.Errorf("McNemar(%d, %d) = %v, want %v", b, c, got, want)
	}
	if got < 3.1e-05 || got > 4.2e-05 {
		t.Errorf("%v is not near the chi-square approximations, 3.1e-05 without and 4.1e-05 with correction", got)
	}
}

// Under no difference the test may not reject more often than alpha, whatever share
// of the tasks differs: by enumeration of every outcome.
func TestMcNemarErrorOfTheFirstKind(t *testing.T) {
	for _, n := range []int{1, 5, 12, 30, 66, 120} {
		for _, differ := range []float64{.01, .1, .3, .6, 1} {
			for _, alpha := range []float64{.01, .05, .1} {
				if got := enumerated(n, differ/2, differ/2, alpha); got > alpha {
					t.Errorf("n %d, %v differ: rejects %v > %v", n, differ, got, alpha)
				}
			}
		}
	}
}

// enumerated sums the trinomial probabilities of all outcomes that the test rejects.
func enumerated(n int, plus, minus, alpha float64) float64 {
	lg := func(k int) float64 { v, _ := math.Lgamma(float64(k) + 1); return v }
	term := func(k int, p float64) float64 {
		if k == 0 {
			return 0
		}
		return float64(k) * math.Log(p)
	}
	var sum float64
	for b := range n + 1 {
		for c := range n - b + 1 {
			if stats.McNemar(b, c) <= alpha {
				rest := n - b - c
				sum += math.Exp(lg(n) - lg(b) - lg(c) - lg(rest) + term(b, plus) + term(c, minus) + term(rest, 1-plus-minus))
			}
		}
	}
	return sum
}

func TestPower(t *testing.T) {
	tests := []struct {
		name        string
		n           int
		plus, minus float64
		want        float64
	}{
		{"nothing differs", 50, 0, 0, 0},
		// Five differing tasks never reject.
		{"five", 5, 1, 0, 0},
		// Six of six always do (p = 2/64).
		{"six sure", 6, 1, 0, 1},
		// All six must differ, one way: .9^6.
		{"six, .9 differ", 6, .9, 0, .531441},
		// All six one way or all the other: .8^6 + .2^6.
		{"six, .8 and .2", 6, .8, .2, .262208},
		// Of nine at least six must differ, and all that differ go one way.
		{"nine, .9 differ", 9, .9, 0, math.Pow(.9, 9) + 9*math.Pow(.9, 8)*.1 + 36*math.Pow(.9, 7)*.01 + 84*math.Pow(.9, 6)*.001},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := stats.Power(tt.n, tt.plus, tt.minus, .05); math.Abs(got-tt.want) > 1e-9 {
				t.Errorf("Power = %v, want %v", got, tt.want)
			}
		})
	}
}

// Connor 1987, Sample size for testing differences in proportions for the
// paired-sample design, Biometrics 43:207: to find .15 against .05 with power .8 the
// normal approximation asks for (1.96 sqrt(.2) + .8416 sqrt(.2 - .1^2))^2 / .1^2 =
// 1.5458/.01 = 155 tasks. The exact test is conservative, so its power there is
// somewhat lower.
func TestPowerNearApproximation(t *testing.T) {
	if got := stats.Power(155, .15, .05, .05); got < .72 || got > .8 {
		t.Errorf("power at 155 tasks %v, want a little under .8", got)
	}
	if got := stats.Power(180, .15, .05, .05); got < .8 {
		t.Errorf("power at 180 tasks %v, want over .8", got)
	}
}

func TestPowerIsEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 30).Draw(t, "n")
		plus := rapid.Float64Range(.001, .6).Draw(t, "plus")
		minus := rapid.Float64Range(.001, .39).Draw(t, "minus")
		alpha := rapid.SampledFrom([]float64{.01, .05, .2}).Draw(t, "alpha")
		got := stats.Power(n, plus, minus, alpha)
		if want := enumerated(n, plus, minus, alpha); math.Abs(got-want) > 1e-9 {
			t.Fatalf("Power = %v, enumerated %v", got, want)
		}
		if back := stats.Power(n, minus, plus, alpha); math.Abs(got-back) > 1e-9 {
			t.Fatalf("swapped arms: %v and %v", got, back)
		}
	})
}

func TestMinimumDetectable(t *testing.T) {
	// Six tasks that all differ are found only when all go one way:
	// ((1+d)/2)^6 + ((1-d)/2)^6 = .531505 at d = .8, where it is .9^6 + .1^6 = .531442.
	got, ok := stats.MinimumDetectable(6, 1, .05, math.Pow(.9, 6)+math.Pow(.1, 6))
	if !ok || math.Abs(got-.8) > 1e-6 {
		t.Errorf("got %v, %v, want .8", got, ok)
	}
	for _, tt := range []struct {
		n      int
		differ float64
	}{{0, .5}, {5, 1}, {66, 0}, {20, .1}} {
		if got, ok := stats.MinimumDetectable(tt.n, tt.differ, .05, .8); ok || got != 0 {
			t.Errorf("%d tasks, %v differ: found %v", tt.n, tt.differ, got)
		}
	}
	for _, n := range []int{40, 66, 150, 400} {
		diff, ok := stats.MinimumDetectable(n, .3, .05, .8)
		if !ok {
			t.Fatalf("%d tasks find nothing", n)
		}
		at := stats.Power(n, (.3+diff)/2, (.3-diff)/2, .05)
		under := stats.Power(n, (.3+diff-.002)/2, (.3-diff+.002)/2, .05)
		if at < .8 || under >= .8 {
			t.Errorf("%d tasks: power %v at %v, %v just under", n, at, diff, under)
		}
	}
}

func TestMoreTasksDetectLess(t *testing.T) {
	last := 1.0
	for n := 40; n <= 640; n *= 2 {
		diff, ok := stats.MinimumDetectable(n, .3, .05, .8)
		if !ok || diff >= last {
			t.Errorf("%d tasks detect %v, half as many %v", n, diff, last)
		}
		last = diff
	}
}

func TestEnough(t *testing.T) {
	tests := []struct {
		name                       string
		n, discordant, comparisons int
		ok                         bool
		why                        string
	}{
		{"nothing run", 0, 0, 1, false, "no task was run in both arms"},
		{"a single task", 1, 1, 1, false, "1 task was run in both arms, and no result of fewer than 6"},
		{"too few tasks", 5, 5, 1, false, "5 tasks were run in both arms, and no result of fewer than 6"},
		{"all agree", 66, 0, 1, false, "differ on 0 of 66"},
		{"five differ", 66, 5, 1, false, "differ on 5 of 66 tasks, and fewer than 6"},
		{"six differ", 66, 6, 1, true, ""},
		{"six differ, five arms", 66, 6, 5, false, "fewer than 8 that differ cannot reach p = 0.05 after correction for 5 comparisons"},
		{"eight differ, five arms", 66, 8, 5, true, ""},
		{"comparisons not given", 12, 6, 0, true, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ok, why := stats.Enough(tt.n, tt.discordant, tt.comparisons)
			if ok != tt.ok || !strings.Contains(why, tt.why) || ok != (why == "") {
				t.Errorf("got %v %q", ok, why)
			}
		})
	}
}

// Enough is no exactly when the most one-sided split cannot be significant.
func TestEnoughIsReachable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(t, "n")
		d := rapid.IntRange(0, n).Draw(t, "discordant")
		m := rapid.IntRange(1, 40).Draw(t, "comparisons")
		ok, _ := stats.Enough(n, d, m)
		if reachable := float64(m)*stats.McNemar(d, 0) <= stats.DefaultAlpha; ok != reachable {
			t.Fatalf("Enough %v, smallest corrected p %v", ok, float64(m)*stats.McNemar(d, 0))
		}
	})
}

func TestSignTestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.IntRange(0, 300).Draw(t, "a")
		b := rapid.IntRange(0, 300).Draw(t, "b")
		p := stats.SignTest(a, b)
		if p <= 0 || p > 1 {
			t.Fatalf("p = %v", p)
		}
		if q := stats.SignTest(b, a); p != q {
			t.Fatalf("not symmetric: %v and %v", p, q)
		}
		if a >= b && stats.SignTest(a+1, b) > p {
			t.Fatal("more on the leading side is less significant")
		}
	})
}
