package llm_test

import (
	"compress/gzip"
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/internal/llm/llmtest"
)

// TestPauses: a pause is what the server asks for and a little more, or grows by
// itself, and never goes beyond what the caller has left.
func TestPauses(t *testing.T) {
	for _, tt := range []struct {
		name        string
		first       llmtest.Step
		has         time.Duration // the caller; zero: no limit
		requests    int
		least, most time.Duration
	}{
		{"seconds", llmtest.Status(429, "", "", "Retry-After: 7"), 0, 2, 7 * time.Second, 7700 * time.Millisecond},
		{"milliseconds", llmtest.Status(429, "", "", "Retry-After-Ms: 1500"), 0, 2, 1500 * time.Millisecond, 1650 * time.Millisecond},
		// The clock of a bubble starts at midnight of 2000-01-01 UTC.
		{"date", llmtest.Status(503, "", "", "Retry-After: Sat, 01 Jan 2000 00:00:20 GMT"), 0, 2, 20 * time.Second, 22 * time.Second},
		{"own", llmtest.Status(500, "", ""), 0, 2, 250 * time.Millisecond, 750 * time.Millisecond},
		{"too long", llmtest.Status(429, "", "", "Retry-After: 61"), 0, 1, 0, 0},
		{"more than is left", llmtest.Status(429, "", "", "Retry-After: 7"), 3 * time.Second, 1, 0, 0},
		{"less than is left", llmtest.Status(429, "", "", "Retry-After: 2"), 3 * time.Second, 2, 2 * time.Second, 2200 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := llmtest.New(t, tt.first, llmtest.Text("fine"))
			synctest.Test(t, func(t *testing.T) {
				c := bubble(t, srv, nil)
				ctx := t.Context()
				if tt.has > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.has)
					defer cancel()
				}
				start := time.Now()
				_, err := c.Ask(ctx, hello())
				if took := time.Since(start); took < tt.least || took > tt.most {
					t.Errorf("took %v", took)
				}
				if srv.Count() != tt.requests || (err == nil) != (tt.requests == 2) {
					t.Errorf("%d requests, error %v", srv.Count(), err)
				}
			})
		})
	}
}

// drip sends a byte of a reply now and then, and never ends.
func drip(w http.ResponseWriter, _ *llmtest.Request) {
	for {
		if _, err := w.Write([]byte(" ")); err != nil {
			return
		}
		w.(http.Flusher).Flush()
		time.Sleep(time.Millisecond)
	}
}

// bomb sends a small body that unpacks to a very large one.
func bomb(w http.ResponseWriter, _ *llmtest.Request) {
	w.Header().Set("Content-Encoding", "gzip")
	z := gzip.NewWriter(w)
	blank := make([]byte, 1<<20)
	for range llm.DefaultMaxReply>>20 + 1 {
		z.Write(blank)
	}
	z.Close()
}

// TestOverSockets has what a real connection can do to a client.
func TestOverSockets(t *testing.T) {
	for name, tt := range map[string]struct {
		step llmtest.Step
		err  error
	}{
		"hang": {llmtest.Hang(), context.DeadlineExceeded},
		"drip": {drip, context.DeadlineExceeded},
		"bomb": {bomb, llm.ErrReply},
	} {
		srv := llmtest.New(t, tt.step)
		ledger := llm.NewMemoryLedger()
		c := client(t, srv, func(p *llm.Profile, o *llm.Options) {
			o.Ledger = ledger
			if tt.err != llm.ErrReply {
				p.Timeout = 50 * time.Millisecond
			}
		})
		reply, err := c.Ask(t.Context(), hello())
		if !errors.Is(err, tt.err) || srv.Count() != 1 {
			t.Errorf("%s: %d requests, error %v", name, srv.Count(), err)
		}
		// What was lost counts as the most it may have cost.
		if in := llm.PromptTokens(hello().Messages); reply.Cost.Calls != 1 || reply.Cost.TokensIn != in || reply.Cost.TokensOut != 100 {
			t.Errorf("%s: cost %+v", name, reply.Cost)
		}
	}
}

// A caller that goes away ends the call, and is told why.
func TestCancelled(t *testing.T) {
	gone := errors.New("the user has gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	srv := llmtest.New(t, llmtest.Observe(func(*llmtest.Request) { cancel(gone) }, llmtest.Hang()))
	c := client(t, srv, nil)
	if _, err := c.Ask(ctx, hello()); !errors.Is(err, gone) || srv.Count() != 1 {
		t.Errorf("%d requests, error %v", srv.Count(), err)
	}
}
