package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/memsearch/memsearch/embed/static"
	"github.com/memsearch/memsearch/eval"
)

// A dataset is one corpus with questions below the evaluation data.
type dataset struct {
	name, corpus, queries, qrels string
	extra                        string // joined to the corpus; may be empty
	every                        int    // take every n-th question; 0: all
}

var datasets = []dataset{
	{name: "scifact_dev", corpus: "scifact_dev/corpus.jsonl", queries: "scifact_dev/queries.jsonl", qrels: "scifact_dev/qrels.tsv"},
	{name: "cranfield", corpus: "cranfield/corpus", queries: "cranfield/queries.jsonl", qrels: "cranfield/qrels.tsv"},
	{name: "locomo_dev turn", corpus: "locomo_dev/turn/corpus.jsonl", queries: "locomo_dev/queries.jsonl", qrels: "locomo_dev/turn/qrels.tsv"},
	{name: "locomo_dev observation", corpus: "locomo_dev/observation/corpus", queries: "locomo_dev/queries.jsonl", qrels: "locomo_dev/observation/qrels.tsv"},
	{name: "locomo_dev session", corpus: "locomo_dev/session/corpus", queries: "locomo_dev/queries.jsonl", qrels: "locomo_dev/session/qrels.tsv"},
	{name: "locomo_time_dev session", corpus: "locomo_time_dev/session/corpus", queries: "locomo_time_dev/queries.jsonl", qrels: "locomo_time_dev/session/qrels.tsv"},
	{name: "locomo_plus_dev", corpus: "locomo_plus_dev/corpus.jsonl", queries: "locomo_plus_dev/queries.jsonl", qrels: "locomo_plus_dev/qrels.tsv"},
	{name: "longmemeval3", corpus: "longmemeval3/corpus", queries: "longmemeval3/queries.jsonl", qrels: "longmemeval3/qrels.tsv"},
	{name: "memdaily_dev", corpus: "memdaily_dev/corpus.jsonl", queries: "memdaily_dev/queries.jsonl", qrels: "memdaily_dev/qrels.tsv"},
	{name: "memdaily_dev + noise, 1/5", corpus: "memdaily_dev/corpus.jsonl", extra: "memdaily_dev/noise.jsonl", queries: "memdaily_dev/queries.jsonl", qrels: "memdaily_dev/qrels.tsv", every: 5},
	{name: "memorybank cn", corpus: "memorybank/cn/corpus", queries: "memorybank/cn/queries.jsonl", qrels: "memorybank/cn/qrels.tsv"},
	{name: "memorybank en", corpus: "memorybank/en/corpus", queries: "memorybank/en/queries.jsonl", qrels: "memorybank/en/qrels.tsv"},
	{name: "cmrc2018_zh", corpus: "cmrc2018_zh/corpus.jsonl", queries: "cmrc2018_zh/queries.jsonl", qrels: "cmrc2018_zh/qrels.tsv"},
}

// paraphrases is the project's own set: questions that share no word with their
// note.
var paraphrases = dataset{name: "paraphrases (own)", corpus: "corpus.jsonl", queries: "queries.jsonl", qrels: "qrels.tsv"}

// quality evaluates every data set that is there.
func quality(ctx context.Context, s *settings, r *report) error {
	m, err := static.Shared()
	if err != nil {
		return err
	}
	build := eval.NewBuilder(&eval.EngineOptions{Embedder: m, Now: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)})
	head := []string{"set", "questions", "arm", "nDCG@10", "R@5", "R@10", "R@100", "hybrid - arm: nDCG@10", "hybrid - arm: R@10"}
	table := [][]string{head}
	run := func(root string, d dataset) error {
		fmt.Fprintln(os.Stderr, "quality:", d.name)
		rep, err := d.evaluate(ctx, root, build, s.seed)
		if err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
		table = append(table, qualityRows(d.name, rep)...)
		return nil
	}
	absent := []string{}
	for _, d := range datasets {
		if _, err := os.Stat(filepath.Join(s.data, filepath.FromSlash(d.corpus))); err != nil {
			absent = append(absent, d.name)
			continue
		}
		if err := run(s.data, d); err != nil {
			return err
		}
	}
	if err := run(filepath.Join("eval", "testdata", "paraphrases"), paraphrases); err != nil {
		return err
	}
	text := "One index per conversation, adversarial questions left out, 95 % intervals from 2,000 paired bootstrap draws over questions."
	if len(absent) > 0 {
		text += fmt.Sprintf(" Not measured, as the data was not there: %v.", absent)
	}
	r.section("Quality", text)
	r.table(table)
	return nil
}

func (d dataset) evaluate(ctx context.Context, root string, build eval.Builder, seed uint64) (*eval.Report, error) {
	at := func(p string) string { return filepath.Join(root, filepath.FromSlash(p)) }
	paths := []string{at(d.corpus)}
	if d.extra != "" {
		paths = append(paths, at(d.extra))
	}
	docs, err := eval.LoadCorpus(nil, paths...)
	if err != nil {
		return nil, err
	}
	qs, err := eval.LoadQuestions(at(d.queries), nil)
	if err != nil {
		return nil, err
	}
	if d.every > 1 {
		var some []eval.Question
		for i := 0; i < len(qs); i += d.every {
			some = append(some, qs[i])
		}
		qs = some
	}
	qrels, err := eval.LoadQrels(at(d.qrels))
	if err != nil {
		return nil, err
	}
	return eval.Retrieval(ctx, build, docs, qs, qrels, &eval.Options{Arms: []string{eval.ArmBM25, eval.ArmVector, eval.ArmHybrid}, Seed: seed})
}

func qualityRows(name string, rep *eval.Report) [][]string {
	diff := map[string]eval.Difference{}
	for _, d := range rep.Differences {
		diff[d.Minus] = d
	}
	show := func(d eval.Difference, metric string) string {
		i, ok := d.Metric[metric]
		if !ok {
			return ""
		}
		return fmt.Sprintf("%+.3f [%+.3f, %+.3f]", i.Mean, i.Low, i.High)
	}
	var out [][]string
	for _, a := range rep.Arms {
		d := diff[a.Arm]
		out = append(out, []string{name, fmt.Sprint(rep.Questions), a.Arm, fmt.Sprintf("%.3f", a.All.NDCG), fmt.Sprintf("%.3f", a.All.R5),
			fmt.Sprintf("%.3f", a.All.R10), fmt.Sprintf("%.3f", a.All.R100), show(d, "ndcg"), show(d, "r10")})
		name = ""
	}
	return out
}
