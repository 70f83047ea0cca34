package eval

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Worked by hand: relevant a (grade 2) and b (grade 1), ranking x a y b.
// DCG = 2/log2(3) + 1/log2(5); ideal = 2/log2(2) + 1/log2(3).
func TestScore(t *testing.T) {
	rel := map[string]int{"a": 2, "b": 1}
	s := score([]string{"x", "a", "y", "b"}, rel, 10)
	want := (2/math.Log2(3) + 1/math.Log2(5)) / (2 + 1/math.Log2(3))
	if math.Abs(s.NDCG-want) > 1e-12 || math.Abs(s.NDCG-0.64332) > 5e-6 {
		t.Errorf("nDCG %v, want %v", s.NDCG, want)
	}
	if s.R1 != 0 || s.R5 != 1 || s.MRR != .5 || s.Hit != 1 || s.Hit1 != 0 {
		t.Errorf("got %+v", s)
	}
	if s := score([]string{"x", "y", "a"}, rel, 2); s.NDCG != 0 || s.Hit != 0 || s.MRR != 0 || s.Recall != 0 || s.R5 != .5 {
		t.Errorf("behind the cut: %+v", s)
	}
	if s := score([]string{"a", "b"}, rel, 10); s.NDCG != 1 || s.R1 != .5 || s.Hit1 != 1 {
		t.Errorf("perfect: %+v", s)
	}
	if s := score(nil, rel, 10); s != (Scores{}) {
		t.Errorf("no ranking: %+v", s)
	}
	many := map[string]int{}
	var list []string
	for _, id := range []string{"a", "b", "c"} {
		many[id] = 1
		list = append(list, id)
	}
	if s := score(list, many, 2); s.NDCG != 1 {
		t.Errorf("the ideal is cut as well: %v", s.NDCG)
	}
}

// The interval of a mean of n values with standard deviation sd is about
// 1.96 sd/sqrt(n) wide on each side.
func TestBootstrap(t *testing.T) {
	x := make([]float64, 400)
	for i := range x {
		x[i] = float64(i % 2)
	}
	got := Bootstrap(x, 4000, 1)
	half := 1.96 * .5 / 20
	if got.Mean != .5 || math.Abs(got.Low-(.5-half)) > .006 || math.Abs(got.High-(.5+half)) > .006 {
		t.Errorf("got %+v, want .5 ± %.3f", got, half)
	}
	if again := Bootstrap(x, 4000, 1); again != got {
		t.Error("same seed, other interval")
	}
	if z := Bootstrap(nil, 0, 1); z != (Interval{}) {
		t.Errorf("nothing: %+v", z)
	}
	if one := Bootstrap([]float64{3}, 10, 1); one != (Interval{3, 3, 3}) {
		t.Errorf("one value: %+v", one)
	}
}

// Nominal 95 % intervals must cover the true mean in 93 to 97 of 100 draws.
func TestBootstrapCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	hit, rounds := 0, 600
	for r := range rounds {
		x := make([]float64, 150)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		if i := Bootstrap(x, 400, uint64(r)); i.Low <= 0 && 0 <= i.High {
			hit++
		}
	}
	if c := float64(hit) / float64(rounds); c < .93 || c > .97 {
		t.Errorf("coverage %.3f", c)
	}
}

func TestQuantile(t *testing.T) {
	x := []float64{1, 2, 3, 4}
	for p, want := range map[float64]float64{0: 1, .5: 2.5, 1: 4, .25: 1.75} {
		if got := quantile(x, p); got != want {
			t.Errorf("quantile %v = %v, want %v", p, got, want)
		}
	}
}
