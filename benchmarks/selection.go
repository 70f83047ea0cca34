package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/memsearch/memsearch/eval"
)

// A selectionSet is a data set with the numbers of memories it is compared at.
type selectionSet struct {
	dataset
	sizes string
}

// selectionSets are the data sets that selections are compared on: short notes of
// conversations, and abstracts. Other conversations join only where the first have
// too few notes: theirs are newer, so that a catalog, which shows the newest, has
// nothing else.
var selectionSets = []selectionSet{
	{dataset{name: "locomo_dev turn", corpus: "locomo_dev/turn/corpus.jsonl", queries: "locomo_dev/queries.jsonl", qrels: "locomo_dev/turn/qrels.tsv"},
		"50,200,1000"},
	{dataset{name: "locomo_dev turn among memdaily_dev", corpus: "locomo_dev/turn/corpus.jsonl", extra: "memdaily_dev/corpus.jsonl",
		queries: "locomo_dev/queries.jsonl", qrels: "locomo_dev/turn/qrels.tsv"}, "10000"},
	{dataset{name: "scifact_dev", corpus: "scifact_dev/corpus.jsonl", queries: "scifact_dev/queries.jsonl", qrels: "scifact_dev/qrels.tsv"},
		"50,200,1000,10000"},
}

// selection compares ways to choose what goes into a context, with the command and
// an oracle in place of a model.
func selection(ctx context.Context, s *settings, r *report) error {
	table := [][]string{{"set", "memories", "arm", "R@5", "nDCG@10", "precision", "nothing", "asked", "calls", "tokens in", "out", "same", "p50 / p95 ms", "nDCG@10 - hybrid"}}
	var absent []string
	for _, d := range selectionSets {
		if _, err := os.Stat(filepath.Join(s.data, filepath.FromSlash(d.corpus))); err != nil {
			absent = append(absent, d.name)
			continue
		}
		fmt.Fprintln(os.Stderr, "selection:", d.name)
		rep, err := s.compare(ctx, d)
		if err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
		table = append(table, selectionRows(d.name, rep)...)
	}
	text := "Ways to choose what goes into a context (docs/evaluation.md). The model is an oracle that answers from the judgements: rows that ask it are ceilings, which show what reaches a model, " +
		"and their times hold no model's. `llm-selection` sees the newest 200 lines or 25,000 bytes of the catalog; among the newer notes of memdaily_dev those are none of locomo_dev. " +
		"Command: `memsearch eval selection --oracle --repeat 2`, up to 100 questions, k 10, budget 2,000 tokens, 20 candidates."
	if len(absent) > 0 {
		text += fmt.Sprintf(" Not measured, as the data was not there: %v.", absent)
	}
	r.section("Selection", text)
	r.table(table)
	return nil
}

func (s *settings) compare(ctx context.Context, d selectionSet) (*eval.SelectionReport, error) {
	at := func(p string) string { return filepath.Join(s.data, filepath.FromSlash(p)) }
	args := []string{"eval", "selection", "--json", "--oracle", "--repeat", "2", "--sizes", d.sizes, "--now", "2026-11-29T12:00:00Z", "--seed", fmt.Sprint(s.seed),
		"--corpus", at(d.corpus), "--queries", at(d.queries), "--qrels", at(d.qrels)}
	if d.extra != "" {
		args = append(args, "--corpus", at(d.extra))
	}
	cmd := exec.CommandContext(ctx, s.binary, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	rep := &eval.SelectionReport{}
	if err := json.Unmarshal(out, rep); err != nil {
		return nil, errors.Join(errors.New("read the report"), err)
	}
	return rep, nil
}

func selectionRows(name string, rep *eval.SelectionReport) [][]string {
	var out [][]string
	for _, size := range rep.Sizes {
		memories := fmt.Sprintf("%d (%d questions)", size.Memories, size.Questions)
		for _, a := range size.Arms {
			minus := ""
			if d, ok := a.Minus["ndcg"]; ok {
				minus = fmt.Sprintf("%+.3f [%+.3f, %+.3f]", d.Mean, d.Low, d.High)
			}
			precision := "–"
			if a.Nothing < 1 {
				precision = fmt.Sprintf("%.2f", a.Precision)
			}
			i := a.Intervals["r5"]
			out = append(out, []string{name, memories, a.Arm, fmt.Sprintf("%.3f [%.3f, %.3f]", a.R5, i.Low, i.High), fmt.Sprintf("%.3f", a.NDCG),
				precision, fmt.Sprintf("%.2f", a.Nothing), fmt.Sprintf("%.2f", a.Asked), fmt.Sprintf("%.2f", a.Calls), fmt.Sprintf("%.0f", a.TokensIn),
				fmt.Sprintf("%.0f", a.TokensOut), fmt.Sprintf("%.2f", a.Same), fmt.Sprintf("%.1f / %.1f", a.Latency.P50, a.Latency.P95), minus})
			name, memories = "", ""
		}
	}
	return out
}
