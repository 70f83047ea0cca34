package replay_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/eval/replay"
)

const shipped = "../../examples/replay/tasks.yaml"

func load(t *testing.T, path string) *replay.Set {
	t.Helper()
	s, err := replay.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestShippedSet loads the set that comes with the program: that every check can
// fail is part of loading it.
func TestShippedSet(t *testing.T) {
	s := load(t, shipped)
	count := map[string]int{}
	for _, task := range s.Tasks {
		for _, tag := range task.Tags {
			count[tag]++
		}
		if task.Has("en") == task.Has("zh") {
			t.Errorf("%s needs one language", task.ID)
		}
	}
	if len(s.Tasks) < 66 || count["en"] < 25 || count["zh"] < 25 {
		t.Errorf("%d tasks, %d English, %d Chinese", len(s.Tasks), count["en"], count["zh"])
	}
	for _, tag := range []string{"helps", "neutral", "trap", "preference", "command", "fix", "changed", "forget", "scope", "conflict", "time", "ignore"} {
		if count[tag] < 4 {
			t.Errorf("%d tasks of %s, want 4 or more", count[tag], tag)
		}
	}
	t.Log(len(s.Tasks), "tasks:", count)
}

// TestShippedGuesses gives answers that know nothing: silence, and the question
// itself. None of them may pass.
func TestShippedGuesses(t *testing.T) {
	s := load(t, shipped)
	no := &asker{text: `{"reason": "it says nothing", "pass": false}`}
	for i := range s.Tasks {
		task := &s.Tasks[i]
		answers := []string{"", "Yes.", "好的。"}
		if task.Has(replay.TagHelps) {
			answers = append(answers, task.Question())
		}
		for _, a := range answers {
			if pass, _, err := task.Grade(t.Context(), replay.Outcome{Answer: a, Judge: no}); pass || err != nil {
				t.Errorf("%s: %q passes, %v", task.ID, a, err)
			}
		}
	}
}

// TestShippedPhrasings gives answers as a model words them, which the tasks do not
// list: a set whose checks are too strict says that memory does not help.
func TestShippedPhrasings(t *testing.T) {
	s := load(t, shipped)
	tasks := map[string]*replay.Task{}
	for i := range s.Tasks {
		tasks[s.Tasks[i].ID] = &s.Tasks[i]
	}
	for _, c := range []struct {
		task, answer string
		want         bool
	}{
		{"editor-en", "Helix. Put `C-s = \":write-all\"` under `[keys.normal]`; it resembles `:wa` in Vim.", true},
		{"editor-en", "Emacs: (global-set-key ...)", false},
		{"gitmoji-en", "**Commit message:**\n\n:bug: Fix login page timeout", true},
		{"gitmoji-en", "fix(login): resolve page timeout issue", false},
		{"stones-en", "Approximately **11.02** stone.", true},
		{"stones-en", "154.3 lb (11 stone 0 lb)", false}, // every unit at once
		{"wording-en", "## How to Invite a Guest", true},
		{"allergy-en", "The cake must be made without lupin (lupin flour).", true},
		{"assertions-en", "`is` (github.com/matryer/is)", true},
		{"report-zh", "1. **进展**\n2. **风险**\n3. **求助**", true},
		{"report-zh", "工作进展\n遇到的问题\n下周计划", false},
		{"coffee-zh", "您好，请来一杯燕麦拿铁，不要加糖，谢谢！", true},
		{"commute-zh", "**17** 号线", true},
		{"latency-en", "85", true},
		{"limit-zh", "限流是 340 次/分钟", true},
		{"timeout-zh", "目前为12秒（原为45秒）。", true},
		{"timeout-zh", "45", false},
		{"queue-zh", "已经换成 NATS（之前是 RabbitMQ）", true},
		{"owner-en", "Priyanka, who has owned the billing service since April; before that it was Tomasz.", true},
		{"owner-en", "Tomasz or Priyanka", false},
		{"standup-moved-en", "It moved from 09:40 to 10:25.", true},
		{"forgotten-code-en", "There is nothing about it in what I was given.", true},
		{"forgotten-code-en", "The door code is 4711, but I'm not sure.", false},
		{"forgotten-locker-zh", "抱歉，我这里没有相关记录", true},
		{"forgotten-customer-zh", "没有问题，是云岫科技。", false},
		{"marlin-not-kestrel-en", "I do not know which database Kestrel uses. I only know that Marlin uses CockroachDB.", true},
		{"candidate-en", "It is decided, not rumoured.", false},
		{"birthday-zh", "05月21日", true},
		{"birthday-zh", "5月12日", false},
		{"audit-days-en", "It is due on 18 January 2027, which is 50 days from today.", true},
		{"product-en", "17 × 23 = 391", true},
	} {
		task := tasks[c.task]
		if task == nil {
			t.Errorf("no task %s", c.task)
			continue
		}
		if pass, verdicts, err := task.Grade(t.Context(), replay.Outcome{Answer: c.answer}); pass != c.want || err != nil {
			t.Errorf("%s: %q: %v, want %v: %+v, %v", c.task, c.answer, pass, c.want, verdicts, err)
		}
	}
}

// TestShippedRecall asks the product itself: what a task needs must be found by
// it, or the set would measure something else than memory.
func TestShippedRecall(t *testing.T) {
	t.Parallel()
	s := load(t, shipped)
	helps, injected := 0, 0
	opened := map[string]*core.Memory{} // by what tasks without edits read
	for i := range s.Tasks {
		task := &s.Tasks[i]
		st := materialise(t, s, task)
		key := strings.Join(task.Scopes, "+")
		if len(task.Edits) > 0 {
			key = task.ID
		}
		if opened[key] == nil {
			opened[key] = open(t, task, st)
		}
		res := ask(t, task, opened[key])
		for _, id := range st.Wrong {
			if has(res, id) {
				t.Logf("%s: %s is injected", task.ID, id)
			}
		}
		for _, id := range st.Stale {
			if has(res, id) {
				t.Errorf("%s: superseded %s is injected", task.ID, id)
			}
		}
		if !task.Has(replay.TagHelps) {
			continue
		}
		helps++
		if all(st.Gold, func(id string) bool { return has(res, id) }) {
			injected++
		} else {
			t.Logf("%s: gold is not injected: %s %v", task.ID, res.Status, res.Reasons)
		}
	}
	share := float64(injected) / float64(helps)
	t.Logf("gold injected in %d of %d tasks (%.3f)", injected, helps, share)
	if share < 0.8 {
		t.Errorf("gold is injected in %.3f of the tasks that need it, want 0.8", share)
	}
}

func materialise(t *testing.T, s *replay.Set, task *replay.Task) *replay.State {
	t.Helper()
	st, err := replay.Materialise(t.Context(), s, task, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func all(list []string, ok func(string) bool) bool {
	return !slices.ContainsFunc(list, func(s string) bool { return !ok(s) })
}

// open opens and indexes what a task reads.
func open(t *testing.T, task *replay.Task, st *replay.State) *core.Memory {
	t.Helper()
	m, err := core.Open(t.Context(), st.Scopes, &core.Options{Now: func() time.Time { return task.Now.Time }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	if _, err := m.Sync(t.Context(), core.SyncOptions{}); err != nil {
		t.Fatal(err)
	}
	return m
}

func ask(t *testing.T, task *replay.Task, m *core.Memory) *memsearch.Result {
	t.Helper()
	turns := task.Messages()
	res, err := m.Recall(t.Context(), memsearch.Query{Text: task.Question(), Request: turns[len(turns)-1].Text, Now: task.Now.Time})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// has reports whether a unit of the memory called id is injected.
func has(res *memsearch.Result, id string) bool {
	return slices.ContainsFunc(res.Hits, func(h memsearch.Hit) bool {
		return h.MemoryID == id && slices.Contains(res.Injected, h.ID)
	})
}

// TestShippedIDs finds every memory that a task names, forgotten ones and those
// of scopes that it does not read in the shipped folders.
func TestShippedIDs(t *testing.T) {
	s := load(t, shipped)
	every := replay.Task{ID: "every", Now: s.Now, Scopes: []string{"vault", "other-project"}}
	for _, task := range s.Tasks {
		every.Wrong = append(every.Wrong, task.Wrong...)
	}
	every.Gold = every.Wrong // all must be there
	if _, err := replay.Materialise(t.Context(), s, &every, filepath.Join(t.TempDir(), "copy")); err != nil {
		t.Error(err)
	}
}
