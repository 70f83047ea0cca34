package vector

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/memsearch/memsearch/internal/quant"
)

const (
	// block is how many rows a kernel is given at most; their products stay in
	// the first-level cache.
	block = 256
	// chunkBytes is how much of the rows one step of a worker reads. Under two
	// of them a second goroutine costs more than it saves (BenchmarkScan).
	chunkBytes = 1 << 18
)

// Scan sets dst[ord] to the similarity of each unit to q: the product with its
// row, which is the cosine when both have length 1. For a unit with several rows
// it is the mean of the first, of the whole text, and the best of the others; for a
// unit without rows 0. The result does not depend on how many processors take part.
//
// len(q) must be Dims and len(dst) Units. When ctx ends first, its cause is
// returned and dst is half done.
func (f *File) Scan(ctx context.Context, q, dst []float32) error {
	if len(q) != f.Dims() || len(dst) != f.Units() {
		return fmt.Errorf("scan %d units of %d dimensions: query has %d, result %d", f.Units(), f.Dims(), len(q), len(dst))
	}
	s := scan{f: f, dst: dst}
	if err := s.prepare(q); err != nil {
		return err
	}
	rows := max(1, chunkBytes/f.h.stride())
	chunks := max(1, (f.Rows()+rows-1)/rows)
	workers := min(runtime.GOMAXPROCS(0), (chunks+1)/2)

	var next atomic.Int64
	work := func() {
		for ctx.Err() == nil {
			c := int(next.Add(1)) - 1
			if c >= chunks {
				return
			}
			s.units(f.unitAt(c*rows), f.unitEnd(c, chunks, rows))
		}
	}
	var wg sync.WaitGroup
	for range workers - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	return context.Cause(ctx)
}

// unitAt returns the first unit whose rows begin at row or later.
func (f *File) unitAt(row int) int {
	return sort.Search(f.Units(), func(u int) bool { return int(f.first[u]) >= row })
}

func (f *File) unitEnd(chunk, chunks, rows int) int {
	if chunk == chunks-1 {
		return f.Units()
	}
	return f.unitAt((chunk + 1) * rows)
}

// A scan is one query over a file.
type scan struct {
	f   *File
	dst []float32

	float []float32 // the query, padded; or
	short []int16   // the query as integers, padded,
	scale float32   // times this
}

// prepare makes the query ready for the kernels. For int8 rows it is rounded to
// as many bits as leave the sum of products within an int32, 16 up to 512
// dimensions, so that nearly all of the error is that of the rows.
func (s *scan) prepare(q []float32) error {
	top := float64(quant.Largest(q))
	if math.IsNaN(top) || math.IsInf(top, 0) {
		return errors.New("scan: query with an element that is not finite")
	}
	n := s.f.h.padded()
	if !s.f.Int8() {
		s.float = make([]float32, n)
		copy(s.float, q)
		return nil
	}
	s.short = make([]int16, n)
	if top == 0 {
		return nil
	}
	limit := float64(min(math.MaxInt16, math.MaxInt32/(128*len(q))))
	for i, x := range q {
		s.short[i] = int16(math.RoundToEven(float64(x) / top * limit))
	}
	s.scale = float32(top / limit)
	return nil
}

// units scores the units [u, end).
func (s *scan) units(u, end int) {
	first := s.f.first
	w := window{s: s, end: int(first[end])}
	w.from = int(first[u])
	w.to = w.from
	for ; u < end; u++ {
		row, stop := int(first[u]), int(first[u+1])
		if row == stop {
			s.dst[u] = 0
			continue
		}
		head := w.at(row)
		best := float32(math.Inf(-1))
		for row++; row < stop; row++ {
			best = max(best, w.at(row))
		}
		if s.dst[u] = head; best > float32(math.Inf(-1)) {
			s.dst[u] = (head + best) / 2
		}
	}
}

// A window holds the products of a run of rows, so that a kernel gets many rows
// at a time although most units have few.
type window struct {
	s        *scan
	from, to int // the rows in products
	end      int // the row to stop before
	products [block]float32
	sums     [block]int32
}

// at returns the product of a row. Rows are asked for in their order.
func (w *window) at(row int) float32 {
	if row >= w.to {
		w.fill(row)
	}
	return w.products[row-w.from]
}

// fill multiplies the query with the rows from row on.
func (w *window) fill(row int) {
	n := min(block, w.end-row)
	w.from, w.to = row, row+n
	f := w.s.f
	stride := f.h.stride()
	rows := f.data[row*stride : w.to*stride]
	if !f.Int8() {
		dotFloat(w.products[:n], w.s.float, rows)
		return
	}
	dotInt8(w.sums[:n], w.s.short, rows)
	for i, sum := range w.sums[:n] {
		// The conversion to float32 between the factors keeps a compiler that
		// fuses operations from changing the result.
		w.products[i] = float32(float32(sum)*w.s.scale) * f.scales[row+i]
	}
}
