package rerank_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/internal/llm/llmtest"
	"github.com/memsearch/memsearch/rerank"
)

// A ranker gives scores by a rule, and keeps what it was asked.
type ranker struct {
	rule  func(r llm.RankRequest) ([]llm.RankScore, error)
	asked []llm.RankRequest
}

func (r *ranker) Rank(_ context.Context, q llm.RankRequest) (*llm.RankReply, error) {
	r.asked = append(r.asked, q)
	scores, err := r.rule(q)
	return &llm.RankReply{Scores: scores, Cost: memsearch.Cost{Calls: 1, TokensIn: 7}}, err
}

func TestCrossEncoder(t *testing.T) {
	srv := llmtest.New(t, llmtest.Ranks(func(*llmtest.Request) []float64 { return []float64{.2, .9, -1, .9} }))
	c := rerank.NewCrossEncoder(client(t, srv), &rerank.CrossEncoderOptions{Model: "m", Cache: rerank.OpenCache(t.TempDir())})
	a, err := c.Rerank(t.Context(), task(4))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]rerank.Pick{{Index: 1, Grade: .9}, {Index: 3, Grade: .9}, {Index: 0, Grade: .2}, {Index: 2, Grade: -1}}, a.Picks); d != "" {
		t.Error(d)
	}
	if a.Judged != 4 || a.Model != "m" || a.Prompt != "" || a.Cached {
		t.Errorf("answer %+v", a)
	}
	if d := cmp.Diff(charged(1, srv), a.Cost, near); d != "" {
		t.Error("cost", d)
	}
	r := srv.Requests()[0]
	if r.Query != "where does Anna live" || len(r.Documents) != 4 || r.Documents[1] != "2026-03-12\nSummary of note 1\nNote 1 says something about Anna." {
		t.Errorf("query %q, documents %q", r.Query, r.Documents)
	}
	again, err := c.Rerank(t.Context(), task(4))
	if err != nil || !again.Cached || again.Cost != (memsearch.Cost{}) || answer(t, again) != answer(t, a) || srv.Count() != 1 {
		t.Errorf("again %+v, error %v", again, err)
	}
	// What is left out is decided after the cache.
	all, err := rerank.NewCrossEncoder(client(t, srv), &rerank.CrossEncoderOptions{}).Rerank(t.Context(), task(4))
	if err != nil || len(all.Picks) != 4 || all.Picks[3] != (rerank.Pick{Index: 2, Grade: -1}) {
		t.Errorf("all %+v, error %v", all, err)
	}
}

func TestCrossEncoderFails(t *testing.T) {
	broken := errors.New("broken")
	for name, rule := range map[string]func(llm.RankRequest) ([]llm.RankScore, error){
		"error": func(llm.RankRequest) ([]llm.RankScore, error) { return nil, broken },
		"none":  func(llm.RankRequest) ([]llm.RankScore, error) { return nil, nil },
		"few":   func(llm.RankRequest) ([]llm.RankScore, error) { return []llm.RankScore{{Index: 0}}, nil },
		"twice": func(llm.RankRequest) ([]llm.RankScore, error) { return []llm.RankScore{{Index: 0}, {Index: 0}}, nil },
		"wrong": func(llm.RankRequest) ([]llm.RankScore, error) { return []llm.RankScore{{Index: 0}, {Index: 2}}, nil },
		"more": func(llm.RankRequest) ([]llm.RankScore, error) {
			return []llm.RankScore{{Index: 0}, {Index: 1}, {Index: 1}}, nil
		},
	} {
		a, err := rerank.NewCrossEncoder(&ranker{rule: rule}, nil).Rerank(t.Context(), task(2))
		if err == nil || a == nil || a.Cost.Calls != 1 || len(a.Picks) != 0 || name == "error" && !errors.Is(err, broken) {
			t.Errorf("%s: answer %+v, error %v", name, a, err)
		}
	}
	if a, err := rerank.NewCrossEncoder(&ranker{}, nil).Rerank(t.Context(), task(0)); err != nil || len(a.Picks) != 0 {
		t.Errorf("nothing to rank: %+v, %v", a, err)
	}
	if _, err := rerank.NewCrossEncoder(&ranker{}, &rerank.CrossEncoderOptions{Budget: 1}).Rerank(t.Context(), task(2)); !errors.Is(err, rerank.ErrBudget) {
		t.Errorf("error %v", err)
	}
}

// TestCrossEncoderBudget compares two budgets: both are kept, and the larger one
// shows all that the smaller one does.
func TestCrossEncoderBudget(t *testing.T) {
	codec, err := exact()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		tk := anyTask(t)
		small := rapid.IntRange(30, 1500).Draw(t, "budget")
		large := small + rapid.IntRange(0, 1000).Draw(t, "more")
		ask := func(budget int) []string {
			r := &ranker{rule: func(q llm.RankRequest) (scores []llm.RankScore, err error) {
				for i := range q.Documents {
					scores = append(scores, llm.RankScore{Index: i})
				}
				return scores, nil
			}}
			a, err := rerank.NewCrossEncoder(r, &rerank.CrossEncoderOptions{Budget: budget}).Rerank(context.Background(), tk)
			if err != nil {
				if !errors.Is(err, rerank.ErrBudget) {
					t.Fatalf("%v", err)
				}
				return nil
			}
			if len(r.asked) != 1 || a.Judged != len(r.asked[0].Documents) {
				t.Fatalf("%d calls, answer %+v", len(r.asked), a)
			}
			n := 0
			for _, s := range append([]string{r.asked[0].Query}, r.asked[0].Documents...) {
				tokens, err := codec.Count(s)
				if err != nil {
					t.Fatal(err)
				}
				checkPlain(t, strings.ReplaceAll(s, "\t", ""))
				n += tokens
			}
			if n > budget {
				t.Errorf("%d tokens, budget %d", n, budget)
			}
			return r.asked[0].Documents
		}
		less, more := ask(small), ask(large)
		if len(less) > len(more) {
			t.Fatalf("%d documents with %d tokens, %d with %d", len(less), small, len(more), large)
		}
		for i := 1; i < len(less); i++ {
			if less[i] != more[i] {
				t.Errorf("document %d: %q, with more tokens %q", i, less[i], more[i])
			}
		}
	})
}
