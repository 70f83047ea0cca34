package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/memsearch/memsearch"
)

// A recallCase is a small vault and what must hold when it is asked. Guards says
// which fault, seen in tools of this kind, it keeps out.
type recallCase struct {
	name   string
	guards string
	bare   bool // without the notes of [chatter]
	files  notes
	steps  []step
}

// notes maps paths to a file's text, or to a link.
type notes map[string]any

// A link is a symbolic link to somewhere.
type link string

// chatter is what surrounds the notes that are asked for.
var chatter = notes{
	"office/meeting.md":  "# Morning round\nEverybody says in one minute what stands in the way of the day.\n",
	"office/kettle.md":   "# Kettle\nDescale the kettle in the kitchen every other week, vinegar is under the sink.\n",
	"office/pulls.md":    "# Pull requests\nSmall ones are read within a day, large ones are split first.\n",
	"office/leave.md":    "# Leave\nTell the group two weeks ahead and put the days into the shared calendar.\n",
	"office/copies.md":   "# Copies of data\nA copy is made each night and kept for a month in the cold store.\n",
	"office/prose.md":    "# Prose\nShort sentences, plain words, nothing in the passive voice.\n",
	"office/pager.md":    "# Pager\nIt changes hands on Mondays; what to do first is pinned in the channel.\n",
	"office/hardware.md": "# Hardware\nNew machines arrive with an encrypted disk and the standard image.\n",
	"office/canteen.md":  "# Canteen\nOn Thursdays there is pizza for everybody in the large room.\n",
	"office/graphs.md":   "# Graphs\nEach service has a page with latency, errors and saturation.\n",
}

// A step does one thing to a vault or asks it one question.
type step func(t *testing.T, v *testVault)

// A testVault is a vault on the disk with its files as first written.
type testVault struct {
	dir    string
	before map[string][]byte
}

func newVault(t *testing.T, files notes) *testVault {
	t.Helper()
	v := &testVault{dir: t.TempDir(), before: map[string][]byte{}}
	v.write(t, files)
	return v
}

func runCases(t *testing.T, cases []recallCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.guards == "" {
				t.Error("the case does not say what it guards")
			}
			v := &testVault{dir: t.TempDir(), before: map[string][]byte{}}
			if !c.bare {
				v.write(t, chatter)
			}
			v.write(t, c.files)
			for _, s := range c.steps {
				s(t, v)
			}
		})
	}
}

func (v *testVault) path(name string) string { return filepath.Join(v.dir, filepath.FromSlash(name)) }

func (v *testVault) write(t *testing.T, files notes) {
	t.Helper()
	for name, content := range files {
		file := v.path(name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		switch c := content.(type) {
		case link:
			if err := os.Symlink(string(c), file); err != nil {
				t.Fatal(err)
			}
		case string:
			if err := os.WriteFile(file, []byte(c), 0o644); err != nil {
				t.Fatal(err)
			}
			if _, ok := v.before[name]; !ok {
				v.before[name] = []byte(c)
			}
		}
	}
}

// run runs a command line on the vault.
func (v *testVault) run(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(append(args, "--vault", v.dir), strings.NewReader(""), &out, &err)
	return code, out.String(), err.String()
}

// recall asks and returns the one document that is printed.
func (v *testVault) recall(t *testing.T, query string, args ...string) (int, *memsearch.Result) {
	t.Helper()
	line := slices.Concat([]string{"recall", "--json", "--rerank", "never"}, args, []string{"--", query})
	code, out, errs := v.run(line...)
	res := &memsearch.Result{}
	if strings.TrimSpace(out) != "" {
		dec := json.NewDecoder(strings.NewReader(out))
		if err := dec.Decode(res); err != nil || dec.More() {
			t.Fatalf("recall %q prints no single JSON document (%v): %.300s", query, err, out)
		}
	} else if code == exitOK {
		t.Fatalf("recall %q prints nothing: %s", query, errs)
	}
	return code, res
}

func paths(res *memsearch.Result) []string {
	out := []string{}
	for _, h := range res.Hits {
		out = append(out, norm.NFC.String(h.Path))
	}
	return out
}

// first wants path as the first hit.
func first(query, path string, args ...string) step {
	return func(t *testing.T, v *testVault) {
		t.Helper()
		code, res := v.recall(t, query, args...)
		if got := paths(res); code != exitOK && code != exitDegraded || len(got) == 0 || got[0] != path {
			t.Errorf("recall %.60q %v: exit %d, %s, hits %v; want %s first", query, args, code, res.Status, got, path)
		}
	}
}

// within wants path among the first k hits.
func within(k int, query, path string, args ...string) step {
	return func(t *testing.T, v *testVault) {
		t.Helper()
		code, res := v.recall(t, query, args...)
		if got := paths(res); !slices.Contains(got[:min(k, len(got))], path) {
			t.Errorf("recall %.60q %v: exit %d, %s, hits %v; want %s in the first %d", query, args, code, res.Status, got, path, k)
		}
	}
}

// absent wants path to be no hit.
func absent(query, path string, args ...string) step {
	return func(t *testing.T, v *testVault) {
		t.Helper()
		code, res := v.recall(t, query, args...)
		if got := paths(res); code != exitOK && code != exitEmpty || slices.Contains(got, path) {
			t.Errorf("recall %.60q %v: exit %d, hits %v; want %s not among them", query, args, code, got, path)
		}
	}
}

// empty wants to be told that there is nothing.
func empty(query string, args ...string) step {
	return func(t *testing.T, v *testVault) {
		t.Helper()
		if code, res := v.recall(t, query, args...); code != exitEmpty || res.Status != memsearch.StateEmpty || len(res.Hits) > 0 {
			t.Errorf("recall %.60q %v: exit %d, %s, hits %v; want it empty", query, args, code, res.Status, paths(res))
		}
	}
}

// exits wants an exit code.
func exits(want int, query string, args ...string) step {
	return func(t *testing.T, v *testVault) {
		t.Helper()
		if code, res := v.recall(t, query, args...); code != want {
			t.Errorf("recall %.60q %v: exit %d, %s; want %d", query, args, code, res.Status, want)
		}
	}
}

// answers wants any clean answer.
func answers(query string, args ...string) step {
	return func(t *testing.T, v *testVault) {
		t.Helper()
		if code, res := v.recall(t, query, args...); code != exitOK && code != exitEmpty {
			t.Errorf("recall %.60q %v: exit %d, %s; want an answer", query, args, code, res.Status)
		}
	}
}

// result hands the result of a recall to check, which returns what is wrong.
func result(check func(*memsearch.Result) string, query string, args ...string) step {
	return func(t *testing.T, v *testVault) {
		t.Helper()
		_, res := v.recall(t, query, args...)
		if wrong := check(res); wrong != "" {
			t.Errorf("recall %.60q %v: %s; hits %v", query, args, wrong, paths(res))
		}
	}
}

// command wants an exit code, and text on standard output.
func command(want int, text string, args ...string) step {
	return func(t *testing.T, v *testVault) {
		t.Helper()
		code, out, errs := v.run(args...)
		if code != want || !strings.Contains(out, text) {
			t.Errorf("memsearch %v: exit %d, want %d with %q\nstdout: %.800s\nstderr: %.400s", args, code, want, text, out, errs)
		}
	}
}

func rewrite(files notes) step {
	return func(t *testing.T, v *testVault) { t.Helper(); v.write(t, files) }
}

// rewriteKeepingTime changes a file and puts its modification time back.
func rewriteKeepingTime(name, text string) step {
	return func(t *testing.T, v *testVault) {
		t.Helper()
		fi, err := os.Stat(v.path(name))
		if err != nil {
			t.Fatal(err)
		}
		v.write(t, notes{name: text})
		if err := os.Chtimes(v.path(name), time.Time{}, fi.ModTime()); err != nil {
			t.Fatal(err)
		}
	}
}

func remove(name string) step {
	return func(t *testing.T, v *testVault) {
		t.Helper()
		if err := os.RemoveAll(v.path(name)); err != nil {
			t.Fatal(err)
		}
	}
}

func rename(from, to string) step {
	return func(t *testing.T, v *testVault) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(v.path(to)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(v.path(from), v.path(to)); err != nil {
			t.Fatal(err)
		}
	}
}

// unchanged wants a file to have the bytes it was first written with.
func unchanged(name string) step {
	return func(t *testing.T, v *testVault) {
		t.Helper()
		if got, err := os.ReadFile(v.path(name)); err != nil || !bytes.Equal(got, v.before[name]) {
			t.Errorf("%s was changed (%v)", name, err)
		}
	}
}

// damageIndex overwrites 32 bytes at a third of every derived file.
func damageIndex(t *testing.T, v *testVault) {
	t.Helper()
	damaged := 0
	err := filepath.WalkDir(v.path(".memsearch"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		fi, err := d.Info()
		if err != nil || fi.Size() <= 64 {
			return err
		}
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		damaged++
		_, err = f.WriteAt(bytes.Repeat([]byte{0xde, 0xad, 0xbe, 0xef}, 8), fi.Size()/3)
		return err
	})
	if err != nil || damaged == 0 {
		t.Fatalf("damaged %d files: %v", damaged, err)
	}
}

// surfaced wants a unit that was shown not to be shown again until it changes.
func surfaced(query, path string) step {
	return func(t *testing.T, v *testVault) {
		t.Helper()
		_, res := v.recall(t, query)
		i := slices.Index(paths(res), path)
		if i < 0 {
			t.Fatalf("recall %q: hits %v, want %s", query, paths(res), path)
		}
		h := res.Hits[i]
		pair := h.ID + ":" + h.Hash
		if _, res = v.recall(t, query, "--surfaced", pair); slices.Contains(paths(res), path) || !slices.Contains(res.Already, h.ID) {
			t.Errorf("recall %q --surfaced: hits %v, already %v; want %s only in the latter", query, paths(res), res.Already, h.ID)
		}
		f, err := os.OpenFile(v.path(path), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("\nchanged\n"); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if _, res = v.recall(t, query, "--surfaced", pair); !slices.Contains(paths(res), path) {
			t.Errorf("recall %q after a change: hits %v, want %s again", query, paths(res), path)
		}
	}
}

// removeIndexed removes a file from every generation of the index.
func removeIndexed(name string) step {
	return func(t *testing.T, v *testVault) {
		t.Helper()
		found, err := filepath.Glob(filepath.Join(v.dir, ".memsearch", "gen-*", name))
		if err != nil || len(found) == 0 {
			t.Fatalf("no %s in the index: %v", name, err)
		}
		for _, f := range found {
			if err := os.Remove(f); err != nil {
				t.Fatal(err)
			}
		}
	}
}
