package rerank_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/tiktoken-go/tokenizer"
	"pgregory.net/rapid"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/internal/tokens"
	"github.com/memsearch/memsearch/rerank"
)

var exact = sync.OnceValues(func() (tokenizer.Codec, error) { return tokenizer.Get(tokenizer.O200kBase) })

// checkBudget asserts that a request's messages take no more than budget tokens,
// by the bound and by the exact count.
func checkBudget(t fatal, r llm.Request, budget int) {
	t.Helper()
	codec, err := exact()
	if err != nil {
		t.Fatalf("%v", err)
	}
	bound, count := 0, 0
	for _, m := range r.Messages {
		bound += tokens.Bound(m.Content)
		n, err := codec.Count(m.Content)
		if err != nil {
			t.Fatalf("%v", err)
		}
		count += n
	}
	if bound > budget || count > budget {
		t.Errorf("bound %d, count %d, budget %d", bound, count, budget)
	}
}

// shownTexts returns the candidates of a request by number: what of them is shown.
func shownTexts(t fatal, r llm.Request) []string {
	t.Helper()
	var out []string
	for _, l := range parsed(t, r).lines {
		out = append(out, fmt.Sprint(val(l.Date), val(l.Category), val(l.Summary), val(l.Text)))
	}
	return out
}

func val(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func anyTask(t *rapid.T) rerank.Task {
	tk := rerank.Task{Query: "q " + anyText(t), Request: anyText(t), Recent: anyText(t), Now: noon}
	if rapid.Bool().Draw(t, "dated") {
		tk.Dates = []string{"2026-03-12", anyText(t)}
	}
	for range rapid.IntRange(1, 12).Draw(t, "candidates") {
		tk.Candidates = append(tk.Candidates, rerank.Candidate{
			Date: "2026-03-12", Category: memsearch.CategoryUser, Summary: anyText(t), Text: anyText(t),
		})
	}
	return tk
}

// TestBudget compares two budgets: both are kept, and the larger one shows all
// that the smaller one does.
func TestBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tk := anyTask(t)
		small := rapid.IntRange(300, 2500).Draw(t, "budget")
		large := small + rapid.OneOf(rapid.IntRange(0, 16), rapid.IntRange(0, 3000)).Draw(t, "more")
		calls := rapid.SampledFrom([]int{1, 4, 9}).Draw(t, "calls")
		ask := func(budget int) ([]llm.Request, *rerank.Answer) {
			f := says(`{"ranking":[{"n":1,"grade":2}]}`)
			a, err := rerank.NewListwise(f, &rerank.ListwiseOptions{Budget: budget, MaxCalls: calls}).Rerank(context.Background(), tk)
			if err != nil && !errors.Is(err, rerank.ErrBudget) {
				t.Fatalf("%v", err)
			}
			for _, r := range f.asked {
				checkBudget(t, r, budget)
			}
			if len(f.asked) > calls {
				t.Errorf("%d calls, allowed %d", len(f.asked), calls)
			}
			return f.asked, a
		}
		few, first := ask(small)
		many, second := ask(large)
		if first == nil {
			return
		}
		if second == nil {
			t.Fatalf("budget %d has room for %d candidates, budget %d for none", small, first.Judged, large)
		}
		if first.Judged < 1 || first.Judged > second.Judged {
			t.Errorf("budget %d judges %d, budget %d %d", small, first.Judged, large, second.Judged)
		}
		if calls > 1 {
			return
		}
		less, more := shownTexts(t, few[0]), shownTexts(t, many[0])
		if len(less) > len(more) {
			t.Fatalf("%d candidates shown with %d tokens, %d with %d", len(less), small, len(more), large)
		}
		for i := range less {
			if less[i] != more[i] && i > 0 {
				t.Errorf("candidate %d: %q, with more tokens %q", i, less[i], more[i])
			}
		}
	})
}

// A first candidate that is too large is cut, and the budget below which there is
// nothing left of it is an error.
func TestBudgetOfOne(t *testing.T) {
	tk := task(1)
	tk.Candidates[0].Text = strings.Repeat("Anna lives in Lisbon, near the river. ", 100)
	last := -1
	for budget := 100; budget <= 1000; budget += 5 {
		f := says(`{"ranking":[{"n":1,"grade":3}]}`)
		a, err := rerank.NewListwise(f, &rerank.ListwiseOptions{Budget: budget}).Rerank(t.Context(), tk)
		if err != nil {
			if !errors.Is(err, rerank.ErrBudget) || last >= 0 || f.calls() != 0 {
				t.Fatalf("budget %d: error %v, %d calls", budget, err, f.calls())
			}
			continue
		}
		checkBudget(t, f.asked[0], budget)
		text := val(parsed(t, f.asked[0]).lines[0].Text)
		if len(text) < last || a.Judged != 1 {
			t.Errorf("budget %d shows %d bytes after %d, judged %d", budget, len(text), last, a.Judged)
		}
		last = len(text)
	}
	if most := len(tk.Candidates[0].Text); last < 300 || last >= most {
		t.Errorf("%d of %d bytes shown in the end", last, most)
	}
}

// A candidate's text never takes more than its snippet, so that one note cannot
// push out all others.
func TestSnippet(t *testing.T) {
	tk := task(3)
	tk.Candidates[0].Text = strings.Repeat("<", 5000)
	tk.Candidates[0].Summary = strings.Repeat("很", 5000)
	tk.Candidates[1].Text = strings.Repeat("word ", 1<<20)
	f := says(`{"ranking":[]}`)
	if _, err := rerank.NewListwise(f, &rerank.ListwiseOptions{Snippet: 40}).Rerank(t.Context(), tk); err != nil {
		t.Fatal(err)
	}
	lines := parsed(t, f.asked[0]).lines
	if len(lines) != 3 {
		t.Fatalf("%d candidates shown", len(lines))
	}
	for i, want := range []bool{true, true, false} {
		text := val(lines[i].Text)
		if strings.HasSuffix(text, "…") != want || tokens.Bound(text) > 40 {
			t.Errorf("text %d is %q", i, text)
		}
	}
	if s := val(lines[0].Summary); !strings.HasSuffix(s, "…") || tokens.Bound(s) > 96 {
		t.Errorf("summary %q", s)
	}
}
