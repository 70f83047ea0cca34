package replay_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/eval/replay"
)

// made returns a header of tasks that need memory and records of three
// repetitions: "101" says that the first and the last passed.
func made(passes map[string][2]string, order ...string) (*replay.Header, []replay.Record) {
	h := &replay.Header{V: replay.RecordVersion, Set: "made", Arms: []string{replay.ArmNone, replay.ArmMemory}}
	var list []replay.Record
	for _, id := range order {
		h.Tasks = append(h.Tasks, replay.TaskTag{ID: id, Tags: []string{replay.TagTrap}, Planned: 6, Turns: 2})
		for i, arm := range h.Arms {
			for rep, c := range passes[id][i] {
				list = append(list, replay.Record{V: replay.RecordVersion, Key: fmt.Sprint(id, arm, rep), Task: id, Arm: arm, Rep: rep, Pass: c == '1',
					Cost: memsearch.Cost{Calls: 1, TokensIn: 100 * i, Money: .5 * float64(i)}, LatencyMS: float64(rep + 1)})
			}
		}
	}
	return h, list
}

// TestRepetitions: a task counts once, by how often it passes, and the sign test
// takes the place of McNemar's.
func TestRepetitions(t *testing.T) {
	h, list := made(map[string][2]string{
		"a": {"000", "111"}, "b": {"100", "110"}, "c": {"011", "110"}, "d": {"111", "101"}, "e": {"000", "001"},
	}, "a", "b", "c", "d", "e")
	r, err := replay.Analyse(h, list)
	if err != nil {
		t.Fatal(err)
	}
	c := r.Arm(replay.ArmMemory).Against
	got := []any{c.Test, strings.Join(c.Helpful, " "), strings.Join(c.Harmful, " "), strings.Join(c.Neutral, " "), c.P, c.Diff.Estimate, c.Verdict}
	// 3 to 1: 2(1+4)/16. Differences of the means: 1, 1/3, 0, -1/3, 1/3.
	want := []any{"sign", "a b e", "d", "c", .625, (1 + 1./3) / 5, replay.VerdictNotEnough}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Error(diff)
	}
	// 15 runs of two turns: 7.5 money, and 10 passed.
	cost := r.Arm(replay.ArmMemory).Cost
	gotCost := []float64{cost.TokensIn, cost.Money, cost.Per100Turns, cost.Corrections, cost.Latency.P50MS, cost.Latency.P95MS}
	if diff := cmp.Diff([]float64{100, 7.5, 25, 100 * 5. / 30, 2, 3}, gotCost, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Error(diff)
	}
	if p := r.Arm(replay.ArmNone).Pass; p.Estimate < .3999 || p.Estimate > .4001 || p.Low >= p.Estimate || p.High <= p.Estimate {
		t.Errorf("pass rate of none %+v", p)
	}
}

// TestVerdicts: eight tasks the one way are a verdict, five are not enough.
func TestVerdicts(t *testing.T) {
	for n, want := range map[int]string{5: replay.VerdictNotEnough, 8: replay.VerdictBetter} {
		passes := map[string][2]string{}
		var order []string
		for i := range n {
			id := fmt.Sprint("t", i)
			passes[id] = [2]string{"0", "1"}
			order = append(order, id)
		}
		h, list := made(passes, order...)
		r, err := replay.Analyse(h, list)
		if err != nil {
			t.Fatal(err)
		}
		c := r.Arm(replay.ArmMemory).Against
		if c.Verdict != want || c.Test != "mcnemar" || (c.Why != "") != (want == replay.VerdictNotEnough) {
			t.Errorf("%d tasks: %+v", n, c)
		}
		if !strings.Contains(strings.Join(r.Notes, "\n"), fmt.Sprintf("%d of %d runs", 2*n, 6*n)) {
			t.Errorf("notes %q", r.Notes)
		}
	}
}

// TestVerdictsOfSeveralArms: Holm's method corrects the later comparisons for fewer
// others, and so does what counts as enough evidence.
func TestVerdictsOfSeveralArms(t *testing.T) {
	none := "----------"
	for _, tt := range []struct {
		stale    string
		p, holm  float64
		verdict  string
		sentence string
	}{
		// 2/2^10 is corrected for three arms and for two; 2/2^6 then for none.
		{"++++++----", .03125, .03125, replay.VerdictBetter, "better"},
		{"+++++-----", .0625, .0625, replay.VerdictNotEnough, "not enough evidence: the two differ on 5 of 10 tasks, and fewer than 6 that differ cannot reach p = 0.05"},
	} {
		r := told(t, map[string]string{"none": none, "memory": "++++++++++", "oracle": "++++++++++", "stale": tt.stale}, "none", "memory", "oracle", "stale")
		if c := r.Arm("memory").Against; math.Abs(c.Holm-3./512) > 1e-12 || c.Verdict != replay.VerdictBetter {
			t.Errorf("memory: %+v", c)
		}
		c := r.Arm("stale").Against
		if math.Abs(c.P-tt.p) > 1e-12 || math.Abs(c.Holm-tt.holm) > 1e-12 || c.Verdict != tt.verdict || c.Conclusion() != tt.sentence {
			t.Errorf("stale: %v, corrected %v, %s", c.P, c.Holm, c.Conclusion())
		}
	}
}

// TestTestAgainstSize: eighteen tasks go better by a third and six worse by all of
// it. The sign test says p = .0227, the mean goes down by nothing or more.
func TestTestAgainstSize(t *testing.T) {
	passes := map[string][2]string{}
	var order []string
	for i := range 24 {
		id := fmt.Sprint("t", i)
		passes[id] = [2]string{"000", "001"}
		if i < 6 {
			passes[id] = [2]string{"111", "000"}
		}
		order = append(order, id)
	}
	h, list := made(passes, order...)
	r, err := replay.Analyse(h, list)
	if err != nil {
		t.Fatal(err)
	}
	c := r.Arm(replay.ArmMemory).Against
	// 2(1 + 24 + 276 + 2024 + 10626 + 42504 + 134596)/2^24.
	if math.Abs(c.P-2*190051./(1<<24)) > 1e-12 || math.Abs(c.Diff.Estimate) > 1e-12 || c.Verdict != replay.VerdictNoDifference {
		t.Errorf("p %v, difference %v: %s", c.P, c.Diff.Estimate, c.Conclusion())
	}
}

// TestRepetitionsThatAgree tell no more than one run each: the interval is Wilson's
// over the tasks, and not a point.
func TestRepetitionsThatAgree(t *testing.T) {
	h, list := made(map[string][2]string{"a": {"000", "111"}, "b": {"000", "111"}}, "a", "b")
	r, err := replay.Analyse(h, list)
	if err != nil {
		t.Fatal(err)
	}
	none, memory := r.Arm(replay.ArmNone).Pass, r.Arm(replay.ArmMemory)
	// z^2/(n + z^2) = 3.8415/5.8415.
	if none.Low != 0 || math.Abs(none.High-.65762) > 1e-5 || math.Abs(memory.Pass.Low-(1-.65762)) > 1e-5 || memory.Pass.High != 1 {
		t.Errorf("none %+v, memory %+v", none, memory.Pass)
	}
	if page := r.Markdown(); !strings.Contains(page, "difference +100.0 points (no spread)") {
		t.Errorf("two tasks that differ by the same have an interval:\n%s", page)
	}
}

// TestChain puts one run in each place where the chain breaks.
func TestChain(t *testing.T) {
	h, list := made(map[string][2]string{"a": {"", "0000010"}}, "a")
	for i := range list {
		r := &list[i]
		r.HasGold = true
		r.GoldStored = i > 0
		r.GoldFound = i > 1
		r.GoldInjected = i > 2
		r.Repeats = i == 4
	}
	list[4].Wrong, list[3].Stale = []string{"w"}, []string{"s"}
	list[2].Error, list[6].Error = replay.ErrorTimeout, replay.ErrorTimeout // the last had the memory, and no time to use it
	r, err := replay.Analyse(h, list)
	if err != nil {
		t.Fatal(err)
	}
	arm := r.Arm(replay.ArmMemory)
	if diff := cmp.Diff(replay.ChainReport{NotStored: 1, NotFound: 1, NotInjected: 1, NotUsed: 1, UsedWrongly: 1, Held: 1}, arm.Chain); diff != "" {
		t.Error(diff)
	}
	want := replay.RecallReport{Nothing: 7, GoldRuns: 7, GoldStored: 6, GoldFound: 5, GoldInjected: 4, WrongRuns: 1, StaleRuns: 1}
	if diff := cmp.Diff(want, arm.Recall); diff != "" || arm.Errors[replay.ErrorTimeout] != 2 {
		t.Error(diff, arm.Errors)
	}
	if got := r.Tasks[0].Arms[1]; got.Broke != replay.BrokeNotStored || got.Error != replay.ErrorTimeout || got.Effect != "" {
		t.Errorf("%+v", got)
	}
}

// TestSaidAnswer: a record of a run that was told its answer ends the report,
// whatever came of the run.
func TestSaidAnswer(t *testing.T) {
	h, list := made(map[string][2]string{"a": {"0", "1"}, "b": {"0", "1"}}, "a", "b")
	for i := range list {
		if list[i].Task == "b" && list[i].Arm == replay.ArmNone {
			list[i].Leak = "amber"
		}
	}
	r, err := replay.Analyse(h, list)
	if leak, ok := errors.AsType[*replay.LeakError](err); !ok || r != nil || !slices.Equal(leak.Tasks, []string{"b"}) || leak.Why[0] != `what the agent is given says "amber"` {
		t.Errorf("%v %v", r, err)
	}
}

// TestAnalyseRefuses: records that do not belong to their header.
func TestAnalyseRefuses(t *testing.T) {
	h, list := made(map[string][2]string{"a": {"1", "11"}}, "a")
	list[1].Rep = list[2].Rep // it would hide that one is missing
	if r, err := replay.Analyse(h, list); r != nil || err == nil || !strings.Contains(err.Error(), "two records are of the same run: task a, arm memory, repetition 1") {
		t.Errorf("%v %v", r, err)
	}
	list[1].Rep, list[0].Arm = 0, "else"
	if r, err := replay.Analyse(h, list); err == nil || r != nil {
		t.Errorf("%v %v", r, err)
	}
	if _, _, err := replay.ReadRecords(t.TempDir()); err == nil {
		t.Error("no file, no error")
	}
	for _, raw := range []string{"", "\n", `{"v":9}` + "\n", `{"v":1}` + "\nno\n", `{"v":1}` + "\n{}\n"} {
		if _, _, err := replay.ParseRecords([]byte(raw)); err == nil {
			t.Errorf("%q is read", raw)
		}
	}
	if _, err := replay.Arms("memory", "nothing"); err == nil || !strings.Contains(err.Error(), "llm-selection") {
		t.Errorf("an arm that is not there: %v", err)
	}
	o := &replay.Options{Out: t.TempDir(), Settings: settings(t, nil)}
	if err := replay.Run(t.Context(), ship(t), arms(t, replay.ArmSelection), replay.Scripted(scripted), o); err == nil || errors.Is(err, replay.ErrNoJudge) {
		t.Errorf("a selection without a model: %v", err)
	}
}
