package recall_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/index/validity"
	"github.com/memsearch/memsearch/recall"
	"github.com/memsearch/memsearch/rerank"
)

// A model is a reranker and a selector that holds no state.
type model func(ctx context.Context, n int, id func(int) string) (*rerank.Answer, error)

func (m model) Rerank(ctx context.Context, t rerank.Task) (*rerank.Answer, error) {
	return m(ctx, len(t.Candidates), func(i int) string { return t.Candidates[i].ID })
}

func (m model) Select(ctx context.Context, _ rerank.Task, lines []rerank.Line) (*rerank.Answer, error) {
	return m(ctx, len(lines), func(i int) string { return lines[i].ID })
}

// picky keeps about half of what it judges, by their ids alone, in an order of its
// own.
func picky(salt string, judged int, prompt string) model {
	worth := func(id string) uint32 {
		h := fnv.New32a()
		h.Write([]byte(salt + id))
		return h.Sum32()
	}
	return func(_ context.Context, n int, id func(int) string) (*rerank.Answer, error) {
		a := &rerank.Answer{Judged: min(n, judged), Model: "m", Prompt: prompt}
		for i := range a.Judged {
			if w := worth(id(i)); w%2 == 0 {
				a.Picks = append(a.Picks, rerank.Pick{Index: i, Grade: float64(w)})
			}
		}
		slices.SortFunc(a.Picks, func(x, y rerank.Pick) int { return int(y.Grade - x.Grade) })
		return a, nil
	}
}

// anyScopes draws one to three scopes of notes, some of which may not be returned.
func anyScopes(t *rapid.T) []*fake {
	var fakes []*fake
	for s := range rapid.IntRange(1, 3).Draw(t, "scopes") {
		var notes []note
		for i := range rapid.IntRange(0, 30).Draw(t, "notes") {
			notes = append(notes, note{
				id:   fmt.Sprintf("s%d-%02d#%d", s, i/2, i%2),
				cos:  float32(rapid.IntRange(0, 90).Draw(t, "cos")) / 100,
				text: rapid.SampledFrom([]string{"kite", "red kite", "tax", "kite tax", "a long note on a kite and more"}).Draw(t, "text") + fmt.Sprint(" ", s, i),
				row: validity.Row{Status: rapid.SampledFrom([]memsearch.Status{"active", "active", "active", "retired"}).Draw(t, "status"),
					Turn: rapid.SampledFrom([]string{"", "", "t1"}).Draw(t, "turn")},
			})
		}
		fakes = append(fakes, newFake(notes...))
	}
	return fakes
}

func anyQuery(t *rapid.T, modes ...memsearch.RerankMode) memsearch.Query {
	return memsearch.Query{Text: rapid.SampledFrom([]string{"kite", "red kite", "tax"}).Draw(t, "query"), Now: now, Turn: "t1",
		K: rapid.IntRange(1, 10).Draw(t, "k"), Budget: rapid.IntRange(20, 600).Draw(t, "budget"), Explain: true,
		Rerank: rapid.SampledFrom(modes).Draw(t, "mode")}
}

// TestGateSaysNo: a model that is not asked changes no byte of the answer, whatever
// the notes, the query and the number of candidates.
func TestGateSaysNo(t *testing.T) {
	skipped := 0
	rapid.Check(t, func(t *rapid.T) {
		fakes, asked := anyScopes(t), false
		m := model(func(_ context.Context, n int, _ func(int) string) (*rerank.Answer, error) {
			asked = true
			return &rerank.Answer{Judged: n}, nil
		})
		q := anyQuery(t, memsearch.RerankAuto, memsearch.RerankNever, "")
		o := &recall.Options{Reranker: m, Candidates: rapid.IntRange(1, 40).Draw(t, "candidates")}
		with, gate := answerOf(t, o, q, fakes)
		if gate.Ask != asked {
			t.Fatalf("the gate says %v, the model was asked: %v", gate.Ask, asked)
		}
		if asked {
			return
		}
		skipped++
		without, _ := answerOf(t, nil, q, fakes)
		if d := cmp.Diff(without, with); d != "" {
			t.Fatalf("a model that was not asked (-without +with):\n%s", d)
		}
		if q.Rerank == memsearch.RerankNever {
			o.Selector = m
			if with, _ = answerOf(t, o, q, fakes); with != without || asked {
				t.Fatal("a selector that was not asked changed the answer")
			}
		}
	})
	if skipped == 0 {
		t.Error("the gate never said no")
	}
}

// answerOf returns an answer as JSON, and the gate in it.
func answerOf(t *rapid.T, o *recall.Options, q memsearch.Query, fakes []*fake) (string, *memsearch.Gate) {
	res, err := engine(o, fakes...).Recall(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.MarshalIndent(res, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b), res.Trace.Gate
}

// TestLargerBudgetKeepsEvidence holds with a model, too, also where the gate decides
// by the budget.
func TestLargerBudgetKeepsEvidence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fakes := anyScopes(t)
		q := anyQuery(t, memsearch.RerankAuto, memsearch.RerankAlways)
		m := picky(rapid.StringN(0, 3, -1).Draw(t, "salt"), rapid.IntRange(1, 40).Draw(t, "judged"), rapid.SampledFrom([]string{"", "rerank@1"}).Draw(t, "prompt"))
		o := &recall.Options{Reranker: m, InjectFloor: rapid.SampledFrom([]float64{0, .3, .9}).Draw(t, "floor")}
		if rapid.Bool().Draw(t, "selection") {
			o = &recall.Options{Selector: m}
		}
		large := q
		large.Budget += rapid.IntRange(0, 600).Draw(t, "more")
		var before []string
		for _, q := range []memsearch.Query{q, large} {
			res, err := engine(o, fakes...).Recall(context.Background(), q)
			if err != nil {
				t.Fatal(err)
			}
			if res.Tokens > q.Budget {
				t.Fatalf("%d tokens of %d", res.Tokens, q.Budget)
			}
			for _, id := range before {
				if !slices.Contains(res.Injected, id) {
					t.Fatalf("%s is in the context of %d tokens, not in that of %d: %v, then %v", id, q.Budget, large.Budget, before, res.Injected)
				}
			}
			before = res.Injected
		}
	})
}

// TestRerankKeepsScopes: a model only takes and reorders. What it leaves are units
// that a recall of as many memories finds, each under its own scope.
func TestRerankKeepsScopes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fakes := anyScopes(t)
		q := anyQuery(t, memsearch.RerankAlways)
		o := &recall.Options{Reranker: picky(rapid.StringN(0, 3, -1).Draw(t, "salt"), rapid.IntRange(1, 40).Draw(t, "judged"), "p"), Candidates: 15}
		res, err := engine(o, fakes...).Recall(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		checkHits(t, res, q.K)
		q.K, q.Rerank = max(q.K, 15), memsearch.RerankNever
		all, err := engine(nil, fakes...).Recall(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range res.Hits {
			i := slices.IndexFunc(all.Hits, func(a memsearch.Hit) bool { return a.ID == h.ID })
			if i < 0 {
				t.Fatalf("%s is no candidate of %v", h.ID, ids(all))
			}
			h.Trace = slices.DeleteFunc(h.Trace, func(s memsearch.Step) bool { return s.Stage == "rerank" })
			if d := cmp.Diff(all.Hits[i], h); d != "" {
				t.Fatalf("a model changed more than the order:\n%s", d)
			}
		}
	})
}

// checkHits asserts what holds for all hits of generated scopes.
func checkHits(t *rapid.T, res *memsearch.Result, k int) {
	memories, units := map[string]int{}, map[string]bool{}
	for _, h := range res.Hits {
		if h.Scope != map[byte]string{'0': "user", '1': "project", '2': "agent"}[h.ID[1]] {
			t.Fatalf("%s is of scope %s", h.ID, h.Scope)
		}
		if units[h.ID] || h.Status != memsearch.StatusActive || h.Text == "" {
			t.Fatalf("hit %+v", h)
		}
		units[h.ID] = true
		memories[h.MemoryID]++
	}
	if len(memories) > k {
		t.Fatalf("%d memories, want %d", len(memories), k)
	}
	if (res.Status == memsearch.StateOK) != (len(res.Reasons) == 0) {
		t.Fatalf("%s with reasons %q", res.Status, res.Reasons)
	}
}

// anyAnswer draws what a model may return, however wrong.
func anyAnswer(t *rapid.T) *rerank.Answer {
	if rapid.IntRange(0, 5).Draw(t, "nil") == 0 {
		return nil
	}
	number := rapid.SampledFrom([]float64{0, 1, 3, -1, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64})
	a := &rerank.Answer{Judged: rapid.IntRange(-3, 40).Draw(t, "judged"), Model: rapid.String().Draw(t, "model"),
		Prompt: rapid.SampledFrom([]string{"", "p"}).Draw(t, "prompt"), Notes: rapid.SliceOfN(rapid.String(), 0, 2).Draw(t, "notes"),
		Cost: memsearch.Cost{Calls: 1, Money: number.Draw(t, "money")}}
	for range rapid.IntRange(0, 50).Draw(t, "picks") {
		i := rapid.OneOf(rapid.IntRange(-2, 25), rapid.SampledFrom([]int{math.MinInt, math.MaxInt})).Draw(t, "index")
		a.Picks = append(a.Picks, rerank.Pick{Index: i, Grade: number.Draw(t, "grade")})
	}
	return a
}

// anyModel draws one that answers, fails, panics, waits for its context, or pays no
// heed to it.
func anyModel(t *rapid.T) model {
	a := anyAnswer(t)
	err := rapid.SampledFrom([]error{nil, errors.New("gone")}).Draw(t, "error")
	wait := time.Duration(rapid.SampledFrom([]int{0, 0, 1, 900, 1990, 2001, 1e6}).Draw(t, "wait")) * time.Millisecond
	kind := rapid.SampledFrom([]string{"answers", "answers", "heeds its context", "panics"}).Draw(t, "kind")
	return func(ctx context.Context, _ int, _ func(int) string) (*rerank.Answer, error) {
		switch kind {
		case "panics":
			panic("a model")
		case "heeds its context":
			<-ctx.Done()
			return a, ctx.Err()
		}
		time.Sleep(wait)
		return a, err
	}
}

// TestHostileModel: whatever a model does, the answer comes in time, makes sense, can
// be written, and says why it is not what a model chose.
func TestHostileModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bare := struct{ testing.TB }{t} // without a Deadline, which a bubble must not ask for
		rapid.Check(bare, func(t *rapid.T) {
			fakes, m := anyScopes(t), anyModel(t)
			q := anyQuery(t, memsearch.RerankAlways)
			allowed := 2 * time.Second
			ctx := context.Background()
			if d := time.Duration(rapid.SampledFrom([]int{0, 1, 100, 1000, 5000}).Draw(t, "deadline")) * time.Millisecond; d > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, d)
				defer cancel()
				allowed = min(allowed, d)
			}
			o := &recall.Options{Reranker: m, RerankTimeout: 2 * time.Second}
			if rapid.Bool().Draw(t, "selection") {
				o = &recall.Options{Selector: m, RerankTimeout: 2 * time.Second}
			}
			start := time.Now()
			res, err := engine(o, fakes...).Recall(ctx, q)
			if took := time.Since(start); err != nil || took > allowed {
				t.Fatalf("answered after %v of %v, error %v", took, allowed, err)
			}
			checkHits(t, res, max(q.K, len(res.Hits)))
			if _, err := json.Marshal(res); err != nil {
				t.Fatal(err)
			}
			if res.Status != memsearch.StateEmpty && res.SelectedBy == "fusion" {
				if res.Status != memsearch.StateDegraded {
					t.Fatalf("%s by fusion: %q", res.Status, res.Reasons)
				}
				q.Rerank = memsearch.RerankNever
				fused, err := engine(nil, fakes...).Recall(context.Background(), q)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(fused.Hits, res.Hits); d != "" {
					t.Fatalf("not what a search finds:\n%s", d)
				}
			}
			time.Sleep(time.Hour) // models that pay no heed end with their bubble
		})
	})
}
