package llm_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/internal/llm/llmtest"
)

func openLedger(t testing.TB, dir string) *llm.Ledger {
	t.Helper()
	l, err := llm.OpenLedger(dir, "journal")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// A process that is killed while it waits for an answer leaves its call counted,
// at the most it may have cost.
func TestKilledWhileAsking(t *testing.T) {
	arrived := make(chan bool, 1)
	hang := llmtest.Hang()
	srv := llmtest.New(t, llmtest.Observe(func(*llmtest.Request) { arrived <- true }, hang), llmtest.Text("fine"))
	dir := t.TempDir()
	cmd := command(t, srv.URL, dir, 5)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-arrived
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait() // it was killed

	ledger := openLedger(t, dir)
	rows, err := ledger.Costs(time.Time{})
	if err != nil || len(rows) != 1 {
		t.Fatalf("rows %v, error %v", rows, err)
	}
	r := rows[0]
	if r.Calls != 1 || r.Failed != 1 || r.TokensIn != llm.PromptTokens(hello().Messages) || r.TokensOut != llm.DefaultMaxOutput {
		t.Errorf("row %+v", r)
	}
	c := client(t, srv, func(_ *llm.Profile, o *llm.Options) { o.Ledger, o.Caps = ledger, llm.Caps{DayCalls: 1} })
	if _, err := c.Ask(t.Context(), hello()); !isCap(err, "day", "calls") {
		t.Errorf("error %v", err)
	}
}

// Where the ledger cannot be kept there is no call.
func TestNoLedgerNoCall(t *testing.T) {
	for name, spoil := range map[string]func(dir string) error{
		"a file in its place": func(dir string) error { return os.WriteFile(filepath.Join(dir, "journal"), nil, 0o600) },
		"a folder in its place": func(dir string) error {
			return os.MkdirAll(filepath.Join(dir, "journal", "ledger.jsonl", "x"), 0o700)
		},
		"newer": func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, "journal"), 0o700),
				os.WriteFile(filepath.Join(dir, "journal", "ledger.jsonl"), []byte(`{"v":99}`+"\n"), 0o600))
		},
	} {
		dir := t.TempDir()
		if err := spoil(dir); err != nil {
			t.Fatal(err)
		}
		srv := llmtest.New(t)
		c := client(t, srv, func(_ *llm.Profile, o *llm.Options) { o.Ledger = openLedger(t, dir) })
		if _, err := c.Ask(t.Context(), hello()); !errors.Is(err, llm.ErrLedger) || srv.Count() != 0 {
			t.Errorf("%s: %d calls, error %v", name, srv.Count(), err)
		}
	}
}

// TestCosts adds up what each kind of answer costs, in files and in memory.
func TestCosts(t *testing.T) {
	for _, ledger := range []*llm.Ledger{llm.NewMemoryLedger(), openLedger(t, t.TempDir())} {
		now := time.Date(2026, 11, 29, 23, 59, 0, 0, time.UTC)
		ask := func(profile string, step llmtest.Step) llmtest.Usage {
			srv := llmtest.New(t, step)
			none := 0
			c := client(t, srv, func(p *llm.Profile, o *llm.Options) {
				p.Name, p.Retries, o.Ledger, o.Now = profile, &none, ledger, func() time.Time { return now }
			})
			c.Ask(t.Context(), hello()) // the errors are those of TestFailures
			return srv.Charged()
		}
		a := ask("rerank", llmtest.Text("fine"))
		b := ask("judge", llmtest.Text("well"))
		now = now.Add(2 * time.Minute)
		c := ask("rerank", llmtest.Refusal("no"))
		ask("rerank", llmtest.Status(400, "", "bad"))
		ask("rerank", llmtest.ResetMidBody())
		if err := ledger.Add(llm.Entry{Time: now, Profile: "embed", Model: "e", State: llm.StateOK, Calls: 1, TokensIn: 7}); err != nil {
			t.Fatal(err)
		}
		lost := llm.PromptTokens(hello().Messages) // and 100 of the reply
		money := func(in, out int) float64 { return float64(2*in+10*out) / 1e6 }
		want := []llm.CostRow{
			{Day: "2026-11-29", Profile: "judge", Model: "m", Calls: 1, TokensIn: b.In, TokensOut: b.Out, Money: money(b.In, b.Out)},
			{Day: "2026-11-29", Profile: "rerank", Model: "m", Calls: 1, TokensIn: a.In, TokensOut: a.Out, Money: money(a.In, a.Out)},
			{Day: "2026-11-30", Profile: "embed", Model: "e", Calls: 1, TokensIn: 7},
			{Day: "2026-11-30", Profile: "rerank", Model: "m", Calls: 3, Failed: 2, TokensIn: c.In + lost, TokensOut: c.Out + 100,
				Money: money(c.In+lost, c.Out+100)},
		}
		got, err := ledger.Costs(time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12)); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
		got, err = ledger.Costs(time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC))
		if d := cmp.Diff(want[2:], got, cmpopts.EquateApprox(0, 1e-12)); d != "" || err != nil {
			t.Errorf("today, %v (-want +got):\n%s", err, d)
		}
	}
}

// The cap of a day ends with it.
func TestDayEnds(t *testing.T) {
	srv := llmtest.New(t, llmtest.Text("fine"))
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	c := client(t, srv, func(_ *llm.Profile, o *llm.Options) {
		o.Ledger, o.Caps, o.Now = openLedger(t, t.TempDir()), llm.Caps{DayCalls: 1}, func() time.Time { return now }
	})
	for _, tt := range []struct {
		at     time.Time
		capped bool
	}{
		{now, false},
		{now.Add(11*time.Hour + 59*time.Minute), true},
		{now.Add(12 * time.Hour), false},
		{now.Add(35 * time.Hour), true},
	} {
		now = tt.at
		if _, err := c.Ask(t.Context(), hello()); isCap(err, "day", "calls") != tt.capped || err != nil && !tt.capped {
			t.Errorf("%v: %v", tt.at, err)
		}
	}
}

// A line that was torn by a power failure does not keep the ledger from being kept.
func TestTornLedger(t *testing.T) {
	dir := t.TempDir()
	srv := llmtest.New(t, llmtest.Text("fine"))
	c := client(t, srv, func(_ *llm.Profile, o *llm.Options) { o.Ledger = openLedger(t, dir) })
	if _, err := c.Ask(t.Context(), hello()); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "journal", "ledger.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString(`{"v":1,"id":"x","ti`)
	f.Close()
	if _, err := c.Ask(t.Context(), hello()); err != nil {
		t.Fatal(err)
	}
	checkLedger(t, dir, srv)
}

// The ledger says why a call ended whatever cause the caller gave.
func TestLedgerOfCallers(t *testing.T) {
	cause := errors.New("enough")
	for want, stop := range map[string]func(context.Context) (context.Context, context.CancelFunc){
		"timeout": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeoutCause(ctx, 50*time.Millisecond, cause)
		},
		"cancelled": func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			time.AfterFunc(50*time.Millisecond, func() { cancel(cause) })
			return ctx, func() { cancel(nil) }
		},
	} {
		dir := t.TempDir()
		c := client(t, llmtest.New(t, llmtest.Hang()), func(_ *llm.Profile, o *llm.Options) { o.Ledger = openLedger(t, dir) })
		ctx, cancel := stop(t.Context())
		if _, err := c.Ask(ctx, hello()); !errors.Is(err, cause) || !strings.HasSuffix(err.Error(), "enough") {
			t.Errorf("%s: %v", want, err)
		}
		cancel()
		raw, err := os.ReadFile(filepath.Join(dir, "journal", "ledger.jsonl"))
		if err != nil || !strings.Contains(string(raw), `"reason":"`+want+`"`) {
			t.Errorf("want %s in %s, %v", want, raw, err)
		}
	}
}
