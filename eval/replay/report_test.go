package replay_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch/eval/replay"
)

// told makes a report of outcomes written as one letter a task: + passed, - failed,
// blank not run.
func told(t *testing.T, arms map[string]string, order ...string) *replay.Report {
	t.Helper()
	h := &replay.Header{V: replay.RecordVersion, Set: "letters", SetHash: "abc", Arms: order, Runner: "scripted", Seed: 1, Budget: 500}
	var records []replay.Record
	n := len(arms[order[0]])
	for i := range n {
		tag := replay.TaskTag{ID: "t" + string(rune('a'+i)), Tags: []string{replay.TagNeutral}, Turns: 1}
		for _, arm := range order {
			if arms[arm][i] == ' ' {
				continue
			}
			tag.Planned++
			records = append(records, replay.Record{V: replay.RecordVersion, Key: arm + tag.ID, Task: tag.ID, Arm: arm, Pass: arms[arm][i] == '+'})
		}
		h.Tasks = append(h.Tasks, tag)
	}
	r, err := replay.Analyse(h, records)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestGate(t *testing.T) {
	// Memory helps eight tasks of ten and harms the last.
	good := func(t *testing.T) *replay.Report {
		return told(t, map[string]string{"none": "---------+", "memory": "++++++++--"}, "none", "memory")
	}
	for _, tt := range []struct {
		name   string
		o      *replay.GateOptions
		change func(*replay.Report)
		want   []string // parts of the error; none: it passes
	}{
		{name: "harm allowed", o: &replay.GateOptions{MaxHarm: 1, MinGain: .7, Proven: true}},
		{name: "the zero value allows no harm", want: []string{"1 task harmed, at most 0 allowed: tj"}},
		{name: "gain", o: &replay.GateOptions{MaxHarm: 1, MinGain: .71}, want: []string{"the gain is +70.0 points, +71.0 are asked for"}},
		{name: "all that is wrong at once", o: &replay.GateOptions{MinGain: .9}, want: []string{"harmed", "the gain is"}},
		{name: "no such arm", o: &replay.GateOptions{Arm: "oracle"}, want: []string{"there is no arm oracle"}},
		{name: "none against itself", o: &replay.GateOptions{Arm: "none"}, want: []string{"compared with nothing"}},
		{name: "not complete", o: &replay.GateOptions{MaxHarm: 1}, change: func(r *replay.Report) { r.Planned++ }, want: []string{"only 20 of 21 runs"}},
		{name: "errors of the base", o: &replay.GateOptions{MaxHarm: 1}, change: func(r *replay.Report) { r.Arms[0].Errors["model"] = 2 },
			want: []string{"2 runs of the arm none ended in errors"}},
		{name: "no number", o: &replay.GateOptions{MaxHarm: 1}, change: func(r *replay.Report) { r.Arms[1].Against.Diff.Estimate = math.NaN() },
			want: []string{"the gain is"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := good(t)
			if tt.change != nil {
				tt.change(r)
			}
			err := replay.Gate(r, tt.o)
			if (err != nil) != (len(tt.want) > 0) || err != nil && !errors.Is(err, replay.ErrGate) {
				t.Fatalf("Gate = %v", err)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%v lacks %q", err, part)
				}
			}
		})
	}
}

func TestGateProven(t *testing.T) {
	// Five tasks that all go better: p = 2/32, over .05.
	r := told(t, map[string]string{"none": "-----", "memory": "+++++"}, "none", "memory")
	if err := replay.Gate(r, nil); err != nil {
		t.Error(err)
	}
	err := replay.Gate(r, &replay.GateOptions{Proven: true})
	if err == nil || !strings.Contains(err.Error(), replay.VerdictNotEnough) {
		t.Errorf("Gate = %v, want not enough evidence", err)
	}
}

func TestCompare(t *testing.T) {
	// The second memory gains eight tasks of ten and loses one, which is
	// 2*(C(9,0)+C(9,1))/2^9 = .0390625; corrected for two arms .078125. None stays
	// as it is: p = 1.
	before := told(t, map[string]string{"none": "----------", "memory": "--------+-"}, "none", "memory")
	after := told(t, map[string]string{"none": "----------", "memory": "++++++++--", "oracle": "++++++++++"}, "none", "memory", "oracle")
	after.Header.Runner, after.Header.Budget = "chat task@1 other", 800
	c, err := replay.Compare(before, after)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Arms) != 2 || c.Arms[1].Arm != "memory" {
		t.Fatalf("arms %+v", c.Arms)
	}
	o := c.Arms[1].Outcome
	if o.Diff.Estimate != .7 || math.Abs(o.P-.0390625) > 1e-12 || math.Abs(o.Holm-.078125) > 1e-12 || o.Verdict != replay.VerdictNoDifference {
		t.Errorf("difference %v, p %v, Holm %v, %s", o.Diff.Estimate, o.P, o.Holm, o.Verdict)
	}
	if diff := cmp.Diff([]string{"ta", "tb", "tc", "td", "te", "tf", "tg", "th"}, o.Helpful); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"ti"}, o.Harmful); diff != "" {
		t.Error(diff)
	}
	if none := c.Arms[0].Outcome; none.P != 1 || none.Diff.Estimate != 0 || none.Verdict != replay.VerdictNotEnough {
		t.Errorf("none: %+v", none)
	}
	if diff := cmp.Diff([]replay.Change{{What: "runner", Before: "scripted", After: "chat task@1 other"}, {What: "budget", Before: "500", After: "800"}}, c.Changed); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"Only the second has the arm oracle."}, c.Notes); diff != "" {
		t.Error(diff)
	}
	for _, part := range []string{"- budget: 500, then 800\n", "| memory | 10 | +70.0 (", "| memory | ta, tb, tc, td, te, tf, tg, th | ti |"} {
		if !strings.Contains(c.Markdown(), part) {
			t.Errorf("the page lacks %q:\n%s", part, c.Markdown())
		}
	}
}

func TestCompareOnlyCommonTasks(t *testing.T) {
	before := told(t, map[string]string{"none": "--- ", "memory": "-- -"}, "none", "memory")
	after := told(t, map[string]string{"none": "+ -+", "memory": "++++"}, "none", "memory")
	c, err := replay.Compare(before, after)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"ta"}, c.Arms[0].Outcome.Helpful); diff != "" || c.Arms[0].Outcome.Tasks != 2 {
		t.Errorf("%d tasks\n%s", c.Arms[0].Outcome.Tasks, diff)
	}
	before.Arms[1].Errors["model"] = 2
	if c, err = replay.Compare(before, after); err != nil || !cmp.Equal(c.Notes, []string{"In the first 2 runs ended in an error and count as failed."}) {
		t.Errorf("notes %q, %v", c.Notes, err)
	}
	after.Header.SetHash = "other"
	if _, err := replay.Compare(before, after); !errors.Is(err, replay.ErrCompare) {
		t.Errorf("other set: %v", err)
	}
	alone := told(t, map[string]string{"oracle": "++++"}, "oracle")
	if _, err := replay.Compare(before, alone); !errors.Is(err, replay.ErrCompare) {
		t.Errorf("no arm in common: %v", err)
	}
}

func TestMarkdown(t *testing.T) {
	r := told(t, map[string]string{"none": "---------+ ", "memory": "++++++++--+"}, "none", "memory")
	r.Header.Set = "a|b <script>"
	r.Arms[1].Errors["model"] = 1
	r.Planned++
	page := r.Markdown()
	for _, part := range []string{
		"# Replay of a\\|b \\<script>\n",
		"- 21 of 22 runs\n",
		// 8 helpful and 1 harmful of 10: p = .0390625.
		"- memory against none: better; difference +70.0 points (",
		"8 helpful, 1 neutral, 1 harmful of 10 tasks\n",
		"- memory harms tj\n",
		"| none | 10 | 10 | 1 | 10.0 % |",
		"| memory | 11 | 11 | 9 | 81.8 % |",
		"| 8 | 1 | 1 | .0391 | .0391 | better |",
		"| memory | model | 1 |",
		"| tj | neutral | 1/1 | 0/1 - |",
		"| ta | neutral | 0/1 | 1/1 + |",
		"| tk | neutral | not run | 1/1 |",
	} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %q:\n%s", part, page)
		}
	}
	few := told(t, map[string]string{"none": "-----", "memory": "+++++"}, "none", "memory")
	if !strings.Contains(few.Markdown(), "memory against none: not enough evidence: ") {
		t.Errorf("five tasks are given a verdict:\n%s", few.Markdown())
	}
}

// TestWorse: memory that harms all of eight tasks is worse than none, and better
// where it stands in the first of two replays.
func TestWorse(t *testing.T) {
	r := told(t, map[string]string{"none": "++++++++", "memory": "--------"}, "none", "memory")
	if c := r.Arm("memory").Against; c.Verdict != replay.VerdictWorse || c.Diff.Estimate != -1 || len(c.Harmful) != 8 {
		t.Errorf("%+v", c)
	}
	good := told(t, map[string]string{"none": "++++++++", "memory": "++++++++"}, "none", "memory")
	for _, tt := range []struct {
		before, after *replay.Report
		want          string
	}{{good, r, replay.VerdictWorse}, {r, good, replay.VerdictBetter}, {r, r, replay.VerdictNotEnough}} {
		c, err := replay.Compare(tt.before, tt.after)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Arms[1].Outcome.Verdict; got != tt.want || !strings.Contains(c.Markdown(), "- nothing but chance and what a model does is different\n") {
			t.Errorf("%s, want %s:\n%s", got, tt.want, c.Markdown())
		}
	}
}

// TestAbout: what a reader must know before the figures.
func TestAbout(t *testing.T) {
	r := told(t, map[string]string{"none": strings.Repeat("-", 66), "memory": strings.Repeat("+", 66)}, "none", "memory")
	r.Header.Runner, r.Header.Candidate, r.Header.JudgeModel = "exec agent", "new.md abc", "j"
	r.Header.Judge = replay.Judged{Answers: 20, Wrong: 12, TooHarsh: 1, Agreement: .95, Kappa: .9}
	r.Arms[1].Chain = replay.ChainReport{NotFound: 1, Held: 65}
	page := r.Markdown()
	for _, part := range []string{
		"- what the commands cost is not known; each counts as one call\n",
		"- candidate memory new.md abc\n",
		// Wilson of 19 of 20: (.95 + 1.9207/20 -+ 1.96 sqrt(.0475/20 + .9604/400)) / (1 + 3.8415/20).
		"- judge j agrees with the label of 95.0 % of 20 given answers (95 % interval 76.4 to 99.1, kappa 0.90)\n",
		"in pass rates with a chance of 80.0 %, when 30.0 % of them differ between two arms (1 comparison corrected)\n",
		"| memory | 0 | 1 | 0 | 0 | 0 | 65 |",
	} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %q:\n%s", part, page[:min(len(page), 3000)])
		}
	}
	html, err := r.HTML()
	if err != nil || !strings.Contains(html, "memory 1 not found, 65 held") || !strings.Contains(html, "<summary>66 rows</summary>") {
		t.Errorf("no chart of the chain, or the tasks are not folded away: %v", err)
	}
}

func TestHTML(t *testing.T) {
	r := told(t, map[string]string{"none": "---------+", "memory": "++++++++--"}, "none", "memory")
	r.Header.Set = `</title><script src="https://example.org/x.js">alert(1)</script>`
	r.Header.Runner = `exec <img src=x onerror=alert(1)>`
	r.Tasks[0].ID = `<b onclick="x">`
	page, err := r.HTML()
	if err != nil {
		t.Fatal(err)
	}
	for _, no := range []string{"<script", "<img", "<b ", "<link", "@import", "url(", `src="`, `href="`} {
		if strings.Contains(page, no) {
			t.Errorf("the page has %q", no)
		}
	}
	for _, want := range []string{"default-src 'none'", `name="viewport"`, "Outcome by arm", "Helpful and harmful", "&lt;b onclick"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := strings.Count(page, "<svg"); n < 3 {
		t.Errorf("%d charts", n)
	}
	again, err := r.HTML()
	if err != nil || again != page {
		t.Errorf("the same report gives another page, %v", err)
	}
}

func TestReportWithoutRuns(t *testing.T) {
	r := told(t, map[string]string{"none": "  ", "memory": "  "}, "none", "memory")
	if _, err := r.HTML(); err != nil {
		t.Error(err)
	}
	if err := replay.Gate(r, nil); !errors.Is(err, replay.ErrGate) {
		t.Errorf("a replay without runs passes: %v", err)
	}
	if !strings.Contains(r.Markdown(), "not enough evidence") {
		t.Error(r.Markdown())
	}
}

func TestReportJSON(t *testing.T) {
	r := told(t, map[string]string{"none": "-+", "memory": "+ "}, "none", "memory")
	raw, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	back, err := replay.ParseReport(raw)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, back); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"", "{}", `{"v":2}`, `{"v":1,"arms":[{"arm":"x"}],"tasks":[{"id":"a","arms":[{"arm":"y"}]}]}`,
		`{"v":1,"arms":[{"arm":"x"}],"tasks":[{"id":"a","arms":[{"arm":"x","runs":1,"passed":2}]}]}`, `{"v":1,"arms":[],"tasks":[{"id":"a","arms":[{}]}]}`} {
		if _, err := replay.ParseReport([]byte(bad)); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

func FuzzParseReport(f *testing.F) {
	f.Add([]byte(`{"v":1,"header":{"arms":["none"]},"arms":[{"arm":"none"}],"tasks":[{"id":"a","arms":[{"arm":"none","runs":1,"passed":1}]}]}`))
	f.Add([]byte(`{"v":1,"arms":[{"arm":"memory","against":{"arm":"memory","base":"none","why":"not"}}],"tasks":[]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := replay.ParseReport(raw)
		if err != nil {
			return
		}
		r.Markdown()
		if _, err := r.HTML(); err != nil {
			t.Error(err)
		}
		if err := replay.Gate(r, nil); err != nil && !errors.Is(err, replay.ErrGate) {
			t.Error(err)
		}
		if _, err := replay.Compare(r, r); err != nil && !errors.Is(err, replay.ErrCompare) {
			t.Error(err)
		}
	})
}

// TestComparedSettings: what a comparison is about is said by name.
func TestComparedSettings(t *testing.T) {
	header := func(flags map[string]string) *replay.Report {
		t.Helper()
		dir := t.TempDir()
		o := &replay.Options{Out: dir, Settings: settings(t, flags)}
		if err := replay.Run(t.Context(), some(t, ship(t), "n1"), arms(t, "none"), replay.Scripted(scripted), o); err != nil {
			t.Fatal(err)
		}
		return analyse(t, dir)
	}
	before := header(map[string]string{"k": "5", "llm.run_calls": "7"})
	c, err := replay.Compare(before, header(map[string]string{"inject_threshold": "0.3", "rerank.prompt": "rerank@2", "k": "5"}))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Changed) != 2 || c.Changed[0] != (replay.Change{What: "setting inject_threshold", Before: "as it is by default", After: "0.3"}) ||
		c.Changed[1].What != "setting rerank.prompt" || !strings.HasPrefix(c.Changed[1].After, "rerank@2") {
		t.Errorf("%+v", c.Changed)
	}
	c, err = replay.Compare(before, header(map[string]string{"k": "5", "llm.run_calls": "8"})) // a cap changes no outcome
	if err != nil || len(c.Changed) > 0 {
		t.Errorf("%+v, %v", c, err)
	}
}
