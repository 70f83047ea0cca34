package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/core"
)

// A process is what one run of the binary took.
type process struct {
	wall, cpu time.Duration
	rss       int64 // bytes
}

// exec runs the binary once and reads the kernel's accounting of it.
func (s *settings) exec(ctx context.Context, args ...string) (process, error) {
	var stderr bytes.Buffer
	c := exec.CommandContext(ctx, s.binary, args...)
	c.Stderr = &stderr
	start := time.Now()
	err := c.Run()
	p := process{wall: time.Since(start)}
	if err != nil {
		if x, ok := errors.AsType[*exec.ExitError](err); !ok || x.ExitCode() != 3 {
			return p, fmt.Errorf("memsearch %s: %w: %s", strings.Join(args, " "), err, stderr.String())
		}
	}
	p.cpu = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	p.rss = maxRSS(c.ProcessState)
	return p, nil
}

// A sizeRow holds the figures of one vault.
type sizeRow struct {
	notes                   int
	bytes, index            int64
	build, noop, one        process
	cold50, cold95, coldRSS float64
	warm50, warm95          float64
}

func speed(ctx context.Context, s *settings, r *report) error {
	p, err := readPool(s.text...)
	if err != nil {
		return err
	}
	var rows []sizeRow
	for _, n := range s.sizes {
		fmt.Fprintf(os.Stderr, "speed: %d notes\n", n)
		row, err := s.measure(ctx, p, n)
		if err != nil {
			return fmt.Errorf("%d notes: %w", n, err)
		}
		rows = append(rows, *row)
	}
	r.section("Speed and size", fmt.Sprintf("Vaults by the seeded generator from %d real sentences. cold: the whole process `memsearch recall --json`, %d questions, looking for changed files included. "+
		"warm: `core.Memory.Recall` in one process that watches the vault, %d questions. index, no-op and one-file sync: the whole process `memsearch index`, CPU time of all cores.", len(p.sentences), s.runs, s.questions))
	r.table(speedTable(rows))
	r.section("Peers and goals", "")
	r.table(goalTable(rows))
	return nil
}

func (s *settings) measure(ctx context.Context, p *pool, n int) (*sizeRow, error) {
	dir := filepath.Join(s.work, fmt.Sprintf("vault-%d", n))
	if err := p.write(dir, n, s.seed); err != nil {
		return nil, err
	}
	row := &sizeRow{notes: n}
	var err error
	if row.build, err = s.exec(ctx, "index", "--vault", dir); err != nil {
		return nil, err
	}
	// Files younger than two seconds are read again by every sync; a vault at
	// rest has none.
	time.Sleep(2500 * time.Millisecond)
	if _, err = s.exec(ctx, "index", "--vault", dir); err != nil {
		return nil, err
	}
	if row.noop, err = s.median(ctx, 5, "index", "--vault", dir); err != nil {
		return nil, err
	}
	if row.bytes, row.index, err = sizes(dir); err != nil {
		return nil, err
	}
	questions := p.questions(max(s.runs, s.questions), s.seed)
	if err := s.cold(ctx, dir, questions[:min(s.runs, len(questions))], row); err != nil {
		return nil, err
	}
	if err := warm(ctx, dir, questions, row); err != nil {
		return nil, err
	}
	row.one, err = s.oneFile(ctx, dir)
	return row, err
}

// median returns the run whose CPU time is the median of n.
func (s *settings) median(ctx context.Context, n int, args ...string) (process, error) {
	runs := make([]process, n)
	cpu := make([]float64, n)
	for i := range runs {
		var err error
		if runs[i], err = s.exec(ctx, args...); err != nil {
			return process{}, err
		}
		cpu[i] = ms(runs[i].cpu)
	}
	m := percentile(cpu, .5)
	for _, p := range runs {
		if ms(p.cpu) == m {
			return p, nil
		}
	}
	return runs[0], nil
}

func (s *settings) cold(ctx context.Context, dir string, questions []string, row *sizeRow) error {
	var wall, rss []float64
	for _, q := range questions {
		p, err := s.exec(ctx, "recall", "--json", "--vault", dir, "--", q)
		if err != nil {
			return err
		}
		wall, rss = append(wall, ms(p.wall)), append(rss, float64(p.rss))
	}
	row.cold50, row.cold95, row.coldRSS = percentile(wall, .5), percentile(wall, .95), percentile(rss, .5)
	return nil
}

func warm(ctx context.Context, dir string, questions []string, row *sizeRow) (err error) {
	m, err := core.Open(ctx, []core.Scope{{Name: "bench", Dir: dir}}, &core.Options{Watch: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	var wall []float64
	for i, q := range questions {
		start := time.Now()
		if _, err := m.Recall(ctx, memsearch.Query{Text: q}); err != nil {
			return err
		}
		if i >= 20 { // caches and pools are warm by then
			wall = append(wall, ms(time.Since(start)))
		}
	}
	row.warm50, row.warm95 = percentile(wall, .5), percentile(wall, .95)
	return nil
}

// oneFile measures the sync after one note changed, the median of five.
func (s *settings) oneFile(ctx context.Context, dir string) (process, error) {
	var first string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && first == "" && strings.HasSuffix(name, ".md") && !strings.Contains(name, ".memsearch") {
			first = name
		}
		return err
	})
	if err != nil {
		return process{}, err
	}
	runs := make([]process, 5)
	for i := range runs {
		f, err := os.OpenFile(first, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return process{}, err
		}
		_, err = fmt.Fprintf(f, "\nChanged %d times.\n", i+1)
		if err := errors.Join(err, f.Close()); err != nil {
			return process{}, err
		}
		if runs[i], err = s.exec(ctx, "index", "--vault", dir); err != nil {
			return process{}, err
		}
	}
	best := runs[0]
	for _, p := range runs[1:] {
		if p.cpu < best.cpu {
			best = p
		}
	}
	return best, nil
}

// sizes adds up the notes and the derived files of a vault.
func sizes(dir string) (notes, index int64, err error) {
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		if strings.Contains(name, string(filepath.Separator)+".memsearch"+string(filepath.Separator)) {
			index += fi.Size()
		} else {
			notes += fi.Size()
		}
		return nil
	})
	return notes, index, err
}

func speedTable(rows []sizeRow) [][]string {
	out := [][]string{{"notes", "text", "index", "cold p50 / p95", "cold RSS", "warm p50 / p95", "index from nothing: CPU, RSS", "no-op sync: CPU, wall", "one-file sync: CPU, wall"}}
	for _, r := range rows {
		out = append(out, []string{
			fmt.Sprint(r.notes), mib(r.bytes), mib(r.index),
			fmt.Sprintf("%.1f / %.1f ms", r.cold50, r.cold95), mib(int64(r.coldRSS)),
			fmt.Sprintf("%.2f / %.2f ms", r.warm50, r.warm95),
			fmt.Sprintf("%.2f s, %s", r.build.cpu.Seconds(), mib(r.build.rss)),
			fmt.Sprintf("%.0f ms, %.0f ms", ms(r.noop.cpu), ms(r.noop.wall)),
			fmt.Sprintf("%.0f ms, %.0f ms", ms(r.one.cpu), ms(r.one.wall)),
		})
	}
	return out
}

// goalTable sets the figures at 10,000 notes beside the goals and the peers.
func goalTable(rows []sizeRow) [][]string {
	out := [][]string{{"what", "peer", "goal", "measured"}}
	var first, last *sizeRow
	for i := range rows {
		r := &rows[i]
		if r.notes == 1000 {
			first = r
		}
		if r.notes == 100_000 {
			last = r
		}
		if r.notes != 10_000 {
			continue
		}
		out = append(out,
			[]string{"cold recall, 10,000 notes", "QMD 2.8.3 lexical only 242 ms, 75 MiB; deja-vu 185 ms", "≤ 40 ms, ≤ 60 MiB", fmt.Sprintf("%.1f ms, %s", r.cold50, mib(int64(r.coldRSS)))},
			[]string{"warm recall p50 / p95, 10,000 notes", "QMD 35 ms", "≤ 3 / ≤ 8 ms", fmt.Sprintf("%.2f / %.2f ms", r.warm50, r.warm95)},
			[]string{"index 10,000 notes from nothing, with vectors", "QMD 13.0 s CPU, 512 MiB (no vectors)", "≤ 5 s CPU, ≤ 200 MiB", fmt.Sprintf("%.2f s, %s", r.build.cpu.Seconds(), mib(r.build.rss))},
			[]string{"no-op sync, 10,000 notes", "QMD 1.7 s CPU", "≤ 100 ms", fmt.Sprintf("%.0f ms CPU", ms(r.noop.cpu))})
	}
	if first != nil && last != nil {
		out = append(out, []string{"growth of warm p50, 1,000 to 100,000 notes", "–", "≤ 10x", fmt.Sprintf("%.1fx", last.warm50/first.warm50)},
			[]string{"100,000 notes", "–", "within 1 GiB", fmt.Sprintf("index %s, cold recall %s RSS", mib(last.build.rss), mib(int64(last.coldRSS)))})
	}
	return out
}
