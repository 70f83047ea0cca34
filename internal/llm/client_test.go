package llm_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/internal/llm/llmtest"
)

// client returns a client of srv whose tries do not wait long.
func client(t *testing.T, srv *llmtest.Server, edit func(*llm.Profile, *llm.Options)) *llm.Client {
	t.Helper()
	retries := 2
	p := llm.Profile{Name: "rerank", BaseURL: srv.URL, Model: "m", MaxOutput: 100, Timeout: 5 * time.Second, Retries: &retries,
		PriceIn: new(2.0), PriceOut: new(10.0)}
	o := &llm.Options{}
	if edit != nil {
		edit(&p, o)
	}
	c, err := llm.New(p, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func hello() llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: "say hello to the violet heron"}}, Prompt: "test@1"}
}

// TestReplies has good answers, however they come.
func TestReplies(t *testing.T) {
	for name, step := range map[string]llmtest.Step{
		"whole": llmtest.Whole("你好 there"), "streamed": llmtest.Streamed("你好 there"), "gzip": llmtest.Gzip("你好 there"),
		"text": llmtest.Text("你好 there"), "no usage": llmtest.NoUsage("你好 there"),
	} {
		for _, stream := range []bool{false, true} {
			srv := llmtest.New(t, step)
			ledger := llm.NewMemoryLedger()
			c := client(t, srv, func(p *llm.Profile, o *llm.Options) { p.Stream, o.Ledger = &stream, ledger })
			reply, err := c.Ask(t.Context(), hello())
			if err != nil {
				t.Errorf("%s, stream %v: %v", name, stream, err)
				continue
			}
			if reply.Text != "你好 there" || reply.Finish != llm.FinishStop || reply.Replayed {
				t.Errorf("%s, stream %v: %+v", name, stream, reply)
			}
			rows, err := ledger.Costs(time.Time{})
			if err != nil || len(rows) != 1 {
				t.Fatalf("costs %v, %v", rows, err)
			}
			if name == "no usage" {
				continue
			}
			u := srv.Charged()
			want := memsearch.Cost{Calls: 1, TokensIn: u.In, TokensOut: u.Out, Money: (2*float64(u.In) + 10*float64(u.Out)) / 1e6}
			if d := cmp.Diff(want, reply.Cost); d != "" {
				t.Errorf("%s, stream %v: cost (-charged +counted):\n%s", name, stream, d)
			}
			if rows[0].TokensIn != u.In || rows[0].TokensOut != u.Out || rows[0].Calls != 1 || rows[0].Failed != 0 {
				t.Errorf("%s, stream %v: ledger %+v, charged %+v", name, stream, rows[0], u)
			}
		}
	}
}

// TestFailures: each is told by its error, is asked again only where that may
// help, and leaves neither prompt nor key in error or log.
func TestFailures(t *testing.T) {
	t.Setenv("MODEL_KEY", "sk-very-secret-0123456789")
	ok := llmtest.Text("fine")
	for _, tt := range []struct {
		name     string
		first    llmtest.Step
		requests int
		err      error
		status   int
	}{
		{"429 with Retry-After", llmtest.Status(429, "rate", "slow", "Retry-After-Ms: 20"), 2, nil, 0},
		{"429 for an hour", llmtest.Status(429, "rate", "slow", "Retry-After: 3600"), 1, nil, 429},
		{"quota", llmtest.Status(429, "insufficient_quota", "pay"), 1, nil, 429},
		{"500", llmtest.Status(500, "", "oops"), 2, nil, 0},
		{"400", llmtest.Status(400, "", "bad: say hello to the violet heron"), 1, nil, 400},
		{"401", llmtest.Status(401, "", "who"), 1, nil, 401},
		{"403", llmtest.Status(403, "", "no"), 1, nil, 403},
		{"404", llmtest.Status(404, "", "no model"), 1, nil, 404},
		{"redirect", llmtest.Status(307, "", "", "Location: /v1/elsewhere"), 1, nil, 307},
		{"500 and a large page", llmtest.Raw(500, strings.Repeat("x", llm.DefaultMaxReply+1)), 2, nil, 0},
		{"reset", llmtest.Reset(), 2, nil, 0},
		{"reset mid-body", llmtest.ResetMidBody(), 2, nil, 0},
		{"stream cut short", llmtest.CutStream("fi"), 2, nil, 0},
		{"200 with an error", llmtest.Raw(200, `{"error":{"message":"nope: say hello to the violet heron","code":"x"}}`), 1, nil, 200},
		{"error in a stream", llmtest.Raw(200, "data: {\"error\":{\"message\":\"nope\"}}\n\n"), 1, nil, 200},
		{"empty", llmtest.Raw(200, ""), 1, llm.ErrReply, 0},
		{"html", llmtest.Raw(200, "<html>violet heron</html>"), 1, llm.ErrReply, 0},
		{"half JSON", llmtest.Raw(200, `{"choices":[`), 1, llm.ErrReply, 0},
		{"no choices", llmtest.Raw(200, `{"choices":[]}`), 1, llm.ErrReply, 0},
		{"wrong types", llmtest.Raw(200, `{"choices":"x"}`), 1, llm.ErrReply, 0},
		{"huge", llmtest.Huge(llm.DefaultMaxReply + 1), 1, llm.ErrReply, 0},
		{"refusal", llmtest.Refusal("I will not"), 1, llm.ErrRefused, 0},
		{"filter", llmtest.Filtered(), 1, llm.ErrRefused, 0},
		{"length", llmtest.Length("fi"), 1, llm.ErrLength, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := llmtest.New(t, tt.first, ok)
			var log bytes.Buffer
			c := client(t, srv, func(p *llm.Profile, o *llm.Options) {
				p.APIKeyEnv = "MODEL_KEY"
				o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			})
			reply, err := c.Ask(t.Context(), hello())
			if srv.Count() != tt.requests {
				t.Errorf("%d requests, want %d", srv.Count(), tt.requests)
			}
			if tt.err == nil && tt.status == 0 {
				if err != nil || reply.Text != "fine" {
					t.Errorf("reply %+v, %v", reply, err)
				}
			} else if tt.err != nil && !errors.Is(err, tt.err) || err == nil {
				t.Errorf("error %v, want %v", err, tt.err)
			}
			if st, ok := errors.AsType[*llm.StatusError](err); ok != (tt.status != 0) || ok && st.Status != tt.status {
				t.Errorf("error %v, want status %d", err, tt.status)
			}
			if reply.Cost.Calls != tt.requests {
				t.Errorf("%d calls counted, %d made", reply.Cost.Calls, tt.requests)
			}
			said := log.String()
			if err != nil {
				said += err.Error()
			}
			for _, secret := range []string{"sk-very", "violet heron"} {
				if strings.Contains(said, secret) {
					t.Errorf("%q is said in: %s", secret, said)
				}
			}
		})
	}
}

// TestBrokenStreams: what a model said before its server failed is paid for: what
// the server says, else all that was set aside.
func TestBrokenStreams(t *testing.T) {
	const piece, used = `data: {"choices":[{"index":0,"delta":{"content":"fi"}}]}`, `data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}`
	const failed = `data: {"error":{"message":"nope","code":400}}`
	in := llm.PromptTokens(hello().Messages)
	for name, tt := range map[string]struct {
		events []string
		want   memsearch.Cost
	}{
		"error":                  {[]string{failed}, memsearch.Cost{Calls: 1}},
		"error after text":       {[]string{piece, failed}, memsearch.Cost{Calls: 1, TokensIn: in, TokensOut: 100}},
		"error after usage":      {[]string{piece, used, failed}, memsearch.Cost{Calls: 1, TokensIn: 7, TokensOut: 3}},
		"cut":                    {[]string{piece}, memsearch.Cost{Calls: 1, TokensIn: in, TokensOut: 100}},
		"cut after usage":        {[]string{piece, used}, memsearch.Cost{Calls: 1, TokensIn: 7, TokensOut: 3}},
		"an event of no meaning": {[]string{piece, "data: {"}, memsearch.Cost{Calls: 1, TokensIn: in, TokensOut: 100}},
	} {
		srv := llmtest.New(t, llmtest.Raw(200, strings.Join(tt.events, "\n\n")+"\n\n"))
		none := 0
		c := client(t, srv, func(p *llm.Profile, _ *llm.Options) { p.Retries, p.PriceIn, p.PriceOut = &none, nil, nil })
		reply, err := c.Ask(t.Context(), hello())
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		if d := cmp.Diff(tt.want, reply.Cost); d != "" {
			t.Errorf("%s: cost (-want +got):\n%s", name, d)
		}
	}
}

// TestNoHTTP: a server that sends back what it got as something that is not HTTP
// makes neither key nor prompt part of the error.
func TestNoHTTP(t *testing.T) {
	t.Setenv("MODEL_KEY", "sk-very-secret-0123456789")
	for _, format := range []string{"%s %s\r\n\r\n", "HTTP/1.1 200 OK\r\n%s %s\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: %s %s\r\n\r\n"} {
		srv := llmtest.New(t, func(w http.ResponseWriter, r *llmtest.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			fmt.Fprintf(conn, format, "sk-very-secret-0123456789", "say hello to the violet heron")
		})
		none := 0
		c := client(t, srv, func(p *llm.Profile, _ *llm.Options) { p.APIKeyEnv, p.Retries = "MODEL_KEY", &none })
		_, err := c.Ask(t.Context(), hello())
		if err == nil || strings.Contains(err.Error(), "sk-very") || strings.Contains(err.Error(), "violet heron") {
			t.Errorf("%q: %v", format, err)
		}
	}
}

// TestUnreachable: what no server got costs a call and no token, and is not asked
// again.
func TestUnreachable(t *testing.T) {
	gone := llmtest.Start(llmtest.Text("fine"))
	gone.Close()
	here := llmtest.New(t, llmtest.Text("fine"))
	other := httptest.NewUnstartedServer(here)
	other.Config.ErrorLog = log.New(io.Discard, "", 0)
	other.StartTLS()
	defer other.Close()
	for name, url := range map[string]string{"gone": gone.URL, "no TLS": strings.Replace(here.URL, "http:", "https:", 1), "unknown certificate": other.URL} {
		c := client(t, here, func(p *llm.Profile, _ *llm.Options) { p.BaseURL = url })
		reply, err := c.Ask(t.Context(), hello())
		if err == nil {
			t.Errorf("%s: a reply", name)
			continue
		}
		if d := cmp.Diff(memsearch.Cost{Calls: 1}, reply.Cost); d != "" {
			t.Errorf("%s: cost (-want +got):\n%s", name, d)
		}
	}
}
