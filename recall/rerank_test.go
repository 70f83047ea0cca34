package recall_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/index"
	"github.com/memsearch/memsearch/index/validity"
	"github.com/memsearch/memsearch/recall"
	"github.com/memsearch/memsearch/rerank"
)

// A judge is a reranker, or a selector, that does as its function says and keeps
// what it was asked.
type judge struct {
	tasks   []rerank.Task
	catalog []rerank.Line
	answer  func(ctx context.Context, n int) (*rerank.Answer, error)
	calls   atomic.Int32
}

func (j *judge) Rerank(ctx context.Context, t rerank.Task) (*rerank.Answer, error) {
	j.calls.Add(1)
	j.tasks = append(j.tasks, t)
	return j.answer(ctx, len(t.Candidates))
}

func (j *judge) Select(ctx context.Context, t rerank.Task, catalog []rerank.Line) (*rerank.Answer, error) {
	j.calls.Add(1)
	j.tasks, j.catalog = append(j.tasks, t), catalog
	return j.answer(ctx, len(catalog))
}

// picks answers with candidates by their places, all of them judged.
func picks(places ...int) func(context.Context, int) (*rerank.Answer, error) {
	return func(_ context.Context, n int) (*rerank.Answer, error) {
		a := &rerank.Answer{Judged: n, Model: "m", Prompt: "rerank@1 abc", Cost: memsearch.Cost{Calls: 1, TokensIn: 7, TokensOut: 2, Money: .5}}
		for i, p := range places {
			a.Picks = append(a.Picks, rerank.Pick{Index: p, Grade: float64(3 - min(i, 2))})
		}
		return a, nil
	}
}

// kites are n notes, ranked in the order of their ids by their cosines alone.
func kites(n int) *fake {
	var notes []note
	for i := range n {
		notes = append(notes, note{id: fmt.Sprintf("k%02d", i), text: fmt.Sprintf("kite number %d", i), cos: float32(.9 - .01*float64(i)),
			row: validity.Row{Summary: fmt.Sprintf("Kite %d", i), CreatedAt: now.AddDate(0, 0, -i), Path: fmt.Sprintf("k%02d.md", i)}})
	}
	return newFake(notes...)
}

func always(text string) memsearch.Query {
	return memsearch.Query{Text: text, Rerank: memsearch.RerankAlways}
}

// TestRerank: the picks in the model's order and nothing else that it saw; more
// candidates than are returned; what it cost and who chose.
func TestRerank(t *testing.T) {
	j := &judge{answer: picks(12, 0)}
	res := ask(t, engine(&recall.Options{Reranker: j, Candidates: 15}, kites(30)), always("kite"))
	if d := cmp.Diff([]string{"k12", "k00"}, ids(res)); d != "" {
		t.Errorf("hits (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"k12", "k00"}, res.Injected); d != "" {
		t.Errorf("injected (-want +got):\n%s", d)
	}
	if res.SelectedBy != "llm" || res.Status != memsearch.StateOK || len(res.Reasons) != 0 {
		t.Errorf("by %s, %s, %v", res.SelectedBy, res.Status, res.Reasons)
	}
	if d := cmp.Diff(memsearch.Cost{Calls: 1, TokensIn: 7, TokensOut: 2, Money: .5}, res.Cost); d != "" {
		t.Errorf("cost (-want +got):\n%s", d)
	}
	want := &memsearch.RerankTrace{Model: "m", Prompt: "rerank@1 abc", Shown: 15, Judged: 15, Picked: 2}
	if d := cmp.Diff(want, res.Trace.Rerank); d != "" {
		t.Errorf("trace (-want +got):\n%s", d)
	}
	if res.Trace.Dropped["not relevant to the model"] != 13 {
		t.Errorf("left out: %v", res.Trace.Dropped)
	}
}

// TestRerankTask: the model sees query, request and conversation, and the time only
// of a question about time.
func TestRerankTask(t *testing.T) {
	j := &judge{answer: picks(0)}
	e := engine(&recall.Options{Reranker: j}, kites(3))
	q := always("kite")
	q.Request, q.Recent = "what flew there?", "a walk in the dunes"
	ask(t, e, q)
	ask(t, e, always("kite yesterday"))
	if got := j.tasks[0]; got.Query != "kite" || got.Request != q.Request || got.Recent != q.Recent || len(got.Dates) != 0 {
		t.Errorf("task %+v", got)
	}
	if got := j.tasks[1]; len(got.Dates) != 1 || !got.Now.Equal(now) {
		t.Errorf("task about time %+v", got)
	}
	c := j.tasks[0].Candidates[0]
	if c.ID != "k00" || c.Text != "kite number 0" || c.Summary != "Kite 0" || c.Path != "k00.md" || c.Hash == "" {
		t.Errorf("candidate %+v", c)
	}
}

// TestUnjudgedFollow: what the model did not see follows what it picked.
func TestUnjudgedFollow(t *testing.T) {
	j := &judge{answer: func(context.Context, int) (*rerank.Answer, error) {
		return &rerank.Answer{Judged: 3, Picks: []rerank.Pick{{Index: 2, Grade: 3}}, Model: "m", Prompt: "p"}, nil
	}}
	q := always("kite")
	q.K = 4
	res := ask(t, engine(&recall.Options{Reranker: j, Candidates: 6}, kites(10)), q)
	if d := cmp.Diff([]string{"k02", "k03", "k04", "k05"}, ids(res)); d != "" {
		t.Errorf("hits (-want +got):\n%s", d)
	}
}

// TestModelFindsNothing: an empty answer says that the model found it so.
func TestModelFindsNothing(t *testing.T) {
	res := ask(t, engine(&recall.Options{Reranker: &judge{answer: picks()}}, kites(5)), always("kite"))
	if res.Status != memsearch.StateEmpty || len(res.Hits) != 0 || res.Context != "" || res.SelectedBy != "llm" ||
		!slices.Contains(res.Reasons, recall.ReasonModel) {
		t.Errorf("%s %v %v by %s", res.Status, res.Reasons, ids(res), res.SelectedBy)
	}
}

// TestCrossEncoderOrders: it has no say in what is injected.
func TestCrossEncoderOrders(t *testing.T) {
	f := newFake(note{id: "a", text: "kite", cos: .9}, note{id: "b", text: "tax", cos: .01})
	j := &judge{answer: func(context.Context, int) (*rerank.Answer, error) {
		return &rerank.Answer{Judged: 2, Picks: []rerank.Pick{{Index: 1, Grade: .9}, {Index: 0, Grade: .1}}, Model: "x"}, nil
	}}
	plain := ask(t, engine(&recall.Options{InjectFloor: .5}, f), memsearch.Query{Text: "kite"})
	res := ask(t, engine(&recall.Options{Reranker: j, InjectFloor: .5}, f), always("kite"))
	if res.SelectedBy != "cross-encoder" || len(res.Hits) != 2 || res.Hits[0].ID != "b" {
		t.Errorf("by %s: %v", res.SelectedBy, ids(res))
	}
	if d := cmp.Diff(plain.Injected, res.Injected); d != "" {
		t.Errorf("injected (-fused +reordered):\n%s", d)
	}
}

// TestRerankFailures: whatever a reranker does, the fused order answers in time and
// says why.
func TestRerankFailures(t *testing.T) {
	want := ids(ask(t, engine(nil, kites(9)), memsearch.Query{Text: "kite"}))
	spent := memsearch.Cost{Calls: 2, TokensIn: 9}
	bad := func(p ...rerank.Pick) func(context.Context, int) (*rerank.Answer, error) {
		return func(_ context.Context, n int) (*rerank.Answer, error) {
			return &rerank.Answer{Judged: n, Picks: p, Cost: spent}, nil
		}
	}
	for _, tt := range []struct {
		name   string
		answer func(context.Context, int) (*rerank.Answer, error)
		cost   memsearch.Cost
	}{
		{"error", func(context.Context, int) (*rerank.Answer, error) { return nil, errors.New("gone") }, memsearch.Cost{}},
		{"error with cost", func(context.Context, int) (*rerank.Answer, error) {
			return &rerank.Answer{Cost: spent}, errors.New("gone")
		}, spent},
		{"nothing", func(context.Context, int) (*rerank.Answer, error) { return nil, nil }, memsearch.Cost{}},
		{"nothing judged", func(context.Context, int) (*rerank.Answer, error) { return &rerank.Answer{Cost: spent}, nil }, spent},
		{"out of range", bad(rerank.Pick{Index: 99}), spent},
		{"negative", bad(rerank.Pick{Index: -1}), spent},
		{"NaN", bad(rerank.Pick{Index: 0, Grade: math.NaN()}), spent},
		{"waits for its context", func(ctx context.Context, _ int) (*rerank.Answer, error) {
			<-ctx.Done()
			return &rerank.Answer{Cost: spent}, ctx.Err()
		}, spent},
		{"heeds no context", func(context.Context, int) (*rerank.Answer, error) {
			time.Sleep(time.Hour)
			return &rerank.Answer{Cost: spent}, nil
		}, memsearch.Cost{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				e := engine(&recall.Options{Reranker: &judge{answer: tt.answer}, RerankTimeout: 2 * time.Second}, kites(9))
				res := ask(t, e, always("kite"))
				e.Wait() // a hung reranker reads no snapshot: nobody waits for it
				if took := time.Since(start); took > 3*time.Second {
					t.Errorf("answered after %v", took)
				}
				if d := cmp.Diff(want, ids(res)); d != "" {
					t.Errorf("hits (-fused +got):\n%s", d)
				}
				if res.Status != memsearch.StateDegraded || res.SelectedBy != "fusion" || len(res.Reasons) != 1 || !strings.Contains(res.Reasons[0], "reranking failed") {
					t.Errorf("%s by %s: %v", res.Status, res.SelectedBy, res.Reasons)
				}
				if res.Cost != tt.cost {
					t.Errorf("cost %+v, want %+v", res.Cost, tt.cost)
				}
				time.Sleep(2 * time.Hour) // the bubble ends with its goroutines
			})
		})
	}
}

// TestCandidatesThatCannotBeRead: what only a model would have seen is told of, too.
func TestCandidatesThatCannotBeRead(t *testing.T) {
	f := kites(12)
	f.notes[10].file = errors.New("disk on fire")
	o := &recall.Options{Reranker: &judge{answer: picks(9)}}
	res := ask(t, engine(o, f), always("kite"))
	if d := cmp.Diff([]string{"k09"}, ids(res)); d != "" || res.Status != memsearch.StateDegraded || !strings.Contains(res.Reasons[0], "disk on fire") {
		t.Errorf("%s: %v, %v", res.Status, ids(res), res.Reasons)
	}
	res = ask(t, engine(o, f), memsearch.Query{Text: "kite", Rerank: memsearch.RerankNever})
	if res.Status != memsearch.StateOK || len(res.Hits) != memsearch.DefaultK {
		t.Errorf("%s: %v, %v", res.Status, ids(res), res.Reasons)
	}
}

// TestOddPicks: of an answer that is partly wrong the right part counts.
func TestOddPicks(t *testing.T) {
	res := ask(t, engine(&recall.Options{Reranker: &judge{answer: picks(3, 3, -7, 1, 1000)}}, kites(6)), always("kite"))
	if d := cmp.Diff([]string{"k03", "k01"}, ids(res)); d != "" {
		t.Errorf("hits (-want +got):\n%s", d)
	}
}

// TestCallerGivesUp: a canceled recall is an error, a deadline is not.
func TestCallerGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wait := func(ctx context.Context, _ int) (*rerank.Answer, error) { <-ctx.Done(); return nil, ctx.Err() }
		e := engine(&recall.Options{Reranker: &judge{answer: wait}}, kites(5))
		q := always("kite")
		q.Now = now
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		res, err := e.Recall(ctx, q)
		if err != nil || res.Status != memsearch.StateDegraded || len(res.Hits) != 5 {
			t.Errorf("deadline: %+v, %v", res, err)
		}
		ctx, cancel = context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := e.Recall(ctx, q); !errors.Is(err, context.Canceled) {
			t.Errorf("cancel: %v", err)
		}
	})
}

// TestNoModel: always without a model is degraded, auto and never are not.
func TestNoModel(t *testing.T) {
	for mode, want := range map[memsearch.RerankMode]memsearch.State{
		memsearch.RerankAlways: memsearch.StateDegraded, memsearch.RerankAuto: memsearch.StateOK, memsearch.RerankNever: memsearch.StateOK} {
		res := ask(t, engine(nil, kites(5)), memsearch.Query{Text: "kite", Rerank: mode})
		if res.Status != want || len(res.Hits) != 5 || res.SelectedBy != "fusion" {
			t.Errorf("%s: %s by %s, %v", mode, res.Status, res.SelectedBy, res.Reasons)
		}
	}
}

// TestRerankOverScopes: candidates come from every scope, and keep its name.
func TestRerankOverScopes(t *testing.T) {
	a := newFake(note{id: "a", text: "kite one", cos: .9}, note{id: "b", text: "kite two", cos: .8})
	b := newFake(note{id: "c", text: "kite three", cos: .9})
	res := ask(t, engine(&recall.Options{Reranker: &judge{answer: picks(1, 0)}}, a, b), always("kite"))
	if len(res.Hits) != 2 || res.Hits[0].ID != "c" || res.Hits[0].Scope != "project" || res.Hits[1].Scope != "user" {
		t.Errorf("%v", ids(res))
	}
}

// TestSelection: the model sees what may be returned, newest first, and what it
// picks is read and returned; nothing is searched.
func TestSelection(t *testing.T) {
	f := newFake(
		note{id: "old", text: "An old kite.", row: validity.Row{Summary: "Old", CreatedAt: now.AddDate(0, -2, 0)}},
		note{id: "new", text: "A new kite.", row: validity.Row{CreatedAt: now.AddDate(0, -1, 0), Category: memsearch.CategoryUser, Occurred: day(2026, 10, 1)}},
		note{id: "gone", text: "No kite.", row: validity.Row{Status: memsearch.StatusRetired}},
		note{id: "here", text: "Of this turn.", row: validity.Row{Turn: "t1"}})
	f.fail["lexical"], f.fail["vector"] = errors.New("searched"), errors.New("searched")
	j := &judge{answer: func(_ context.Context, n int) (*rerank.Answer, error) {
		return &rerank.Answer{Judged: n, Picks: []rerank.Pick{{Index: 1, Grade: 1}}, Model: "m", Prompt: "select@1 x"}, nil
	}}
	q := memsearch.Query{Text: "zebra", Turn: "t1"}
	res := ask(t, engine(&recall.Options{Selector: j}, f), q)
	var lines []string
	for _, l := range j.catalog {
		lines = append(lines, fmt.Sprintf("%s [%s] %s (%s): %s", l.ID, l.Category, l.Path, l.Date, l.Summary))
	}
	want := []string{"new [user] new.md (2026-10-01): A new kite.", "old [] old.md (): Old"}
	slices.Sort(lines)
	if d := cmp.Diff(want, lines); d != "" {
		t.Errorf("catalog (-want +got):\n%s", d)
	}
	if res.Status != memsearch.StateOK || res.SelectedBy != "llm" || len(res.Hits) != 1 || res.Hits[0].ID != j.catalog[1].ID || len(res.Injected) != 1 {
		t.Errorf("%s by %s: %v, injected %v, %v", res.Status, res.SelectedBy, ids(res), res.Injected, res.Reasons)
	}
}

// TestSelectionShowsWhatMayBeReturned: the catalog has a memory when any of its units
// may be returned, and only then.
func TestSelectionShowsWhatMayBeReturned(t *testing.T) {
	f := newFake(
		note{id: "log#1", text: "Entry one.", row: validity.Row{Hash: "1", Occurred: day(2026, 3, 1)}},
		note{id: "log#2", text: "Entry two.", row: validity.Row{Hash: "2", Occurred: day(2026, 3, 2)}},
		note{id: "log#3", text: "Entry three.", row: validity.Row{Hash: "3", Occurred: day(2026, 3, 3)}},
		note{id: "known", text: "Known.", row: validity.Row{Hash: "k", Occurred: day(2026, 3, 2)}},
		note{id: "changed", text: "Changed.", row: validity.Row{Hash: "c", Occurred: day(2026, 3, 2)}},
		note{id: "usage", text: "Usage.", row: validity.Row{Tools: []string{"rg"}, Occurred: day(2026, 3, 2)}},
		note{id: "warning", text: "Warning.", row: validity.Row{Tools: []string{"rg"}, Kind: memsearch.KindWarning, Occurred: day(2026, 3, 2)}},
		note{id: "late", text: "Late.", row: validity.Row{Occurred: day(2026, 4, 1)}},
	)
	j := &judge{answer: picks(0, 1, 2)}
	q := memsearch.Query{Text: "x", Surfaced: map[string]string{"known": "k", "log#2": "2", "changed": "old"}, Tools: []string{"RG"},
		Since: day(2026, 3, 2).Span.From, Until: day(2026, 3, 4).Span.From}
	res := ask(t, engine(&recall.Options{Selector: j}, f), q)
	var lines []string
	for _, l := range j.catalog {
		lines = append(lines, l.ID+": "+l.Summary)
	}
	if d := cmp.Diff([]string{"changed: Changed.", "log: Entry three.", "warning: Warning."}, lines); d != "" {
		t.Errorf("catalog (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"changed", "log#3", "warning"}, ids(res)); d != "" {
		t.Errorf("hits (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"known", "log#2"}, res.Already); d != "" {
		t.Errorf("already recalled (-want +got):\n%s", d)
	}
	if res.Trace.Candidates != 3 || res.Trace.Dropped["tool in use"] != 1 || res.Trace.Dropped["not valid"] != 2 {
		t.Errorf("trace %+v", res.Trace)
	}
}

// TestSelectionOverScopes: one catalog, the newest first, and each pick is read from
// the scope that it stands in.
func TestSelectionOverScopes(t *testing.T) {
	at := func(days int, text string) note {
		return note{id: "same", text: text, row: validity.Row{CreatedAt: now.AddDate(0, 0, -days)}}
	}
	j := &judge{answer: picks(0, 1)}
	res := ask(t, engine(&recall.Options{Selector: j}, newFake(at(2, "Of the user.")), newFake(at(1, "Of the project."))), memsearch.Query{Text: "x"})
	if len(res.Hits) != 2 || res.Hits[0].Text != "Of the project." || res.Hits[0].Scope != "project" || res.Hits[1].Scope != "user" {
		t.Errorf("hits %+v", res.Hits)
	}
	if d := cmp.Diff([]string{"project/same", "user/same"}, res.Injected); d != "" {
		t.Errorf("injected (-want +got):\n%s", d)
	}
}

// TestSelectionOfStale: what was changed since it was indexed is not returned, and an
// empty answer would be a lie.
func TestSelectionOfStale(t *testing.T) {
	f := newFake(note{id: "a", text: "x", file: fmt.Errorf("read a.md: %w", index.ErrStale)})
	res := ask(t, engine(&recall.Options{Selector: &judge{answer: picks(0)}}, f), memsearch.Query{Text: "x"})
	if res.Status != memsearch.StateDegraded || res.Stale != 1 || len(res.Hits) != 0 {
		t.Errorf("%s, %d stale: %v", res.Status, res.Stale, res.Reasons)
	}
	f = newFake(note{id: "a", text: "x", file: errors.New("disk on fire")}, note{id: "b", text: "y"})
	res = ask(t, engine(&recall.Options{Selector: &judge{answer: picks(0, 1)}}, f), memsearch.Query{Text: "x"})
	if d := cmp.Diff([]string{"b"}, ids(res)); d != "" || res.Status != memsearch.StateDegraded || !strings.Contains(res.Reasons[0], "disk on fire") {
		t.Errorf("%s: %v, %v", res.Status, ids(res), res.Reasons)
	}
}

// TestSelectionOfNothing: an empty catalog asks nobody.
func TestSelectionOfNothing(t *testing.T) {
	for _, tt := range []struct {
		f      *fake
		reason string
	}{
		{newFake(), recall.ReasonNothing},
		{newFake(note{id: "a", text: "x", row: validity.Row{Hash: "1"}}), recall.ReasonAlready},
	} {
		j := &judge{answer: picks(0)}
		res := ask(t, engine(&recall.Options{Selector: j}, tt.f), memsearch.Query{Text: "x", Surfaced: map[string]string{"a": "1"}})
		if res.Status != memsearch.StateEmpty || j.calls.Load() != 0 || cmp.Diff([]string{tt.reason}, res.Reasons) != "" {
			t.Errorf("%s after %d calls: %v", res.Status, j.calls.Load(), res.Reasons)
		}
	}
}

// TestSelectionFallsBack: a selector that fails, or is not wanted, leaves a search.
func TestSelectionFallsBack(t *testing.T) {
	fail := &judge{answer: func(context.Context, int) (*rerank.Answer, error) { return nil, errors.New("gone") }}
	res := ask(t, engine(&recall.Options{Selector: fail}, kites(3)), memsearch.Query{Text: "kite"})
	if res.Status != memsearch.StateDegraded || res.SelectedBy != "fusion" || len(res.Hits) != 3 || !strings.Contains(res.Reasons[0], "selection failed") {
		t.Errorf("%s by %s: %v", res.Status, res.SelectedBy, res.Reasons)
	}
	f := kites(3)
	f.fail["list"] = errors.New("disk on fire")
	res = ask(t, engine(&recall.Options{Selector: &judge{answer: picks(0)}}, f), memsearch.Query{Text: "kite"})
	if res.Status != memsearch.StateDegraded || res.SelectedBy != "fusion" || len(res.Hits) != 3 || !strings.Contains(res.Reasons[0], "disk on fire") {
		t.Errorf("no catalog: %s by %s: %v", res.Status, res.SelectedBy, res.Reasons)
	}
	never := &judge{answer: picks(0)}
	res = ask(t, engine(&recall.Options{Selector: never}, kites(3)), memsearch.Query{Text: "kite", Rerank: memsearch.RerankNever})
	if never.calls.Load() != 0 || res.Status != memsearch.StateOK {
		t.Errorf("asked %d times, %s", never.calls.Load(), res.Status)
	}
	none := &judge{answer: picks()}
	res = ask(t, engine(&recall.Options{Selector: none}, kites(3)), memsearch.Query{Text: "kite"})
	if res.Status != memsearch.StateEmpty || !slices.Contains(res.Reasons, recall.ReasonModel) {
		t.Errorf("none picked: %s %v", res.Status, res.Reasons)
	}
}

// TestRankWithModel: the picks first, then all others as before.
func TestRankWithModel(t *testing.T) {
	e := engine(&recall.Options{Reranker: &judge{answer: picks(3, 1)}}, kites(6))
	got, answer, err := e.RankWithModel(t.Context(), memsearch.Query{Text: "kite", Now: now, K: 6}, 4)
	if err != nil || answer.Judged != 4 {
		t.Fatalf("%+v, %v", answer, err)
	}
	var order []string
	for _, r := range got {
		order = append(order, r.UnitID)
	}
	if d := cmp.Diff([]string{"k03", "k01", "k00", "k02", "k04", "k05"}, order); d != "" {
		t.Errorf("order (-want +got):\n%s", d)
	}
	if _, _, err := engine(nil, kites(1)).RankWithModel(t.Context(), memsearch.Query{Text: "kite", Now: now}, 4); err == nil {
		t.Error("ranked without a model")
	}
}
