package quant_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/memsearch/memsearch/internal/quant"
)

func TestAppend(t *testing.T) {
	// 127 and 64 steps: the length of {1, 0.5} is sqrt(1.25), that of {127, 64}
	// sqrt(20225), since 63.5 rounds to the even 64.
	got, scale := quant.Append([]byte{9}, []float32{1, -0.5}, 1)
	if want := []byte{9, 127, 0xc0}; !slices.Equal(got, want) {
		t.Errorf("got % x, want % x", got, want)
	}
	if want := math.Sqrt(1.25 / 20225); math.Abs(float64(scale)-want) > 1e-9 {
		t.Errorf("scale %v, want %v", scale, want)
	}
	row := make([]float32, 2)
	quant.Decode(row, got[1:], 0.5)
	if want := []float32{63.5, -32}; !slices.Equal(row, want) {
		t.Errorf("decoded %v, want %v", row, want)
	}
	if got, scale := quant.Append(nil, make([]float32, 3), 0); !slices.Equal(got, make([]byte, 3)) || scale != 0 {
		t.Errorf("zeros: % x, %v", got, scale)
	}
}

func TestLargest(t *testing.T) {
	for _, tt := range []struct {
		row  []float32
		want float32
	}{
		{nil, 0}, {[]float32{-2, 1}, 2}, {[]float32{0, float32(math.Inf(-1))}, float32(math.Inf(1))},
	} {
		if got := quant.Largest(tt.row); got != tt.want {
			t.Errorf("Largest(%v) = %v, want %v", tt.row, got, tt.want)
		}
	}
	if got := quant.Largest([]float32{1, float32(math.NaN()), 2}); got == got {
		t.Errorf("NaN: %v", got)
	}
}

// A row that was stored and read is stored as the same bytes again.
func TestAgain(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		row := make([]float32, 1+rng.IntN(600))
		for i := range row {
			row[i] = float32(rng.NormFloat64())
		}
		first, scale := quant.Append(nil, row, quant.Largest(row))
		quant.Decode(row, first, scale)
		again, scale2 := quant.Append(nil, row, quant.Largest(row))
		if !slices.Equal(first, again) || math.Abs(float64(scale2/scale)-1) > 1e-6 {
			t.Fatalf("other bytes, or scale %v after %v", scale2, scale)
		}
	}
}
