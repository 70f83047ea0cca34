package core_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/core/config"
	"github.com/memsearch/memsearch/embed"
)

// indexes is a folder for derived indexes of folders that are not the tests' own.
var indexes string

func TestMain(m *testing.M) {
	var err error
	if indexes, err = os.MkdirTemp("", "memsearch-core-"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(indexes)
	os.Exit(code)
}

func exampleIndex() string { return filepath.Join(indexes, "example") }

var clock = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// folder writes a vault.
func folder(t *testing.T, files map[string]string) string {
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

// open opens scopes as a job at a fixed time.
func open(t *testing.T, o *core.Options, scopes ...core.Scope) *core.Memory {
	t.Helper()
	if o == nil {
		o = &core.Options{}
	}
	o.Now = func() time.Time { return clock }
	if o.Caller.Role == "" {
		o.Caller.Role = memsearch.RoleJob
	}
	m, err := core.Open(t.Context(), scopes, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func settings(t *testing.T, flags map[string]string) *config.Config {
	t.Helper()
	c, err := config.Load(config.Options{Flags: flags})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func recall(t *testing.T, m *core.Memory, text string) *memsearch.Result {
	t.Helper()
	res, err := m.Recall(t.Context(), memsearch.Query{Text: text})
	if err != nil {
		t.Fatalf("Recall(%q): %v", text, err)
	}
	return res
}

// hits returns "scope:path" of each hit.
func hits(res *memsearch.Result) []string {
	out := []string{}
	for _, h := range res.Hits {
		out = append(out, h.Scope+":"+h.Path)
	}
	return out
}

var birds = map[string]string{
	"heron.md": "---\nid: mem_heron\ncategory: project\nsummary: A wader\n---\nThe heron stands by the weir.\n",
	"swift.md": "---\nid: mem_swift\ncategory: user\nsummary: Swift\n---\nThe swift sleeps in the air.\n",
}

func TestRoles(t *testing.T) {
	m := open(t, nil, core.Scope{Name: "user", Dir: folder(t, birds)})
	n := core.NewMemory{Body: "x", Memory: memsearch.Memory{Category: memsearch.CategoryUser, Summary: "x", Source: memsearch.Source{Trust: memsearch.TrustUser}}}
	for _, tt := range []struct {
		role        memsearch.Role
		read, write bool
	}{
		{"", true, false}, {memsearch.RoleMain, true, false}, {memsearch.RoleSub, false, false},
		{memsearch.RoleCompact, false, false}, {memsearch.RoleJob, true, true}, {"root", false, false},
	} {
		v := m.As(core.Caller{Role: tt.role})
		reads := map[string]error{}
		_, reads["Recall"] = v.Recall(t.Context(), memsearch.Query{Text: "heron"})
		_, reads["PrepareContext"] = v.PrepareContext(t.Context(), memsearch.Query{Text: "heron"}, nil)
		_, reads["List"] = v.List(t.Context(), core.ListOptions{})
		_, reads["Show"] = v.Show(t.Context(), "mem_heron")
		_, reads["History"] = v.History(t.Context(), "mem_heron")
		_, reads["ExportSkill"] = v.ExportSkill(t.Context(), "", filepath.Join(t.TempDir(), "skill"))
		for name, err := range reads {
			if errors.Is(err, core.ErrRole) == tt.read || tt.read && err != nil {
				t.Errorf("%s as %q: %v, allowed: %v", name, tt.role, err, tt.read)
			}
		}
		writes := map[string]error{}
		_, writes["Remember"] = v.Remember(t.Context(), "", n)
		_, writes["RememberAll"] = v.RememberAll(t.Context(), "", nil)
		_, writes["Confirm"] = v.Confirm(t.Context(), "mem_heron")
		_, writes["Forget"] = v.Forget(t.Context(), true, "mem_heron")
		_, writes["Fix"] = v.Fix(t.Context())
		for name, err := range writes {
			if errors.Is(err, core.ErrRole) == tt.write || tt.write && err != nil {
				t.Errorf("%s as %q: %v, allowed: %v", name, tt.role, err, tt.write)
			}
		}
	}
}

func TestModes(t *testing.T) {
	files := map[string]string{
		"pin.md":   "---\nkind: constraint\nsummary: Freeze\n---\nNo release in December.\n",
		"heron.md": birds["heron.md"],
	}
	dir := folder(t, files)
	for _, tt := range []struct {
		mode                    core.Mode
		recalls                 bool
		instructs               bool
		pinned, catalog, answer bool
	}{
		{mode: core.ModeOff},
		{mode: core.ModePolicyOnly, recalls: true, instructs: true},
		{mode: core.ModeCatalog, recalls: true, instructs: true, pinned: true, catalog: true},
		{mode: core.ModeRecall, recalls: true, instructs: true, pinned: true, answer: true},
	} {
		m := open(t, &core.Options{Mode: tt.mode}, core.Scope{Name: "user", Dir: dir})
		if res := recall(t, m, "heron weir"); (len(res.Hits) > 0) != tt.recalls {
			t.Errorf("%s: recall finds %v", tt.mode, hits(res))
		}
		p, err := m.PrepareContext(t.Context(), memsearch.Query{Text: "heron weir"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := []bool{p.Instructions != "", strings.Contains(p.Content, "No release in December"), strings.Contains(p.Content, "A wader"), strings.Contains(p.Content, "by the weir")}
		want := []bool{tt.instructs, tt.pinned, tt.catalog || tt.answer, tt.answer}
		if !slices.Equal(got, want) {
			t.Errorf("%s: instructions, pinned, line, text = %v, want %v\n%s\n%s", tt.mode, got, want, p.Instructions, p.Content)
		}
		if p.Tokens > memsearch.DefaultBudget {
			t.Errorf("%s: %d tokens", tt.mode, p.Tokens)
		}
		if st, err := m.Status(t.Context()); err != nil || len(st) != 1 || st[0].Mode != tt.mode {
			t.Errorf("%s: status %+v, %v", tt.mode, st, err)
		}
	}
	if _, err := core.Open(t.Context(), []core.Scope{{Name: "user", Dir: dir}}, &core.Options{Mode: "loud"}); err == nil {
		t.Error("an unknown mode is accepted")
	}
	m := open(t, nil, core.Scope{Name: "user", Dir: dir})
	p, err := m.PrepareContext(t.Context(), memsearch.Query{Budget: 5}, nil)
	if err != nil || p.Tokens > 5 || p.Content != "" && p.Tokens == 0 {
		t.Errorf("budget of 5: %+v, %v", p, err)
	}
	p, err = m.PrepareContext(t.Context(), memsearch.Query{}, nil)
	if err != nil || !strings.Contains(p.Content, "A wader") || !strings.Contains(p.Content, "No release in December") {
		t.Errorf("without a text: %+v, %v; want catalog and pinned memories", p, err)
	}
}

// TestScopes guards against memories of one scope in the index, the hits or the
// context of another.
func TestScopes(t *testing.T) {
	a := folder(t, map[string]string{"a.md": "---\nid: mem_same\n---\nThe otter of Ada.\n"})
	b := folder(t, map[string]string{"b.md": "---\nid: mem_same\n---\nThe otter of Bea.\n"})
	both := open(t, nil, core.Scope{Name: "user", Dir: a}, core.Scope{Name: "team", Dir: b})
	res := recall(t, both, "otter")
	if diff := cmp.Diff([]string{"user:a.md", "team:b.md"}, hits(res)); diff != "" {
		t.Errorf("hits of two scopes (-want +got):\n%s", diff)
	}
	job := memsearch.RoleJob
	_, err := both.Show(t.Context(), "mem_same")
	errs := map[string]error{"Show": err}
	_, errs["Retire"] = both.Retire(t.Context(), "mem_same", memsearch.Bound{}, "")
	_, errs["Confirm"] = both.As(core.Caller{Role: job}).Confirm(t.Context(), "mem_same")
	_, errs["Supersede"] = both.Supersede(t.Context(), "mem_same", core.NewMemory{}, memsearch.Bound{})
	_, errs["Forget"] = both.Forget(t.Context(), false, "mem_same")
	for name, err := range errs {
		if twice, ok := errors.AsType[*core.AmbiguousError](err); !ok || !slices.Equal(twice.Scopes, []string{"user", "team"}) {
			t.Errorf("%s of an id that two scopes have: %v", name, err)
		}
	}
	team, err := both.In("team")
	if err != nil {
		t.Fatal(err)
	}
	it, err := team.As(core.Caller{Role: job}).Show(t.Context(), "mem_same")
	if err != nil || it.Scope != "team" {
		t.Errorf("Show in a scope: %+v, %v", it, err)
	}
	if _, err := both.In("nobody"); !errors.Is(err, core.ErrNoScope) {
		t.Errorf("In an unknown scope: %v", err)
	}
	only := open(t, nil, core.Scope{Name: "team", Dir: b})
	res = recall(t, only, "otter Ada")
	if diff := cmp.Diff([]string{"team:b.md"}, hits(res)); diff != "" || strings.Contains(res.Context, "Ada") {
		t.Errorf("hits of one scope (-want +got):\n%s\n%s", diff, res.Context)
	}
	n := core.NewMemory{Body: "The otter is back.", Memory: memsearch.Memory{Category: memsearch.CategoryUser, Summary: "Otter", Source: memsearch.Source{Trust: memsearch.TrustUser}}}
	w, err := both.Remember(t.Context(), "team", n)
	if err != nil || w.Scope != "team" {
		t.Fatalf("Remember: %+v, %v", w, err)
	}
	if _, err := os.Stat(filepath.Join(b, filepath.FromSlash(w.Memory.Path))); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(a, "MEMORY.md")); err == nil {
		t.Error("a write to one scope touched another")
	}
	if _, err := both.Remember(t.Context(), "nobody", n); !errors.Is(err, core.ErrNoScope) {
		t.Errorf("Remember into an unknown scope: %v", err)
	}
	for _, list := range [][]core.Scope{nil, {{Dir: a}}, {{Name: "x", Dir: a}, {Name: "x", Dir: b}}, {{Name: "x", Dir: filepath.Join(a, "none")}}} {
		if m, err := core.Open(t.Context(), list, nil); err == nil {
			m.Close()
			t.Errorf("Open(%v) works", list)
		}
	}
}

// TestFailOpen guards against recalls that fail because something else did.
func TestFailOpen(t *testing.T) {
	notDir := filepath.Join(folder(t, map[string]string{"file": "x"}), "file", "index")
	m := open(t, nil, core.Scope{Name: "user", Dir: folder(t, birds), IndexDir: notDir})
	for range 2 {
		res := recall(t, m, "heron weir")
		if res.Status != memsearch.StateDegraded || len(res.Hits) == 0 || res.Hits[0].Path != "heron.md" || !strings.Contains(strings.Join(res.Reasons, " "), "in memory") {
			t.Errorf("without an index folder: %s %v %v", res.Status, res.Reasons, hits(res))
		}
	}
	dir := folder(t, birds)
	m = open(t, nil, core.Scope{Name: "user", Dir: dir, IndexDir: notDir})
	recall(t, m, "heron")
	if err := os.WriteFile(filepath.Join(dir, "new.md"), []byte("The dipper bobs.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if res := recall(t, m, "dipper"); len(res.Hits) == 0 || res.Hits[0].Path != "new.md" {
		t.Errorf("an index in memory does not follow the files: %v", hits(res))
	}
}

// A disk that can be used again is used again, half a minute later.
func TestBackOnDisk(t *testing.T) {
	now := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	parent := filepath.Join(folder(t, map[string]string{"file": "x"}), "file")
	scope := core.Scope{Name: "user", Dir: folder(t, birds), IndexDir: filepath.Join(parent, "index")}
	m, err := core.Open(t.Context(), []core.Scope{scope}, &core.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if res := recall(t, m, "heron weir"); res.Status != memsearch.StateDegraded {
		t.Fatalf("without an index folder: %s", res.Status)
	}
	if err := os.Remove(parent); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(parent, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		after time.Duration
		want  memsearch.State
	}{{time.Second, memsearch.StateDegraded}, {time.Minute, memsearch.StateOK}, {time.Second, memsearch.StateOK}} {
		now = now.Add(step.after)
		if res := recall(t, m, "heron weir"); res.Status != step.want || len(res.Hits) == 0 || res.Hits[0].Path != "heron.md" {
			t.Errorf("%s later: %s %v %v, want %s", step.after, res.Status, res.Reasons, hits(res), step.want)
		}
	}
}

// TestStale guards against answers that hide that files changed.
func TestStale(t *testing.T) {
	dir := folder(t, birds)
	m := open(t, &core.Options{Settings: settings(t, map[string]string{"sync_files": "1"})}, core.Scope{Name: "user", Dir: dir})
	recall(t, m, "heron")
	for _, name := range []string{"x.md", "y.md"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("The dipper bobs.\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	res := recall(t, m, "heron")
	if res.Stale != 2 || res.Status != memsearch.StateDegraded || len(res.Hits) == 0 {
		t.Errorf("two files more than allowed: stale %d, %s %v", res.Stale, res.Status, res.Reasons)
	}
	if _, err := m.Sync(t.Context(), core.SyncOptions{}); err != nil {
		t.Fatal(err)
	}
	if res := recall(t, m, "dipper"); res.Stale != 0 || res.Status != memsearch.StateOK || len(res.Hits) == 0 {
		t.Errorf("after a sync: stale %d, %s %v", res.Stale, res.Status, res.Reasons)
	}
}

// A broken embedder fails whenever it is asked.
type broken struct{}

func (broken) Fingerprint() embed.Fingerprint { return embed.Fingerprint{Model: "broken", Dims: 4} }

func (broken) Embed(context.Context, []string, embed.Kind) ([][]float32, error) {
	return nil, errors.New("the server is down")
}

// TestModelDown guards against a model that takes the whole search with it.
func TestModelDown(t *testing.T) {
	m := open(t, &core.Options{Embedder: broken{}}, core.Scope{Name: "user", Dir: folder(t, birds)})
	res := recall(t, m, "heron")
	if res.Status != memsearch.StateDegraded || !slices.Equal(hits(res), []string{"user:heron.md"}) || len(res.Reasons) == 0 {
		t.Errorf("%s %v %v; want a degraded answer of the other retrievers", res.Status, res.Reasons, hits(res))
	}
	if _, _, err := m.Embed(t.Context(), []string{"x"}); err == nil {
		t.Error("Embed with a broken model works")
	}
	none := open(t, &core.Options{Settings: settings(t, map[string]string{"model": "none"})}, core.Scope{Name: "user", Dir: folder(t, birds)})
	if res := recall(t, none, "heron"); res.Status != memsearch.StateOK || res.Model != "none" || len(res.Hits) != 1 {
		t.Errorf("model none: %s %v by %s", res.Status, hits(res), res.Model)
	}
	if _, _, err := none.Embed(t.Context(), []string{"x"}); !errors.Is(err, core.ErrNoModel) {
		t.Errorf("Embed with model none: %v", err)
	}
}

func TestClosed(t *testing.T) {
	m, err := core.Open(t.Context(), []core.Scope{{Name: "user", Dir: folder(t, birds)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(m.Close(), m.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Recall(t.Context(), memsearch.Query{Text: "heron"}); !errors.Is(err, core.ErrClosed) {
		t.Errorf("Recall after Close: %v", err)
	}
	if _, err := m.As(core.Caller{Role: memsearch.RoleJob}).Forget(t.Context(), true, "mem_heron"); !errors.Is(err, core.ErrClosed) {
		t.Errorf("Forget after Close: %v", err)
	}
}

func TestCancelled(t *testing.T) {
	m := open(t, nil, core.Scope{Name: "user", Dir: folder(t, birds)})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Recall(ctx, memsearch.Query{Text: "heron"}); !errors.Is(err, context.Canceled) {
		t.Errorf("Recall: %v", err)
	}
	if _, err := m.Sync(ctx, core.SyncOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Sync: %v", err)
	}
	if _, err := m.Recall(t.Context(), memsearch.Query{Text: "  "}); !core.IsQueryError(err) {
		t.Errorf("Recall of nothing: %v", err)
	}
}
