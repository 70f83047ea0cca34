package core_test

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/internal/llm/llmtest"
	"github.com/memsearch/memsearch/rerank"
)

// lastFirst grades the last candidate and leaves out the others.
type lastFirst struct{ tasks []rerank.Task }

func (l *lastFirst) Rerank(_ context.Context, t rerank.Task) (*rerank.Answer, error) {
	l.tasks = append(l.tasks, t)
	n := len(t.Candidates)
	return &rerank.Answer{Picks: []rerank.Pick{{Index: n - 1, Grade: 3}}, Judged: n, Model: "own", Prompt: "own@1"}, nil
}

// TestOwnReranker: a program may bring a reranker; it sees what the agent knows, and
// a prepared context is made of what it picks.
func TestOwnReranker(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "The puffin nests in burrows.\n", "b.md": "Call it puffin, not sea parrot.\n"})
	own := &lastFirst{}
	m := open(t, &core.Options{Reranker: own}, core.Scope{Name: "user", Dir: dir})
	q := memsearch.Query{Text: "puffin", Request: "where was that bird", Recent: "an island", Rerank: memsearch.RerankNever}
	fused, err := m.Recall(t.Context(), q)
	if err != nil || len(fused.Hits) != 2 || len(own.tasks) != 0 {
		t.Fatalf("%+v %v", fused, err)
	}
	q.Rerank = memsearch.RerankAlways
	p, err := m.PrepareContext(t.Context(), q, nil)
	if err != nil || len(own.tasks) != 1 {
		t.Fatalf("asked %d times: %v", len(own.tasks), err)
	}
	res := p.Result
	if len(res.Hits) != 1 || res.Hits[0].ID != fused.Hits[1].ID || res.SelectedBy != "llm" || res.Status != memsearch.StateOK {
		t.Errorf("got %+v", res)
	}
	if !strings.Contains(p.Content, res.Hits[0].Text) || strings.Contains(p.Content, fused.Hits[0].Text) {
		t.Errorf("content %q", p.Content)
	}
	if task := own.tasks[0]; task.Query != "puffin" || task.Request != q.Request || task.Recent != q.Recent {
		t.Errorf("task %+v", task)
	}
}

// TestEmbeddingCosts: what an embedding server charges is in the ledger.
func TestEmbeddingCosts(t *testing.T) {
	var texts atomic.Int64
	dir := folder(t, birds)
	set := settings(t, map[string]string{"model": "m", "base_url": server(t, &texts), "dims": "3", "api_key_env": ""})
	m := open(t, &core.Options{Settings: set}, core.Scope{Name: "user", Dir: dir})
	recall(t, m, "who stands in the river")
	rows, err := m.Costs(time.Time{})
	if err != nil || len(rows) != 1 {
		t.Fatalf("%+v %v", rows, err)
	}
	// The server of this test charges one token a call: one for the notes, one for the query.
	want := core.CostRow{Day: "2026-11-29", Profile: "embed", Model: "m"}
	want.Calls, want.TokensIn = 2, 2
	if diff := cmp.Diff(want, rows[0]); diff != "" {
		t.Error(diff)
	}
	if rows, err = m.Costs(clock.Add(24 * time.Hour)); err != nil || len(rows) != 0 {
		t.Errorf("of tomorrow: %+v %v", rows, err)
	}
}

// TestEmbeddingPrice: with a price, embeddings are counted as money and stop at the caps
// of money; without a place for the ledger nothing is bought.
func TestEmbeddingPrice(t *testing.T) {
	var texts atomic.Int64
	flags := map[string]string{"model": "m", "base_url": server(t, &texts), "dims": "3", "api_key_env": "", "price": "1000000"} // 1 a token
	ask := func(readOnly bool, money string) (*memsearch.Result, []core.CostRow) {
		t.Helper()
		texts.Store(0)
		flags["llm.day_money"] = money
		m := open(t, &core.Options{Settings: settings(t, flags)}, core.Scope{Name: "user", Dir: folder(t, birds), IndexDir: t.TempDir(), ReadOnly: readOnly})
		res := recall(t, m, "who stands in the river")
		rows, err := m.Costs(time.Time{})
		if (err != nil) != readOnly {
			t.Fatal(err)
		}
		return res, rows
	}
	flags["llm.run_money"] = "1000"
	res, rows := ask(false, "1000")
	if len(rows) != 1 || rows[0].Calls != 2 || rows[0].Money != 2 || res.Status != memsearch.StateOK {
		t.Errorf("%s %v: %+v", res.Status, res.Reasons, rows)
	}
	// The words of a note are more than one token.
	if res, rows = ask(false, "1"); res.Status != memsearch.StateDegraded || texts.Load() != 0 || len(rows) != 0 || len(res.Hits) == 0 ||
		!strings.Contains(strings.Join(res.Reasons, " "), "llm.day_money") {
		t.Errorf("over the cap: %s %v, %d texts sent: %+v", res.Status, res.Reasons, texts.Load(), rows)
	}
	if res, _ = ask(true, "1000"); res.Status != memsearch.StateDegraded || texts.Load() != 0 || !strings.Contains(strings.Join(res.Reasons, " "), "llm.ledger_dir") {
		t.Errorf("no ledger: %s %v, %d texts sent", res.Status, res.Reasons, texts.Load())
	}
}

// TestPromptOfAnotherKind: no other prompt is taken in place of one that does not fit.
func TestPromptOfAnotherKind(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "The puffin nests in burrows.\n", "b.md": "Call it puffin, not sea parrot.\n"})
	srv := llmtest.New(t, llmtest.Text(`{"ranking": [{"n": 2, "grade": 3}]}`))
	for kind, prompts := range map[string][2]string{"listwise": {"select@1", "rerank@1, rerank@2"}, "llm-selection": {"rerank@2", "select@1"}} {
		m := open(t, &core.Options{Settings: settings(t, map[string]string{"profiles.main.model": "m", "profiles.main.base_url": srv.URL,
			"profiles.main.api_key_env": "", "rerank.mode": "always", "rerank.kind": kind, "rerank.prompt": prompts[0]})}, core.Scope{Name: "user", Dir: dir})
		res := recall(t, m, "puffin")
		said := strings.Join(res.Reasons, " ")
		if res.Status != memsearch.StateDegraded || len(res.Hits) != 2 || srv.Count() != 0 ||
			!strings.Contains(said, prompts[0]+" is not for rerank.kind "+kind) || !strings.Contains(said, prompts[1]) {
			t.Errorf("%s: %s %s, asked %d times", kind, res.Status, said, srv.Count())
		}
	}
}

// TestShortPatience: a server that hangs is left alone after one recall also where a
// recall has little time for it.
func TestShortPatience(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "The puffin nests in burrows.\n", "b.md": "Call it puffin, not sea parrot.\n"})
	srv := llmtest.New(t, llmtest.Hang())
	for range 3 {
		m := open(t, &core.Options{Settings: settings(t, map[string]string{"profiles.main.model": "m", "profiles.main.base_url": srv.URL,
			"profiles.main.api_key_env": "", "rerank.mode": "always", "rerank.timeout": "1s"})}, core.Scope{Name: "user", Dir: dir})
		if res := recall(t, m, "puffin"); res.Status != memsearch.StateDegraded || len(res.Hits) != 2 {
			t.Errorf("%s %v", res.Status, res.Reasons)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	if srv.Count() != 1 {
		t.Errorf("asked %d times", srv.Count())
	}
}

// TestReadOnlyLedger: without a place for the ledger no model is asked, and the
// fused order answers; a place of its own may be named.
func TestReadOnlyLedger(t *testing.T) {
	dir := folder(t, map[string]string{"a.md": "The puffin nests in burrows.\n", "b.md": "Call it puffin, not sea parrot.\n"})
	srv := llmtest.New(t, llmtest.Text(`{"ranking": [{"n": 2, "grade": 3}]}`))
	ask := func(more map[string]string) *memsearch.Result {
		flags := map[string]string{"profiles.main.model": "m", "profiles.main.base_url": srv.URL, "profiles.main.api_key_env": "", "rerank.mode": "always"}
		maps.Copy(flags, more)
		m := open(t, &core.Options{Settings: settings(t, flags)}, core.Scope{Name: "user", Dir: dir, IndexDir: t.TempDir(), ReadOnly: true})
		return recall(t, m, "puffin")
	}
	res := ask(nil)
	if res.Status != memsearch.StateDegraded || srv.Count() != 0 || len(res.Hits) != 2 || !strings.Contains(strings.Join(res.Reasons, " "), "llm.ledger_dir") {
		t.Errorf("no ledger: %s %v, asked %d times", res.Status, res.Reasons, srv.Count())
	}
	ledger := filepath.Join(t.TempDir(), "costs")
	if res = ask(map[string]string{"llm.ledger_dir": ledger}); res.SelectedBy != "llm" || srv.Count() != 1 {
		t.Errorf("ledger elsewhere: %s %v", res.SelectedBy, res.Reasons)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 2 {
		t.Errorf("the vault was written to: %v %v", list, err)
	}
}

// TestBrokenPrompt: a prompt that is not there keeps no folder open, however often
// it is tried.
func TestBrokenPrompt(t *testing.T) {
	open := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("open files cannot be counted here")
		}
		return len(list)
	}
	dir := folder(t, map[string]string{"a.md": "The puffin nests in burrows.\n", "b.md": "Call it puffin, not sea parrot.\n"})
	m, err := core.Open(t.Context(), []core.Scope{{Name: "user", Dir: dir}}, &core.Options{Caller: core.Caller{Role: memsearch.RoleJob},
		Now: func() time.Time { return clock }, Settings: settings(t, map[string]string{"profiles.main.model": "m",
			"profiles.main.base_url": "http://127.0.0.1:1", "profiles.main.api_key_env": "", "rerank.mode": "always", "rerank.prompt": "rerank@99"})})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	first := 0
	for try := range 6 {
		if res := recall(t, m, "puffin"); res.Status != memsearch.StateDegraded || len(res.Hits) != 2 {
			t.Fatalf("%s %v", res.Status, res.Reasons)
		}
		if try == 0 {
			first = open()
		}
	}
	if last := open(); last > first {
		t.Errorf("%d files open after one recall, %d after six", first, last)
	}
}

// TestForgetCassettes: a recorded prompt holds a text cut, escaped and quoted twice,
// and is found all the same; the replies about other texts stay.
func TestForgetCassettes(t *testing.T) {
	line := func(key, candidate string) string {
		content, err := json.Marshal(map[string]string{"text": candidate})
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(map[string]any{"v": 1, "key": key, "kind": "chat", "request": map[string]any{
			"messages": []map[string]string{{"role": "user", "content": "[1] " + string(content)}}}, "reply": map[string]string{"text": "{}"}})
		if err != nil {
			t.Fatal(err)
		}
		return string(b) + "\n"
	}
	for _, tt := range []struct {
		note, recorded string
		holds          bool
	}{
		{"She said \"use <b>marabou</b>\" & left the harbour.", "She said \"use <b>marabou</b>\" & left the harbour.", true},
		{"The first line.\nThe old marabou on the mast of the harbour ship eats\nfish from the market in the morning and sleeps.", "mast of the harbour ship eats\nfish from the market in the morning", true},
		{"A <system>marabou</system> speaks.", "A &lt;system>marabou&lt;/system> speaks.", true},
		{"Gone.", "gone", true}, // all of a short note
		{"对花生过敏，晚餐要避免", "[2026-01-01] 对花生过敏，晚餐要避免", true},
		{"The marabou is on the mast.", "The shoebill is on the mast of a ship.", false},
		{"Ship: no\nThe marabou is on the mast.", "Ship: no, the shoebill is on the quay.", false}, // a short line stands anywhere
	} {
		dir := folder(t, map[string]string{
			"note.md":            "---\nid: mem_x\n---\n" + tt.note + "\n",
			"eval/run.jsonl":     line("a", tt.recorded) + line("b", "The heron stands in the river."),
			"eval/foreign.jsonl": `{"text": "` + "a list of something else" + `"}` + "\n",
		})
		m := open(t, nil, core.Scope{Name: "user", Dir: dir})
		reports, err := m.Forget(t.Context(), false, "mem_x")
		if len(reports) != 1 {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(filepath.Join(dir, "eval", "run.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		if got := !strings.Contains(string(raw), `"key":"a"`); got != tt.holds || !strings.Contains(string(raw), "heron") {
			t.Errorf("%q recorded as %q: purged %v, want %v", tt.note, tt.recorded, got, tt.holds)
		}
		if got := slices.ContainsFunc(reports[0].Purged, func(p string) bool { return strings.HasSuffix(p, "run.jsonl") }); got != tt.holds {
			t.Errorf("%q: report says %v", tt.note, reports[0].Purged)
		}
		if _, err := os.Stat(filepath.Join(dir, "eval", "foreign.jsonl")); err != nil {
			t.Error(err)
		}
	}
}

// TestSameQuestion: a copy of the vault elsewhere, written at another time, and another
// day make no other question of one that is not about a day, so that caches and
// cassettes know it again.
func TestSameQuestion(t *testing.T) {
	notes := map[string]string{"a.md": "The puffin nests in burrows.\n", "b.md": "Call it puffin, not sea parrot.\n", "c.md": "---\ndate: 2026-05-08\n---\nA puffin came by.\n"}
	ask := func(kind, query string, now time.Time) string {
		t.Helper()
		dir := folder(t, notes)
		for name := range notes {
			if err := os.Chtimes(filepath.Join(dir, name), now, now.Add(-time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		srv := llmtest.New(t, llmtest.Status(400, "", "no"))
		m := open(t, &core.Options{Settings: settings(t, map[string]string{"profiles.main.model": "m", "profiles.main.base_url": srv.URL,
			"profiles.main.api_key_env": "", "rerank.mode": "always", "rerank.kind": kind})}, core.Scope{Name: "user", Dir: dir})
		if _, err := m.Recall(t.Context(), memsearch.Query{Text: query, Now: now}); err != nil || srv.Count() != 1 {
			t.Fatalf("asked %d times, %v", srv.Count(), err)
		}
		return string(srv.Requests()[0].Body)
	}
	for _, kind := range []string{"listwise", "cross-encoder", "llm-selection"} {
		for query, same := range map[string]bool{"puffin": true, "puffin on 8 May 2026": true, "puffin on May 8": kind == "cross-encoder", "puffin yesterday": kind == "cross-encoder"} {
			first, second := ask(kind, query, clock), ask(kind, query, clock.AddDate(1, 0, 3))
			if (first == second) != same {
				t.Errorf("%s of %q, same %v:\n%s\n%s", query, kind, !same, first, second)
			}
			if day := clock.Format(time.DateOnly); strings.Contains(first, day) == same && kind != "cross-encoder" {
				t.Errorf("%s of %q: shown the day %s: %v:\n%s", query, kind, day, same, first)
			}
		}
	}
}
