package vector_test

import (
	"encoding/binary"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/memsearch/memsearch/index/vector"
)

const benchUnits, benchDims = 100_000, 512

// benchFile maps a file of random rows, nine units in ten with one row and the
// others with three if pieces is set.
func benchFile(b *testing.B, quantised, pieces bool) *vector.File {
	b.Helper()
	rng := rand.New(rand.NewPCG(6, 6))
	row := random(rng, benchDims)
	path := filepath.Join(b.TempDir(), "v.bin")
	err := vector.Write(b.Context(), path, vector.Options{Dims: benchDims, Int8: quantised}, func(yield func(vector.Unit, error) bool) {
		for i := range benchUnits {
			row[i%benchDims] = rng.Float32() - .5
			u := vector.Unit{Rows: [][]float32{row}}
			if pieces && i%10 == 0 {
				u.Rows = [][]float32{row, row, row}
			}
			if !yield(u, nil) {
				return
			}
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	f, err := vector.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	return f
}

func BenchmarkScan(b *testing.B) {
	q := random(rand.New(rand.NewPCG(7, 7)), benchDims)
	for _, bm := range []struct {
		name              string
		quantised, pieces bool
	}{{"int8", true, false}, {"int8/pieces", true, true}, {"float32", false, false}} {
		b.Run(bm.name, func(b *testing.B) {
			f := benchFile(b, bm.quantised, bm.pieces)
			size := f.Rows() * f.Dims()
			if !bm.quantised {
				size *= 4
			}
			dst := make([]float32, f.Units())
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if err := f.Scan(b.Context(), q, dst); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkBandwidth adds up the words of as many bytes as a scan reads, on as
// many processors: the limit that a scan is compared with.
func BenchmarkBandwidth(b *testing.B) {
	for name, size := range map[string]int{"int8": benchUnits * benchDims, "float32": benchUnits * benchDims * 4} {
		b.Run(name, func(b *testing.B) {
			data := make([]byte, size)
			for i := range data {
				data[i] = byte(i)
			}
			procs := runtime.GOMAXPROCS(0)
			sums := make([]uint64, procs)
			b.SetBytes(int64(size))
			for b.Loop() {
				var wg sync.WaitGroup
				part := size / procs
				for p := range procs {
					wg.Go(func() { sums[p] += sumWords(data[p*part : (p+1)*part]) })
				}
				wg.Wait()
			}
		})
	}
}

func sumWords(b []byte) (sum uint64) {
	var s, t, u, v uint64
	for ; len(b) >= 64; b = b[64:] {
		s += binary.LittleEndian.Uint64(b) + binary.LittleEndian.Uint64(b[8:])
		t += binary.LittleEndian.Uint64(b[16:]) + binary.LittleEndian.Uint64(b[24:])
		u += binary.LittleEndian.Uint64(b[32:]) + binary.LittleEndian.Uint64(b[40:])
		v += binary.LittleEndian.Uint64(b[48:]) + binary.LittleEndian.Uint64(b[56:])
	}
	return s + t + u + v
}

// BenchmarkOpen measures opening alone, and with the first scan, which takes the
// page faults.
func BenchmarkOpen(b *testing.B) {
	q := random(rand.New(rand.NewPCG(8, 8)), benchDims)
	path := filepath.Join(b.TempDir(), "v.bin")
	row := [][]float32{q}
	err := vector.Write(b.Context(), path, vector.Options{Dims: benchDims, Int8: true}, func(yield func(vector.Unit, error) bool) {
		for range 10_000 {
			if !yield(vector.Unit{Rows: row}, nil) {
				return
			}
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	dst := make([]float32, 10_000)
	for name, scanned := range map[string]bool{"open": false, "scan": true} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f, err := vector.Open(path)
				if err != nil {
					b.Fatal(err)
				}
				if scanned {
					if err := f.Scan(b.Context(), q, dst); err != nil {
						b.Fatal(err)
					}
				}
				f.Close()
			}
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	rng := rand.New(rand.NewPCG(9, 9))
	row := [][]float32{random(rng, benchDims)}
	tokens := make([]int32, 40)
	for i := range tokens {
		tokens[i] = rng.Int32N(30_000)
	}
	const n = 10_000
	units := func(yield func(vector.Unit, error) bool) {
		for range n {
			if !yield(vector.Unit{Rows: row, Tokens: tokens}, nil) {
				return
			}
		}
	}
	opts := vector.Options{Dims: benchDims, Int8: true, Vocabulary: 30_000}
	old := open(b, opts, units)
	carried := func(yield func(vector.Unit, error) bool) {
		for i := range n {
			if !yield(vector.Unit{From: old, Ord: uint32(i)}, nil) {
				return
			}
		}
	}
	b.Run("fresh", func(b *testing.B) {
		for b.Loop() {
			open(b, opts, units)
		}
	})
	b.Run("carried", func(b *testing.B) {
		for b.Loop() {
			open(b, opts, carried)
		}
	})
}
