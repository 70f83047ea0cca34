// Command benchmarks measures memsearch and writes RESULTS.md.
//
//	go run ./benchmarks -out benchmarks/RESULTS.md
//
// Vaults of 1,000 to 100,000 notes are made by a seeded generator from real
// sentences. Every figure is taken from the program as users run it: a cold
// recall is a whole process, its start included. Peers that are Go libraries run
// side by side in the same process; figures of other tools are quoted with their
// source. Absolute times belong to the machine they are printed with; ratios
// carry over.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// settings are the flags.
type settings struct {
	data, out, work string
	text            []string
	sizes           []int
	only            []string
	runs, questions int
	seed            uint64
	binary          string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "benchmarks:", err)
		os.Exit(1)
	}
}

func parse(args []string) (*settings, error) {
	var s settings
	var sizes, only, text string
	f := flag.NewFlagSet("benchmarks", flag.ContinueOnError)
	f.StringVar(&s.out, "out", "", "file to write; empty: standard output")
	f.StringVar(&s.data, "data", "", "evaluation data (default $MEMSEARCH_DATA, then ../shared/data)")
	f.StringVar(&text, "text", "", "folders to take sentences from, parted by commas (default: notes and conversations of -data, else this repository)")
	f.StringVar(&sizes, "sizes", "1000,10000,100000", "notes per vault")
	f.StringVar(&only, "only", "", "parts to run: speed, vectors, quality, selection (default all)")
	f.StringVar(&s.work, "work", "", "folder for vaults (default: temporary, deleted afterwards)")
	f.IntVar(&s.runs, "runs", 40, "cold recalls per size")
	f.IntVar(&s.questions, "questions", 500, "warm recalls per size")
	f.Uint64Var(&s.seed, "seed", 1, "seed of the generator")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if s.data == "" {
		s.data = os.Getenv("MEMSEARCH_DATA")
	}
	if s.data == "" {
		s.data = filepath.Join("..", "shared", "data")
	}
	for n := range strings.SplitSeq(sizes, ",") {
		v, err := strconv.Atoi(n)
		if err != nil || v < 1 {
			return nil, fmt.Errorf("size %q is not a number of notes", n)
		}
		s.sizes = append(s.sizes, v)
	}
	if only != "" {
		s.only = strings.Split(only, ",")
	}
	if text != "" {
		s.text = strings.Split(text, ",")
	} else {
		s.text = s.defaultText()
	}
	return &s, nil
}

// defaultText is where sentences come from: the evaluation data when it is there.
func (s *settings) defaultText() []string {
	var out []string
	for _, p := range []string{"vault_til/files", "locomo_dev/turn", "memdaily_dev"} {
		full := filepath.Join(s.data, filepath.FromSlash(p))
		if _, err := os.Stat(full); err == nil {
			out = append(out, full)
		}
	}
	if out == nil {
		out = []string{"README.md", "CONTRIBUTING.md", "docs", "examples", "embed"}
	}
	return out
}

func (s *settings) wants(part string) bool { return s.only == nil || slices.Contains(s.only, part) }

func run(ctx context.Context, args []string) (err error) {
	s, err := parse(args)
	if err != nil {
		return err
	}
	if s.work == "" {
		if s.work, err = os.MkdirTemp("", "memsearch-benchmarks-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(s.work)) }()
	}
	s.binary = filepath.Join(s.work, "memsearch")
	build := exec.CommandContext(ctx, "go", "build", "-o", s.binary, "./cmd/memsearch")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build memsearch: %w", err)
	}
	r := newReport(args)
	for _, part := range []struct {
		name string
		run  func(context.Context, *settings, *report) error
	}{{"speed", speed}, {"vectors", vectors}, {"quality", quality}, {"selection", selection}} {
		if !s.wants(part.name) {
			continue
		}
		if err := part.run(ctx, s, r); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	if s.out == "" {
		fmt.Print(r.String())
		return nil
	}
	return os.WriteFile(s.out, []byte(r.String()), 0o644)
}
