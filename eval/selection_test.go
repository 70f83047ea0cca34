package eval_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch/embed/static"
	"github.com/memsearch/memsearch/eval"
	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/internal/llm/llmtest"
	"github.com/memsearch/memsearch/recall"
	"github.com/memsearch/memsearch/rerank"
)

// birds is a corpus of n notes, the first of which answer one question each.
func birds(n int) ([]eval.Document, []eval.Question, eval.Qrels) {
	names := []string{"avocet", "bittern", "curlew", "dunlin", "egret", "fulmar"}
	var docs []eval.Document
	var qs []eval.Question
	qrels := eval.Qrels{}
	for i := range n {
		d := eval.Document{ID: fmt.Sprintf("d%03d", i), CreatedAt: time.Date(2026, 1, 1, 0, i, 0, 0, time.UTC),
			Text: fmt.Sprintf("Note %d: nothing but weather over the marsh, wind force %d.", i, i%9)}
		if i < len(names) {
			if i%2 == 0 {
				d.Title = fmt.Sprintf("Sighting %d", i)
			}
			d.Text = fmt.Sprintf("The %s was seen from hide number %d at low tide.", names[i], i+1)
			if i == 2 { // more than a model is shown
				d.Text += strings.Repeat(" Then it probed the mud for worms, shrimps and small crabs until the water came back.", 30)
			}
			id := fmt.Sprintf("q%d", i)
			qs = append(qs, eval.Question{ID: id, Text: "from which hide was the " + names[i] + " seen"})
			qrels[id] = map[string]int{d.ID: 1}
		}
		docs = append(docs, d)
	}
	return docs, qs, qrels
}

func staticEngine(t *testing.T) *eval.EngineOptions {
	t.Helper()
	m, err := static.Shared()
	if err != nil {
		t.Fatal(err)
	}
	return &eval.EngineOptions{Embedder: m, Now: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)}
}

func newClient(t *testing.T, url string, o *llm.Options) *llm.Client {
	t.Helper()
	c, err := llm.New(llm.Profile{Name: "rerank", BaseURL: url, APIKeyEnv: "", Model: "m", PriceIn: new(1.0)}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func oracle(t *testing.T) (*eval.Oracle, *llm.Client) {
	t.Helper()
	o, err := eval.NewOracle()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close() })
	return o, newClient(t, o.URL, nil)
}

// TestSelectionOracle: with a model that knows the answers, reranking finds and
// injects them alone; a catalog does as long as it holds them.
func TestSelectionOracle(t *testing.T) {
	docs, qs, qrels := birds(400)
	o, c := oracle(t)
	rep, err := eval.Selection(t.Context(), staticEngine(t), docs, qs, qrels, &eval.SelectionOptions{Sizes: []int{50, 1000}, Repeat: 2, Resamples: 50,
		Listwise: rerank.NewListwise(c, &rerank.ListwiseOptions{Model: "m"}), Selector: rerank.NewSelector(c, &rerank.SelectorOptions{Model: "m"}),
		CrossEncoder: rerank.NewCrossEncoder(c, &rerank.CrossEncoderOptions{Model: "m"}), Oracle: o})
	if err != nil {
		t.Fatal(err)
	}
	if len(rep.Sizes) != 2 || rep.Sizes[0].Memories != 50 || rep.Sizes[1].Memories != 400 || rep.Sizes[1].Asked != 1000 {
		t.Fatalf("sizes %+v", rep.Sizes)
	}
	for i, size := range rep.Sizes {
		if size.Questions != 6 || len(size.Arms) != len(eval.SelectionArms) {
			t.Fatalf("%d memories: %d questions, %d arms", size.Memories, size.Questions, len(size.Arms))
		}
		for _, a := range size.Arms {
			if a.Same != 1 {
				t.Errorf("%s: the same selection in only %v", a.Arm, a.Same)
			}
			switch a.Arm {
			case eval.ArmAlways:
				if a.R5 != 1 || a.NDCG != 1 || a.Precision != 1 || a.Asked != 1 || a.Calls != 1 {
					t.Errorf("%d memories, %s: %+v", size.Memories, a.Arm, a)
				}
			case eval.ArmCrossEncoder:
				if a.R5 != 1 || a.NDCG != 1 || a.Asked != 1 {
					t.Errorf("%d memories, %s: %+v", size.Memories, a.Arm, a)
				}
			case eval.ArmSelection:
				// Of 400 the catalog shows the newest 200; the answers are the oldest.
				want := []float64{1, 0}[i]
				if a.R5 != want || a.Nothing != 1-want {
					t.Errorf("%d memories, %s: %+v", size.Memories, a.Arm, a)
				}
			case eval.ArmBM25, eval.ArmVector, eval.ArmHybrid:
				if a.Asked != 0 || a.Calls != 0 || a.TokensIn != 0 {
					t.Errorf("%s asked a model: %+v", a.Arm, a)
				}
			}
		}
	}
	for _, want := range []string{"oracle", "400 memories, 6 questions (1000 were asked for", "hybrid+rerank(always) - hybrid"} {
		if !strings.Contains(rep.Text(), want) {
			t.Errorf("no %q in\n%s", want, rep.Text())
		}
	}
}

// withoutTimes is a report as JSON whose latencies are gone.
func withoutTimes(t *testing.T, r *eval.SelectionReport) string {
	t.Helper()
	for i := range r.Sizes {
		for j := range r.Sizes[i].Arms {
			r.Sizes[i].Arms[j].Latency = eval.LatencyReport{}
		}
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestSelectionFromCassette: a recorded evaluation repeats without a server, byte
// for byte, and does not start with half a recording.
func TestSelectionFromCassette(t *testing.T) {
	docs, qs, qrels := birds(60)
	srv := llmtest.Start(llmtest.Text(`{"ranking": [{"n": 1, "grade": 3}]}`))
	file := filepath.Join(t.TempDir(), "c.jsonl")
	run := func(mode llm.CassetteMode, questions int) (*eval.SelectionReport, error) {
		t.Helper()
		tape, err := llm.OpenCassette(file, mode)
		if err != nil {
			t.Fatal(err)
		}
		c := newClient(t, srv.URL, &llm.Options{Cassette: tape})
		return eval.Selection(t.Context(), staticEngine(t), docs, qs, qrels, &eval.SelectionOptions{Sizes: []int{50}, Questions: questions, Repeat: 2,
			Resamples: 50, Arms: []string{eval.ArmHybrid, eval.ArmAlways}, Listwise: rerank.NewListwise(c, &rerank.ListwiseOptions{Model: "m"})})
	}
	recorded, err := run(llm.CassetteRecord, 4)
	if err != nil {
		t.Fatal(err)
	}
	if srv.Count() != 8 || recorded.Spent.Calls != 8 {
		t.Errorf("%d requests, %d calls counted, want 4 questions asked twice", srv.Count(), recorded.Spent.Calls)
	}
	srv.Close()
	first, err := run(llm.CassetteReplay, 4)
	if err != nil {
		t.Fatal(err)
	}
	second, err := run(llm.CassetteReplay, 4)
	if err != nil {
		t.Fatal(err)
	}
	want := withoutTimes(t, recorded)
	if d := cmp.Diff(want, withoutTimes(t, first)); d != "" {
		t.Errorf("recorded and replayed differ:\n%s", d)
	}
	if d := cmp.Diff(want, withoutTimes(t, second)); d != "" {
		t.Errorf("two replays differ:\n%s", d)
	}
	_, err = run(llm.CassetteReplay, 6)
	if missing, ok := errors.AsType[*llm.MissingError](err); !ok || missing.Prompt != "rerank@1" {
		t.Errorf("more questions than were recorded: %v", err)
	}
}

// TestSelectionStopsAtACap: what was asked before is reported, the question at
// which it stopped is not.
func TestSelectionStopsAtACap(t *testing.T) {
	docs, qs, qrels := birds(60)
	srv := llmtest.New(t, llmtest.Text(`{"ranking": []}`))
	c := newClient(t, srv.URL, &llm.Options{Caps: llm.Caps{RunCalls: 3}})
	o := &eval.SelectionOptions{Sizes: []int{50}, Repeat: 1, Resamples: 50, Arms: []string{eval.ArmHybrid, eval.ArmAlways},
		Listwise: rerank.NewListwise(c, &rerank.ListwiseOptions{Model: "m"})}
	rep, err := eval.Selection(t.Context(), staticEngine(t), docs, qs, qrels, o)
	if err != nil {
		t.Fatal(err)
	}
	if rep.Sizes[0].Questions != 3 || !strings.Contains(rep.Stopped, "3 calls per run") || srv.Count() != 3 {
		t.Errorf("%d questions, stopped %q, %d requests", rep.Sizes[0].Questions, rep.Stopped, srv.Count())
	}
	if !strings.Contains(rep.Text(), "STOPPED: ") {
		t.Errorf("the text does not say so:\n%s", rep.Text())
	}
	if _, err := eval.Selection(t.Context(), staticEngine(t), docs, qs, qrels, o); err == nil {
		t.Error("a report without one question")
	}
}

// TestSelectionSurvivesAModel: faults are counted, and the fused order counts.
func TestSelectionSurvivesAModel(t *testing.T) {
	docs, qs, qrels := birds(60)
	srv := llmtest.New(t, llmtest.Text("no idea"))
	c := newClient(t, srv.URL, nil)
	rep, err := eval.Selection(t.Context(), staticEngine(t), docs, qs, qrels, &eval.SelectionOptions{Sizes: []int{50}, Repeat: 1, Resamples: 50,
		Arms: []string{eval.ArmHybrid, eval.ArmAlways}, Listwise: rerank.NewListwise(c, &rerank.ListwiseOptions{Model: "m"})})
	if err != nil {
		t.Fatal(err)
	}
	arms := rep.Sizes[0].Arms
	if arms[1].Failed != 6 || arms[1].NDCG != arms[0].NDCG || arms[1].R5 != arms[0].R5 {
		t.Errorf("hybrid %+v\nwith a model that fails %+v", arms[0], arms[1])
	}
}

func TestSelectionOptions(t *testing.T) {
	docs, qs, qrels := birds(10)
	for _, o := range []*eval.SelectionOptions{
		{Arms: []string{"psychic"}}, {Arms: []string{eval.ArmAlways}}, {Sizes: []int{1}}, {Questions: -1}, {Repeat: -1},
	} {
		if _, err := eval.Selection(t.Context(), staticEngine(t), docs, qs, qrels, o); !errors.Is(err, eval.ErrOptions) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := eval.Selection(t.Context(), staticEngine(t), docs, qs, eval.Qrels{}, nil); !errors.Is(err, eval.ErrNoData) {
		t.Errorf("no judgement: %v", err)
	}
}

// ceiling compares R@10 after an oracle reranked the first hundred with R@100.
func ceiling(t *testing.T, docs []eval.Document, qs []eval.Question, qrels eval.Qrels) {
	t.Helper()
	o, err := eval.NewOracle()
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	c, err := llm.New(llm.Profile{Name: "rerank", BaseURL: o.URL, Model: "m", ContextWindow: 1 << 30},
		&llm.Options{Caps: llm.Caps{CallTokens: 1 << 30, RunCalls: 1 << 20, RunTokens: 1 << 30, DayCalls: 1 << 20, DayTokens: 1 << 30}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	eo := staticEngine(t)
	eo.Oracle, eo.Recall = o, &recall.Options{Reranker: rerank.NewListwise(c, &rerank.ListwiseOptions{Model: "m", Budget: 1_000_000})}
	rep, err := eval.Retrieval(context.Background(), eval.NewBuilder(eo), docs, qs, qrels, &eval.Options{Arms: []string{eval.ArmHybrid, eval.ArmOracle}, Resamples: 50})
	if err != nil {
		t.Fatal(err)
	}
	hybrid, best := rep.Arms[0].All, rep.Arms[1].All
	if math.Abs(best.R10-hybrid.R100) > 1e-9 || best.R100 != hybrid.R100 || hybrid.R100 == 0 {
		t.Errorf("R@10 %.4f after an oracle, the candidates' R@100 is %.4f", best.R10, hybrid.R100)
	}
}

func TestOracleReachesTheCandidates(t *testing.T) {
	docs, qs, qrels := birds(300)
	qrels["q1"]["d200"] = 1 // found by nothing: both figures lack it
	ceiling(t, docs, qs, qrels)
}

func TestOracleReachesTheCandidatesOfConversations(t *testing.T) {
	dir := os.Getenv("MEMSEARCH_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
	}
	dir = filepath.Join(dir, "locomo_dev")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no evaluation data: set MEMSEARCH_DATA")
	}
	docs, err := eval.LoadCorpus(nil, filepath.Join(dir, "turn", "corpus.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := eval.LoadQuestions(filepath.Join(dir, "queries.jsonl"), nil)
	if err != nil {
		t.Fatal(err)
	}
	qrels, err := eval.LoadQrels(filepath.Join(dir, "turn", "qrels.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var qs []eval.Question
	for i, q := range all {
		if i%10 == 0 {
			qs = append(qs, q)
		}
	}
	ceiling(t, docs, qs, qrels)
}
