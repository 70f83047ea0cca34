package rerank_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/internal/llm/llmtest"
	"github.com/memsearch/memsearch/rerank"
)

// client returns a client of srv that tries once.
func client(t *testing.T, srv *llmtest.Server) *llm.Client {
	t.Helper()
	once := 0
	c, err := llm.New(llm.Profile{Name: "rerank", BaseURL: srv.URL, Model: "m", Timeout: 5 * time.Second, Retries: &once, PriceIn: new(2.0), PriceOut: new(10.0)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func charged(calls int, srv *llmtest.Server) memsearch.Cost {
	u := srv.Charged()
	return memsearch.Cost{Calls: calls, TokensIn: u.In, TokensOut: u.Out, Money: (2*float64(u.In) + 10*float64(u.Out)) / 1e6}
}

// near compares costs; money is a sum of fractions.
var near = cmp.Comparer(func(a, b float64) bool { return a-b < 1e-12 && b-a < 1e-12 })

const goodReply = `{"ranking":[{"n":2,"grade":3},{"n":1,"grade":1}]}`

var goodPicks = []rerank.Pick{{Index: 1, Grade: 3}, {Index: 0, Grade: 1}}

// TestReplies: what a model may say that still is an answer, over real HTTP. All
// of it is counted.
func TestReplies(t *testing.T) {
	for name, c := range map[string]struct {
		steps []llmtest.Step
		picks []rerank.Pick
		notes []string
		calls int
	}{
		"plain":       {[]llmtest.Step{llmtest.Text(goodReply)}, goodPicks, nil, 1},
		"streamed":    {[]llmtest.Step{llmtest.Streamed(goodReply)}, goodPicks, nil, 1},
		"packed":      {[]llmtest.Step{llmtest.Gzip(goodReply)}, goodPicks, nil, 1},
		"empty":       {[]llmtest.Step{llmtest.Text(`{"ranking":[]}`)}, []rerank.Pick{}, nil, 1},
		"fenced":      {[]llmtest.Step{llmtest.Text("Sure!\n```json\n" + goodReply + "\n```\nDone.")}, goodPicks, nil, 1},
		"thinking":    {[]llmtest.Step{llmtest.Text("<think>n 3? {\"ranking\":[{\"n\":3,\"grade\":3}]}</think>\n" + goodReply)}, goodPicks, nil, 1},
		"comma":       {[]llmtest.Step{llmtest.Text(`{"ranking":[{"n":2,"grade":3},{"n":1,"grade":1},]}`)}, goodPicks, nil, 1},
		"wrong order": {[]llmtest.Step{llmtest.Text(`{"ranking":[{"n":1,"grade":1},{"n":2,"grade":3}]}`)}, goodPicks, nil, 1},
		"wrong number": {[]llmtest.Step{llmtest.Text(`{"ranking":[{"n":7,"grade":3},{"n":2,"grade":3},{"n":-1,"grade":2},{"n":1,"grade":1}]}`)}, goodPicks,
			[]string{"the model named 2 numbers that no candidate has"}, 1},
		"twice": {[]llmtest.Step{llmtest.Text(`{"ranking":[{"n":2,"grade":3},{"n":1,"grade":1},{"n":2,"grade":1}]}`)}, goodPicks,
			[]string{"the model named 1 candidate more than once"}, 1},
		"null, then good":        {[]llmtest.Step{llmtest.Text("null"), llmtest.Text(goodReply)}, goodPicks, nil, 2},
		"null list, then good":   {[]llmtest.Step{llmtest.Text(`{"ranking":null}`), llmtest.Text(goodReply)}, goodPicks, nil, 2},
		"nothing, then good":     {[]llmtest.Step{llmtest.Text(`{}`), llmtest.Text(goodReply)}, goodPicks, nil, 2},
		"prose, then good":       {[]llmtest.Step{llmtest.Text("Note 2 answers best."), llmtest.Text(goodReply)}, goodPicks, nil, 2},
		"grade 5, then good":     {[]llmtest.Step{llmtest.Text(`{"ranking":[{"n":2,"grade":5}]}`), llmtest.Text(goodReply)}, goodPicks, nil, 2},
		"all wrong, then good":   {[]llmtest.Step{llmtest.Text(`{"ranking":[{"n":12,"grade":3}]}`), llmtest.Text(goodReply)}, goodPicks, nil, 2},
		"long prose, then empty": {[]llmtest.Step{llmtest.Text(strings.Repeat("思考 hmm ", 5000)), llmtest.Text(`{"ranking":[]}`)}, []rerank.Pick{}, nil, 2},
	} {
		t.Run(name, func(t *testing.T) {
			srv := llmtest.New(t, c.steps...)
			a, err := rerank.NewListwise(client(t, srv), &rerank.ListwiseOptions{Model: "m"}).Rerank(t.Context(), task(3))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.picks, a.Picks); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(c.notes, a.Notes); d != "" {
				t.Error(d)
			}
			if a.Judged != 3 || a.Cached || a.Model != "m" || !strings.HasPrefix(a.Prompt, "rerank@1 ") {
				t.Errorf("answer %+v", a)
			}
			if d := cmp.Diff(charged(c.calls, srv), a.Cost, near); d != "" {
				t.Error("cost", d)
			}
		})
	}
}

// TestFailures: an error, never half an answer, with the cost of what was asked.
// The reason quotes no note.
func TestFailures(t *testing.T) {
	good := llmtest.Text(goodReply)
	for name, c := range map[string]struct {
		steps []llmtest.Step
		calls int // of the model
		want  error
	}{
		"prose twice":     {[]llmtest.Step{llmtest.Text("Anna."), llmtest.Text("Anna."), good}, 2, llm.ErrReply},
		"null twice":      {[]llmtest.Step{llmtest.Text("null"), llmtest.Text(`{"ranking":null}`), good}, 2, llm.ErrReply},
		"all wrong twice": {[]llmtest.Step{llmtest.Text(`{"ranking":[{"n":9,"grade":1}]}`), llmtest.Text(`{"ranking":[{"n":9,"grade":1}]}`), good}, 2, llm.ErrReply},
		"empty text":      {[]llmtest.Step{llmtest.Text(""), llmtest.Text(""), good}, 2, llm.ErrReply},
		"refusal":         {[]llmtest.Step{llmtest.Refusal("I cannot rank Anna."), good}, 1, llm.ErrRefused},
		"filtered":        {[]llmtest.Step{llmtest.Filtered(), good}, 1, llm.ErrRefused},
		"length":          {[]llmtest.Step{llmtest.Length(`{"ranking":[{"n":2,"gra`), good}, 1, llm.ErrLength},
		"unauthorized":    {[]llmtest.Step{llmtest.Status(401, "invalid_api_key", "no"), good}, 1, nil},
		"server error":    {[]llmtest.Step{llmtest.Status(500, "", "no"), good}, 1, nil},
		"error object":    {[]llmtest.Step{llmtest.Raw(200, `{"error":{"message":"overloaded"}}`), good}, 1, nil},
		"reset":           {[]llmtest.Step{llmtest.ResetMidBody(), good}, 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "cache")
			srv := llmtest.New(t, c.steps...)
			l := rerank.NewListwise(client(t, srv), &rerank.ListwiseOptions{Cache: rerank.OpenCache(dir)})
			a, err := l.Rerank(t.Context(), task(3))
			if err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Fatalf("answer %+v, error %v, want %v", a, err, c.want)
			}
			if strings.Contains(err.Error(), "Anna") || strings.Contains(err.Error(), "Note") {
				t.Errorf("the error quotes: %v", err)
			}
			if srv.Count() != c.calls || a == nil || a.Cost.Calls != c.calls || len(a.Picks) != 0 || a.Judged != 0 {
				t.Errorf("%d requests, answer %+v", srv.Count(), a)
			}
			if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a failure was kept: %v", err)
			}
		})
	}
}

// A reply that cannot be used takes one of the calls, and none too many.
func TestCallsOfBadReplies(t *testing.T) {
	bad := func(n int) *fake {
		f := perfect(t, worthOf(map[int]int{5: 300}))
		perfectly := f.reply
		f.reply = func(r llm.Request) (string, error) {
			if f.calls() <= n {
				return "no JSON at all", nil
			}
			return perfectly(r)
		}
		return f
	}
	for name, c := range map[string]struct {
		bad, calls, asked int
		want              error
	}{
		"one window":            {1, 2, 2, nil},
		"one window, no call":   {1, 1, 1, rerank.ErrCalls},
		"three windows":         {1, 4, 4, nil},
		"twice the same window": {2, 4, 2, llm.ErrReply},
	} {
		t.Run(name, func(t *testing.T) {
			f := bad(c.bad)
			a, err := rerank.NewListwise(f, &rerank.ListwiseOptions{Budget: narrow, MaxCalls: c.calls}).Rerank(t.Context(), task(80))
			if !errors.Is(err, c.want) || f.calls() != c.asked || a == nil || a.Cost.Calls != c.asked {
				t.Errorf("answer %+v, error %v, %d calls", a, err, f.calls())
			}
			if c.want == nil && !cmp.Equal([]rerank.Pick{{Index: 5, Grade: 3}}, a.Picks) {
				t.Errorf("picks %v", a.Picks)
			}
		})
	}
}

// Asking once more keeps the budget too, however long the first reply was.
func TestBudgetOfBadReplies(t *testing.T) {
	for _, budget := range []int{700, narrow, 6000} {
		f := says(strings.Repeat("<think>很长的思考 ", 2000), goodReply)
		tk := task(80)
		a, err := rerank.NewListwise(f, &rerank.ListwiseOptions{Budget: budget, MaxCalls: 2}).Rerank(t.Context(), tk)
		if err != nil || a.Cost.Calls != 2 || len(a.Picks) != 2 {
			t.Fatalf("budget %d: answer %+v, error %v", budget, a, err)
		}
		for _, r := range f.asked {
			checkBudget(t, r, budget)
		}
		again := f.asked[1].Messages
		if len(again) != 4 || !cmp.Equal(again[:2], f.asked[0].Messages) || !strings.HasPrefix(again[3].Content, "That cannot be used") {
			t.Errorf("budget %d: messages %q", budget, again[2:])
		}
	}
}

// The same task is the same request, byte for byte, and the same answer.
func TestSameInputSameOutput(t *testing.T) {
	var first string
	for i := range 5 {
		srv := llmtest.New(t, llmtest.Text(goodReply))
		a, err := rerank.NewListwise(client(t, srv), nil).Rerank(t.Context(), task(3))
		if err != nil {
			t.Fatal(err)
		}
		got := answer(t, a) + string(srv.Requests()[0].Body)
		if i == 0 {
			first = got
		}
		if got != first {
			t.Errorf("run %d: %s, first %s", i, got, first)
		}
	}
}
