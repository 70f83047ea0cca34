package eval_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memsearch/memsearch/eval"
)

// fixed ranks as a table says.
type fixed map[string][]string // arm/question -> documents

func (f fixed) Rank(_ context.Context, q eval.Question, arm string, depth int) ([]eval.Ranked, error) {
	var out []eval.Ranked
	for i, id := range f[arm+"/"+q.ID] {
		if i < depth {
			out = append(out, eval.Ranked{ID: id, Score: 1 / float64(1+i/2)}) // pairs of equal scores
		}
	}
	return out, nil
}
func (f fixed) Close() error { return nil }

func write(t *testing.T, name, text string) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestMissingDocuments guards against scores that are low because the corpus is
// not the one that was judged.
func TestMissingDocuments(t *testing.T) {
	docs := []eval.Document{{ID: "a", Conversation: "c1"}}
	qs := []eval.Question{{ID: "q1", Conversation: "c1"}, {ID: "q2", Conversation: "c2"}, {ID: "q3", Conversation: "c1"}}
	qrels := eval.Qrels{"q1": {"a": 1, "lost": 1}, "q2": {"lost": 2, "b": 1}, "other": {"c": 1}}
	build := func(context.Context, []eval.Document) (eval.Ranker, error) { return fixed{}, nil }
	rep, err := eval.Retrieval(t.Context(), build, docs, qs, qrels, &eval.Options{Arms: []string{eval.ArmBM25}})
	if err != nil {
		t.Fatal(err)
	}
	if rep.MissingDocuments != 2 || rep.NoDocuments != 1 {
		t.Errorf("%d documents are missing, %d questions without any; want 2 and 1", rep.MissingDocuments, rep.NoDocuments)
	}
	for _, want := range []string{"\n2 documents that judgements name not in the corpus", "\n1 question of conversations that have no documents"} {
		if !strings.Contains(rep.Text(), want) {
			t.Errorf("no %q in\n%s", want, rep.Text())
		}
	}
}

func TestRetrieval(t *testing.T) {
	docs, err := eval.LoadCorpus(nil, write(t, "corpus.jsonl", `
{"id":"a","text":"one","conversation":"c1"}
{"id":"b","text":"two","conversation":"c2"}
{"id":"n","text":"noise","conversation":"*"}
`))
	if err != nil {
		t.Fatal(err)
	}
	qs, err := eval.LoadQuestions(write(t, "queries.jsonl", `{"id":"q1","text":"first?","conversation":"c1","category":"x","query_date":"2023-10-22"}
{"id":"q2","text":"second?","conversation":"c2","category":"y"}
{"id":"q3","text":"trap?","conversation":"c2","category":"adversarial"}
{"id":"q4","text":"unjudged?","conversation":"c2"}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := qs[0].Now.Format("2006-01-02 15:04:05"); got != "2023-10-22 23:59:59" {
		t.Errorf("now is %s", got)
	}
	qrels, err := eval.LoadQrels(write(t, "qrels.tsv", "q1\t0\ta\t1\nq2\t0\tb\t1\nq3\t0\tb\t1\nq2\t0\tn\t0\n"))
	if err != nil {
		t.Fatal(err)
	}
	var sizes []int
	table := fixed{"bm25/q1": {"n", "a"}, "bm25/q2": {"b"}, "hybrid/q1": {"a", "n"}, "hybrid/q2": {"b", "n"}, "bm25/q3": {"n"}, "vector/q1": {"n"}}
	build := func(_ context.Context, d []eval.Document) (eval.Ranker, error) {
		sizes = append(sizes, len(d))
		return table, nil
	}
	dir := t.TempDir()
	rep, err := eval.Retrieval(t.Context(), build, docs, qs, qrels, &eval.Options{Arms: []string{eval.ArmBM25, eval.ArmHybrid}, RunDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if len(sizes) != 2 || sizes[0] != 2 || sizes[1] != 2 {
		t.Errorf("each conversation should have its document and the noise: %v", sizes)
	}
	if rep.Questions != 2 || rep.Adversarial != 1 || rep.Unjudged != 1 {
		t.Errorf("counts: %+v", rep)
	}
	bm25, hybrid := rep.Arms[0], rep.Arms[1]
	if bm25.All.MRR != .75 || hybrid.All.MRR != 1 || bm25.Adversarial.Scores.MRR != 0 || bm25.Categories[0].Scores.R1 != 0 {
		t.Errorf("bm25 %+v, hybrid %+v", bm25.All, hybrid.All)
	}
	if d := rep.Differences[0]; d.Minus != eval.ArmBM25 || math.Abs(d.Metric["mrr"].Mean-.25) > 1e-12 {
		t.Errorf("difference %+v", rep.Differences)
	}
	b, err := os.ReadFile(filepath.Join(dir, "bm25.trec"))
	if err != nil {
		t.Fatal(err)
	}
	want := "q1 Q0 n 1 1.000000 bm25\nq1 Q0 a 2 0.999999 bm25\nq2 Q0 b 1 1.000000 bm25\nq3 Q0 n 1 1.000000 bm25\n"
	if string(b) != want {
		t.Errorf("run file:\n%swant:\n%s", b, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "vector.trec")); err != nil {
		t.Error("the vector arm has no run file")
	}
}

func TestLoadRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		load func(string) error
		text string
		want string
	}{
		"twice":       {corpus, `{"id":"a"}` + "\n" + `{"id":"a"}`, "occurs twice"},
		"no id":       {corpus, `{"text":"x"}`, "line 1"},
		"not JSON":    {corpus, "{}\n{", "no id"},
		"empty":       {corpus, "\n", "no data"},
		"date":        {questions, `{"id":"a","text":"b","query_date":"soon"}`, "not a date"},
		"no text":     {questions, `{"id":"a","text":" "}`, "no text"},
		"columns":     {qrels, "a 0 b", "4 columns"},
		"grade":       {qrels, "a 0 b much", "whole number"},
		"only zeroes": {qrels, "a 0 b 0", "no data"},
	} {
		err := tt.load(write(t, "f", tt.text))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q in it", name, err, tt.want)
		}
	}
	if err := corpus(filepath.Join(t.TempDir(), "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
}

func corpus(p string) error    { _, err := eval.LoadCorpus(nil, p); return err }
func questions(p string) error { _, err := eval.LoadQuestions(p, nil); return err }
func qrels(p string) error     { _, err := eval.LoadQrels(p); return err }

// A folder is a corpus: ids and conversations come from the front matter.
func TestLoadFolder(t *testing.T) {
	p := write(t, "sub/x.md", "---\nid: doc-1\nconversation: c9\n---\nBody.\n")
	docs, err := eval.LoadCorpus(nil, filepath.Dir(filepath.Dir(p)))
	if err != nil || len(docs) != 1 || docs[0].ID != "doc-1" || docs[0].Conversation != "c9" || docs[0].Path != "sub/x.md" {
		t.Errorf("got %+v, %v", docs, err)
	}
}
