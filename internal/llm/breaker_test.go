package llm_test

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/internal/llm/llmtest"
)

// bubble returns a client for use inside a synctest bubble.
func bubble(t *testing.T, srv *llmtest.Server, edit func(*llm.Profile, *llm.Options)) *llm.Client {
	return client(t, srv, func(p *llm.Profile, o *llm.Options) {
		o.HTTPClient = &http.Client{Transport: inProcess{srv}}
		if edit != nil {
			edit(p, o)
		}
	})
}

// outages are ways for a server not to work, and what the callers after the first
// see. Each caller is a client of its own, as of a process of its own.
var outages = []struct {
	name     string
	step     llmtest.Step
	timeout  time.Duration // of the caller; zero: none
	profile  time.Duration // timeout of the profile; zero: 5 s
	requests int           // of three callers
	takes    time.Duration // at least, all three together
	open     bool
}{
	{"hang", llmtest.Hang(), 0, 0, 1, 5 * time.Second, true},
	{"hang for an impatient caller", llmtest.Hang(), 2 * time.Second, 0, 1, 2 * time.Second, true},
	{"hang for a caller without time", llmtest.Hang(), 100 * time.Millisecond, 0, 3, 300 * time.Millisecond, false},
	{"hang for a caller without time, of a profile with as little", llmtest.Hang(), 100 * time.Millisecond, 150 * time.Millisecond, 1, 100 * time.Millisecond, true},
	{"500", llmtest.Status(500, "", "oops"), 0, 0, 3, 750 * time.Millisecond, true},
	{"503 without a body", llmtest.Raw(503, ""), 0, 0, 3, 750 * time.Millisecond, true},
	{"reset", llmtest.Reset(), 0, 0, 3, 750 * time.Millisecond, true},
	{"429", llmtest.Status(429, "", "slow"), 0, 0, 9, 0, false},
	{"400", llmtest.Status(400, "", "bad"), 0, 0, 3, 0, false},
	{"401", llmtest.Status(401, "", "who"), 0, 0, 3, 0, false},
	{"bad reply", llmtest.Raw(200, "<html>"), 0, 0, 3, 0, false},
	{"refusal", llmtest.Refusal("no"), 0, 0, 3, 0, false},
}

func TestBreaker(t *testing.T) {
	for _, tt := range outages {
		t.Run(tt.name, func(t *testing.T) {
			srv := llmtest.New(t, tt.step)
			state := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				ledger := llm.NewMemoryLedger()
				start := time.Now()
				var err error
				for range 3 {
					c := bubble(t, srv, func(p *llm.Profile, o *llm.Options) {
						p.Timeout, o.StateDir, o.Ledger = cmp.Or(tt.profile, p.Timeout), state, ledger
					})
					ctx := t.Context()
					if tt.timeout > 0 {
						var cancel context.CancelFunc
						ctx, cancel = context.WithTimeout(ctx, tt.timeout)
						defer cancel()
					}
					if _, err = c.Ask(ctx, hello()); err == nil {
						t.Fatal("no error")
					}
				}
				if took := time.Since(start); srv.Count() != tt.requests || took < tt.takes || tt.open && took > tt.takes+2*time.Second {
					t.Errorf("%d requests in %v", srv.Count(), took)
				}
				if errors.Is(err, llm.ErrUnavailable) != tt.open {
					t.Errorf("last error %v", err)
				}
				rows, lerr := ledger.Costs(time.Time{})
				if lerr != nil || len(rows) != 1 || rows[0].Calls != tt.requests {
					t.Errorf("ledger %+v, %v", rows, lerr)
				}
			})
		})
	}
}

// reluctant gives up a request some time after its context is done.
type reluctant time.Duration

func (d reluctant) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	time.Sleep(time.Duration(d))
	return nil, r.Context().Err()
}

// What a call that nobody waits for any more found out is known to the next process,
// unless it takes too long.
func TestCloseWaits(t *testing.T) {
	for _, tt := range []struct {
		slow, takes time.Duration
		known       bool
	}{{0, 0, true}, {300 * time.Millisecond, 200 * time.Millisecond, true}, {5 * time.Second, time.Second, false}} {
		srv := llmtest.New(t, llmtest.Text("fine"))
		state := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			c := bubble(t, srv, func(_ *llm.Profile, o *llm.Options) {
				o.StateDir, o.HTTPClient = state, &http.Client{Transport: reluctant(tt.slow)}
			})
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			go c.Ask(ctx, hello())
			time.Sleep(2100 * time.Millisecond)
			start := time.Now()
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			if took := time.Since(start); took != tt.takes {
				t.Errorf("slow by %v: closed after %v, want %v", tt.slow, took, tt.takes)
			}
			next := bubble(t, srv, func(_ *llm.Profile, o *llm.Options) { o.StateDir = state })
			if _, err := next.Ask(t.Context(), hello()); errors.Is(err, llm.ErrUnavailable) != tt.known {
				t.Errorf("slow by %v: the next one has %v", tt.slow, err)
			}
			time.Sleep(5 * time.Second)
		})
	}
}

// A server that is left alone is tried once when its time is over, by whoever
// comes first, and is used again when it works.
func TestBreakerCloses(t *testing.T) {
	srv := llmtest.New(t, llmtest.Hang(), llmtest.Hang(), llmtest.Text("fine"))
	state := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		for i, tt := range []struct {
			wait     time.Duration
			requests int
			open, ok bool
		}{
			{0, 1, false, false}, // 5 s to find out
			{20 * time.Second, 1, true, false},
			{11 * time.Second, 2, false, false}, // still dead
			{29 * time.Second, 2, true, false},
			{2 * time.Second, 3, false, true},
			{0, 4, false, true},
		} {
			time.Sleep(tt.wait)
			c := bubble(t, srv, func(_ *llm.Profile, o *llm.Options) { o.StateDir = state })
			_, err := c.Ask(t.Context(), hello())
			if srv.Count() != tt.requests || errors.Is(err, llm.ErrUnavailable) != tt.open || (err == nil) != tt.ok {
				t.Errorf("step %d: %d requests, error %v", i, srv.Count(), err)
			}
		}
	})
	if left, err := os.ReadDir(state); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A call that says nothing about the server, when it is tried again, leaves it to
// the next to find out.
func TestBreakerProbeWithoutResult(t *testing.T) {
	srv := llmtest.New(t, llmtest.Hang(), llmtest.Status(429, "", "", "Retry-After: 3600"), llmtest.Hang())
	state := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		for i, open := range []bool{false, false, false, true} {
			c := bubble(t, srv, func(_ *llm.Profile, o *llm.Options) { o.StateDir = state })
			if _, err := c.Ask(t.Context(), hello()); err == nil || errors.Is(err, llm.ErrUnavailable) != open {
				t.Errorf("call %d: %v", i, err)
			}
			if i == 0 {
				time.Sleep(time.Minute)
			}
		}
	})
}

// A server that is not there is not waited for, and its name is not in the file
// that says so.
func TestRefusedConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String() + "/v1"
	l.Close()
	state := t.TempDir()
	for _, open := range []bool{false, true} {
		c, err := llm.New(llm.Profile{BaseURL: url, Model: "model-of-mine"}, &llm.Options{StateDir: state})
		if err != nil {
			t.Fatal(err)
		}
		reply, err := c.Ask(t.Context(), hello())
		if err == nil || errors.Is(err, llm.ErrUnavailable) != open || !open && reply.Cost.Calls != 1 {
			t.Errorf("open %v: error %v", open, err)
		}
	}
	files, err := os.ReadDir(state)
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v, %v", files, err)
	}
}

// Where nothing can be kept, or what is kept makes no sense, a client works by
// itself.
func TestUnusableState(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{"none": "", "a file": file, "below a file": filepath.Join(file, "y")} {
		srv := llmtest.New(t, llmtest.Hang(), llmtest.Text("fine"))
		synctest.Test(t, func(t *testing.T) {
			with := func(_ *llm.Profile, o *llm.Options) { o.StateDir = dir }
			c := bubble(t, srv, with)
			if _, err := c.Ask(t.Context(), hello()); err == nil {
				t.Errorf("%s: no error", name)
			}
			if _, err := c.Ask(t.Context(), hello()); !errors.Is(err, llm.ErrUnavailable) {
				t.Errorf("%s: the client itself does not know: %v", name, err)
			}
			if _, err := bubble(t, srv, with).Ask(t.Context(), hello()); err != nil {
				t.Errorf("%s: another client: %v", name, err)
			}
		})
	}
	for _, text := range []string{"", "{", "[]", `{"v":9}`, `{"v":1,"until":"2999-01-01T00:00:00Z"}`, `{"v":1,"until":7}`} {
		srv := llmtest.New(t, llmtest.Hang(), llmtest.Text("fine"))
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			with := func(_ *llm.Profile, o *llm.Options) { o.StateDir = dir }
			bubble(t, srv, with).Ask(t.Context(), hello()) // fails, and leaves a file
			files, err := os.ReadDir(dir)
			if err != nil || len(files) != 1 {
				t.Fatalf("files %v, %v", files, err)
			}
			if err := os.WriteFile(filepath.Join(dir, files[0].Name()), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := bubble(t, srv, with).Ask(t.Context(), hello()); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		})
	}
}
