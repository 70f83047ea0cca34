package vector

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The kernels have no door to the outside, so this test stands in the package.

func TestInt8KernelIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, dims := range []int{64, 128, 192, 512, 1024, 4096} {
		limit := min(math.MaxInt16, math.MaxInt32/(128*dims))
		for _, extreme := range []bool{false, true} {
			const n = 7
			q, rows := make([]int16, dims), make([]byte, n*dims)
			for i := range q {
				q[i] = int16(rng.IntN(2*limit+1) - limit)
				if extreme {
					q[i] = int16(-limit)
				}
			}
			for i := range rows {
				rows[i] = byte(rng.IntN(256))
				if extreme {
					rows[i] = 0x80
				}
			}
			want := make([]int32, n)
			for i := range want {
				var sum int64
				for j := range q {
					sum += int64(q[j]) * int64(int8(rows[i*dims+j]))
				}
				want[i] = int32(sum)
				if int64(want[i]) != sum {
					t.Fatalf("%d dims: %d overflows", dims, sum)
				}
			}
			fast, generic := make([]int32, n+1), make([]int32, n+1)
			fast[n], generic[n] = 77, 77
			dotInt8(fast[:n], q, rows)
			genericInt8(generic[:n], q, rows)
			for i := range want {
				if fast[i] != want[i] || generic[i] != want[i] {
					t.Errorf("%d dims, row %d: kernel %d, generic %d, want %d", dims, i, fast[i], generic[i], want[i])
				}
			}
			if fast[n] != 77 || generic[n] != 77 {
				t.Errorf("%d dims: wrote past the end", dims)
			}
		}
	}
	dotInt8(nil, make([]int16, 64), nil)
}

func TestFloatKernelWithinRounding(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, dims := range []int{32, 64, 96, 384, 512, 1536} {
		const n = 5
		q := make([]float32, dims)
		for i := range q {
			q[i] = float32(rng.NormFloat64())
		}
		var rows []byte
		want, bound := make([]float64, n), make([]float64, n)
		h := header{Dims: uint32(dims)}
		for i := range want {
			row := make([]float32, dims)
			for j := range row {
				row[j] = float32(rng.NormFloat64())
				want[i] += float64(q[j]) * float64(row[j])
				bound[i] += math.Abs(float64(q[j]) * float64(row[j]))
			}
			var err error
			if rows, _, err = appendRow(rows, &h, row); err != nil {
				t.Fatal(err)
			}
		}
		fast, generic := make([]float32, n+1), make([]float32, n+1)
		dotFloat(fast[:n], q, rows)
		genericFloat(generic[:n], q, rows)
		for i := range want {
			// A sum of n terms is off by at most n half units of the last place
			// of the sum of their magnitudes.
			limit := bound[i] * float64(dims) / (1 << 24)
			if math.Abs(float64(fast[i])-want[i]) > limit || math.Abs(float64(generic[i])-want[i]) > limit {
				t.Errorf("%d dims, row %d: kernel %g, generic %g, want %g", dims, i, fast[i], generic[i], want[i])
			}
		}
		if fast[n] != 0 {
			t.Errorf("%d dims: wrote past the end", dims)
		}
	}
	dotFloat(nil, make([]float32, 32), nil)
}
