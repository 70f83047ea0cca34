package vector_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/memsearch/memsearch/index/vector"
)

func each(units ...vector.Unit) iter.Seq2[vector.Unit, error] {
	return func(yield func(vector.Unit, error) bool) {
		for _, u := range units {
			if !yield(u, nil) {
				return
			}
		}
	}
}

func open(t testing.TB, opts vector.Options, units iter.Seq2[vector.Unit, error]) *vector.File {
	t.Helper()
	f, err := vector.Memory(t.Context(), opts, units)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func scan(t testing.TB, f *vector.File, q []float32) []float32 {
	t.Helper()
	dst := make([]float32, f.Units())
	for i := range dst {
		dst[i] = 9 // must be overwritten
	}
	if err := f.Scan(t.Context(), q, dst); err != nil {
		t.Fatal(err)
	}
	return dst
}

func random(rng *rand.Rand, dims int) []float32 {
	v := make([]float32, dims)
	var sum float64
	for i := range v {
		v[i] = float32(rng.NormFloat64())
		sum += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

func product(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

var kinds = map[string]bool{"float32": false, "int8": true}

func TestScanCombinesRows(t *testing.T) {
	// Products with the query (1, 0, 0) are the first elements.
	row := func(x float32) []float32 { return []float32{x, -x, 0} }
	units := []vector.Unit{
		{Rows: [][]float32{row(1)}},
		{},
		{Rows: [][]float32{row(.5), row(.25)}},
		{Rows: [][]float32{row(-.5), row(-1), row(-.25)}},
		{Rows: [][]float32{row(.25), row(.5), row(1), row(0)}},
		{Rows: [][]float32{row(0)}},
		{Rows: [][]float32{row(-1)}},
		{},
	}
	for name, quantised := range kinds {
		f := open(t, vector.Options{Dims: 3, Int8: quantised}, each(units...))
		approx := cmp.Comparer(func(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-4 })
		want := []float32{1, 0, .375, -.375, .625, 0, -1, 0}
		if diff := cmp.Diff(want, scan(t, f, []float32{1, 0, 0}), approx); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if got := scan(t, f, make([]float32, 3)); slices.Max(got) != 0 || slices.Min(got) != 0 {
			t.Errorf("%s: a query of nothing scores %v", name, got)
		}
	}
}

func TestEmpty(t *testing.T) {
	for name, quantised := range kinds {
		f := open(t, vector.Options{Dims: 8, Int8: quantised}, each())
		if got := scan(t, f, make([]float32, 8)); len(got) != 0 || f.Rows() != 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestScanAgainstProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, tt := range []struct {
		dims      int
		quantised bool
		limit     float64 // largest error
	}{
		{1, false, 1e-6}, {33, false, 1e-6}, {384, false, 1e-6}, {1024, false, 1e-6},
		// A rounded row of n dimensions is off by up to half a step in each, so
		// a product by about 3.2/127/sqrt(12 n) with a normal spread; five of
		// those are never met here.
		{384, true, 1.9e-3}, {512, true, 1.6e-3}, {1024, true, 1.2e-3},
	} {
		const n = 1500
		rows := make([][]float32, n)
		units := make([]vector.Unit, n)
		for i := range rows {
			rows[i] = random(rng, tt.dims)
			units[i].Rows = rows[i : i+1]
		}
		f := open(t, vector.Options{Dims: tt.dims, Int8: tt.quantised}, each(units...))
		q := random(rng, tt.dims)
		var sum float64
		for i, got := range scan(t, f, q) {
			off := math.Abs(float64(got) - product(q, rows[i]))
			sum += off
			if off > tt.limit {
				t.Errorf("%d dims, int8 %v, row %d: off by %g", tt.dims, tt.quantised, i, off)
			}
			if stored := f.UnitRows(uint32(i))[0]; product(stored, rows[i]) < .9999*math.Sqrt(product(stored, stored)) {
				t.Errorf("%d dims, int8 %v, row %d: cosine to the stored row %.6f", tt.dims, tt.quantised, i, product(stored, rows[i]))
			}
		}
		if mean := sum / n; mean > tt.limit/4 {
			t.Errorf("%d dims, int8 %v: mean error %g", tt.dims, tt.quantised, mean)
		}
	}
}

// TestScanIsDeterministic compares processors, whatever the chunks' borders.
func TestScanIsDeterministic(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	var units []vector.Unit
	for range 9000 {
		var u vector.Unit
		for range []int{0, 1, 1, 1, 1, 2, 5, 300}[min(rng.IntN(8), rng.IntN(500))] {
			u.Rows = append(u.Rows, random(rng, 64))
		}
		units = append(units, u)
	}
	q := random(rng, 64)
	for name, quantised := range kinds {
		f := open(t, vector.Options{Dims: 64, Int8: quantised}, each(units...))
		var want []float32
		for _, procs := range []int{1, 2, 7} {
			old := runtime.GOMAXPROCS(procs)
			got := scan(t, f, q)
			runtime.GOMAXPROCS(old)
			if want == nil {
				want = got
			}
			if !slices.Equal(want, got) {
				t.Errorf("%s: %d processors give another result", name, procs)
			}
		}
	}
}

func TestScanRefuses(t *testing.T) {
	f := open(t, vector.Options{Dims: 4}, each(vector.Unit{Rows: [][]float32{{1, 0, 0, 0}}}))
	stopped, stop := context.WithCancelCause(t.Context())
	why := errors.New("no time left")
	stop(why)
	nan := float32(math.NaN())
	for _, tt := range []struct {
		name string
		ctx  context.Context
		q    []float32
		n    int
		want error
	}{
		{"a short query", t.Context(), make([]float32, 3), 1, nil},
		{"a long result", t.Context(), make([]float32, 4), 2, nil},
		{"not a number", t.Context(), []float32{0, nan, 0, 0}, 1, nil},
		{"cancelled", stopped, make([]float32, 4), 1, why},
	} {
		err := f.Scan(tt.ctx, tt.q, make([]float32, tt.n))
		if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestTokens(t *testing.T) {
	opts := vector.Options{Dims: 1, Vocabulary: 1000, Fingerprint: 42}
	f := open(t, opts, each(
		vector.Unit{Tokens: []int32{5, 999, 5, 0}},
		vector.Unit{},
		vector.Unit{Tokens: []int32{999, 998}, Rows: [][]float32{{1}}},
	))
	for id, want := range map[int32]int{0: 1, 5: 1, 998: 1, 999: 2, 4: 0, 1000: 0, -1: 0} {
		if got := f.DF(id); got != want {
			t.Errorf("DF(%d) = %d, want %d", id, got, want)
		}
	}
	for ord, want := range [][]int32{{0, 5, 999}, nil, {998, 999}, nil} {
		if got, err := f.UnitTokens(nil, uint32(ord)); err != nil || !slices.Equal(got, want) {
			t.Errorf("tokens of %d: %v, %v, want %v", ord, got, err, want)
		}
	}
	if f.Fingerprint() != 42 || f.Vocabulary() != 1000 || f.Dims() != 1 || f.Rows() != 1 || f.Int8() {
		t.Errorf("header does not say what was written: %+v", f)
	}
	for ord, want := range []int{0, 0, 1, 0} {
		if got := len(f.UnitRows(uint32(ord))); got != want {
			t.Errorf("%d rows of %d, want %d", got, ord, want)
		}
	}
	if f.UnitRows(7) != nil {
		t.Error("rows of a unit that is not there")
	}
}

func TestWriteRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "v.bin")
	opts := vector.Options{Dims: 2, Vocabulary: 10}
	inf := float32(math.Inf(1))
	other := open(t, vector.Options{Dims: 3}, each(vector.Unit{Rows: [][]float32{{1, 0, 0}}}))
	same := open(t, opts, each())
	bad := errors.New("embedder is gone")
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, tt := range []struct {
		name  string
		ctx   context.Context
		opts  vector.Options
		units iter.Seq2[vector.Unit, error]
		want  error
	}{
		{"no dimensions", t.Context(), vector.Options{}, each(), nil},
		{"too many", t.Context(), vector.Options{Dims: vector.MaxDims + 1}, each(), nil},
		{"a short row", t.Context(), opts, each(vector.Unit{Rows: [][]float32{{1}}}), nil},
		{"an infinite element", t.Context(), opts, each(vector.Unit{Rows: [][]float32{{1, inf}}}), nil},
		{"a token too large", t.Context(), opts, each(vector.Unit{Tokens: []int32{10}}), nil},
		{"a token too small", t.Context(), opts, each(vector.Unit{Tokens: []int32{-1}}), nil},
		{"rows of another shape", t.Context(), opts, each(vector.Unit{From: other}), nil},
		{"a unit that is not there", t.Context(), opts, each(vector.Unit{From: same}), nil},
		{"an error from the source", t.Context(), opts, func(yield func(vector.Unit, error) bool) { yield(vector.Unit{}, bad) }, bad},
		{"cancelled", stopped, opts, each(vector.Unit{}), context.Canceled},
	} {
		err := vector.Write(tt.ctx, path, tt.opts, tt.units)
		if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: a file was left", tt.name)
		}
	}
	if err := vector.Write(t.Context(), path, opts, each()); err != nil {
		t.Fatal(err)
	}
	if err := vector.Write(t.Context(), path, opts, each()); !errors.Is(err, os.ErrExist) {
		t.Errorf("over a file: %v", err)
	}
}

// TestGenerations carries units from file to file at random and compares with
// the file written from nothing, byte for byte.
func TestGenerations(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		sub, err := os.MkdirTemp(dir, "")
		if err != nil {
			t.Fatal(err)
		}
		opts := vector.Options{Dims: rapid.IntRange(1, 70).Draw(t, "dims"), Int8: rapid.Bool().Draw(t, "int8"), Vocabulary: 300, Fingerprint: 7}
		element := rapid.Float32Range(-1, 1)
		var units []vector.Unit
		var old *vector.File
		for gen := range 3 {
			var next, plain []vector.Unit
			for range rapid.IntRange(0, 6).Draw(t, "units") {
				if len(units) > 0 && rapid.Bool().Draw(t, "carried") {
					ord := rapid.IntRange(0, len(units)-1).Draw(t, "ord")
					next = append(next, vector.Unit{From: old, Ord: uint32(ord)})
					plain = append(plain, units[ord])
					continue
				}
				u := vector.Unit{Tokens: rapid.SliceOf(rapid.Int32Range(0, 299)).Draw(t, "tokens")}
				for range rapid.IntRange(0, 3).Draw(t, "rows") {
					u.Rows = append(u.Rows, rapid.SliceOfN(element, opts.Dims, opts.Dims).Draw(t, "row"))
				}
				next, plain = append(next, u), append(plain, u)
			}
			grown, fresh := filepath.Join(sub, string(rune('a'+gen))), filepath.Join(sub, string(rune('A'+gen)))
			if err := errors.Join(vector.Write(t.Context(), grown, opts, each(next...)), vector.Write(t.Context(), fresh, opts, each(plain...))); err != nil {
				t.Fatal(err)
			}
			a, errA := os.ReadFile(grown)
			b, errB := os.ReadFile(fresh)
			if errA != nil || errB != nil || !bytes.Equal(a, b) {
				t.Fatalf("carried units differ from fresh ones: %v %v", errA, errB)
			}
			if old != nil {
				old.Close()
			}
			if old, err = vector.Open(grown); err != nil {
				t.Fatal(err)
			}
			units = plain
		}
		old.Close()
	})
}

func TestHolds(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	a, b, c := random(rng, 48), random(rng, 48), random(rng, 48)
	for name, quantised := range kinds {
		opts := vector.Options{Dims: 48, Int8: quantised}
		f := open(t, opts, each(vector.Unit{Rows: [][]float32{a}}, vector.Unit{Rows: [][]float32{a, b}}))
		if !f.Holds(a) || !f.Holds(b) || f.Holds(c) || f.Holds(a[1:]) {
			t.Errorf("%s: Holds is wrong", name)
		}
	}
}

func sample(t testing.TB, quantised bool) []byte {
	path := filepath.Join(t.TempDir(), "v.bin")
	opts := vector.Options{Dims: 5, Int8: quantised, Vocabulary: 20}
	err := vector.Write(t.Context(), path, opts, each(
		vector.Unit{Rows: [][]float32{{1, 0, 0, 0, 0}}, Tokens: []int32{3, 19}},
		vector.Unit{Rows: [][]float32{{0, 1, 0, 0, 0}, {0, 0, 1, 0, 0}}, Tokens: []int32{4}}))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestOpenRefusesDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v.bin")
	refused := func(name string, b []byte) {
		t.Helper()
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if f, err := vector.Open(path); !errors.Is(err, vector.ErrFormat) {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
	for name, quantised := range kinds {
		good := sample(t, quantised)
		for n := range good {
			if f, err := vector.FromBytes(good[:n]); !errors.Is(err, vector.ErrFormat) {
				t.Errorf("%s cut to %d bytes: %v, %v", name, n, f, err)
			}
		}
		for _, n := range []int{0, 1, 63, 64, len(good) / 2, len(good) - 1} {
			refused(name+" cut", good[:n])
		}
		refused(name+" longer", append(slices.Clone(good), 0))
		for at, v := range map[int]uint32{0: 0, 8: 2, 12: 0, 16: 2, 20: 21 << 20, 32: 1 << 30, 36: 1, 40: 1 << 31, 48: 99, 56: 0} {
			b := slices.Clone(good)
			binary.LittleEndian.PutUint32(b[at:], v)
			refused(name+" header", b)
		}
	}
	if _, err := vector.Open(filepath.Dir(path)); err == nil {
		t.Error("a folder was opened")
	}
	if _, err := vector.Open(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// FuzzOpen uses whatever opens in every way there is.
func FuzzOpen(f *testing.F) {
	f.Add(sample(f, false))
	f.Add(sample(f, true))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := vector.FromBytes(b)
		if err != nil {
			if !errors.Is(err, vector.ErrFormat) {
				t.Fatal(err)
			}
			return
		}
		q := make([]float32, file.Dims())
		q[0] = 1
		if err := file.Scan(t.Context(), q, make([]float32, file.Units())); err != nil {
			t.Fatal(err)
		}
		carried := func(yield func(vector.Unit, error) bool) {
			for ord := range file.Units() {
				if !yield(vector.Unit{From: file, Ord: uint32(ord)}, nil) {
					return
				}
			}
		}
		_, _ = vector.Memory(t.Context(), vector.Options{Dims: file.Dims(), Int8: file.Int8(), Vocabulary: file.Vocabulary()}, carried)
		for ord := range file.Units() {
			file.UnitRows(uint32(ord))
			if _, err := file.UnitTokens(nil, uint32(ord)); err != nil && !errors.Is(err, vector.ErrFormat) {
				t.Fatal(err)
			}
		}
		file.DF(0)
		file.Holds(q)
	})
}
