package openai_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/memsearch/memsearch/embed"
	"github.com/memsearch/memsearch/embed/openai"
)

// wantRow is the unit vector of the server's answer to text.
func wantRow(text string) []float32 {
	v := row(text)
	n := math.Sqrt(v[0]*v[0] + v[1]*v[1])
	return []float32{float32(v[0] / n), float32(v[1] / n), 0, 0}
}

func checkRows(t *testing.T, rows [][]float32, texts ...string) {
	t.Helper()
	var want [][]float32
	for _, text := range texts {
		want = append(want, wantRow(text))
	}
	if d := cmp.Diff(want, rows, cmpopts.EquateApprox(0, 1e-6)); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
}

// failures are ways to fail once, each before a good answer.
var failures = []struct {
	name     string
	first    step
	requests int           // in all
	least    time.Duration // that the pauses took
	most     time.Duration
	err      error // what errors.Is finds; nil with requests > 1 means it worked in the end
	status   int   // of the StatusError
}{
	{"none", good, 1, 0, 0, nil, 0},
	{"500", status(500, "", "oops"), 2, 250 * time.Millisecond, 750 * time.Millisecond, nil, 0},
	{"503 without a body", raw(503, ""), 2, 250 * time.Millisecond, 750 * time.Millisecond, nil, 0},
	{"429", status(429, "rate_limit", "slow"), 2, 250 * time.Millisecond, 750 * time.Millisecond, nil, 0},
	{"429 seconds", status(429, "", "", "Retry-After: 7"), 2, 7 * time.Second, 7700 * time.Millisecond, nil, 0},
	{"429 ms", status(429, "", "", "Retry-After-Ms: 1500"), 2, 1500 * time.Millisecond, 1650 * time.Millisecond, nil, 0},
	// The clock of a synctest bubble starts at midnight of 2000-01-01 UTC.
	{"503 date", status(503, "", "", "Retry-After: Sat, 01 Jan 2000 00:00:20 GMT"), 2, 20 * time.Second, 22 * time.Second, nil, 0},
	{"429 for too long", status(429, "", "", "Retry-After: 3600"), 1, 0, 0, nil, 429},
	{"quota", status(429, "insufficient_quota", ""), 1, 0, 0, nil, 429},
	{"400", status(400, "", "bad"), 1, 0, 0, nil, 400},
	{"401", status(401, "", "who"), 1, 0, 0, nil, 401},
	{"403", status(403, "", "no"), 1, 0, 0, nil, 403},
	{"404 as a string", raw(404, `{"error": "model not found"}`), 1, 0, 0, nil, 404},
	{"redirect", raw(302, ""), 1, 0, 0, nil, 302},
	{"reset", reset, 2, 250 * time.Millisecond, 750 * time.Millisecond, nil, 0},
	{"hang", hang, 2, 60250 * time.Millisecond, 60750 * time.Millisecond, nil, 0},
	{"200 with an error", raw(200, `{"error": {"message": "nope", "code": "x"}}`), 1, 0, 0, nil, 200},
	{"200 with a 429", raw(200, `{"error": {"message": "slow", "code": 429}}`), 2, 250 * time.Millisecond, 750 * time.Millisecond, nil, 0},
	{"200 with an odd error", raw(200, `{"error": [1]}`), 1, 0, 0, nil, 200},
	{"empty", raw(200, ""), 1, 0, 0, openai.ErrReply, 0},
	{"html", raw(200, "<html>"), 1, 0, 0, openai.ErrReply, 0},
	{"half JSON", raw(200, `{"data": [`), 1, 0, 0, openai.ErrReply, 0},
	{"wrong type", raw(200, `{"data": [{"index": 0, "embedding": "AAAA"}]}`), 1, 0, 0, openai.ErrReply, 0},
	{"huge", raw(200, `{"data": [`+strings.Repeat(" ", 5000)), 1, 0, 0, openai.ErrReply, 0},
	{"no rows", edited(func(l []map[string]any) []map[string]any { return nil }), 1, 0, 0, openai.ErrReply, 0},
	{"two rows", edited(func(l []map[string]any) []map[string]any { return append(l, l[0]) }), 1, 0, 0, openai.ErrReply, 0},
	{"bad index", edited(func(l []map[string]any) []map[string]any { l[0]["index"] = 1; return l }), 1, 0, 0, openai.ErrReply, 0},
	{"dims", edited(func(l []map[string]any) []map[string]any { l[0]["embedding"] = []int{1, 2}; return l }), 1, 0, 0, openai.ErrReply, 0},
	{"zero", edited(func(l []map[string]any) []map[string]any { l[0]["embedding"] = []int{0, 0, 0, 0}; return l }), 1, 0, 0, openai.ErrReply, 0},
	{"null", raw(200, `{"data": [{"index": 0, "embedding": [null, null, null, null]}]}`), 1, 0, 0, openai.ErrReply, 0},
	{"NaN", raw(200, `{"data": [{"index": 0, "embedding": [NaN, 1, 1, 1]}]}`), 1, 0, 0, openai.ErrReply, 0},
	{"over float32", raw(200, `{"data": [{"index": 0, "embedding": [1e39, 1, 1, 1]}]}`), 1, 0, 0, openai.ErrReply, 0},
}

// TestFailures runs one text through each kind of failure.
func TestFailures(t *testing.T) {
	for _, tt := range failures {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{steps: []step{tt.first, good}}
				c := serve(t, s, func(o *openai.Options) { o.MaxReply = 4000 })
				start := time.Now()
				rows, err := c.Embed(t.Context(), []string{"hello"}, embed.Passage)
				took := time.Since(start)
				if took < tt.least || took > tt.most {
					t.Errorf("took %v, want %v to %v", took, tt.least, tt.most)
				}
				if s.count() != tt.requests {
					t.Errorf("%d requests, want %d", s.count(), tt.requests)
				}
				if tt.err == nil && tt.status == 0 {
					if err != nil {
						t.Fatal(err)
					}
					checkRows(t, rows, "hello")
					return
				}
				if rows != nil || tt.err != nil && !errors.Is(err, tt.err) {
					t.Errorf("rows %v, error %v, want %v", rows, err, tt.err)
				}
				if st, ok := errors.AsType[*openai.StatusError](err); ok != (tt.status != 0) || ok && st.Status != tt.status {
					t.Errorf("error %v, want status %d", err, tt.status)
				}
			})
		})
	}
}

func TestGivesUpAfterItsTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, first := range []step{status(502, "", "down"), status(429, "", "", "Retry-After: 1")} {
			s := &script{steps: []step{first}}
			c := serve(t, s, func(o *openai.Options) { o.Tries = 3 })
			_, err := c.Embed(t.Context(), []string{"hello"}, embed.Passage)
			if _, ok := errors.AsType[*openai.StatusError](err); !ok || s.count() != 3 {
				t.Errorf("%d requests, error %v", s.count(), err)
			}
			if strings.Contains(err.Error(), "retry after") {
				t.Errorf("error talks of its own machinery: %v", err)
			}
		}
	})
}

// TestOrder answers in reverse: the index decides.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{steps: []step{edited(func(l []map[string]any) []map[string]any { slices.Reverse(l); return l })}}
		c := serve(t, s, nil)
		texts := []string{"a", "bb", "ccc", "dddd"}
		rows, err := c.Embed(t.Context(), texts, embed.Passage)
		if err != nil {
			t.Fatal(err)
		}
		checkRows(t, rows, texts...)
	})
}

// TestBatches checks that no request is over a limit, that each text is sent
// once, and that rows find back to their texts.
func TestBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		under, peak := 0, 0
		s := &script{keep: true, steps: []step{func(w http.ResponseWriter, r request) {
			mu.Lock()
			under++
			peak = max(peak, under)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			under--
			mu.Unlock()
			good(w, r)
		}}}
		var calls []openai.Call
		c := serve(t, s, func(o *openai.Options) {
			o.BatchTexts, o.BatchTokens, o.Concurrency = 3, 20, 2
			o.OnCall = func(call openai.Call) { calls = append(calls, call) }
		})
		var texts []string
		for i := range 20 {
			texts = append(texts, fmt.Sprintf("%c%s", 'a'+i, strings.Repeat("x", i%9)))
		}
		start := time.Now()
		rows, err := c.Embed(t.Context(), texts, embed.Passage)
		if err != nil {
			t.Fatal(err)
		}
		checkRows(t, rows, texts...)
		sent := 0
		for _, r := range s.requests {
			bytes := 0
			for _, text := range r.Input {
				bytes += len(text)
			}
			if len(r.Input) > 3 || bytes > 20 {
				t.Errorf("request of %d texts, %d bytes", len(r.Input), bytes)
			}
			sent += len(r.Input)
		}
		if sent != len(texts) || peak != 2 {
			t.Errorf("%d texts sent, %d requests at a time", sent, peak)
		}
		if took, want := time.Since(start), time.Duration((len(s.requests)+1)/2)*time.Second; took != want {
			t.Errorf("took %v, want %v", took, want)
		}
		n, tokens := c.Spent()
		if n != len(s.requests) || tokens != 3*len(texts) || len(calls) != n { // the server charges 3 a text
			t.Errorf("spent %d calls, %d tokens, %d reported", n, tokens, len(calls))
		}
	})
}

func TestBlankTextsAreNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{steps: []step{good}}
		c := serve(t, s, nil)
		rows, err := c.Embed(t.Context(), []string{"", "a", " \n"}, embed.Passage)
		if err != nil {
			t.Fatal(err)
		}
		zero := make([]float32, dims)
		if d := cmp.Diff([][]float32{zero, wantRow("a"), zero}, rows, cmpopts.EquateApprox(0, 1e-6)); d != "" {
			t.Errorf("rows (-want +got):\n%s", d)
		}
		if d := cmp.Diff([]string{"a"}, s.requests[0].Input); d != "" {
			t.Errorf("sent (-want +got):\n%s", d)
		}
		if rows, err := c.Embed(t.Context(), nil, embed.Query); err != nil || len(rows) != 0 || s.count() != 1 {
			t.Errorf("no texts: %v, %v, %d requests", rows, err, s.count())
		}
		if _, err := c.Embed(t.Context(), []string{"a"}, 9); err == nil {
			t.Error("unknown kind accepted")
		}
	})
}

func TestPrefixesAndTruncation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{steps: []step{good}}
		var calls []openai.Call
		c := serve(t, s, func(o *openai.Options) {
			o.Prefixes = [2]string{"p: ", "q: "}
			o.TextTokens = 5
			o.Tokens = func(text string) int { return len(strings.Fields(text)) }
			o.RequestDims = true
			o.OnCall = func(call openai.Call) { calls = append(calls, call) }
		})
		for kind, text := range map[embed.Kind]string{embed.Passage: "a b c d e f", embed.Query: "a b c d"} {
			if _, err := c.Embed(t.Context(), []string{text}, kind); err != nil {
				t.Fatal(err)
			}
		}
		sent := map[string]bool{}
		for _, r := range s.requests {
			sent[r.Input[0]] = true
			if r.Dimensions != dims || r.Model != "m" || r.path != "/v1/embeddings" {
				t.Errorf("asked for %d dimensions of %s at %s", r.Dimensions, r.Model, r.path)
			}
		}
		if d := cmp.Diff(map[string]bool{"p: a b c d ": true, "q: a b c d": true}, sent); d != "" {
			t.Errorf("sent (-want +got):\n%s", d)
		}
		if calls[0].Truncated+calls[1].Truncated != 1 {
			t.Errorf("calls %+v", calls)
		}
		want := embed.Fingerprint{Model: "m", Dims: dims, Prefixes: [2]string{"p: ", "q: "}}
		if d := cmp.Diff(want, c.Fingerprint()); d != "" {
			t.Errorf("fingerprint (-want +got):\n%s", d)
		}
	})
}

func TestCaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			name  string
			edit  func(*openai.Options)
			first step
			want  openai.CapError
			spent [2]int
		}{
			// 5 bytes a text; the server charges 3 tokens.
			{"calls", func(o *openai.Options) { o.MaxCalls = 2 }, good, openai.CapError{What: "calls", Limit: 2, Used: 2, Want: 1}, [2]int{2, 6}},
			{"tokens", func(o *openai.Options) { o.MaxTokens = 10 }, good, openai.CapError{What: "tokens", Limit: 10, Used: 6, Want: 5}, [2]int{2, 6}},
			{"retries count", func(o *openai.Options) { o.MaxCalls = 2; o.Tries = 9 }, status(500, "", ""), openai.CapError{What: "calls", Limit: 2, Used: 2, Want: 1}, [2]int{2, 0}},
		} {
			s := &script{steps: []step{tt.first}}
			c := serve(t, s, tt.edit)
			var err error
			for range 5 {
				if _, err = c.Embed(t.Context(), []string{"hello"}, embed.Passage); err != nil {
					break
				}
			}
			got, ok := errors.AsType[*openai.CapError](err)
			if !ok {
				t.Errorf("%s: error %v", tt.name, err)
				continue
			}
			if d := cmp.Diff(tt.want, *got); d != "" {
				t.Errorf("%s (-want +got):\n%s", tt.name, d)
			}
			calls, tokens := c.Spent()
			if d := cmp.Diff(tt.spent, [2]int{calls, tokens}); d != "" || s.count() != tt.spent[0] {
				t.Errorf("%s: %d requests, spent (-want +got):\n%s", tt.name, s.count(), d)
			}
		}
	})
}

// TestLostAnswersCountAsCharged: a timeout may have been paid for.
func TestLostAnswersCountAsCharged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls []openai.Call
		s := &script{steps: []step{hang, good}}
		c := serve(t, s, func(o *openai.Options) { o.OnCall = func(call openai.Call) { calls = append(calls, call) } })
		if _, err := c.Embed(t.Context(), []string{"hello"}, embed.Passage); err != nil {
			t.Fatal(err)
		}
		want := []openai.Call{
			{Model: "m", Try: 1, Texts: 1, Tokens: 5, Counted: true, Duration: time.Minute},
			{Model: "m", Try: 2, Texts: 1, Tokens: 3},
		}
		if d := cmp.Diff(want, calls, cmpopts.IgnoreFields(openai.Call{}, "Err")); d != "" {
			t.Errorf("calls (-want +got):\n%s", d)
		}
		if calls[0].Err == nil || calls[1].Err != nil {
			t.Errorf("errors %v, %v", calls[0].Err, calls[1].Err)
		}
	})
}

// TestUsage: what a server says of its cost that makes no sense is counted here and
// does not cost the rows; what a gateway gave up waiting for may have been charged,
// what was never sent was not.
func TestUsage(t *testing.T) {
	for usage, want := range map[string]openai.Call{
		`{"total_tokens":3}`:                    {Tokens: 3},
		`{"prompt_tokens":[],"total_tokens":3}`: {Tokens: 3},
		`{"total_tokens":"many"}`:               {Tokens: 5, Counted: true},
		`{"total_tokens":-3}`:                   {Tokens: 5, Counted: true},
		`{"total_tokens":2e9}`:                  {Tokens: 5, Counted: true},
		`{"total_tokens":1e300}`:                {Tokens: 5, Counted: true},
		`{"total_tokens":null}`:                 {Tokens: 5, Counted: true},
		`[3]`:                                   {Tokens: 5, Counted: true},
		`null`:                                  {Tokens: 5, Counted: true},
	} {
		var calls []openai.Call
		s := &script{steps: []step{raw(200, `{"usage":`+usage+`,"data":[{"index":0,"embedding":[5,104,0,0]}]}`)}}
		c := serve(t, s, func(o *openai.Options) { o.OnCall = func(call openai.Call) { calls = append(calls, call) } })
		rows, err := c.Embed(t.Context(), []string{"hello"}, embed.Passage)
		if err != nil || len(calls) != 1 {
			t.Errorf("%s: %d calls, %v", usage, len(calls), err)
			continue
		}
		checkRows(t, rows, "hello")
		if calls[0].Tokens != want.Tokens || calls[0].Counted != want.Counted {
			t.Errorf("%s: %+v", usage, calls[0])
		}
	}
	for code, tokens := range map[int]int{400: 0, 500: 0, 504: 5, 524: 5} {
		c := serve(t, &script{steps: []step{status(code, "", "")}}, func(o *openai.Options) { o.Tries = 1 })
		_, err := c.Embed(t.Context(), []string{"hello"}, embed.Passage)
		if calls, got := c.Spent(); err == nil || calls != 1 || got != tokens {
			t.Errorf("%d: %d calls, %d tokens, %v", code, calls, got, err)
		}
	}
	var call openai.Call
	c := serve(t, &script{}, func(o *openai.Options) {
		o.BaseURL, o.HTTPClient, o.Tries, o.OnCall = "http://127.0.0.1:1/v1", nil, 1, func(c openai.Call) { call = c }
	})
	if _, err := c.Embed(t.Context(), []string{"hello"}, embed.Passage); err == nil || call.Err == nil || call.Tokens != 0 || call.Counted {
		t.Errorf("nobody is there: %+v, %v", call, err)
	}
}

// TestReserve: what Reserve refuses is not sent, not tried again and no fault of the
// server; of what is sent it hears the end.
func TestReserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("the purse is empty")
		left := 12
		var ends []int
		s := &script{steps: []step{good}}
		c := serve(t, s, func(o *openai.Options) {
			o.BreakAfter = 1
			o.Reserve = func(_ context.Context, tokens int) (func(openai.Call), error) {
				if left -= tokens; left < 0 {
					return nil, full
				}
				return func(call openai.Call) { ends = append(ends, call.Tokens) }, nil
			}
		})
		for i, want := range []error{nil, nil, full, full} { // 5 bytes each
			if _, err := c.Embed(t.Context(), []string{"hello"}, embed.Passage); !errors.Is(err, want) {
				t.Errorf("%d: %v, want %v", i, err, want)
			}
		}
		if d := cmp.Diff([]int{3, 3}, ends); d != "" { // the server charges 3 a text
			t.Errorf("ends (-want +got):\n%s", d)
		}
		if calls, tokens := c.Spent(); calls != 2 || tokens != 6 || s.count() != 2 {
			t.Errorf("%d calls, %d tokens, %d requests", calls, tokens, s.count())
		}
	})
}

// TestSilence guards against minutes of waiting for a server that takes requests
// and never answers, whatever the number of texts.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{steps: []step{hang}}
		c := serve(t, s, func(o *openai.Options) { o.BatchTexts, o.Timeout = 1, 30*time.Second })
		start := time.Now()
		var wg sync.WaitGroup
		for range 3 { // as many indexers as there are processors
			wg.Go(func() {
				_, err := c.Embed(t.Context(), strings.Fields("a b c d e f g h"), embed.Passage)
				if err == nil || strings.Contains(err.Error(), "backoff") {
					t.Errorf("error %v", err)
				}
			})
		}
		wg.Wait()
		if took := time.Since(start); took > 62*time.Second {
			t.Errorf("gave up after %v, want two timeouts at most", took)
		}
		before := s.count()
		if _, err := c.Embed(t.Context(), []string{"x"}, embed.Passage); !errors.Is(err, openai.ErrUnavailable) || s.count() != before {
			t.Errorf("afterwards: %v, %d requests more", err, s.count()-before)
		}
	})
}

func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := &script{steps: []step{status(500, "", ""), status(500, "", ""), status(429, "", ""), status(500, "", ""), good}}
		c := serve(t, s, func(o *openai.Options) {
			o.Tries, o.BreakAfter = 1, 3
			o.Logger = slog.New(slog.NewTextHandler(&log, nil))
		})
		ask := func() error {
			_, err := c.Embed(t.Context(), []string{"hello"}, embed.Passage)
			return err
		}
		for range 4 { // the 429 is no sign of an outage, nor of its end
			if err := ask(); err == nil || errors.Is(err, openai.ErrUnavailable) {
				t.Fatalf("error %v", err)
			}
		}
		if err := ask(); !errors.Is(err, openai.ErrUnavailable) || s.count() != 4 {
			t.Errorf("after three failures: %v, %d requests", err, s.count())
		}
		if !strings.Contains(log.String(), "left alone") {
			t.Errorf("log %q", log.String())
		}
		time.Sleep(openai.DefaultBreakFor + time.Second)
		if err := ask(); err != nil {
			t.Errorf("after the pause: %v", err)
		}
	})
}

func TestRateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{steps: []step{good}}
		c := serve(t, s, func(o *openai.Options) { o.PerMinute, o.BatchTexts = 6, 1 })
		start := time.Now()
		if _, err := c.Embed(t.Context(), []string{"a", "b", "c"}, embed.Passage); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start).Round(time.Millisecond); took != 20*time.Second {
			t.Errorf("three requests at six a minute took %v", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Embed(ctx, []string{"d"}, embed.Passage); err == nil {
			t.Error("no error for a turn that comes too late")
		}
	})
}

func TestContextEndsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, first := range map[string]step{"hang": hang, "pause": status(429, "", "", "Retry-After: 50")} {
			c := serve(t, &script{steps: []step{first}}, nil)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			start := time.Now()
			rows, err := c.Embed(ctx, []string{"hello"}, embed.Passage)
			if rows != nil || !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 5*time.Second {
				t.Errorf("%s: rows %v, error %v after %v", name, rows, err, time.Since(start))
			}
			cancel()
		}
	})
}
