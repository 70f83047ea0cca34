package stats_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/memsearch/memsearch/eval/replay/stats"
)

func TestWilson(t *testing.T) {
	tests := []struct {
		k, n int
		want stats.Interval
	}{
		// Newcombe 1998, Statistics in Medicine 17:857, table I, method 3.
		{81, 263, stats.Interval{Estimate: 81.0 / 263, Low: .2553, High: .3662}},
		{15, 148, stats.Interval{Estimate: 15.0 / 148, Low: .0624, High: .1605}},
		{0, 20, stats.Interval{Estimate: 0, Low: 0, High: .1611}},
		{1, 29, stats.Interval{Estimate: 1.0 / 29, Low: .0061, High: .1718}},
		// Code Golf 105389, Compute the Wilson score interval (with z = 1.96).
		{1, 2, stats.Interval{Estimate: .5, Low: .0945, High: .9055}},
		{25, 100, stats.Interval{Estimate: .25, Low: .1755, High: .3430}},
		{100, 100, stats.Interval{Estimate: 1, Low: .9630, High: 1}},
		{0, 0, stats.Interval{Low: 0, High: 1}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, stats.Wilson(tt.k, tt.n, .95), cmpopts.EquateApprox(0, 6e-5)); diff != "" {
			t.Errorf("%d of %d: %s", tt.k, tt.n, diff)
		}
	}
}

// The average coverage over all true shares, by enumeration, is what the interval
// promises, and closer to it than Clopper and Pearson's, which was therefore not taken.
func TestWilsonCoverage(t *testing.T) {
	for _, n := range []int{12, 20, 66, 200} {
		wilson := coverage(n, func(k int) (float64, float64) {
			iv := stats.Wilson(k, n, .95)
			return iv.Low, iv.High
		})
		exact := coverage(n, func(k int) (float64, float64) { return clopperPearson(k, n) })
		t.Logf("%d runs: Wilson %.1f %%, Clopper-Pearson %.1f %%", n, 100*wilson, 100*exact)
		if wilson < .93 || wilson > .97 || math.Abs(wilson-.95) > math.Abs(exact-.95) {
			t.Errorf("%d runs: Wilson covers %v, Clopper-Pearson %v", n, wilson, exact)
		}
	}
}

func coverage(n int, interval func(k int) (low, high float64)) float64 {
	const steps = 999
	var sum float64
	for i := range steps {
		p := float64(i+1) / (steps + 1)
		b := distuv.Binomial{N: float64(n), P: p}
		for k := range n + 1 {
			if low, high := interval(k); low <= p && p <= high {
				sum += b.Prob(float64(k))
			}
		}
	}
	return sum / steps
}

func clopperPearson(k, n int) (low, high float64) {
	high = 1
	if k > 0 {
		low = distuv.Beta{Alpha: float64(k), Beta: float64(n - k + 1)}.Quantile(.025)
	}
	if k < n {
		high = distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(.975)
	}
	return low, high
}

func TestWilsonProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 2000).Draw(t, "n")
		k := rapid.IntRange(0, n).Draw(t, "k")
		conf := rapid.Float64Range(.5, .99).Draw(t, "conf")
		got := stats.Wilson(k, n, conf)
		if got.Low < 0 || got.Low > got.Estimate || got.Estimate > got.High || got.High > 1 {
			t.Fatalf("%+v", got)
		}
		mirror := stats.Wilson(n-k, n, conf)
		if math.Abs(got.Low-(1-mirror.High)) > 1e-9 {
			t.Fatalf("not symmetric: %+v and %+v", got, mirror)
		}
		if wider := stats.Wilson(k, n, conf+.005); wider.High-wider.Low < got.High-got.Low {
			t.Fatal("more confidence is narrower")
		}
	})
}

func TestKappa(t *testing.T) {
	tests := []struct {
		name               string
		yy, yn, ny, nn     int
		agreement, wantKap float64
	}{
		// Fifty applications for a grant, two readers (Wikipedia, Cohen's kappa, simple
		// example): observed .7, chance .5 * .6 + .5 * .4 = .5.
		{"grants", 20, 5, 10, 15, .7, .4},
		// The same agreement with other shares of yes (Wikipedia, same number of agreements):
		// chance .6 * .7 + .4 * .3 = .54, so .06/.46; and .6 * .3 + .4 * .7 = .46, so .14/.54.
		{"same agreement, alike", 45, 15, 25, 15, .6, .06 / .46},
		{"same agreement, unlike", 25, 35, 5, 35, .6, .14 / .54},
		{"full", 3, 0, 0, 4, 1, 1},
		{"opposite", 0, 5, 5, 0, 0, -1},
		{"one always yes", 3, 0, 3, 0, .5, 0},
		{"both always yes", 6, 0, 0, 0, 1, 0},
		{"nothing judged", 0, 0, 0, 0, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, b := raters(tt.yy, tt.yn, tt.ny, tt.nn)
			if got := stats.Agreement(a, b); math.Abs(got-tt.agreement) > 1e-12 {
				t.Errorf("agreement %v, want %v", got, tt.agreement)
			}
			if got := stats.Kappa(a, b); math.Abs(got-tt.wantKap) > 1e-12 {
				t.Errorf("kappa %v, want %v", got, tt.wantKap)
			}
		})
	}
}

func raters(yy, yn, ny, nn int) (a, b []bool) {
	add := func(n int, x, y bool) {
		for range n {
			a, b = append(a, x), append(b, y)
		}
	}
	add(yy, true, true)
	add(yn, true, false)
	add(ny, false, true)
	add(nn, false, false)
	return a, b
}

func TestKappaProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(0, 20)
		a, b := raters(count.Draw(t, "yy"), count.Draw(t, "yn"), count.Draw(t, "ny"), count.Draw(t, "nn"))
		k := stats.Kappa(a, b)
		if math.IsNaN(k) || k < -1 || k > 1 {
			t.Fatalf("kappa %v", k)
		}
		if back := stats.Kappa(b, a); math.Abs(k-back) > 1e-12 {
			t.Fatalf("not symmetric: %v and %v", k, back)
		}
	})
}

func TestHolm(t *testing.T) {
	tests := []struct {
		name    string
		p, want []float64
	}{
		{"none", nil, []float64{}},
		{"one", []float64{.03}, []float64{.03}},
		// The example of holm() in Dasonk/Dmisc (R, the same as p.adjust): sorted .001 * 5,
		// .007 * 4, .014 * 3, .031 * 2, and .042 * 1, which may not end under .062.
		{"Dmisc", []float64{.042, .001, .031, .014, .007}, []float64{.062, .005, .062, .042, .028}},
		// The example of Holm() in HDLSSkST (R), which rejects the third and the last at .05:
		// .001 * 7, .0025 * 6, .01 * 5, .02 * 4, .05 * 3, then over 1.
		{"HDLSSkST", []float64{.50, .01, .001, .69, .02, .05, .0025}, []float64{1, .05, .007, 1, .08, .15, .015}},
		{"equal", []float64{.02, .02, .02}, []float64{.06, .06, .06}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, stats.Holm(tt.p), cmpopts.EquateApprox(0, 1e-12)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Five arms that do not differ from one shared baseline: tests of a shared baseline
// depend on each other. Any rejection is wrong, and may happen in 5 % of sets.
func TestHolmFamilyWiseError(t *testing.T) {
	const sets, tasks, arms = 2000, 60, 5
	rng := rand.New(rand.NewPCG(5, 6))
	wrong, uncorrected := 0, 0
	for range sets {
		var b, c [arms]int
		for range tasks {
			base := rng.Float64() < .5
			for arm := range arms {
				switch other := rng.Float64() < .5; {
				case other && !base:
					b[arm]++
				case base && !other:
					c[arm]++
				}
			}
		}
		var p [arms]float64
		for arm := range arms {
			p[arm] = stats.McNemar(b[arm], c[arm])
		}
		if slices.Min(p[:]) <= .05 {
			uncorrected++
		}
		if slices.Min(stats.Holm(p[:])) <= .05 {
			wrong++
		}
	}
	t.Logf("wrong: %.1f %% corrected, %.1f %% uncorrected", 100*float64(wrong)/sets, 100*float64(uncorrected)/sets)
	if float64(wrong)/sets > .05 {
		t.Errorf("family-wise error %v", float64(wrong)/sets)
	}
	if float64(uncorrected)/sets < .07 {
		t.Errorf("uncorrected error %v: the simulation would not show a missing correction", float64(uncorrected)/sets)
	}
}

func TestHolmProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 12).Draw(t, "p")
		adjusted := stats.Holm(p)
		for i := range p {
			if adjusted[i] < p[i] || adjusted[i] > min(1, p[i]*float64(len(p))) {
				t.Fatalf("%v adjusted to %v, outside p to Bonferroni's", p[i], adjusted[i])
			}
			for j := range p {
				if p[i] < p[j] && adjusted[i] > adjusted[j] {
					t.Fatalf("order changed: %v and %v", p, adjusted)
				}
			}
		}
	})
}
