//go:build unix

package vault_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/memfile"
	"github.com/memsearch/memsearch/internal/vault"
)

const canary = "The code of the back door is 4711-ABC."

// holding lists the files below dir, ours included, in which text stands.
func holding(t *testing.T, dir, text string) (names []string) {
	t.Helper()
	filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if b, _ := os.ReadFile(p); strings.Contains(string(b), text) {
				names = append(names, p)
			}
		}
		return err
	})
	return names
}

func TestForgetFile(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, map[string]string{
		"notes/door code.md": "---\nid: door\nsummary: Back door 4711-ABC\nsource_events: [e1, e2]\n---\n" + canary + "\n",
		"other.md":           "other\n",
		"MEMORY.md": "# Mine\n- [door](notes/door%20code.md) 4711-ABC\n* [ ] **[[door code]]** 4711-ABC\n" +
			"- [other](other.md)\n[door](<notes/door code.md>) 4711-ABC\nSee [door](<notes/door code.md>).\nlast",
		"notes/MEMORY.md":           "- [door](door%20code.md) 4711-ABC\n- [up](../other.md)\n",
		"notes/.memsearch-QWE.tmp":  canary,
		".memsearch-journal/x.json": "",
	})
	w := writer(t, dir, options())
	if err := w.RefreshCatalog(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(holding(t, dir, "4711-ABC")); n != 4 {
		t.Fatalf("the canary stands in %d files, want 4", n)
	}
	before := tree(t, dir)
	target := []vault.Target{{Path: "notes/door code.md"}}
	plan, err := w.Forget(t.Context(), target, true)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
		t.Errorf("a dry run changed files:\n%s", diff)
	}
	got, err := w.Forget(t.Context(), target, false)
	if err != nil {
		t.Fatal(err)
	}
	want := vault.Forgotten{
		Removed: []string{"notes/door code.md"},
		Edited:  []string{"MEMORY.md", "notes/MEMORY.md"},
		Texts:   []string{canary + "\n", canary, "Back door 4711-ABC"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(got, plan); diff != "" {
		t.Errorf("plan (-done +planned):\n%s", diff)
	}
	if left := holding(t, dir, "4711-ABC"); len(left) > 0 {
		t.Errorf("the text still stands in %v", left)
	}
	files := tree(t, dir)
	if !strings.HasPrefix(files["MEMORY.md"], "# Mine\n- [other](other.md)\nSee [door](<notes/door code.md>).\nlast\n") {
		t.Errorf("MEMORY.md: %q", files["MEMORY.md"])
	}
	if files["notes/MEMORY.md"] != "- [up](../other.md)\n" || files["other.md"] != "other\n" {
		t.Errorf("other files: %q", files)
	}

	// The text does not come back unasked, nor another wording of the same events.
	for name, change := range map[string]func(n *vault.NewMemory){
		"same text":   func(n *vault.NewMemory) { n.Body = "New:\n\n- the code of the back door is `4711-abc`" },
		"summary":     func(n *vault.NewMemory) { n.Memory.Summary = "Back door 4711 ABC" },
		"same events": func(n *vault.NewMemory) { n.Memory.SourceEvents = []string{"e2"} },
	} {
		n := fact("s", "Something else.")
		change(&n)
		_, err := w.Create(t.Context(), n)
		if r, ok := errors.AsType[*vault.RefusedError](err); !ok || r.Rule != vault.RuleTombstone {
			t.Errorf("%s: got %v, want a refusal by rule %s", name, err, vault.RuleTombstone)
		}
		n.Again = true
		if _, err := w.Create(t.Context(), n); err != nil {
			t.Errorf("%s, again: %v", name, err)
		}
	}
}

func TestForgetUnit(t *testing.T) {
	for name, tt := range map[string]struct{ before, after string }{
		"LF":        {"# Log\n\n## Door\n\n" + canary + "\n\n## Other\n\nKept.\n", "## Other\n\nKept.\n"},
		"BOM, CRLF": {"\ufeff# Log\r\n\r\n## Door\r\n\r\n" + canary + "\r\n\r\n## Other\r\n\r\nKept.\r\n", "\ufeff## Other\r\n\r\nKept.\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			const file = "2026-03-12.md" // a daily file: each section is a unit
			fill(t, dir, map[string]string{file: tt.before})
			unit := ""
			for _, u := range memfile.Parse(file, []byte(tt.before), nil).Units {
				if strings.Contains(u.Text, canary) {
					unit = u.ID
				}
			}
			w := writer(t, dir, options())
			got, err := w.Forget(t.Context(), []vault.Target{{Path: file, UnitID: unit}}, false)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{file}, got.Edited); diff != "" || len(got.Removed) > 0 {
				t.Errorf("got %+v", got)
			}
			if left := holding(t, dir, canary); len(left) > 0 {
				t.Errorf("the text still stands in %v", left)
			}
			if diff := cmp.Diff(tt.after, tree(t, dir)[file]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			n := fact("s", "Note: "+canary)
			n.Body = canary
			if _, err := w.Create(t.Context(), n); err == nil {
				t.Error("the forgotten unit came back")
			}
			// The last unit takes the file with it.
			rest := memfile.Parse(file, []byte(tree(t, dir)[file]), nil)
			var all []vault.Target
			for _, u := range rest.Units {
				all = append(all, vault.Target{Path: file, UnitID: u.ID})
			}
			if got, err := w.Forget(t.Context(), all, false); err != nil || len(got.Removed) != 1 {
				t.Errorf("the rest: %+v, %v", got, err)
			}
		})
	}
}

func TestForgetRefusals(t *testing.T) {
	dir := t.TempDir()
	log := "## Door\n\n" + canary + "\n\n## Other\n\nKept \x80\xff.\n"
	fill(t, dir, map[string]string{"2026-03-12.md": log, "a.md": "a\n"})
	w := writer(t, dir, options())
	unit := memfile.Parse("2026-03-12.md", []byte(log), nil).Units[0].ID
	before := tree(t, dir)
	for name, tt := range map[string]struct {
		target vault.Target
		rule   vault.Rule
	}{
		"no file":     {vault.Target{Path: "none.md"}, vault.RuleMissing},
		"no unit":     {vault.Target{Path: "a.md", UnitID: "a#b"}, vault.RuleMissing},
		"outside":     {vault.Target{Path: "../a.md"}, vault.RulePath},
		"not a note":  {vault.Target{Path: "a.txt"}, vault.RulePath},
		"not UTF-8":   {vault.Target{Path: "2026-03-12.md", UnitID: unit}, vault.RuleFile},
		"our journal": {vault.Target{Path: ".memsearch-journal/a.md"}, vault.RulePath},
	} {
		_, err := w.Forget(t.Context(), []vault.Target{{Path: "a.md"}, tt.target}, false)
		if r, ok := errors.AsType[*vault.RefusedError](err); !ok || r.Rule != tt.rule {
			t.Errorf("%s: got %v, want a refusal by rule %s", name, err, tt.rule)
		}
	}
	if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
		t.Errorf("disk changed:\n%s", diff)
	}
}

// A catalog line goes by itself whatever ends it and however its link is written.
func TestForgetCatalogLines(t *testing.T) {
	for name, tt := range map[string]struct{ before, after string }{
		"LF":                  {"a\n- [x](x.md) gone\nb\n", "a\nb\n"},
		"CRLF":                {"a\r\n- [x](x.md) gone\r\nb\r\n", "a\r\nb\r\n"},
		"CR":                  {"a\r- [x](x.md) gone\rb\r", "a\rb\r"},
		"no line end":         {"a\n- [x](x.md) gone", "a\n"},
		"first":               {"[x](x.md)\rb", "b"},
		"numbered":            {"1. [x](x.md) gone\n2. [y](y.md)\n", "2. [y](y.md)\n"},
		"title":               {"- [x](x.md \"X\") gone\nb\n", "b\n"},
		"brackets":            {"- [x [1]](x.md) gone\nb\n", "b\n"},
		"fragment":            {"- [[x#part|X]] gone\nb\n", "b\n"},
		"address":             {"- [x](https://example.org/x.md)\n", "- [x](https://example.org/x.md)\n"},
		"not at its head":     {"- see [x](x.md)\n", "- see [x](x.md)\n"},
		"other file":          {"- [x](xx.md)\n", "- [x](xx.md)\n"},
		"name in a wiki link": {"- [[x]] gone\nb\n", "b\n"},
		"name in a link":      {"- [x](y/x)\n", "- [x](y/x)\n"},
	} {
		dir := t.TempDir()
		fill(t, dir, map[string]string{"x.md": "x\n", "sub/MEMORY.md": strings.ReplaceAll(tt.before, "(x.md", "(../x.md")})
		if _, err := writer(t, dir, options()).Forget(t.Context(), []vault.Target{{Path: "x.md"}}, false); err != nil {
			t.Fatal(err)
		}
		want := strings.ReplaceAll(tt.after, "(x.md", "(../x.md")
		if diff := cmp.Diff(want, tree(t, dir)["sub/MEMORY.md"]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestForgetInterrupted dies before the file is removed: the catalog is clean by
// then, and the file is still there to be forgotten again.
func TestForgetInterrupted(t *testing.T) {
	dir := t.TempDir()
	o := options()
	w := writer(t, dir, o)
	m, err := w.Create(t.Context(), fact("Back door 4711-ABC", canary))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.RefreshCatalog(t.Context()); err != nil {
		t.Fatal(err)
	}
	dead := options()
	dead.Hook = func(op, name string) error {
		if op == "remove" && name == m.Path {
			return errors.New("injected")
		}
		return nil
	}
	target := []vault.Target{{Path: m.Path}}
	if _, err := writer(t, dir, dead).Forget(t.Context(), target, false); err == nil {
		t.Fatal("no error")
	}
	if diff := cmp.Diff([]string{filepath.Join(dir, m.Path)}, holding(t, dir, "4711-ABC")); diff != "" {
		t.Errorf("files that hold the text (-want +got):\n%s", diff)
	}
	if _, err := w.Forget(t.Context(), target, false); err != nil {
		t.Fatal(err)
	}
	if left := holding(t, dir, "4711-ABC"); len(left) > 0 {
		t.Errorf("the text still stands in %v", left)
	}
}

// TestForgetName guards against a name that outlives its file: it is text too.
func TestForgetName(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, map[string]string{
		"notes/nightingale-budget.md": "---\nstatus: active\n---\nTwo million.\n",
		"user/other.md":               "other\n",
		// As earlier programs wrote it.
		".memsearch-journal/lifecycle.jsonl": `{"v":1,"time":"2026-11-29T10:15:00Z","event":"created","id":"a","path":"notes/nightingale-budget.md"}` + "\n",
	})
	w := writer(t, dir, options())
	for _, name := range []string{"notes/nightingale-budget.md", "user/other.md"} {
		if err := errors.Join(w.Confirm(t.Context(), name, now), w.Retire(t.Context(), name, memsearch.Bound{}, "nightingale is over")); err != nil {
			t.Fatal(err)
		}
	}
	n := fact("s", "Something else.")
	n.Name = "nightingale-roost"
	made, err := w.Create(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	if log := journalText(t, dir); strings.Contains(log, "nightingale-roost") || !strings.Contains(log, `"event":"created","id":"`+made.ID+`"`) {
		t.Errorf("journal: %s", log)
	}
	if _, err := w.Forget(t.Context(), []vault.Target{{Path: "notes/nightingale-budget.md"}, {Path: made.Path}}, false); err != nil {
		t.Fatal(err)
	}
	log := journalText(t, dir)
	if strings.Contains(log, "nightingale-") || strings.Count(log, "nightingale is over") != 1 || strings.Count(log, `"event":"retired"`) != 2 {
		t.Errorf("journal: %s; want the reason of the other memory and no name", log)
	}
	if left := holding(t, dir, "nightingale-"); len(left) > 0 {
		t.Errorf("the name still stands in %v", left)
	}
}
