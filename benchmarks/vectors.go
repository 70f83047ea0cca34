package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/philippgille/chromem-go"

	"github.com/memsearch/memsearch/embed"
	"github.com/memsearch/memsearch/index/vector"
)

// The scan that is measured.
const (
	scanRows = 100_000
	scanDims = 512
	scanRuns = 15
)

// An arm is one way to go over the rows.
type arm struct {
	name  string
	bytes int64
	run   func() error
}

// medians runs the arms in turn, so that a slow moment of the machine hits all,
// and returns the median of each in milliseconds.
func medians(arms []arm, runs int) ([]float64, error) {
	times := make([][]float64, len(arms))
	for range runs {
		for i, a := range arms {
			start := time.Now()
			if err := a.run(); err != nil {
				return nil, err
			}
			times[i] = append(times[i], ms(time.Since(start)))
		}
	}
	out := make([]float64, len(arms))
	for i := range out {
		out[i] = percentile(times[i], .5)
	}
	return out, nil
}

// vectors scans the same rows with our two formats, with chromem-go, and reads as
// many bytes without computing anything.
func vectors(ctx context.Context, s *settings, r *report) (err error) {
	fmt.Fprintln(os.Stderr, "vectors")
	rows := randomRows(s.seed)
	query := rows[scanRows/2]
	var arms []arm
	dst := make([]float32, scanRows)
	for _, f := range []struct {
		name string
		int8 bool
	}{{"int8", true}, {"float32", false}} {
		path := filepath.Join(s.work, f.name+".bin")
		if err := vector.Write(ctx, path, vector.Options{Dims: scanDims, Int8: f.int8}, units(rows)); err != nil {
			return err
		}
		file, err := vector.Open(path)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		n, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		arms = append(arms, arm{f.name + " scan", int64(len(n)), func() error { return file.Scan(ctx, query, dst) }},
			arm{f.name + ": reading as many bytes", int64(len(n)), func() error { return read(n) }})
	}
	db := chromem.NewDB()
	c, err := db.CreateCollection("bench", nil, func(context.Context, string) ([]float32, error) { return query, nil })
	if err != nil {
		return err
	}
	docs := make([]chromem.Document, len(rows))
	for i, row := range rows {
		docs[i] = chromem.Document{ID: strconv.Itoa(i), Embedding: row, Content: "x"}
	}
	if err := c.AddDocuments(ctx, docs, runtime.NumCPU()); err != nil {
		return err
	}
	arms = append(arms, arm{"chromem-go 0.7.0 query, 10 results", int64(scanRows * scanDims * 4), func() error {
		_, err := c.QueryEmbedding(ctx, query, 10, nil, nil)
		return err
	}})
	med, err := medians(arms, scanRuns)
	if err != nil {
		return err
	}
	r.section("Vector scan", fmt.Sprintf("%d rows of %d dimensions, exact, on %d processors, median of %d runs in turn. The faster of the two read-only sums stands for the memory bandwidth.",
		scanRows, scanDims, runtime.NumCPU(), scanRuns))
	out := [][]string{{"what", "median", "rate"}}
	for i, a := range arms {
		out = append(out, []string{a.name, fmt.Sprintf("%.2f ms", med[i]), fmt.Sprintf("%.1f GB/s", float64(a.bytes)/med[i]/1e6)})
	}
	r.table(out)
	rate := func(i int) float64 { return float64(arms[i].bytes) / med[i] }
	r.table([][]string{{"what", "goal", "measured"},
		{"float32 against bandwidth", "≥ 80 %", fmt.Sprintf("%.0f %%", 100*rate(2)/max(rate(1), rate(3)))},
		{"int8", "≤ 3 ms", fmt.Sprintf("%.2f ms", med[0])},
		{"int8 against chromem-go", "≥ 12x", fmt.Sprintf("%.0fx", med[4]/med[0])},
		{"float32 against chromem-go", "–", fmt.Sprintf("%.0fx", med[4]/med[2])}})
	return nil
}

func randomRows(seed uint64) [][]float32 {
	rng := rand.New(rand.NewPCG(seed, scanDims))
	rows := make([][]float32, scanRows)
	for i := range rows {
		rows[i] = make([]float32, scanDims)
		for j := range rows[i] {
			rows[i][j] = float32(rng.NormFloat64())
		}
		embed.Normalize(rows[i])
	}
	return rows
}

func units(rows [][]float32) iter.Seq2[vector.Unit, error] {
	return func(yield func(vector.Unit, error) bool) {
		for _, r := range rows {
			if !yield(vector.Unit{Rows: [][]float32{r}}, nil) {
				return
			}
		}
	}
}

var sink atomic.Uint64

// read adds up the words of b on all processors.
func read(b []byte) error {
	var wg sync.WaitGroup
	n := runtime.NumCPU()
	for i := range n {
		part := b[len(b)*i/n : len(b)*(i+1)/n]
		wg.Go(func() {
			var a, c, d, e uint64
			for len(part) >= 32 {
				a += binary.LittleEndian.Uint64(part)
				c += binary.LittleEndian.Uint64(part[8:])
				d += binary.LittleEndian.Uint64(part[16:])
				e += binary.LittleEndian.Uint64(part[24:])
				part = part[32:]
			}
			sink.Add(a ^ c ^ d ^ e)
		})
	}
	wg.Wait()
	if math.MaxUint64 == sink.Load() {
		return errors.New("unlikely sum")
	}
	return nil
}
