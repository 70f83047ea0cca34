package replay_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/eval/replay"
	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/internal/llm/llmtest"
)

// some returns the set with only some of its tasks.
func some(t *testing.T, set *replay.Set, ids ...string) *replay.Set {
	t.Helper()
	out := *set
	out.Tasks = nil
	for _, task := range set.Tasks {
		for _, id := range ids {
			if task.ID == id {
				out.Tasks = append(out.Tasks, task)
			}
		}
	}
	return &out
}

// report is the JSON of a report without its times.
func report(t *testing.T, dir string) string {
	t.Helper()
	r := analyse(t, dir)
	for i := range r.Arms {
		r.Arms[i].Cost.Latency = replay.Latency{}
	}
	raw, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// counting counts its runs and stops the replay behind some of them.
type counting struct {
	replay.Scripted
	runs  *atomic.Int32
	after int32
	stop  context.CancelFunc
}

func (c counting) Run(ctx context.Context, t *replay.Trial, p *core.Prepared) (replay.Outcome, memsearch.Cost, error) {
	if c.runs.Add(1) == c.after {
		c.stop()
	}
	return c.Scripted.Run(ctx, t, p)
}

// TestResumed stops a replay in the middle, leaves a line that was cut off, and
// goes on: no run is made twice, and the report is that of a replay at one go,
// whatever the parallelism.
func TestResumed(t *testing.T) {
	t.Parallel()
	set := some(t, ship(t), "h1", "h7", "t1")
	list := arms(t, replay.ArmNone, replay.ArmMemory, replay.ArmStale)
	c := settings(t, nil)
	whole, parts := t.TempDir(), t.TempDir()
	if err := replay.Run(t.Context(), set, list, replay.Scripted(scripted), &replay.Options{Out: whole, Settings: c, Parallel: 3}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var runs atomic.Int32
	o := &replay.Options{Out: parts, Settings: c, Parallel: 1}
	err := replay.Run(ctx, set, list, counting{scripted, &runs, 5, stop}, o)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("stopped with %v", err)
	}
	h, there := records(t, parts)
	if len(there) < 3 || len(there) > 5 || !strings.Contains(strings.Join(analyse(t, parts).Notes, " "), "not complete") {
		t.Errorf("%d records, %q", len(there), analyse(t, parts).Notes)
	}
	file := filepath.Join(parts, replay.RunsFile)
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(`{"v":1,"key":"x","task":"h`)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	runs.Store(0)
	if err := replay.Run(t.Context(), set, list, counting{scripted, &runs, -1, nil}, o); err != nil {
		t.Fatal(err)
	}
	if got := int(runs.Load()); got != 9-len(there) {
		t.Errorf("%d runs for %d records of 9", got, len(there))
	}
	if diff := cmp.Diff(report(t, whole), report(t, parts)); diff != "" {
		t.Error(diff)
	}
	if h.SetHash == "" || h.Settings == "" {
		t.Errorf("header %+v", h)
	}
	// Nothing is left to do, and another replay does not get into the folder.
	runs.Store(0)
	if err := replay.Run(t.Context(), set, list, counting{scripted, &runs, -1, nil}, o); err != nil || runs.Load() != 0 {
		t.Errorf("%d runs, %v", runs.Load(), err)
	}
	other := *o
	other.Seed = 7
	if err := replay.Run(t.Context(), set, list, replay.Scripted(scripted), &other); err == nil || !strings.Contains(err.Error(), "seed is not the same") {
		t.Errorf("another seed: %v", err)
	}
	other = *o
	other.Settings = settings(t, map[string]string{"inject_threshold": "0.3"})
	err = replay.Run(t.Context(), set, list, replay.Scripted(scripted), &other)
	if err == nil || !strings.Contains(err.Error(), "its setting inject_threshold is not the same (as it is by default, now 0.3)") {
		t.Errorf("another setting: %v", err)
	}
}

// chat returns a runner that asks srv, or a cassette alone.
func chat(t *testing.T, url string, path string, mode llm.CassetteMode) *replay.Chat {
	t.Helper()
	tape, err := llm.OpenCassette(path, mode)
	if err != nil {
		t.Fatal(err)
	}
	c, err := llm.New(llm.Profile{Name: "task", Model: "m", BaseURL: url, PriceIn: new(1.0), PriceOut: new(2.0)}, &llm.Options{Cassette: tape})
	if err != nil {
		t.Fatal(err)
	}
	return &replay.Chat{Asker: c, Model: "m"}
}

// TestCassette records the replies of a model and repeats the replay without it:
// the reports are the same.
func TestCassette(t *testing.T) {
	t.Parallel()
	set := some(t, ship(t), "h1", "h2", "t1")
	list := arms(t, replay.ArmNone, replay.ArmMemory)
	srv := llmtest.New(t, llmtest.Func(func(r *llmtest.Request) string {
		last := r.Messages[len(r.Messages)-1].Content
		return scripted("", last, last)
	}))
	tape := filepath.Join(t.TempDir(), "tape.jsonl")
	first, second, third := t.TempDir(), t.TempDir(), t.TempDir()
	if err := replay.Run(t.Context(), set, list, chat(t, srv.URL, tape, llm.CassetteRecord), &replay.Options{Out: first, Settings: settings(t, nil)}); err != nil {
		t.Fatal(err)
	}
	asked := srv.Count()
	if err := replay.Run(t.Context(), set, list, chat(t, "http://127.0.0.1:1/v1", tape, llm.CassetteReplay), &replay.Options{Out: second, Settings: settings(t, nil)}); err != nil {
		t.Fatal(err)
	}
	if asked != 6 || srv.Count() != asked {
		t.Errorf("asked %d times, then %d", asked, srv.Count())
	}
	if diff := cmp.Diff(report(t, first), report(t, second)); diff != "" {
		t.Error(diff)
	}
	if r := analyse(t, second); r.Arm(replay.ArmMemory).Cost.Money <= r.Arm(replay.ArmNone).Cost.Money || r.Arm(replay.ArmMemory).Cost.Calls != 1 {
		t.Errorf("costs %+v", r.Arm(replay.ArmMemory).Cost)
	}
	// What the cassette lacks ends the replay.
	err := replay.Run(t.Context(), some(t, ship(t), "h3"), list, chat(t, "http://127.0.0.1:1/v1", tape, llm.CassetteReplay), &replay.Options{Out: third, Settings: settings(t, nil)})
	if _, ok := errors.AsType[*llm.MissingError](err); !ok {
		t.Errorf("missing reply: %v", err)
	}
}

// TestCaps: a replay stops before the run that could exceed its calls, keeps
// what it has, and goes on with a higher cap.
func TestCaps(t *testing.T) {
	set := some(t, ship(t), "h1", "h2", "h3")
	list := arms(t, replay.ArmNone, replay.ArmMemory)
	srv := llmtest.New(t, llmtest.Text("amber"))
	tape := filepath.Join(t.TempDir(), "tape.jsonl")
	o := &replay.Options{Out: t.TempDir(), Settings: settings(t, nil), Parallel: 1, MaxCalls: 4}
	err := replay.Run(t.Context(), set, list, chat(t, srv.URL, tape, llm.CassetteAuto), o)
	stopped, ok := errors.AsType[*replay.StoppedError](err)
	if !ok || stopped.Done != 4 || stopped.Planned != 6 || srv.Count() != 4 {
		t.Fatalf("%v, asked %d times", err, srv.Count())
	}
	o.MaxCalls, o.MaxMoney = 0, 1e-9
	if err := replay.Run(t.Context(), set, list, chat(t, srv.URL, tape, llm.CassetteAuto), o); err == nil || !strings.Contains(err.Error(), "money") {
		t.Errorf("money: %v", err)
	}
	o.MaxMoney = 0
	if err := replay.Run(t.Context(), set, list, chat(t, srv.URL, tape, llm.CassetteAuto), o); err != nil || srv.Count() != 6 {
		t.Errorf("%v, asked %d times", err, srv.Count())
	}
}

// TestFailures: a run without an answer counts as failed, says why, and is made
// again when the server was to blame.
func TestFailures(t *testing.T) {
	set := some(t, ship(t), "h1", "n1")
	list := arms(t, replay.ArmNone)
	srv := llmtest.New(t, llmtest.Status(400, "bad", "no"), llmtest.Refusal("I will not"), llmtest.Text("amber"))
	tape := filepath.Join(t.TempDir(), "tape.jsonl")
	o := &replay.Options{Out: t.TempDir(), Settings: settings(t, nil), Parallel: 1}
	for _, want := range []string{replay.ErrorModel + " " + replay.ErrorRefused, " " + replay.ErrorRefused} {
		if err := replay.Run(t.Context(), set, list, chat(t, srv.URL, tape, llm.CassetteAuto), o); err != nil {
			t.Fatal(err)
		}
		_, recs := records(t, o.Out)
		if got := recs[0].Error + " " + recs[1].Error; got != want {
			t.Errorf("errors %q, want %q (%s, %s)", got, want, recs[0].Message, recs[1].Message)
		}
	}
	if r := analyse(t, o.Out); r.Arms[0].Errors[replay.ErrorRefused] != 1 || r.Arms[0].Passed != 1 {
		t.Errorf("%+v", r.Arms[0])
	}
}

// FuzzParseRecords: whatever a file holds, reading it ends, and what was read is
// read again from what is written.
func FuzzParseRecords(f *testing.F) {
	f.Add([]byte(`{"v":1,"set":"s"}` + "\n" + `{"v":1,"key":"k","task":"t","arm":"none","rep":0}` + "\n" + `{"v":1,"ke`))
	f.Add([]byte("{\"v\":2}\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		h, list, err := replay.ParseRecords(raw)
		if err != nil {
			return
		}
		if h == nil || len(list) > bytes.Count(raw, []byte("\n"))+1 {
			t.Errorf("%v, %d records", h, len(list))
		}
		if _, err := replay.Analyse(h, list); err == nil && len(list) > 0 && len(h.Arms) == 0 {
			t.Error("records of no arm were analysed")
		}
	})
}

// childEnv names the folder of the records to the process that TestKilled kills.
const childEnv = "REPLAY_TEST_CHILD"

// TestKilled kills a process in the middle of a replay and goes on: the report is
// that of a replay at one go.
func TestKilled(t *testing.T) {
	t.Parallel()
	names := []string{replay.ArmNone, replay.ArmMemory, replay.ArmOracle}
	ids := []string{"h1", "h2", "h8", "t1"}
	if dir := os.Getenv(childEnv); dir != "" {
		slow := replay.Scripted(func(i, c, p string) string {
			time.Sleep(20 * time.Millisecond)
			return scripted(i, c, p)
		})
		if err := replay.Run(t.Context(), some(t, ship(t), ids...), arms(t, names...), slow, &replay.Options{Out: dir, Settings: settings(t, nil)}); err != nil {
			t.Fatal(err)
		}
		return
	}
	dir, whole := t.TempDir(), t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilled$")
	cmd.Env = append(os.Environ(), childEnv+"="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := func() int {
		raw, _ := os.ReadFile(filepath.Join(dir, replay.RunsFile)) // not there yet
		return bytes.Count(raw, []byte("\n"))
	}
	for lines() < 4 && t.Context().Err() == nil {
		time.Sleep(5 * time.Millisecond)
	}
	_ = cmd.Process.Kill() // it may be over
	_ = cmd.Wait()
	_, there := records(t, dir)
	set := some(t, ship(t), ids...)
	var runs atomic.Int32
	o := &replay.Options{Out: dir, Settings: settings(t, nil)}
	if err := replay.Run(t.Context(), set, arms(t, names...), counting{scripted, &runs, -1, nil}, o); err != nil {
		t.Fatal(err)
	}
	if got := int(runs.Load()); got != 12-len(there) {
		t.Errorf("%d runs for %d records of 12", got, len(there))
	}
	if err := replay.Run(t.Context(), set, arms(t, names...), replay.Scripted(scripted), &replay.Options{Out: whole, Settings: settings(t, nil)}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(report(t, whole), report(t, dir)); diff != "" {
		t.Error(diff)
	}
}

// TestSpoiledRecall: a recall that lacked its model because of the replay itself
// ends it, for its record would be of something else.
func TestSpoiledRecall(t *testing.T) {
	t.Parallel()
	srv := llmtest.New(t, llmtest.Text(`{"selected": []}`))
	tape := filepath.Join(write(t, map[string]string{"tape.jsonl": ""}), "tape.jsonl")
	for want, flags := range map[string]map[string]string{
		"has no reply of m":              {"cassette": tape},
		"cap of 1 tokens per call":       {"llm.call_tokens": "1"},
		"cap of 1 calls per day reached": {"llm.day_calls": "1"},
	} {
		flags["profiles.main.model"], flags["profiles.main.base_url"], flags["profiles.main.api_key_env"] = "m", srv.URL, ""
		o := &replay.Options{Out: t.TempDir(), Settings: settings(t, flags), Parallel: 1}
		err := replay.Run(t.Context(), some(t, ship(t), "h1", "h2"), arms(t, replay.ArmSelection), replay.Scripted(scripted), o)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
