package llm_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/internal/llm/llmtest"
)

func herons() llm.RankRequest {
	return llm.RankRequest{Query: "which bird?", Documents: []string{"a violet heron", "a stone", "a grey heron"}, Prompt: "rank"}
}

func TestRank(t *testing.T) {
	srv := llmtest.New(t, llmtest.Ranks(func(*llmtest.Request) []float64 { return []float64{.5, -2, .5} }))
	ledger := llm.NewMemoryLedger()
	c := client(t, srv, func(_ *llm.Profile, o *llm.Options) { o.Ledger = ledger })
	got, err := c.Rank(t.Context(), herons())
	if err != nil {
		t.Fatal(err)
	}
	u := srv.Charged()
	want := &llm.RankReply{Scores: []llm.RankScore{{0, .5}, {2, .5}, {1, -2}},
		Cost: memsearch.Cost{Calls: 1, TokensIn: u.In, Money: float64(2*u.In) / 1e6}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	r := srv.Requests()[0]
	body := `{"documents":["a violet heron","a stone","a grey heron"],"model":"m","query":"which bird?","return_documents":false,"top_n":3}`
	if r.Path != "/v1/rerank" || string(r.Body) != body {
		t.Errorf("%s %s", r.Path, r.Body)
	}
	rows, err := ledger.Costs(time.Time{})
	if err != nil || len(rows) != 1 || rows[0].TokensIn != u.In || rows[0].Calls != 1 {
		t.Errorf("ledger %+v, %v", rows, err)
	}
	if _, err := c.Rank(t.Context(), llm.RankRequest{Query: "q"}); err == nil || srv.Count() != 1 {
		t.Error("a request without documents is made")
	}
}

// TestRankReplies: what is not one finite score for each document is no ranking,
// and what it cost is told in each of the ways that servers have.
func TestRankReplies(t *testing.T) {
	results := func(s string) string { return `{"results":[` + s + `],"usage":{"total_tokens":9}}` }
	const good = `{"index":0,"relevance_score":1},{"index":2,"relevance_score":3},{"index":1,"relevance_score":2}`
	for _, tt := range []struct {
		body   string
		tokens int // zero: an error
	}{
		{results(good), 9},
		{`{"id":"x","results":[` + good + `],"meta":{"billed_units":{"search_units":1},"tokens":{"input_tokens":8}}}`, 8},
		{`{"results":[` + good + `],"meta":{"billed_units":{"input_tokens":7}}}`, 7},
		{`{"results":[` + good + `],"usage":{"total_tokens":-9},"meta":{"tokens":{"input_tokens":"8"}}}`, 8},
		{`{"results":[` + good + `],"usage":"much","meta":{"tokens":{"input_tokens":8.0}}}`, 8},
		{results(`{"index":0.0,"relevance_score":"1"},{"index":"2","relevance_score":3},{"index":1,"relevance_score":2}`), 9},
		{results(`{"index":0,"relevance_score":1,"document":{"text":"a violet heron"}},{"index":2,"relevance_score":3},{"index":1,"relevance_score":2}`), 9},
		{results(`{"index":0,"relevance_score":1},{"index":1,"relevance_score":2}`), 0},
		{results(`{"index":0.5,"relevance_score":1},{"index":2,"relevance_score":3},{"index":1,"relevance_score":2}`), 0},
		{results(`{"index":0,"relevance_score":"best"},{"index":2,"relevance_score":3},{"index":1,"relevance_score":2}`), 0},
		{results(good + `,{"index":3,"relevance_score":2}`), 0},
		{results(`{"index":0,"relevance_score":1},{"index":0,"relevance_score":3},{"index":1,"relevance_score":2}`), 0},
		{results(`{"index":-1,"relevance_score":1},{"index":2,"relevance_score":3},{"index":1,"relevance_score":2}`), 0},
		{results(`{"index":0,"relevance_score":null},{"index":2,"relevance_score":3},{"index":1,"relevance_score":2}`), 0},
		{results(`{"relevance_score":1},{"index":2,"relevance_score":3},{"index":1,"relevance_score":2}`), 0},
		{results(`{"index":0,"relevance_score":1e999},{"index":2,"relevance_score":3},{"index":1,"relevance_score":2}`), 0},
		{results(`{"index":0,"relevance_score":NaN}`), 0},
		{`[]`, 0},
		{``, 0},
		{`{"detail":"a violet heron"}`, 0},
	} {
		srv := llmtest.New(t, llmtest.Raw(http.StatusOK, tt.body))
		got, err := client(t, srv, nil).Rank(t.Context(), herons())
		if tt.tokens == 0 {
			if !errors.Is(err, llm.ErrReply) || srv.Count() != 1 || strings.Contains(err.Error(), "violet") {
				t.Errorf("%s: %d requests, error %v", tt.body, srv.Count(), err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.body, err)
			continue
		}
		if d := cmp.Diff([]llm.RankScore{{2, 3}, {1, 2}, {0, 1}}, got.Scores); d != "" || got.Cost.TokensIn != tt.tokens {
			t.Errorf("%s: cost %+v (-want +got):\n%s", tt.body, got.Cost, d)
		}
	}
	for _, usage := range []string{``, `,"usage":{"total_tokens":null}`, `,"usage":{"total_tokens":-9},"meta":[]`, `,"usage":[9]`, `,"meta":{"tokens":9}`} {
		srv := llmtest.New(t, llmtest.Raw(http.StatusOK, `{"results":[`+good+`]`+usage+`}`))
		got, err := client(t, srv, nil).Rank(t.Context(), herons())
		if err != nil || got.Cost.TokensIn < 10 || got.Cost.TokensIn > 100 {
			t.Errorf("%s: counted by ourselves: %+v, %v", usage, got, err)
		}
	}
}

// What holds for completions holds for rankings: errors are told, asked again,
// capped, and quote nothing.
func TestRankFailures(t *testing.T) {
	ok := llmtest.Ranks(func(*llmtest.Request) []float64 { return []float64{1, 2, 3} })
	for _, tt := range []struct {
		name     string
		first    llmtest.Step
		requests int
		good     bool
	}{
		{"429", llmtest.Status(429, "", "a violet heron is too fast", "Retry-After-Ms: 5"), 2, true},
		{"400", llmtest.Status(400, "", "bad document: a violet heron, which bird?"), 1, false},
		{"reset", llmtest.Reset(), 2, true},
		{"200 with an error", llmtest.Raw(200, `{"error":"bad document: a violet heron"}`), 1, false},
		{"huge", llmtest.Huge(llm.DefaultMaxReply + 1), 1, false},
	} {
		srv := llmtest.New(t, tt.first, ok)
		got, err := client(t, srv, nil).Rank(t.Context(), herons())
		if srv.Count() != tt.requests || (err == nil) != tt.good || got.Cost.Calls != tt.requests {
			t.Errorf("%s: %d requests, reply %+v, error %v", tt.name, srv.Count(), got, err)
		}
		if err != nil && strings.Contains(err.Error(), "violet") {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	srv := llmtest.New(t, ok)
	c := client(t, srv, func(_ *llm.Profile, o *llm.Options) { o.Caps.RunCalls = 1 })
	if _, err := c.Rank(t.Context(), herons()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Rank(t.Context(), herons()); !isCap(err, "run", "calls") || srv.Count() != 1 {
		t.Errorf("%d requests, error %v", srv.Count(), err)
	}
}
