package replay_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/eval/replay"
)

var now = replay.Moment{Time: time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)}

func day(s string) replay.Moment {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err)
	}
	return replay.Moment{Time: t, Day: true}
}

func memory(id, status, body string) string {
	return "---\nid: " + id + "\ncategory: project\nkind: fact\nsummary: " + body + "\nstatus: " + status + "\ncreated_at: 2026-01-05T08:00:00Z\nsource: {trust: user}\n---\n" + body + "\n"
}

// items lists what the product says of a materialised state, by id.
func items(t *testing.T, st *replay.State) map[string]core.Item {
	t.Helper()
	m, err := core.Open(t.Context(), st.Scopes, &core.Options{Now: func() time.Time { return now.Time }})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	list, err := m.List(t.Context(), core.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]core.Item{}
	for _, it := range list {
		out[it.ID] = it
	}
	return out
}

// life is a vault and one edit of each kind.
func life(t *testing.T) (*replay.Set, *replay.Task) {
	dir := write(t, map[string]string{
		"vault/port.md":            memory("mem_port", "active", "The port is 8317."),
		"vault/desk.md":            memory("mem_desk", "active", "The desk is 4-117."),
		"vault/code.md":            memory("mem_code", "active", "The door code is 5190 today."),
		"vault/guess.md":           memory("mem_guess", "candidate", "The front end may be in Elm."),
		"vault/gone.md":            memory("mem_gone", "active", "This goes."),
		"vault/notes.md":           "Bare note.",
		"vault/pic.png":            "png",
		"vault/.memsearch/CURRENT": "gen-9",
		"vault/.git/config":        "x",
		"other/far.md":             memory("mem_far", "active", "Far away."),
		"unread/none.md":           memory("mem_none", "active", "Not read."),
	})
	task := &replay.Task{ID: "t", Now: now, Scopes: []string{"vault", "other"},
		Edits: []replay.Edit{
			{At: day("2026-11-01"), Op: "supersede", ID: "port.md", As: "mem_port2", Text: "The port is 9462."},
			{At: day("2026-11-02"), Op: "retire", ID: "mem_desk", Text: "moved out"},
			{At: day("2026-11-03"), Op: "forget", ID: "mem_code"},
			{At: day("2026-11-04"), Op: "confirm", ID: "mem_guess"},
			{At: day("2026-11-05"), Op: "delete", Path: "gone.md"},
			{At: day("2026-11-06"), Op: "append", Path: "notes.md", Text: "More.\n"},
			{At: day("2026-11-07"), Op: "write", Path: "new/file.md", Text: "Fresh.\n"},
			{At: day("2026-11-08"), Op: "remember", Scope: "other", As: "mem_said", Category: "user", Text: "Said so."},
		},
		Gold: []string{"mem_port2", "notes.md", "other/far.md"}, Stale: []string{"mem_port"}, Wrong: []string{"mem_code", "mem_none"}}
	return &replay.Set{Dir: dir}, task
}

// TestMaterialise applies one edit of each kind and asks the product what it made
// of them.
func TestMaterialise(t *testing.T) {
	t.Parallel()
	s, task := life(t)
	st, err := replay.Materialise(t.Context(), s, task, filepath.Join(t.TempDir(), "run"))
	if err != nil {
		t.Fatal(err)
	}
	got := items(t, st)
	for id, want := range map[string]memsearch.Status{"mem_port": "superseded", "mem_port2": "active", "mem_desk": "retired", "mem_guess": "active", "mem_far": "active", "mem_said": "active"} {
		if got[id].Status != want {
			t.Errorf("%s is %q, want %q", id, got[id].Status, want)
		}
	}
	for _, id := range []string{"mem_code", "mem_gone", "mem_none"} {
		if _, ok := got[id]; ok {
			t.Errorf("%s is there", id)
		}
	}
	if p := got["mem_port"]; p.ValidTo != "2026-11-01" || !cmp.Equal(p.SupersededBy, []string{"mem_port2"}) {
		t.Errorf("the old port is %+v", p)
	}
	if p := got["mem_port2"]; p.CreatedAt != "2026-11-01T00:00:00Z" || p.ValidFrom != "2026-11-01" || p.Category != "project" || p.Kind != "fact" {
		t.Errorf("the new port is %+v", p)
	}
	if p := got["mem_guess"]; p.ConfirmedAt != "2026-11-04T00:00:00Z" {
		t.Errorf("confirmed at %q", p.ConfirmedAt)
	}
	if s := got["mem_said"]; s.Scope != "other" || s.Category != "user" {
		t.Errorf("the remembered one is %+v", s)
	}
	if !strings.HasPrefix(st.Gold[1], "path_") || st.Gold[2] != "mem_far" || !cmp.Equal(st.Stale, []string{"mem_port"}) || !cmp.Equal(st.Wrong, task.Wrong) {
		t.Errorf("the lists are %+v", st)
	}
	lookAtFiles(t, st.Scopes[0].Dir)
	// The folder itself is as it was.
	if raw, err := os.ReadFile(filepath.Join(s.Dir, "vault", "port.md")); err != nil || string(raw) != memory("mem_port", "active", "The port is 8317.") {
		t.Errorf("the source was changed: %v", err)
	}
}

// lookAtFiles is the part of TestMaterialise about files.
func lookAtFiles(t *testing.T, vault string) {
	t.Helper()
	for name, want := range map[string]string{"notes.md": "Bare note.\nMore.\n", "new/file.md": "Fresh.\n", "pic.png": "png"} {
		if raw, err := os.ReadFile(filepath.Join(vault, name)); err != nil || string(raw) != want {
			t.Errorf("%s: %q, %v", name, raw, err)
		}
	}
	if fi, err := os.Stat(filepath.Join(vault, "notes.md")); err != nil || !fi.ModTime().Equal(day("2026-11-06").Time) {
		t.Errorf("notes.md is of %v, %v", fi.ModTime(), err)
	}
	if _, err := os.Stat(filepath.Join(vault, ".git")); err == nil {
		t.Error("git's folder is copied")
	}
	// What was forgotten stands in no file of the copy.
	err := filepath.WalkDir(vault, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(name)
		if strings.Contains(string(raw), "5190") {
			t.Errorf("%s still holds what was forgotten", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestMaterialiseRefuses(t *testing.T) {
	dir := write(t, map[string]string{"vault/a.md": memory("mem_a", "active", "One fact."), "linked/b.md": "x"})
	s := &replay.Set{Dir: dir}
	used := write(t, map[string]string{"vault/left.md": "x"})
	if err := os.Symlink(filepath.Join(dir, "vault", "a.md"), filepath.Join(dir, "linked", "c.md")); err != nil {
		t.Skip(err)
	}
	for name, c := range map[string]struct {
		task replay.Task
		dir  string
		want string
	}{
		"used folder":  {replay.Task{Scopes: []string{"vault"}}, used, "not empty"},
		"no folder":    {replay.Task{Scopes: []string{"none"}}, "", "none"},
		"a link":       {replay.Task{Scopes: []string{"linked"}}, "", "c.md is no regular file"},
		"gold missing": {replay.Task{Scopes: []string{"vault"}, Gold: []string{"mem_b"}}, "", "gold memory mem_b is not there"},
		"stale gone":   {replay.Task{Scopes: []string{"vault"}, Stale: []string{"x.md"}}, "", "stale memory x.md is not there"},
		"edit of none": {replay.Task{Scopes: []string{"vault"}, Edits: []replay.Edit{{At: now, Op: "retire", ID: "mem_b"}}}, "", "edit 1 (retire)"},
		"append":       {replay.Task{Scopes: []string{"vault"}, Edits: []replay.Edit{{At: now, Op: "append", Path: "b.md", Text: "x"}}}, "", "edit 1 (append)"},
		"forgotten":    {replay.Task{Scopes: []string{"vault"}, Edits: []replay.Edit{{At: now, Op: "forget", ID: "mem_a"}, {At: now, Op: "remember", As: "mem_c", Text: "One fact."}}}, "", "edit 2 (remember)"},
	} {
		c.task.ID, c.task.Now = "t", now
		if c.dir == "" {
			c.dir = t.TempDir()
		}
		if _, err := replay.Materialise(t.Context(), s, &c.task, c.dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A vault may be a link to a folder: it is copied like any, and what is in it
// counts for what makes two replays the same.
func TestLinkedVault(t *testing.T) {
	dir := write(t, map[string]string{"real/a.md": memory("mem_a", "active", "One fact."), "tasks.yaml": strings.Replace(head, "vault: vault", "vault: link", 1) + strings.ReplaceAll(port, "mem_port", "mem_a")})
	if err := os.Symlink(filepath.Join(dir, "real"), filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	set := load(t, filepath.Join(dir, "tasks.yaml"))
	var hashes []string
	for range 2 {
		o := &replay.Options{Out: t.TempDir(), Settings: settings(t, nil)}
		if err := replay.Run(t.Context(), set, arms(t, replay.ArmOracle), replay.Scripted(scripted), o); err != nil {
			t.Fatal(err)
		}
		h, list := records(t, o.Out)
		if len(list) != 1 || !list[0].GoldInjected {
			t.Errorf("%+v", list)
		}
		hashes = append(hashes, h.SetHash)
		if err := os.WriteFile(filepath.Join(dir, "real", "b.md"), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if hashes[0] == hashes[1] {
		t.Error("another vault has the same hash")
	}
}

// Two runs of one task read the same files.
func TestMaterialiseTwice(t *testing.T) {
	t.Parallel()
	s, task := life(t)
	var copies []map[string]string
	for range 2 {
		files := map[string]string{}
		for _, sc := range materialise(t, s, task).Scopes {
			err := filepath.WalkDir(sc.Dir, func(name string, d fs.DirEntry, err error) error {
				switch {
				case err != nil:
					return err
				case d.IsDir() && strings.HasPrefix(d.Name(), "."):
					return filepath.SkipDir
				case d.IsDir():
					return nil
				}
				raw, err := os.ReadFile(name)
				rel, _ := filepath.Rel(sc.Dir, name)
				files[sc.Name+"/"+rel] = string(raw)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		copies = append(copies, files)
	}
	if d := cmp.Diff(copies[0], copies[1]); d != "" || len(copies[0]) < 8 {
		t.Errorf("%d files, differing:\n%s", len(copies[0]), d)
	}
}
