package replay_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch/eval/replay"
)

// TestCandidate tries memories that harm, help, and do nothing.
func TestCandidate(t *testing.T) {
	t.Parallel()
	note := func(id, status, summary, text string) string {
		return "---\nid: " + id + "\ncategory: project\nsummary: " + summary + "\nstatus: " + status + "\n---\n" + text + "\n"
	}
	set := some(t, ship(t), "h1", "h5", "t2", "n2")
	for _, tt := range []struct {
		name, text, verdict string
		helpful, harmful    []string
		injected            int
	}{
		{"harms", note("mem_bad", "candidate", "The harbour code", "The harbour code is aback."), replay.EffectHarmful, []string{}, []string{"h1"}, 1},
		{"helps", note("mem_jetty", "candidate", "The jetty", "Of the jetty the quay secret is coral."), replay.EffectHelpful, []string{"h5"}, []string{}, 1},
		{"does nothing", note("mem_wall", "candidate", "Plus on the wall", "One plus two hangs on the wall."), replay.EffectNeutral, []string{}, []string{}, 1},
		{"is there already", note("mem_h1", "active", "The harbour code", "The harbour code is amber."), replay.EffectHelpful, []string{"h1"}, []string{}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(write(t, map[string]string{"new.md": tt.text}), "new.md")
			dir := t.TempDir()
			tasks := set
			if tt.name == "is there already" { // the other tasks may name it
				tasks = some(t, set, "h1", "n2")
			}
			r, err := replay.Candidate(t.Context(), tasks, file, replay.Scripted(scripted), &replay.Options{Out: dir, Settings: settings(t, nil)})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(r, analyse(t, dir)); diff != "" {
				t.Errorf("its records say something else: %s", diff)
			}
			if id := strings.Fields(tt.text)[2]; r.Candidate.ID != id || !strings.Contains(r.Markdown(), "- the candidate "+id+" is "+tt.verdict+"; it stood in the context of 1 run\n") {
				t.Errorf("%+v\n%s", r.Candidate, r.Markdown())
			}
			c := r.Arm(replay.ArmWith).Against
			got := []any{r.Candidate.Verdict, c.Helpful, c.Harmful, r.Candidate.Injected, c.Verdict}
			if diff := cmp.Diff([]any{tt.verdict, tt.helpful, tt.harmful, tt.injected, replay.VerdictNotEnough}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := replay.Candidate(t.Context(), set, "no.md", replay.Scripted(scripted), &replay.Options{Out: t.TempDir()}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// TestCandidateRefused: what no vault would take or read is no candidate.
func TestCandidateRefused(t *testing.T) {
	t.Parallel()
	set := some(t, ship(t), "h1")
	for name, c := range map[string]struct{ text, want string }{
		"a.txt":    {"A fact.", "no Markdown"},
		".a.md":    {"A fact.", "hidden"},
		"empty.md": {"---\nid: mem_x\n---\n\n", "says nothing"},
		"key.md":   {"The token is ghp_16C7e42F292c6912E7710c838347Ae178B4a.", "a secret (github-token)"},
	} {
		file := filepath.Join(write(t, map[string]string{name: c.text}), name)
		_, err := replay.Candidate(t.Context(), set, file, replay.Scripted(scripted), &replay.Options{Out: t.TempDir(), Settings: settings(t, nil)})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestLeaks: a prompt that says the answer is not run. Of one whose words pass, and
// of a model that knows what it cannot know, no report is made.
func TestLeaks(t *testing.T) {
	t.Parallel()
	list := arms(t, replay.ArmNone, replay.ArmOracle)
	run := func(t *testing.T, set *replay.Set, s replay.Scripted) error {
		t.Helper()
		dir := t.TempDir()
		err := replay.Run(t.Context(), set, list, s, &replay.Options{Out: dir, Settings: settings(t, nil)})
		if _, leaks := errors.AsType[*replay.LeakError](err); leaks {
			if _, _, rerr := replay.ReadRecords(dir); !errors.Is(rerr, os.ErrNotExist) {
				t.Errorf("it was run all the same: %v", rerr)
			}
			return err
		}
		if err != nil {
			t.Fatal(err)
		}
		h, recs := records(t, dir)
		r, err := replay.Analyse(h, recs)
		if (r == nil) != (err != nil) {
			t.Errorf("report %v with %v", r, err)
		}
		return err
	}
	knows := func(_, _, _ string) string { return "Amber" }
	set := some(t, ship(t), "h1", "h2", "h3", "t1", "n1")
	if err := run(t, set, scripted); err != nil {
		t.Errorf("no leak: %v", err)
	}
	if err := run(t, set, knows); err != nil { // one of three, by luck
		t.Errorf("one guess: %v", err)
	}
	said := some(t, set, "h1", "h2")
	said.Tasks[1].Prompt = "Seventy is it, or which lantern number?"
	err := run(t, said, scripted)
	leak, ok := errors.AsType[*replay.LeakError](err)
	if !ok || len(leak.Tasks) != 1 || leak.Tasks[0] != "h2" || !strings.Contains(err.Error(), `the answer leaks into the arm none: task h2 (what the agent is given says "seventy")`) {
		t.Errorf("a prompt that says it: %v", err)
	}
	// A number that is in both may be chance, unless the run passes.
	chance := some(t, set, "h1", "h2")
	chance.Tasks[1].Prompt = "In 12 words: which lantern number?"
	chance.Tasks[1].Checks = []replay.Check{check(t, `{type: number, value: 12}`)}
	chance.Tasks[1].Right, chance.Tasks[1].WrongAnswers = []replay.Sample{{Answer: "12"}}, []replay.Sample{{Answer: "13"}}
	if err := run(t, chance, scripted); err != nil {
		t.Errorf("a number by chance: %v", err)
	}
	echo := func(_, _, prompt string) string { return prompt }
	if leak, ok = errors.AsType[*replay.LeakError](run(t, chance, echo)); !ok || !cmp.Equal(leak.Tasks, []string{"h2"}) || leak.Why[0] != `what the agent is given says "12"` {
		t.Errorf("a number that was read: %+v", leak)
	}
	chance.Tasks[1].Right = []replay.Sample{{Answer: "the lantern has number 12"}}
	if err := run(t, chance, scripted); err != nil {
		t.Errorf("words that pass, of a run that does not: %v", err)
	}
	if leak, ok = errors.AsType[*replay.LeakError](run(t, chance, echo)); !ok || !cmp.Equal(leak.Tasks, []string{"h2"}) || !strings.Contains(leak.Why[0], "own words pass") {
		t.Errorf("words that pass: %+v", leak)
	}
	cheat := func(_, _, prompt string) string {
		return map[bool]string{true: "amber", false: "seventy"}[strings.Contains(prompt, "harbour")]
	}
	if leak, ok = errors.AsType[*replay.LeakError](run(t, set, cheat)); !ok || !cmp.Equal(leak.Tasks, []string{"h1", "h2"}) {
		t.Errorf("a model that knows: %v", leak)
	}
}

// TestExec runs a command: it has the prompt, the context and its copy of the
// vault, writes into a folder of its own, and ends with all that it started.
func TestExec(t *testing.T) {
	t.Parallel()
	set := some(t, ship(t), "h1")
	script := `grep -q "Which harbour code" || exit 3
grep -o 'code is [a-z]*' "$MEMSEARCH_CONTEXT" | cut -d' ' -f3
ls; echo "$MEMSEARCH_NOW" > now; ls "$MEMSEARCH_VAULT" | grep -c 'h1.md' >&2; [ -z "$(ls "$MEMSEARCH_VAULT")" ] && exit 4
sleep 100 & exit 5`
	dir := t.TempDir()
	o := &replay.Options{Out: dir, Settings: settings(t, nil)}
	if err := replay.Run(t.Context(), set, arms(t, replay.ArmNone, replay.ArmMemory, replay.ArmOracle), &replay.Exec{Command: []string{"sh", "-c", script}}, o); err != nil {
		t.Fatal(err)
	}
	_, recs := records(t, dir)
	got := map[string]string{}
	for _, r := range recs {
		got[r.Arm] = r.Answer + r.Error
		if r.Cost.Calls != 1 {
			t.Errorf("%s: %+v", r.Arm, r.Cost)
		}
	}
	if diff := cmp.Diff(map[string]string{"none": "", "memory": "amber", "oracle": "amber"}, got); diff != "" {
		t.Error(diff)
	}
	slow := &replay.Exec{Command: []string{"sh", "-c", "sleep 100 & sleep 100"}, Timeout: 50 * time.Millisecond}
	o = &replay.Options{Out: t.TempDir(), Settings: settings(t, nil)}
	if err := replay.Run(t.Context(), set, arms(t, replay.ArmNone), slow, o); err != nil {
		t.Fatal(err)
	}
	if _, recs := records(t, o.Out); recs[0].Error != replay.ErrorTimeout || recs[0].Pass {
		t.Errorf("a slow command: %+v", recs[0])
	}
	for name, script := range map[string]string{"endless": "yes amber", "long": "head -c 1100000 /dev/zero", "behind it": "yes amber & sleep 100"} {
		o = &replay.Options{Out: t.TempDir(), Settings: settings(t, nil)}
		if err := replay.Run(t.Context(), set, arms(t, replay.ArmNone), &replay.Exec{Command: []string{"sh", "-c", script}}, o); err != nil {
			t.Fatal(err)
		}
		if _, recs := records(t, o.Out); recs[0].Error != replay.ErrorRunner || !strings.Contains(recs[0].Message, "printed more than 1 MiB") {
			t.Errorf("%s: %+v", name, recs[0])
		}
	}
	gone := &replay.Exec{Command: []string{"memsearch-no-such-command"}}
	o = &replay.Options{Out: t.TempDir(), Settings: settings(t, nil)}
	if err := replay.Run(t.Context(), set, arms(t, replay.ArmNone), gone, o); err != nil {
		t.Fatal(err)
	}
	if _, recs := records(t, o.Out); recs[0].Error != replay.ErrorRunner {
		t.Errorf("no such command: %+v", recs[0])
	}
}

// TestExecVaults guards against a command that is told of another vault than the
// one that the task is over.
func TestExecVaults(t *testing.T) {
	t.Parallel()
	list := string(os.PathListSeparator)
	for name, want := range map[string]string{"团队 b": "团队 b", "a=b": "cannot name the vault a=b", "a" + list + "b": "cannot name the vault a" + list + "b"} {
		dir := write(t, map[string]string{
			name + "/port.md": "---\nid: mem_port\n---\nThe port is 9462.\n",
			"tasks.yaml":      strings.Replace(head, "vault: vault", "vault: "+strconv.Quote(name), 1) + port,
		})
		o := &replay.Options{Out: t.TempDir(), Settings: settings(t, nil)}
		e := &replay.Exec{Command: []string{"sh", "-c", `printf %s "${MEMSEARCH_VAULTS%%=*}"`}}
		if err := replay.Run(t.Context(), load(t, filepath.Join(dir, "tasks.yaml")), arms(t, replay.ArmMemory), e, o); err != nil {
			t.Fatal(err)
		}
		if _, recs := records(t, o.Out); !strings.Contains(recs[0].Answer+recs[0].Message, want) {
			t.Errorf("%s: %+v", name, recs[0])
		}
	}
}

// TestJudgeProves: a judge is measured before a replay, and one that lets wrong
// answers pass is refused.
func TestJudgeProves(t *testing.T) {
	dir := write(t, map[string]string{
		"vault/port.md": "---\nid: mem_port\n---\nThe port is 9462.\n",
		"tasks.yaml":    head + strings.Replace(port, "{type: number, value: 9462}", "{type: judge, rubric: says 9462}", 1),
	})
	set := load(t, filepath.Join(dir, "tasks.yaml"))
	list := arms(t, replay.ArmNone)
	if err := replay.Run(t.Context(), set, list, replay.Scripted(scripted), &replay.Options{Out: t.TempDir()}); !errors.Is(err, replay.ErrNoJudge) {
		t.Errorf("without a judge: %v", err)
	}
	kind := &asker{text: `{"reason": "fine", "pass": true}`}
	if err := replay.Run(t.Context(), set, list, replay.Scripted(scripted), &replay.Options{Out: t.TempDir(), Judge: kind}); err == nil || !strings.Contains(err.Error(), "of task port") {
		t.Errorf("a judge that passes everything: %v", err)
	}
	harsh := &asker{text: `{"reason": "no", "pass": false}`}
	o := &replay.Options{Out: t.TempDir(), Judge: harsh}
	for range 2 { // measured once
		if err := replay.Run(t.Context(), set, list, replay.Scripted(scripted), o); err != nil {
			t.Fatal(err)
		}
	}
	h, recs := records(t, o.Out)
	want := replay.Judged{Answers: 2, Wrong: 1, Agreement: .5, TooHarsh: 1}
	if diff := cmp.Diff(want, h.Judge); diff != "" || len(harsh.got) != 3 {
		t.Errorf("%s, asked %d times", diff, len(harsh.got))
	}
	if v := recs[0].Verdicts; len(v) != 1 || v[0].Type != "judge" || v[0].Pass {
		t.Errorf("verdicts %+v", v)
	}
}
