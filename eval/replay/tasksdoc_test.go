package replay_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/memsearch/memsearch/eval/replay"
)

func tasksDocument(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("../../docs/tasks.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// The set that docs/tasks.md gives to begin with is one.
func TestTasksDocumentExample(t *testing.T) {
	_, text, _ := strings.Cut(tasksDocument(t), "```yaml\n")
	text, _, ok := strings.Cut(text, "```")
	if !ok {
		t.Fatal("there is no example")
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "vault"), 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "tasks.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	set, err := replay.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Tasks) != 3 || !set.Tasks[1].Checks[0].Judged() {
		t.Errorf("the example is %+v", set.Tasks)
	}
}

// docs/tasks.md names every member that is read: an unknown one is refused with a
// list of those that are.
func TestTasksDocumentMembers(t *testing.T) {
	places := map[string]string{
		"set":    "x: 1",
		"task":   "tasks: [{x: 1}]",
		"turn":   "tasks: [{turns: [{x: 1}]}]",
		"edit":   "tasks: [{edits: [{x: 1}]}]",
		"answer": "tasks: [{right: [{x: 1}]}]",
	}
	for _, kind := range replay.CheckTypes {
		places[kind] = fmt.Sprintf("tasks: [{checks: [{type: %s, x: 1}]}]", kind)
	}
	doc := tasksDocument(t)
	known := regexp.MustCompile(`\(known: (.*)\)`)
	for place, text := range places {
		_, err := replay.Parse([]byte(text), false)
		if err == nil {
			t.Errorf("%s: x is read", place)
			continue
		}
		list := known.FindStringSubmatch(err.Error())
		if list == nil {
			t.Errorf("%s: %v", place, err)
			continue
		}
		part := doc
		if _, row, ok := strings.Cut(doc, "\n| `"+place+"` |"); ok { // a check: its own row
			part, _, _ = strings.Cut(row, "\n")
		}
		for name := range strings.SplitSeq(list[1], ", ") {
			if name != "type" && !regexp.MustCompile("`"+name+"[`:]").MatchString(part) {
				t.Errorf("docs/tasks.md says nothing of %s of %s", name, place)
			}
		}
	}
}
