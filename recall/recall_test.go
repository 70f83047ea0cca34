package recall_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/index"
	"github.com/memsearch/memsearch/index/validity"
	"github.com/memsearch/memsearch/recall"
)

func TestQueryChecks(t *testing.T) {
	e := engine(nil, newFake(note{id: "a", text: "alpha"}))
	for _, tt := range []struct {
		name string
		q    memsearch.Query
		ok   bool
	}{
		{"empty", memsearch.Query{Now: now}, false},
		{"blank", memsearch.Query{Now: now, Text: " \t\n"}, false},
		{"nothing visible", memsearch.Query{Now: now, Text: "\u0001\u200b\u202e"}, false},
		{"negative k", memsearch.Query{Now: now, Text: "alpha", K: -1}, false},
		{"negative budget", memsearch.Query{Now: now, Text: "alpha", Budget: -1}, false},
		{"no time", memsearch.Query{Text: "alpha"}, false},
		{"range upside down", memsearch.Query{Now: now, Text: "alpha", Since: now, Until: now.Add(-time.Hour)}, false},
		{"unknown category", memsearch.Query{Now: now, Text: "alpha", Categories: []memsearch.Category{"misc"}}, false},
		{"unknown rerank mode", memsearch.Query{Now: now, Text: "alpha", Rerank: "sometimes"}, false},
		{"punctuation", memsearch.Query{Now: now, Text: "\\"}, true},
		{"huge", memsearch.Query{Now: now, Text: "alpha", K: 1 << 40, Budget: 1 << 40}, true},
		{"hidden around", memsearch.Query{Now: now, Text: "alpha\u0001\u200b\u202e"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := e.Recall(t.Context(), tt.q)
			if (err == nil) != tt.ok || err != nil && !errors.Is(err, recall.ErrQuery) {
				t.Errorf("Recall: %v, want ok=%v", err, tt.ok)
			}
		})
	}
	res := ask(t, e, memsearch.Query{Text: "alpha"})
	if res.Budget != memsearch.DefaultBudget {
		t.Errorf("budget %d, want the default", res.Budget)
	}
}

func TestLongQueryKeepsBothEnds(t *testing.T) {
	e := engine(nil, newFake(note{id: "a", text: "osprey"}, note{id: "b", text: "kestrel"}))
	for _, text := range []string{"osprey " + strings.Repeat("lorem ipsum ", 4000), strings.Repeat("日志输出", 9000) + " osprey"} {
		res := ask(t, e, memsearch.Query{Text: text})
		if len(res.Hits) == 0 || res.Hits[0].ID != "a" {
			t.Errorf("hits %v, want a first", ids(res))
		}
		if len(res.Reasons) != 1 || !strings.Contains(res.Reasons[0], "cut") || res.Status != memsearch.StateOK {
			t.Errorf("status %s, reasons %q: want ok and that the query was cut", res.Status, res.Reasons)
		}
	}
}

// TestFusion works the scores out by hand: two words asked, so that ideal is 2.
func TestFusion(t *testing.T) {
	f := newFake(
		note{id: "both", text: "red kite", cos: .25},
		note{id: "one", text: "red car", cos: .5},
		note{id: "meaning", text: "bird of prey", cos: .75},
		note{id: "noise", text: "tax form", cos: -.1},
	)
	got, _, err := engine(nil, f).Rank(t.Context(), memsearch.Query{Text: "red kite", Now: now}, recall.ArmHybrid)
	if err != nil {
		t.Fatal(err)
	}
	// 2/2 + .6*.25, 1/2 + .6*.5, 0 + .6*.75; what nothing speaks for is no candidate.
	want := map[string]float64{"both": 1.15, "one": .8, "meaning": .45}
	if len(got) != len(want) {
		t.Fatalf("got %d, want %d", len(got), len(want))
	}
	for i, id := range []string{"both", "one", "meaning"} {
		if got[i].UnitID != id || !near(got[i].Score, want[id]) {
			t.Errorf("place %d: %s %.4f, want %s %.4f", i+1, got[i].UnitID, got[i].Score, id, want[id])
		}
	}
	for arm, first := range map[recall.Arms]string{recall.ArmBM25: "both", recall.ArmVector: "meaning"} {
		got, _, err := engine(nil, f).Rank(t.Context(), memsearch.Query{Text: "red kite", Now: now}, arm)
		if err != nil || got[0].UnitID != first {
			t.Errorf("%s: %v %v, want %s first", arm, got, err, first)
		}
	}
}

func TestChineseWeight(t *testing.T) {
	f := newFake(note{id: "a", text: "无", cos: .5})
	got, _, err := engine(nil, f).Rank(t.Context(), memsearch.Query{Text: "航班", Now: now}, recall.ArmHybrid)
	if err != nil || len(got) != 1 || !near(got[0].Score, .4*.5) {
		t.Errorf("got %v %v, want one score of .2", got, err)
	}
}

func TestExplainSums(t *testing.T) {
	f := newFake(
		note{id: "a", text: "dec0054 queue", cos: .31, row: validity.Row{Occurred: day(2026, 3, 12)}},
		note{id: "b", text: "queue", cos: .12},
	)
	f.exact = []string{"a"}
	for _, scopes := range [][]*fake{{f}, {f, newFake(note{id: "c", text: "queue elsewhere", cos: .4})}} {
		res := ask(t, engine(nil, scopes...), memsearch.Query{Text: "queue dec0054 on 2026-03-12", Explain: true})
		if len(res.Hits) < 2 || res.Hits[0].ID != "a" {
			t.Fatalf("hits %v, want a first", ids(res))
		}
		for _, h := range res.Hits {
			sum := 0.0
			for _, s := range h.Trace {
				sum += s.Delta
			}
			if !near(sum, h.Score) || len(h.Trace) == 0 {
				t.Errorf("%s: steps sum to %v, score %v", h.ID, sum, h.Score)
			}
		}
		if len(res.Trace.Terms) == 0 || len(res.Trace.Dates) != 1 {
			t.Errorf("trace lacks terms or dates: %+v", res.Trace)
		}
	}
}

func TestDates(t *testing.T) {
	f := newFake(
		note{id: "03-11", text: "worked on the importer", cos: .3, row: validity.Row{Occurred: day(2026, 3, 11)}},
		note{id: "03-12", text: "dentist", row: validity.Row{Occurred: day(2026, 3, 12)}},
		note{id: "month", text: "plan", cos: .2, row: validity.Row{Occurred: memsearch.Occurred{
			Span:        memsearch.Span{From: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), Until: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)},
			Granularity: memsearch.GranularityMonth, Source: memsearch.DateHeading}}},
		note{id: "touched", text: "anything", row: validity.Row{Occurred: memsearch.Occurred{Span: day(2026, 3, 12).Span, Source: memsearch.DateModTime}}},
		note{id: "undated", text: "the importer file format is csv", cos: .3},
	)
	for _, tt := range []struct {
		text string
		want []string // in the first places
	}{
		// Nothing but a time: the day, then the month that holds it.
		{"what did we chat about on March 12th 2026", []string{"03-12", "month"}},
		{"2026年3月12日做了什么", []string{"03-12", "month"}},
		// A subject and a time: the time is a boost, not a filter.
		{"importer on 2026-03-11", []string{"03-11"}},
		{"which file format does the importer read, on 2026-03-12 we said csv", []string{"undated"}},
	} {
		res := ask(t, engine(nil, f), memsearch.Query{Text: tt.text})
		got := ids(res)
		if diff := cmp.Diff(tt.want, got[:min(len(got), len(tt.want))]); diff != "" {
			t.Errorf("%s: %v", tt.text, got)
		}
		for _, h := range res.Hits {
			if h.ID == "touched" && h.Signals.Temporal != nil {
				t.Errorf("%s: a modification time counted as a date", tt.text)
			}
		}
	}
}

// Two weeks before Sunday, 29 November: the 15th, or another day of its week.
func TestWeeksAgo(t *testing.T) {
	var notes []note
	for _, d := range []int{8, 9, 12, 15, 16} {
		notes = append(notes, note{id: strconv.Itoa(d), text: "tea " + strconv.Itoa(d), row: validity.Row{Occurred: day(2026, 11, d)}})
	}
	for _, text := range []string{"what did we chat about two weeks ago", "两周前做了什么", "兩個星期前聊了什么"} {
		if d := cmp.Diff([]string{"15", "12", "9"}, ids(ask(t, engine(nil, newFake(notes...)), memsearch.Query{Text: text}))); d != "" {
			t.Errorf("%s (-want +got):\n%s", text, d)
		}
	}
}

func TestRequestGivesTheDate(t *testing.T) {
	f := newFake(note{id: "a", text: "importer"}, note{id: "b", text: "importer", row: validity.Row{Occurred: day(2026, 11, 28), Hash: "x"}})
	f.notes[1].text = "importer again"
	got := ids(ask(t, engine(nil, f), memsearch.Query{Text: "importer", Request: "what did I do on the importer yesterday?"}))
	if len(got) != 2 || got[0] != "b" {
		t.Errorf("got %v, want b first", got)
	}
}

func TestEmpty(t *testing.T) {
	notes := func() []note {
		return []note{{id: "a", text: "coffee machine", cos: .1}, {id: "b", text: "on call", cos: .08}}
	}
	vocabulary := words2{"coffee": true, "machine": true, "espresso": true, "what": true, "giraffe": true}
	for _, tt := range []struct {
		name   string
		text   string
		cos    float32
		status memsearch.State
	}{
		{"no word known", "zzqxv vorpalblade", .12, memsearch.StateEmpty},
		{"spelling looks near", "zzqxv", .3, memsearch.StateEmpty},
		{"known but far", "giraffe", .1, memsearch.StateEmpty},
		{"synonym", "espresso", .45, memsearch.StateOK},
		{"matched", "coffee zzqxv", .1, memsearch.StateOK},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(notes()...)
			f.notes[0].cos = tt.cos
			res := ask(t, engine(&recall.Options{Vocabulary: vocabulary}, f), memsearch.Query{Text: tt.text})
			if res.Status != tt.status || (tt.status == memsearch.StateEmpty) != (len(res.Hits) == 0) {
				t.Errorf("status %s, confidence %.3f, hits %v, reasons %q; want %s", res.Status, res.Confidence, ids(res), res.Reasons, tt.status)
			}
			if tt.status == memsearch.StateEmpty && (res.Context != "" || len(res.Reasons) == 0) {
				t.Errorf("context %q, reasons %q: want none and a reason", res.Context, res.Reasons)
			}
		})
	}
	t.Run("no model", func(t *testing.T) {
		f := newFake(notes()...)
		f.model = false
		res := ask(t, engine(nil, f), memsearch.Query{Text: "tamarin"})
		if res.Status != memsearch.StateEmpty || res.Model != "none" {
			t.Errorf("status %s, model %s", res.Status, res.Model)
		}
	})
	t.Run("only a note that may not be shown", func(t *testing.T) {
		f := newFake(append(notes(), note{id: "c", text: "keyword bilby", cos: .5, row: validity.Row{Status: memsearch.StatusCandidate}})...)
		res := ask(t, engine(&recall.Options{Vocabulary: vocabulary}, f), memsearch.Query{Text: "bilby"})
		if res.Status != memsearch.StateEmpty {
			t.Errorf("status %s, hits %v", res.Status, ids(res))
		}
	})
	t.Run("no notes", func(t *testing.T) {
		if res := ask(t, engine(nil, newFake()), memsearch.Query{Text: "anything"}); res.Status != memsearch.StateEmpty {
			t.Errorf("status %s", res.Status)
		}
	})
	t.Run("paraphrase of several words", func(t *testing.T) {
		res := ask(t, engine(nil, newFake(note{id: "a", text: "coffee machine", cos: .14}, note{id: "b", text: "on call"})),
			memsearch.Query{Text: "where do hot drinks come from"})
		if res.Status != memsearch.StateOK || len(res.Hits) == 0 || res.Hits[0].ID != "a" {
			t.Errorf("status %s, hits %v, reasons %q", res.Status, ids(res), res.Reasons)
		}
	})
}

type words2 map[string]bool

func (w words2) Lookup(s string) (int32, bool) { return 0, w[s] }

func TestFailures(t *testing.T) {
	broken := errors.New("disk on fire")
	for _, tt := range []struct {
		name   string
		break_ func(f *fake)
		status memsearch.State
		hits   []string
	}{
		{"nothing", func(*fake) {}, memsearch.StateOK, []string{"a", "b"}},
		{"lexical", func(f *fake) { f.fail["lexical"] = broken }, memsearch.StateDegraded, []string{"b", "a"}}, // 1.5 * .3 and .4
		{"vector", func(f *fake) { f.fail["vector"] = broken }, memsearch.StateDegraded, []string{"a"}},
		{"temporal", func(f *fake) { f.fail["temporal"] = broken }, memsearch.StateDegraded, []string{"a", "b"}},
		{"filter", func(f *fake) { f.fail["filter"] = broken }, memsearch.StateDegraded, []string{"a", "b"}},
		{"lexical and vector", func(f *fake) { f.fail["lexical"], f.fail["vector"] = broken, broken }, memsearch.StateDegraded, []string{"b"}},
		{"all retrievers", func(f *fake) { f.fail["lexical"], f.fail["vector"], f.fail["temporal"] = broken, broken, broken },
			memsearch.StateUnavailable, []string{}},
		{"records", func(f *fake) { f.fail["records"] = broken }, memsearch.StateUnavailable, []string{}},
		{"texts", func(f *fake) { f.fail["text"] = broken }, memsearch.StateDegraded, []string{}},
		{"panic", func(f *fake) { f.panic["vector"] = true }, memsearch.StateDegraded, []string{"a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(
				note{id: "a", text: "the red kite", cos: .4},
				note{id: "b", text: "bird of prey", cos: .3, row: validity.Row{Occurred: day(2026, 11, 28)}},
				note{id: "old", text: "the red kite was", cos: .4, row: validity.Row{Status: memsearch.StatusSuperseded}},
			)
			tt.break_(f)
			res := ask(t, engine(nil, f), memsearch.Query{Text: "red kite seen yesterday"})
			got := ids(res)
			if tt.name == "vector" || tt.name == "panic" {
				got = got[:1]
			}
			if diff := cmp.Diff(tt.hits, got); diff != "" || res.Status != tt.status {
				t.Errorf("status %s, hits %v, reasons %q; want %s, %v", res.Status, got, res.Reasons, tt.status, tt.hits)
			}
			if (res.Status == memsearch.StateOK) != (len(res.Reasons) == 0) {
				t.Errorf("status %s with reasons %q", res.Status, res.Reasons)
			}
		})
	}
}

func TestFailingScopeCostsOnlyItself(t *testing.T) {
	bad, good := newFake(note{id: "a", text: "red kite"}), newFake(note{id: "b", text: "red kite too"})
	for _, m := range []string{"lexical", "vector", "filter"} {
		bad.fail[m] = errors.New("gone")
	}
	res := ask(t, engine(nil, bad, good), memsearch.Query{Text: "red kite"})
	if res.Status != memsearch.StateDegraded || len(res.Hits) != 1 || res.Hits[0].Scope != "project" {
		t.Errorf("status %s, hits %v, reasons %q", res.Status, ids(res), res.Reasons)
	}
}

func TestNoScope(t *testing.T) {
	if res := ask(t, engine(nil), memsearch.Query{Text: "kite"}); res.Status != memsearch.StateUnavailable || len(res.Reasons) != 1 {
		t.Errorf("status %s, reasons %q", res.Status, res.Reasons)
	}
}

func TestDeadline(t *testing.T) {
	f := newFake(note{id: "a", text: "red kite", cos: .4})
	f.block["vector"] = make(chan struct{})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	e := engine(nil, f)
	res, err := e.Recall(ctx, memsearch.Query{Text: "red kite", Now: now})
	if err != nil || res.Status != memsearch.StateDegraded || len(res.Hits) != 1 {
		t.Fatalf("%+v %v, want a degraded answer with one hit", res, err)
	}
	e.Wait()

	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if _, err := e.Recall(ctx, memsearch.Query{Text: "red kite", Now: now}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func TestStale(t *testing.T) {
	gone := fmt.Errorf("read a.md: %w", index.ErrStale)
	f := newFake(note{id: "a", text: "red kite", cos: .3, file: gone}, note{id: "b", text: "red car", cos: .3})
	res := ask(t, engine(nil, f), memsearch.Query{Text: "red kite"})
	if res.Status != memsearch.StateOK || res.Stale != 1 || cmp.Diff(ids(res), []string{"b"}) != "" {
		t.Errorf("status %s, stale %d, hits %v", res.Status, res.Stale, ids(res))
	}
	f = newFake(note{id: "a", text: "red kite", file: gone})
	if res = ask(t, engine(nil, f), memsearch.Query{Text: "red kite"}); res.Status != memsearch.StateDegraded || res.Stale != 1 {
		t.Errorf("only stale hits: status %s, stale %d; empty would be a lie", res.Status, res.Stale)
	}
}

func TestSurfaced(t *testing.T) {
	f := newFake(note{id: "a", text: "olingo", row: validity.Row{Hash: "1"}}, note{id: "b", text: "olingo too", row: validity.Row{Hash: "2"}})
	res := ask(t, engine(nil, f), memsearch.Query{Text: "olingo", Surfaced: map[string]string{"a": "1", "b": "old"}})
	if cmp.Diff(ids(res), []string{"b"}) != "" || cmp.Diff(res.Already, []string{"a"}) != "" {
		t.Errorf("hits %v, already %v; want b (its text changed) and a", ids(res), res.Already)
	}
	res = ask(t, engine(nil, f), memsearch.Query{Text: "olingo", Surfaced: map[string]string{"a": "1", "b": "2"}})
	if res.Status != memsearch.StateEmpty || len(res.Already) != 2 || cmp.Diff(res.Reasons, []string{recall.ReasonAlready}) != "" {
		t.Errorf("status %s, already %v, reasons %q", res.Status, res.Already, res.Reasons)
	}
}

func TestToolsAndTurn(t *testing.T) {
	f := newFake(
		note{id: "usage", text: "ripgrep takes -n", row: validity.Row{Tools: []string{"ripgrep"}, Kind: memsearch.KindProcedure}},
		note{id: "warning", text: "ripgrep skips hidden files", row: validity.Row{Tools: []string{"ripgrep"}, Kind: memsearch.KindWarning}},
		note{id: "turn", text: "ripgrep was installed", row: validity.Row{Session: "s1", Turn: "t9"}},
		note{id: "plain", text: "ripgrep is liked"},
	)
	got := ids(ask(t, engine(nil, f), memsearch.Query{Text: "ripgrep", Tools: []string{"Ripgrep"}, Session: "s1", Turn: "t9"}))
	if diff := cmp.Diff([]string{"plain", "warning"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestKCountsMemories(t *testing.T) {
	var notes []note
	for i := range 9 {
		notes = append(notes, note{id: fmt.Sprintf("log#%d", i), text: fmt.Sprintf("deploy deploy %d", i), cos: .5})
	}
	for i := range 5 {
		notes = append(notes, note{id: fmt.Sprintf("m%d", i), text: fmt.Sprintf("deploy %c", 'a'+i), cos: .1})
	}
	got := ids(ask(t, engine(nil, newFake(notes...)), memsearch.Query{Text: "deploy", K: 3}))
	want := []string{"log#0", "log#1", "log#2", "m0", "m1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("three memories, three units each (-want +got):\n%s", diff)
	}
}

func TestFilterBeforeCut(t *testing.T) {
	var notes []note
	for i := range 300 {
		notes = append(notes, note{id: fmt.Sprintf("p%03d", i), text: fmt.Sprintf("deploy %d", i), cos: .5, row: validity.Row{Category: memsearch.CategoryProject}})
	}
	notes = append(notes, note{id: "f", text: "a long story with deploy", row: validity.Row{Category: memsearch.CategoryFeedback}})
	f := newFake(notes...)
	got := ids(ask(t, engine(nil, f), memsearch.Query{Text: "deploy", K: 3, Categories: []memsearch.Category{memsearch.CategoryFeedback}}))
	if diff := cmp.Diff([]string{"f"}, got); diff != "" {
		t.Error(diff)
	}
	// What is dropped after the search starves the list no more than a filter.
	surfaced := map[string]string{}
	for _, n := range f.notes[:len(f.notes)-1] {
		if n.id != "f" {
			surfaced[n.id] = n.row.Hash
		}
	}
	res := ask(t, engine(nil, f), memsearch.Query{Text: "deploy", K: 3, Surfaced: surfaced})
	if len(res.Hits) != 2 {
		t.Errorf("hits %v, want the two that were not shown", ids(res))
	}
}

func TestSameTextOnce(t *testing.T) {
	f := newFake(
		note{id: "a", text: "The red kite.", row: validity.Row{Hash: "1"}},
		note{id: "b", text: "the  RED kite", row: validity.Row{Hash: "2"}},
		note{id: "c", text: "The red kite flew.", row: validity.Row{Hash: "3"}},
	)
	if diff := cmp.Diff([]string{"a", "c"}, ids(ask(t, engine(nil, f), memsearch.Query{Text: "red kite"}))); diff != "" {
		t.Error(diff)
	}
}

func TestScopesFuseByRank(t *testing.T) {
	// The second scope's scores are larger throughout; ranks decide.
	one := newFake(note{id: "u1", text: "kite", cos: .3}, note{id: "u2", text: "kite b", cos: .2})
	two := newFake(note{id: "p1", text: "kite c", cos: .9}, note{id: "p2", text: "kite d", cos: .8}, note{id: "p3", text: "kite", cos: .7})
	res := ask(t, engine(nil, one, two), memsearch.Query{Text: "kite"})
	if diff := cmp.Diff([]string{"u1", "p1", "u2", "p2"}, ids(res)); diff != "" {
		t.Error(diff)
	}
	if !near(res.Hits[0].Score, 1./61) || res.Hits[1].Scope != "project" {
		t.Errorf("first %+v, second %+v", res.Hits[0], res.Hits[1])
	}
	// A scope that knows nothing of the query adds nothing.
	three := newFake(note{id: "x", text: "tax", cos: .01})
	res = ask(t, engine(nil, three, one), memsearch.Query{Text: "kite"})
	if diff := cmp.Diff([]string{"u1", "u2"}, ids(res)); diff != "" {
		t.Error(diff)
	}
}

// TestScopesInContext guards against notes of two scopes that a reader of the
// block cannot tell apart.
func TestScopesInContext(t *testing.T) {
	row := validity.Row{Path: "n.md", Lines: [2]int{1, 1}}
	one := newFake(note{id: "same", text: "kite of the user", cos: .5, row: row}, note{id: "own", text: "kite b", cos: .4, row: row})
	two := newFake(note{id: "same", text: "kite of the project", cos: .5, row: row})
	opts := &recall.Options{InjectFloor: -1}
	res := ask(t, engine(opts, one, two), memsearch.Query{Text: "kite"})
	if diff := cmp.Diff([]string{"user/same", "project/same", "own"}, res.Injected); diff != "" {
		t.Error(diff)
	}
	for _, want := range []string{`ids="user/same project/same own"`, "- user:n.md:1-1\n", "- project:n.md:1-1\n"} {
		if !strings.Contains(res.Context, want) {
			t.Errorf("no %q in\n%s", want, res.Context)
		}
	}
	if diff := cmp.Diff([]string{"same", "same", "own"}, ids(res)); diff != "" {
		t.Error(diff)
	}
	res = ask(t, engine(opts, one), memsearch.Query{Text: "kite"})
	if !strings.Contains(res.Context, `ids="same own"`) || !strings.Contains(res.Context, "- n.md:1-1\n") {
		t.Errorf("one scope:\n%s", res.Context)
	}
}

func TestIgnoreMemory(t *testing.T) {
	f := newFake(note{id: "a", text: "memory leak in the parser", cos: .5})
	for text, ignored := range map[string]bool{
		"Ignore memory. What is the capital of France?": true,
		"forget memory for this answer, how do I sort":  true,
		"please answer without using memory":            true,
		"don't use your memories and just tell me":      true,
		"do not use any saved memory when answering":    true,
		"这次别用记忆，直接回答":                                   true,
		"忽略记忆":                                          true,
		"请不要参考你的记忆来回答":                                  true,
		"不要使用記憶。":                                       true,
		"这次不要使用记忆：端口是多少？":                               true,
		"不用记忆: 首都是哪里":                                   true,
		"how do I make malloc ignore memory errors":     false,
		"did we forget memory leak checks":              false,
		"memory leak in the parser":                     false,
		"不用记忆法也能背单词吗":                                   false,
		"别忘记带护照":                                        false,
		"what do we do without memory limits in docker": false,
	} {
		res := ask(t, engine(nil, f), memsearch.Query{Text: text})
		got := cmp.Diff(res.Reasons, []string{recall.ReasonIgnore}) == ""
		if got != ignored {
			t.Errorf("%q: reasons %q, want ignored=%v", text, res.Reasons, ignored)
		}
		if ignored && (res.Status != memsearch.StateEmpty || len(res.Hits) > 0 || res.Context != "") {
			t.Errorf("%q: status %s, %d hits", text, res.Status, len(res.Hits))
		}
	}
}
