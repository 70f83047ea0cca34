package replay_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/core/config"
	"github.com/memsearch/memsearch/eval/replay"
	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/internal/llm/llmtest"
)

// priced are settings of a model at .001 a token of a reply; prompts are free. A call
// may cost .1, for a reply of 100 tokens, and costs .01, since srv replies with 10.
func priced(t *testing.T, srv *llmtest.Server, out string) *config.Config {
	t.Helper()
	c := settings(t, map[string]string{"profiles.task.model": "m", "profiles.task.base_url": srv.URL, "profiles.task.api_key_env": "",
		"profiles.task.max_output_tokens": "100", "profiles.task.price_out": "1000"})
	c.LedgerDir = filepath.Join(out, "ledger")
	return c
}

// stopped runs a set under caps and returns how many runs are done when it stops.
func stopped(t *testing.T, set *replay.Set, o *replay.Options) int {
	t.Helper()
	c := *o.Settings
	c.Caps.RunCalls, c.Caps.RunMoney = o.MaxCalls, o.MaxMoney
	run := new(llm.Run)
	asker, model, done, err := core.NewAsker(&c, "task", o.Out, run, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := done(); err != nil {
			t.Error(err)
		}
	}()
	mine := *o
	mine.Run = run
	err = replay.Run(t.Context(), set, arms(t, replay.ArmNone, replay.ArmOracle), &replay.Chat{Asker: asker, Model: model}, &mine)
	stop, ok := errors.AsType[*replay.StoppedError](err)
	if !ok {
		t.Fatalf("not stopped: %v", err)
	}
	return stop.Done
}

// TestMoneyCap: no call is made that could exceed the money, however many runs go
// on at once. Before the n-th of one after the other, (n-1)/100 is spent and 1/10
// may be: of .355, twenty-six are made.
func TestMoneyCap(t *testing.T) {
	t.Parallel()
	set := some(t, ship(t), "h1", "h2", "h3")
	srv := llmtest.New(t, llmtest.Text("a reply of forty bytes is ten tokens now"))
	out := t.TempDir()
	o := &replay.Options{Out: out, Settings: priced(t, srv, out), Repetitions: 5, MaxMoney: .355, Parallel: 5}
	first := stopped(t, set, o)
	if first != srv.Count() || first == 0 || first > 26 {
		t.Errorf("%d runs, %d calls", first, srv.Count())
	}
	o.Parallel = 1
	if got := stopped(t, set, o); got != 26 || srv.Count() != 26 || srv.Charged().Out != 260 {
		t.Errorf("%d runs, %d calls, %+v charged", got, srv.Count(), srv.Charged())
	}
}

// TestCallCap: a replay makes all the calls that it may, however many runs go on at
// once, and none more when calls fail and are made again.
func TestCallCap(t *testing.T) {
	t.Parallel()
	set := some(t, ship(t), "h1", "h2", "h3")
	srv := llmtest.New(t, llmtest.Text("amber"))
	out := t.TempDir()
	o := &replay.Options{Out: out, Settings: priced(t, srv, out), Repetitions: 5, MaxCalls: 13, MaxMoney: 1e6, Parallel: 8}
	if got := stopped(t, set, o); got != 13 || srv.Count() != 13 {
		t.Errorf("%d runs, %d calls", got, srv.Count())
	}

	fails := llmtest.New(t, llmtest.Status(500, "", "oops", "Retry-After-Ms: 1"))
	out = t.TempDir()
	o = &replay.Options{Out: out, Settings: priced(t, fails, out), MaxCalls: 5, MaxMoney: 1e6, Parallel: 4}
	if stopped(t, set, o); fails.Count() != 5 {
		t.Errorf("%d calls", fails.Count())
	}
}

// TestCapsCountWhatIsLost: runs that are made again cost twice. Each attempt makes
// one call that leaves no outcome.
func TestCapsCountWhatIsLost(t *testing.T) {
	t.Parallel()
	set := some(t, ship(t), "h1")
	srv := llmtest.New(t, llmtest.Status(400, "", "bad"))
	out := t.TempDir()
	o := &replay.Options{Out: out, Settings: priced(t, srv, out), MaxCalls: 5, MaxMoney: 1e6, Parallel: 1}
	c := *o.Settings
	c.Caps.RunCalls = o.MaxCalls
	for range 2 { // two runs each
		asker, model, done, err := core.NewAsker(&c, "task", out, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = replay.Run(t.Context(), set, arms(t, replay.ArmNone, replay.ArmOracle), &replay.Chat{Asker: asker, Model: model}, o)
		if err = errors.Join(err, done()); err != nil {
			t.Fatal(err)
		}
	}
	if stopped(t, set, o); srv.Count() != 5 {
		t.Errorf("%d calls", srv.Count())
	}
	if stopped(t, set, o); srv.Count() != 5 {
		t.Errorf("%d calls in the end", srv.Count())
	}
}
