package llm_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/internal/llm/llmtest"
)

func isCap(err error, per, what string) bool {
	e, ok := errors.AsType[*llm.CapError](err)
	return ok && e.Per == per && e.What == what
}

// TestCaps: each cap ends the calls before it is exceeded, by what they may take
// at most.
func TestCaps(t *testing.T) {
	// A reply takes 100 tokens at most; hello and "fine" are charged about ten.
	for _, tt := range []struct {
		per, what string
		caps      llm.Caps
		calls     int
	}{
		{"call", "tokens", llm.Caps{CallTokens: 100}, 0},
		{"run", "calls", llm.Caps{RunCalls: 2}, 2},
		{"run", "tokens", llm.Caps{RunTokens: 150}, 2},
		{"run", "money", llm.Caps{RunMoney: 0.0011}, 2},
		{"day", "calls", llm.Caps{DayCalls: 3}, 3},
		{"day", "tokens", llm.Caps{DayTokens: 150}, 2},
		{"day", "money", llm.Caps{DayMoney: 0.0011}, 2},
	} {
		srv := llmtest.New(t, llmtest.Text("fine"))
		c := client(t, srv, func(_ *llm.Profile, o *llm.Options) { o.Caps = tt.caps })
		var err error
		for err == nil && srv.Count() < 10 {
			_, err = c.Ask(t.Context(), hello())
		}
		if !isCap(err, tt.per, tt.what) {
			t.Errorf("%+v: %v", tt.caps, err)
		}
		if tt.what == "calls" || tt.per == "call" {
			if srv.Count() != tt.calls {
				t.Errorf("%+v: %d calls, want %d", tt.caps, srv.Count(), tt.calls)
			}
			continue
		}
		u := srv.Charged()
		if tt.what == "tokens" && u.In+u.Out > 150 || srv.Count() < tt.calls {
			t.Errorf("%+v: %d calls, charged %+v", tt.caps, srv.Count(), u)
		}
		if tt.what == "money" && float64(2*u.In+10*u.Out)/1e6 > 0.0011 {
			t.Errorf("%+v: charged %+v", tt.caps, u)
		}
	}
}

// Retries and calls that are refused are calls.
func TestCapsCountFailures(t *testing.T) {
	for name, step := range map[string]llmtest.Step{"500": llmtest.Status(500, "", "oops", "Retry-After-Ms: 1"),
		"429": llmtest.Status(429, "", "slow", "Retry-After-Ms: 1"), "400": llmtest.Status(400, "", "bad")} {
		srv := llmtest.New(t, step)
		run := new(llm.Run)
		var err error
		for range 5 {
			many := 9
			c := client(t, srv, func(p *llm.Profile, o *llm.Options) {
				p.Retries, o.Run, o.Caps = &many, run, llm.Caps{RunCalls: 4}
			})
			_, err = c.Ask(t.Context(), hello())
		}
		if srv.Count() != 4 || !isCap(err, "run", "calls") {
			t.Errorf("%s: %d calls, then %v", name, srv.Count(), err)
		}
	}
}

// A refused call costs no token; one that a gateway gave up waiting for may have been
// charged, and counts as reserved.
func TestRefusedAndLost(t *testing.T) {
	in := llm.PromptTokens(hello().Messages)
	for status, want := range map[int]memsearch.Cost{
		400: {Calls: 1}, 429: {Calls: 1}, 500: {Calls: 1}, 502: {Calls: 1}, 503: {Calls: 1},
		504: {Calls: 1, TokensIn: in, TokensOut: 100}, 524: {Calls: 1, TokensIn: in, TokensOut: 100},
	} {
		srv := llmtest.New(t, llmtest.Status(status, "", "oops"))
		c := client(t, srv, func(p *llm.Profile, _ *llm.Options) { p.Retries, p.PriceIn, p.PriceOut = new(0), nil, nil })
		reply, err := c.Ask(t.Context(), hello())
		if d := cmp.Diff(want, reply.Cost); d != "" || err == nil {
			t.Errorf("%d: error %v, cost (-want +got):\n%s", status, err, d)
		}
	}
}

// TestPurse: what others buy counts with the money of the run and of the day, at the
// most that it may cost as long as that is not known, and not with calls and tokens.
func TestPurse(t *testing.T) {
	caps := llm.Caps{RunMoney: 10, DayMoney: 25, RunCalls: 1, DayCalls: 1, RunTokens: 1, DayTokens: 1}
	ledger := llm.NewMemoryLedger()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	first, second, third := llm.Purse{new(llm.Run), ledger, caps}, llm.Purse{new(llm.Run), ledger, caps}, llm.Purse{new(llm.Run), ledger, caps}
	buy := func(p llm.Purse, most, paid float64) error {
		e := llm.Entry{Time: now, Profile: "embed", Calls: 1, TokensIn: 1000, Money: most}
		settle, err := p.Reserve(t.Context(), e)
		if err != nil {
			return err
		}
		e.State, e.Money = llm.StateOK, paid
		return settle(e)
	}
	for i, step := range []struct {
		purse      llm.Purse
		most, paid float64
		per        string // the cap that is reached
	}{
		{first, 10, 4, ""}, // 4 of the run, 4 of the day
		{first, 7, 7, "run"},
		{first, 6, 6, ""},    // 10, 10
		{second, 10, 9, ""},  // 9, 19
		{third, 7, 7, "day"}, // and of the run nothing
		{third, 6, 6, ""},    // 6, 25
		{third, .5, .5, "day"},
		{third, 0, 0, ""},
	} {
		err := buy(step.purse, step.most, step.paid)
		if step.per == "" && err != nil || step.per != "" && !isCap(err, step.per, "money") {
			t.Errorf("step %d: %v, want the cap of the %s", i, err, step.per)
		}
	}
	rows, err := ledger.Costs(time.Time{})
	want := []llm.CostRow{{Day: "2026-11-30", Profile: "embed", Calls: 5, TokensIn: 5000, Money: 25}}
	if d := cmp.Diff(want, rows); d != "" || err != nil {
		t.Errorf("%v, costs (-want +got):\n%s", err, d)
	}
}

// A prompt that does not fit the window is not sent.
func TestTooLong(t *testing.T) {
	srv := llmtest.New(t)
	c := client(t, srv, func(p *llm.Profile, _ *llm.Options) { p.ContextWindow = 105 })
	if _, err := c.Ask(t.Context(), hello()); !errors.Is(err, llm.ErrTooLong) || srv.Count() != 0 {
		t.Errorf("%d calls, error %v", srv.Count(), err)
	}
}

// Clients that run at once, in this process and in others, keep the cap of the day
// between them.
func TestDayCapOfMany(t *testing.T) {
	const most = 17
	srv := llmtest.New(t, llmtest.Text("fine"))
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 2 {
		cmd := command(t, srv.URL, dir, most)
		wg.Go(func() {
			if err := cmd.Run(); err != nil {
				t.Errorf("child: %v", err)
			}
		})
		ledger, err := llm.OpenLedger(dir, "journal")
		if err != nil {
			t.Fatal(err)
		}
		defer ledger.Close()
		c := client(t, srv, func(_ *llm.Profile, o *llm.Options) { o.Ledger, o.Caps = ledger, llm.Caps{DayCalls: most} })
		for range 3 {
			wg.Go(func() {
				var err error
				for err == nil {
					_, err = c.Ask(t.Context(), hello())
				}
				if !isCap(err, "day", "calls") {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	if srv.Count() != most {
		t.Errorf("%d calls, want %d", srv.Count(), most)
	}
	checkLedger(t, dir, srv)
}

// checkLedger compares the ledger in dir with what the server counted.
func checkLedger(t *testing.T, dir string, srv *llmtest.Server) {
	t.Helper()
	ledger, err := llm.OpenLedger(dir, "journal")
	if err != nil {
		t.Fatal(err)
	}
	defer ledger.Close()
	rows, err := ledger.Costs(time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	var calls int
	var u llmtest.Usage
	for _, r := range rows {
		calls += r.Calls
		u.In += r.TokensIn
		u.Out += r.TokensOut
	}
	if calls != srv.Count() || u != srv.Charged() {
		t.Errorf("the ledger has %d calls and %+v, the server %d and %+v", calls, u, srv.Count(), srv.Charged())
	}
}
