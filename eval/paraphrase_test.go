package eval_test

import (
	"path/filepath"
	"testing"

	"github.com/memsearch/memsearch/embed/static"
	"github.com/memsearch/memsearch/eval"
)

// The paraphrases share no word with their notes: keywords find few of them,
// the built-in model most.
func TestParaphrases(t *testing.T) {
	model, err := static.Shared()
	if err != nil {
		t.Fatal(err)
	}
	dir := "testdata/paraphrases"
	docs, err := eval.LoadCorpus(nil, filepath.Join(dir, "corpus.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	qs, err := eval.LoadQuestions(filepath.Join(dir, "queries.jsonl"), nil)
	if err != nil {
		t.Fatal(err)
	}
	qrels, err := eval.LoadQrels(filepath.Join(dir, "qrels.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	build := eval.NewBuilder(&eval.EngineOptions{Embedder: model, Now: day1})
	r, err := eval.Retrieval(t.Context(), build, docs, qs, qrels, &eval.Options{Arms: []string{eval.ArmBM25, eval.ArmHybrid}, Resamples: 50})
	if err != nil {
		t.Fatal(err)
	}
	if r.Questions != 100 {
		t.Errorf("%d questions, want 100", r.Questions)
	}
	if got := r.Arms[0].All.R10; got > .2 {
		t.Errorf("BM25 finds %.2f in the first 10: the paraphrases share words with their notes", got)
	}
	if got := r.Arms[1].All.R10; got < .75 {
		t.Errorf("hybrid finds %.2f in the first 10, want .75", got)
	}
	for _, c := range r.Arms[1].Categories {
		if c.Category == "zh-en" && c.Scores.R10 < .85 {
			t.Errorf("Chinese questions find %.2f of English notes in the first 10, want .85", c.Scores.R10)
		}
	}
}
