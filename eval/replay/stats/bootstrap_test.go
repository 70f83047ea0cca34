package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/memsearch/memsearch/eval/replay/stats"
)

// Nominal 95 % intervals must hold the true difference in 93 to 97 % of task sets.
// The settings are those the comment of PairedBootstrap gives.
func TestPairedBootstrapCoverage(t *testing.T) {
	tests := []struct {
		name  string
		tasks int
		truth float64
		draw  func(*rand.Rand) stats.Pair
	}{
		{"30 tasks, .30 better, .10 worse", 30, .2, once(.3, .1)},
		{"30 tasks, no difference", 30, 0, once(.1, .1)},
		{"66 tasks, .20 better, .05 worse", 66, .15, once(.2, .05)},
		{"66 tasks of 3 repetitions", 66, .15, repeated(3, .4, .3)},
		{"30 tasks of 5 repetitions", 30, .1, repeated(5, .35, .2)},
	}
	const sets, draws = 1000, 500
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(1, 2))
			covered := 0
			for set := range sets {
				pairs := make([]stats.Pair, tt.tasks)
				for i := range pairs {
					pairs[i] = tt.draw(rng)
				}
				iv := stats.PairedBootstrap(pairs, draws, uint64(set))
				if iv.Low <= tt.truth+1e-9 && tt.truth-1e-9 <= iv.High {
					covered++
				}
			}
			share := float64(covered) / sets
			t.Logf("covered %.1f %%", 100*share)
			if share < .93 || share > .97 {
				t.Errorf("95 %% intervals cover %.1f %%, want 93 to 97", 100*share)
			}
		})
	}
}

// once draws a task that passes only with the other arm with probability better,
// and only with the base with probability worse.
func once(better, worse float64) func(*rand.Rand) stats.Pair {
	return func(rng *rand.Rand) stats.Pair {
		switch u := rng.Float64(); {
		case u < better:
			return stats.Pair{Base: 0, Other: 1}
		case u < better+worse:
			return stats.Pair{Base: 1, Other: 0}
		}
		return stats.Pair{Base: 1, Other: 1}
	}
}

// repeated draws k runs of one task whose difficulty is its own (base and .3 around
// it) and which the other arm lifts in half of the tasks: the truth is lift/2.
func repeated(k int, base, lift float64) func(*rand.Rand) stats.Pair {
	return func(rng *rand.Rand) stats.Pair {
		p := base + .3*(2*rng.Float64()-1)
		q := p
		if rng.Float64() < .5 {
			q += lift
		}
		var task stats.Pair
		for range k {
			task.Base += pass(rng, p) / float64(k)
			task.Other += pass(rng, q) / float64(k)
		}
		return task
	}
}

func pass(rng *rand.Rand, p float64) float64 {
	if rng.Float64() < p {
		return 1
	}
	return 0
}

func TestPairedBootstrapEdges(t *testing.T) {
	win := stats.Pair{Base: 0, Other: 1}
	tests := []struct {
		name  string
		pairs []stats.Pair
		want  stats.Interval
	}{
		{"nothing", nil, stats.Interval{}},
		{"one task is a point", []stats.Pair{win}, stats.Interval{Estimate: 1, Low: 1, High: 1}},
		{"no spread is a point", []stats.Pair{win, win, win}, stats.Interval{Estimate: 1, Low: 1, High: 1}},
		{"no difference is a point", []stats.Pair{{}, {Base: 1, Other: 1}}, stats.Interval{}},
		// With Student's t of one degree the interval reaches all that was seen.
		{"two tasks", []stats.Pair{win, {}}, stats.Interval{Estimate: .5, Low: 0, High: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, stats.PairedBootstrap(tt.pairs, 50, 1)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The mean of one arm is the difference from an arm of zeros.
func TestMeanIsDifferenceFromZero(t *testing.T) {
	got := stats.Mean([]float64{2. / 3, 0, 1}, 300, 7)
	want := stats.PairedBootstrap([]stats.Pair{{Other: 2. / 3}, {}, {Other: 1}}, 300, 7)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if math.Abs(got.Estimate-5.0/9) > 1e-12 {
		t.Errorf("estimate %v, want the mean of 2/3, 0 and 1", got.Estimate)
	}
}

func TestBootstrapProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pair := rapid.Custom(func(t *rapid.T) stats.Pair {
			return stats.Pair{Base: rapid.Float64Range(-5, 5).Draw(t, "base"), Other: rapid.Float64Range(-5, 5).Draw(t, "other")}
		})
		pairs := rapid.SliceOfN(pair, 1, 12).Draw(t, "pairs")
		seed := rapid.Uint64().Draw(t, "seed")
		got := stats.PairedBootstrap(pairs, 60, seed)
		if diff := cmp.Diff(got, stats.PairedBootstrap(pairs, 60, seed)); diff != "" {
			t.Fatal("not repeatable:", diff)
		}
		if got.Low > got.Estimate || got.Estimate > got.High {
			t.Fatalf("estimate outside its interval: %+v", got)
		}
		swapped := make([]stats.Pair, len(pairs))
		low, high := math.Inf(1), math.Inf(-1)
		for i, p := range pairs {
			swapped[i] = stats.Pair{Base: p.Other, Other: p.Base}
			low, high = min(low, p.Other-p.Base), max(high, p.Other-p.Base)
		}
		if got.Low < low-1e-9 || got.High > high+1e-9 {
			t.Fatalf("%+v leaves the data's %v to %v", got, low, high)
		}
		back := stats.PairedBootstrap(swapped, 60, seed)
		if diff := cmp.Diff(got, stats.Interval{Estimate: -back.Estimate, Low: -back.High, High: -back.Low}, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Fatal("swapped arms do not mirror:", diff)
		}
	})
}

func BenchmarkPairedBootstrap(b *testing.B) {
	rng := rand.New(rand.NewPCG(3, 4))
	pairs := make([]stats.Pair, 66)
	for i := range pairs {
		pairs[i] = repeated(3, .4, .3)(rng)
	}
	for b.Loop() {
		stats.PairedBootstrap(pairs, 0, 1)
	}
}
