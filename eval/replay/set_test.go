package replay_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/memsearch/memsearch/eval/replay"
)

// write writes files below a new folder.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const head = "version: 1\nname: small\nvault: vault\nnow: 2026-11-29T10:00:00Z\ntasks:\n"

// port is one good task.
const port = `  - id: port
    tags: [helps]
    prompt: Which port?
    gold: [mem_port]
    checks: [{type: number, value: 9462}]
    right: ["9462"]
    wrong_answers: ["8317"]
`

func TestLoadYAMLAndLines(t *testing.T) {
	dir := write(t, map[string]string{
		"vault/port.md": "---\nid: mem_port\n---\nThe port is 9462.\n",
		"tasks.yaml": head + port + `  - id: talk
    tags: [neutral, en]
    turns:
      - {role: user, text: "Hi 😀"}
      - {role: assistant, text: Hello}
      - {role: user, text: "Two and two?"}
    now: 2026-11-30
    repetitions: 3
    arms: [none, memory]
    checks: [{type: exit, code: 1}, {type: file, path: a/b, contains: x}]
    right: [{exit: 1, files: {a/b: xyz}}]
    wrong_answers: [{exit: 0, files: {a/b: xyz}}, {exit: 1, files: {a/b: y}}]
`,
		"tasks.jsonl": "\ufeff" + `{"version": 1, "name": "small", "vault": "vault", "now": "2026-11-29T10:00:00Z"}

{"id": "port", "tags": ["helps"], "prompt": "Which port?", "gold": ["mem_port"], "checks": [{"type": "number", "value": 9462}], "right": ["9462"], "wrong_answers": ["8317"]}
{"id": "talk", "tags": ["neutral", "en"], "turns": [{"role": "user", "text": "Hi \ud83d\ude00"}, {"role": "assistant", "text": "Hello"}, {"role": "user", "text": "Two and two?"}], "now": "2026-11-30", "repetitions": 3, "arms": ["none", "memory"], "checks": [{"type": "exit", "code": 1}, {"type": "file", "path": "a\/b", "contains": "x"}], "right": [{"exit": 1, "files": {"a/b": "xyz"}}], "wrong_answers": [{"exit": 0, "files": {"a/b": "xyz"}}, {"exit": 1, "files": {"a/b": "y"}}]}
`,
	})
	a, b := load(t, filepath.Join(dir, "tasks.yaml")), load(t, filepath.Join(dir, "tasks.jsonl"))
	ignore := cmpopts.IgnoreFields(replay.Check{}, "Checker")
	if d := cmp.Diff(a, b, ignore); d != "" {
		t.Errorf("the two spellings differ (-yaml +jsonl):\n%s", d)
	}
	talk := a.Tasks[1]
	if talk.Question() != "Two and two?" || talk.Turns[0].Text != "Hi 😀" || !talk.Now.Day || talk.Repetitions != 3 {
		t.Errorf("the second task is %+v", talk)
	}
	first := a.Tasks[0]
	want := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	if !first.Now.Equal(want) || first.Repetitions != 1 || !cmp.Equal(first.Scopes, []string{"vault"}) || first.Question() != "Which port?" {
		t.Errorf("the first task is %+v", first)
	}
	for answer, want := range map[string]bool{"9462": true, "8317": false} {
		if pass, v, err := first.Grade(t.Context(), replay.Outcome{Answer: answer}); pass != want || len(v) != 1 || err != nil {
			t.Errorf("Grade(%q): %v, %v, %v", answer, pass, v, err)
		}
	}
}

// with is a file with one task that differs from port.
func with(old, new string) string { return head + strings.Replace(port, old, new, 1) }

// refused are files that are not let in, and why.
var refused = map[string]struct{ text, want string }{
	"unknown key of the set":    {"version: 1\nvaults: x\n", `line 2: unknown key "vaults" in a task set`},
	"unknown key of a task":     {with("prompt:", "promt:"), `line 8: unknown key "promt" in a task`},
	"unknown key of a check":    {with("value: 9462", "valu: 9462"), `unknown key "valu" in a check of type number`},
	"unknown key of an edit":    {with("gold:", "edits: [{when: x}]\n    gold:"), `unknown key "when" in an edit`},
	"unknown key of a turn":     {with("prompt: Which port?", "turns: [{who: x}]"), `unknown key "who" in a turn`},
	"unknown key of an answer":  {with(`["9462"]`, `[{text: x}]`), `unknown key "text" in an answer`},
	"a key twice":               {with("gold:", "prompt: x\n    gold:"), "already defined"},
	"version":                   {strings.Replace(head, "1", "2", 1) + port, "version is 2"},
	"no name":                   {strings.Replace(head, "small", `""`, 1) + port, "no name"},
	"no tasks":                  {head, "no tasks"},
	"empty":                     {"", "empty"},
	"two documents":             {head + port + "---\n{}\n", "more than one document"},
	"no folder":                 {strings.Replace(head, "vault: vault", "vault: none", 1) + port, "scope none"},
	"a folder elsewhere":        {strings.Replace(head, "vault: vault", "vault: ../x", 1) + port, "no name of a folder"},
	"no vault":                  {strings.Replace(head, "vault: vault\n", "", 1) + port, "reads no vault"},
	"no now":                    {strings.Replace(head, "now: 2026-11-29T10:00:00Z\n", "", 1) + port, "now is missing"},
	"two in one task":           {strings.Replace(with("id: port", "id: a/b"), "now: 2026-11-29T10:00:00Z\n", "", 1), "task 1 (a/b): id must have 1 to 100 letters, digits, dots, _ and -; now is missing"},
	"no time":                   {strings.Replace(head, "2026-11-29T10:00:00Z", "soon", 1) + port, `"soon" is no time`},
	"bad id":                    {with("id: port", "id: a/b"), "id must have"},
	"id twice":                  {head + port + strings.Replace(port, "id: port", "id: PORT", 1), "occurs twice"},
	"prompt and turns":          {with("gold:", "turns: [{role: user, text: x}]\n    gold:"), "not both"},
	"neither":                   {with("prompt: Which port?", "query: x"), "needs a prompt or turns"},
	"last turn":                 {with("prompt: Which port?", "turns: [{role: assistant, text: x}]"), "last turn"},
	"role":                      {with("prompt: Which port?", "turns: [{role: system, text: x}, {role: user, text: x}]"), "role user or assistant"},
	"no kind":                   {with("[helps]", "[en]"), "exactly one of the tags"},
	"two kinds":                 {with("[helps]", "[helps, trap]"), "exactly one of the tags"},
	"helps without gold":        {with("gold: [mem_port]", "gold: []"), "names no gold"},
	"neutral with gold":         {with("[helps]", "[neutral]"), "must not matter"},
	"gold and wrong":            {with("gold:", "wrong: [mem_port]\n    gold:"), "gold and stale or wrong"},
	"negative repetitions":      {with("gold:", "repetitions: -1\n    gold:"), "repetitions"},
	"arm twice":                 {with("gold:", "arms: [none, none]\n    gold:"), "occurs twice"},
	"no checks":                 {with("[{type: number, value: 9462}]", "[]"), "has no checks"},
	"an empty check":            {with("[{type: number, value: 9462}]", "[~]"), "an item of checks is empty"},
	"an empty task":             {head + "  - ~\n", "line 6: an item of tasks is empty"},
	"no wrong answer":           {with(`wrong_answers: ["8317"]`, "wrong_answers: []"), "no wrong answer"},
	"no right answer":           {with(`right: ["9462"]`, "right: []"), "no right answer"},
	"a wrong answer passes":     {with(`["8317"]`, `["8317", "it is 9462"]`), "wrong answer 2 passes every check"},
	"a right answer fails":      {with(`right: ["9462"]`, `right: ["9462", "8317"]`), "right answer 2 fails"},
	"a check that cannot fail":  {with("[{type: number, value: 9462}]", `[{type: number, value: 9462}, {type: regex, pattern: "^"}]`), "check 2 (regex) rejects none"},
	"an edit without operation": {with("gold:", "edits: [{at: 2026-01-01, op: eat}]\n    gold:"), `op "eat" is none of`},
	"an edit without time":      {with("gold:", "edits: [{op: delete, path: a.md}]\n    gold:"), "at is missing"},
	"an edit in the future":     {with("gold:", "edits: [{at: 2027-01-01, op: delete, path: a.md}]\n    gold:"), "after the task's now"},
	"an edit of another scope":  {with("gold:", "edits: [{at: 2026-01-01, op: delete, path: a.md, scope: x}]\n    gold:"), `does not read the scope "x"`},
	"an edit outside":           {with("gold:", "edits: [{at: 2026-01-01, op: delete, path: ../a.md}]\n    gold:"), "leads out"},
	"an edit with too much":     {with("gold:", "edits: [{at: 2026-01-01, op: delete, path: a.md, text: x}]\n    gold:"), "text means nothing here"},
	"an edit with too little":   {with("gold:", "edits: [{at: 2026-01-01, op: supersede, id: mem_port}]\n    gold:"), "as is missing"},
}

func TestLoadRefuses(t *testing.T) {
	for name, c := range refused {
		dir := write(t, map[string]string{"vault/a.md": "x\n", "tasks.yaml": c.text})
		if _, err := replay.Load(filepath.Join(dir, "tasks.yaml")); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	for name, c := range map[string]struct{ text, want string }{
		"key":      {`{"version": 1, "name": "x"}` + "\n" + `{"id": "a", "promt": "x"}`, `line 2: unknown key "promt"`},
		"two":      {`{"version": 1} {}`, "more than one object"},
		"broken":   {"{\"version\": 1}\n\n{", "line 3"},
		"list":     {"[]", "line 1: it is no object"},
		"null":     {`{"version": 1, "name": "x"}` + "\nnull", "line 2: it is no object"},
		"twice":    {`{"version": 1, "name": "x"}` + "\n" + `{"id": "a", "id": "b"}`, "already defined"},
		"deep":     {strings.Repeat("[", 1e6), "nested too deep"},
		"tasks":    {`{"version": 1, "tasks": [{"id": "a"}]}`, "lines of their own"},
		"empty":    {"\n \n", "empty"},
		"no tasks": {`{"version": 1, "name": "x"}`, "no tasks"},
	} {
		dir := write(t, map[string]string{"t.jsonl": c.text})
		if _, err := replay.Load(filepath.Join(dir, "t.jsonl")); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("lines, %s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := replay.Load(filepath.Join(t.TempDir(), "none.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// A judge is taken at its word by Load and measured by Prove, on what other checks
// leave to it.
func TestProve(t *testing.T) {
	dir := write(t, map[string]string{"vault/a.md": "x\n", "tasks.yaml": head + `  - id: judged
    tags: [trap]
    prompt: What about lupin?
    checks: [{type: judge, rubric: Names lupin.}, {type: contains, any_of: [lupin]}]
    right: [lupin]
    wrong_answers: [something else, lupin or so]
`})
	s := load(t, filepath.Join(dir, "tasks.yaml"))
	s.Tasks[0].WrongAnswers = s.Tasks[0].WrongAnswers[:1]
	if err := s.Validate(); err == nil || !strings.Contains(err.Error(), "no wrong answer that only its judge rejects") {
		t.Errorf("a judge that is given nothing to reject: %v", err)
	}
	s = load(t, filepath.Join(dir, "tasks.yaml"))
	yes := &asker{text: `{"reason": "r", "pass": true}`}
	got, err := s.Prove(t.Context(), yes)
	if err != nil {
		t.Fatal(err)
	}
	want := []replay.Labelled{{Task: "judged", Answer: "lupin", Right: true, Pass: true}, {Task: "judged", Answer: "lupin or so", Pass: true}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	dead := errors.New("dead")
	if got, err := s.Prove(t.Context(), &asker{err: dead}); !errors.Is(err, dead) || len(got) > 0 {
		t.Errorf("a dead judge: %v, %v", got, err)
	}
	// The judge is not asked when something cheaper has failed.
	calls := len(yes.got)
	pass, v, err := s.Tasks[0].Grade(t.Context(), replay.Outcome{Answer: "something else", Judge: yes})
	if pass || err != nil || len(v) != 1 || len(yes.got) != calls {
		t.Errorf("Grade: %v, %v, %v, %d calls", pass, v, err, len(yes.got)-calls)
	}
	if pass, v, err := s.Tasks[0].Grade(t.Context(), replay.Outcome{Answer: "lupin", Judge: yes}); !pass || err != nil || len(v) != 2 {
		t.Errorf("Grade: %v, %v, %v", pass, v, err)
	}
	if !strings.Contains(yes.got[len(yes.got)-1].Messages[1].Content, "What about lupin?") {
		t.Error("the judge does not see the question")
	}
}

func FuzzParse(f *testing.F) {
	raw, err := os.ReadFile(shipped)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw[:min(len(raw), 4000)], false)
	f.Add([]byte(head+port), false)
	f.Add([]byte(`{"version": 1, "name": "x"}`+"\n"+`{"id": "a", "now": "2026-01-02", "checks": [{"type": "json", "path": "/a", "value": {"b": [1, null]}}]}`), true)
	f.Add([]byte("a: &a [*a]"), false)
	f.Add([]byte("tasks: [{<<: {id: x}}]"), false)
	f.Fuzz(func(t *testing.T, raw []byte, lines bool) {
		s, err := replay.Parse(raw, lines)
		if (s == nil) == (err == nil) {
			t.Fatalf("%v, %v", s, err)
		}
		if err != nil {
			return
		}
		for i := range s.Tasks {
			task := &s.Tasks[i]
			turns := task.Messages()
			if q := task.Question(); q != task.Query && q != turns[len(turns)-1].Text {
				t.Fatalf("the question is %q", q)
			}
			for _, c := range task.Checks {
				if c.Checker == nil {
					t.Fatal("a check without a checker")
				}
			}
		}
	})
}

func FuzzChecks(f *testing.F) {
	for _, seed := range []string{"Helix, not Vim: 9,462 ms", "不是三百二十次，是两万五", "```json\n{\"a\": [1]}\n```", "1. a\n- b、c", "[{[{[{", "\xff. not \xe4", "零万亿"} {
		f.Add(seed)
	}
	var checks []replay.Check
	for _, text := range []string{`{type: exact, value: x}`, `{type: contains, any_of: [Helix, 三百], none_of: [Vim]}`, `{type: number, value: 320, units: [次, ms]}`,
		`{type: number, value: 3}`, `{type: json, path: /a/0, value: 1}`, `{type: set, values: [a, b], threshold: 0.5}`} {
		checks = append(checks, check(f, text))
	}
	f.Fuzz(func(t *testing.T, answer string) {
		for _, c := range checks {
			v, err := c.Check(t.Context(), replay.Outcome{Answer: answer})
			if err != nil || v.Reason == "" {
				t.Fatalf("%s: %+v, %v", c.Type, v, err)
			}
		}
		k := check(t, `{type: judge, rubric: x}`)
		// Whatever a judge says, it is a verdict or an error.
		if v, err := k.Check(t.Context(), replay.Outcome{Answer: "x", Judge: &asker{text: answer}}); err != nil && v.Pass {
			t.Fatalf("%+v, %v", v, err)
		}
	})
}
