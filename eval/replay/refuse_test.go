package replay_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/memsearch/memsearch/eval/replay"
)

// TestRunRefuses: what could not end well does not begin.
func TestRunRefuses(t *testing.T) {
	set := some(t, ship(t), "h1")
	files := some(t, set, "h1")
	files.Tasks[0].Checks = append(files.Tasks[0].Checks, check(t, `{type: file, path: a}`))
	for name, c := range map[string]struct {
		set    *replay.Set
		runner replay.Runner
		o      replay.Options
		want   string
	}{
		"repetitions without end": {set, replay.Scripted(scripted), replay.Options{Repetitions: 2_000_000_000}, "repetitions must lie between"},
		"negative repetitions":    {set, replay.Scripted(scripted), replay.Options{Repetitions: -1}, "repetitions must lie between"},
		"no number as a cap":      {set, replay.Scripted(scripted), replay.Options{MaxMoney: math.NaN()}, "never negative"},
		"negative budget":         {set, replay.Scripted(scripted), replay.Options{Budget: -1}, "never negative"},
		"a vault for the records": {set, replay.Scripted(scripted), replay.Options{Out: filepath.Join(set.Dir, "vault", "deep", "out")}, "lies in the vault vault"},
		"files of a model":        {files, &replay.Chat{}, replay.Options{}, "which only a command leaves"},
	} {
		if c.o.Settings = settings(t, nil); c.o.Out == "" {
			c.o.Out = t.TempDir()
		}
		err := replay.Run(t.Context(), c.set, arms(t, replay.ArmNone), c.runner, &c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestRehearsed: what would end a replay at one of its tasks is said before any is
// run, of all tasks at once.
func TestRehearsed(t *testing.T) {
	set := some(t, ship(t), "h1", "h2", "t2")
	set.Tasks[1].Gold, set.Tasks[1].Stale = []string{"mem_nowhere"}, []string{"gone.md"}
	set.Tasks[2].Edits[0].ID = "mem_elsewhere"
	var runs atomic.Int32
	o := &replay.Options{Out: t.TempDir(), Settings: settings(t, nil)}
	err := replay.Run(t.Context(), set, arms(t, replay.ArmNone), counting{scripted, &runs, -1, nil}, o)
	for _, want := range []string{"task h2: gold memory mem_nowhere is not there\nstale memory gone.md is not there", "task t2: edit 1 (forget)"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if runs.Load() != 0 {
		t.Errorf("%d runs", runs.Load())
	}
	if err := os.Symlink(filepath.Join(set.Dir, "tasks.yaml"), filepath.Join(set.Dir, "vault", "link.md")); err != nil {
		t.Skip(err)
	}
	if err := replay.Run(t.Context(), some(t, set, "h1"), arms(t, replay.ArmNone), replay.Scripted(scripted), o); err == nil || !strings.Contains(err.Error(), "link.md is no regular file") {
		t.Errorf("a link in a vault: %v", err)
	}
}

// TestOddExit: a command that ends with an error fails every task alike. The report
// says so, unless a check looks at the code.
func TestOddExit(t *testing.T) {
	grade := []replay.Verdict{{Type: "exit"}}
	h := &replay.Header{V: 1, Arms: []string{"none", "memory"}, Tasks: []replay.TaskTag{{ID: "a", Tags: []string{"neutral"}, Planned: 4}}}
	r, err := replay.Analyse(h, []replay.Record{
		{V: 1, Task: "a", Arm: "none", Exit: 127}, {V: 1, Task: "a", Arm: "none", Rep: 1},
		{V: 1, Task: "a", Arm: "memory", Exit: -1}, {V: 1, Task: "a", Arm: "memory", Rep: 1, Exit: 3, Verdicts: grade},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(r.Notes, " "); !strings.Contains(got, "The command of 2 runs ended with another exit code than 0") {
		t.Errorf("%q", got)
	}
}

// TestDamagedRecords: an error says which line, and what becomes of it.
func TestDamagedRecords(t *testing.T) {
	head := `{"v":1,"set":"s"}` + "\n"
	for raw, want := range map[string]string{
		"":                               "there is no header: it holds no replay, or has lost its beginning; use another folder",
		`{"v":1,"se`:                     "there is no header",
		head + "junk\n" + `{"v":1}`:      "line 2 is damaged: invalid character 'j' looking for beginning of value; without it the run is made again",
		head + `{"v":1,"task":"a"}`:      "line 2: no record of a run",
		`{"v":9}` + "\n" + `{"v":1}`:     "line 1: version 9 of the records, only 1 is known",
		"\x00\x00\n" + head + "\x00\x00": "line 1: invalid character",
	} {
		if _, _, err := replay.ParseRecords([]byte(raw)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", raw, err, want)
		}
	}
	if _, list, err := replay.ParseRecords([]byte(head + "\x00\x00\x00")); err != nil || len(list) != 0 {
		t.Errorf("an end of nothing: %v, %v", list, err)
	}
}
