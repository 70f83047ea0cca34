package recall_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/index/validity"
	"github.com/memsearch/memsearch/recall"
)

func TestDateText(t *testing.T) {
	at := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	for _, tt := range []struct {
		from, until time.Time
		g           memsearch.Granularity
		want        string
	}{
		{at(2026, 3, 12), at(2026, 3, 13), memsearch.GranularityDay, "2026-03-12"},
		{at(2026, 3, 12).Add(9 * time.Hour), at(2026, 3, 12).Add(9 * time.Hour), memsearch.GranularityInstant, "2026-03-12"},
		{at(2026, 3, 9), at(2026, 3, 16), memsearch.GranularityWeek, "2026-03-09/2026-03-15"},
		{at(2026, 3, 1), at(2026, 4, 1), memsearch.GranularityMonth, "2026-03"},
		{at(2026, 4, 1), at(2026, 7, 1), memsearch.GranularityQuarter, "2026-Q2"},
		{at(2026, 12, 1), at(2027, 1, 1), memsearch.GranularityQuarter, "2026-Q4"},
		{at(2026, 1, 1), at(2027, 1, 1), memsearch.GranularityYear, "2026"},
		{at(2026, 3, 10), at(2026, 3, 13), memsearch.GranularityRange, "2026-03-10/2026-03-12"},
		{at(2026, 3, 10), time.Time{}, memsearch.GranularityRange, "from 2026-03-10"},
		{time.Time{}, at(2026, 3, 10), memsearch.GranularityRange, "until 2026-03-10"},
		{time.Time{}, time.Time{}, memsearch.GranularityRange, ""},
	} {
		o := memsearch.Occurred{Span: memsearch.Span{From: tt.from, Until: tt.until}, Granularity: tt.g, Source: memsearch.DateHeading}
		res := ask(t, engine(nil, newFake(note{id: "a", text: "kite", row: validity.Row{Occurred: o}})), memsearch.Query{Text: "kite"})
		if got := res.Hits[0].Date; got != tt.want {
			t.Errorf("%v %v: %q, want %q", o.Span, tt.g, got, tt.want)
		}
	}
}

func TestHitFields(t *testing.T) {
	row := validity.Row{
		Path: "a/kite.md", Hash: "9f", Category: memsearch.CategoryProject, Kind: memsearch.KindFact, Title: "Kite",
		Occurred: memsearch.Occurred{Span: day(2026, 3, 12).Span, Granularity: memsearch.GranularityDay, Source: memsearch.DateModTime},
		Valid:    memsearch.Validity{From: memsearch.Bound{Time: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), Date: true}},
		Cut:      validity.Cut{On: memsearch.Bound{Time: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), Date: true}},
	}
	f := newFake(note{id: "m#s", text: "red kite\nnests", cos: .5, row: row}, note{id: "b", text: "red", cos: .7})
	res := ask(t, engine(nil, f), memsearch.Query{Text: "red kite"})
	from, to := "2026-03-01", "2027-01-01"
	want := memsearch.Hit{
		ID: "m#s", MemoryID: "m", Path: "a/kite.md", Lines: [2]int{1, 2}, Score: 1.3, Hash: "9f", Scope: "user",
		Category: "project", Kind: "fact", Status: "active", Summary: "Kite", Date: "2026-03-12", DateSource: "mtime",
		ValidFrom: &from, ValidTo: &to, Text: "red kite\nnests",
		Signals: memsearch.Signals{BM25: &memsearch.Signal{Rank: 1, Score: 2}, Vector: &memsearch.Signal{Rank: 2, Score: .5}},
	}
	if diff := cmp.Diff(want, res.Hits[0], cmp.Comparer(near)); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(res.Context, "- file of 2026-03-12 until 2027-01-01 a/kite.md:1-2\n  red kite") {
		t.Errorf("context %q", res.Context)
	}
	if diff := cmp.Diff([]string{"a/kite.md", "b.md"}, res.Sources); diff != "" {
		t.Error(diff)
	}
}

// TestCalloutSummary: the marker of a callout is no summary.
func TestCalloutSummary(t *testing.T) {
	f := newFake(note{id: "a", text: "> [!note] Red kite nests", cos: .6}, note{id: "b", text: "> [!tip]-\n> Red kites soar", cos: .5})
	res := ask(t, engine(nil, f), memsearch.Query{Text: "red"})
	got := map[string]string{}
	for _, h := range res.Hits {
		got[h.ID] = h.Summary
	}
	if diff := cmp.Diff(map[string]string{"a": "Red kite nests", "b": "Red kites soar"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestGate(t *testing.T) {
	long := strings.Repeat("kite ", 600)
	for _, tt := range []struct {
		name   string
		notes  []note
		exact  []string
		q      memsearch.Query
		ask    bool
		reason string
	}{
		{"never", []note{{id: "a", text: "kite"}}, nil, memsearch.Query{Rerank: memsearch.RerankNever}, false, "never asked for"},
		{"always", []note{{id: "a", text: "kite"}}, nil, memsearch.Query{Rerank: memsearch.RerankAlways}, true, "always asked for"},
		{"none", []note{{id: "a", text: "tax"}}, nil, memsearch.Query{}, false, "no candidate"},
		{"single", []note{{id: "a", text: "kite"}}, nil, memsearch.Query{}, false, "single candidate"},
		{"fits", []note{{id: "a", text: "kite"}, {id: "b", text: "kite b"}}, nil, memsearch.Query{}, false, "all candidates fit the budget"},
		{"identifier", []note{{id: "a", text: "kite"}, {id: "b", text: "kite b"}}, []string{"a"}, memsearch.Query{}, false, "identifier query"},
		{"lead", []note{{id: "a", text: long, cos: .9}, {id: "b", text: long + "b"}}, nil, memsearch.Query{}, false, "clear lead"},
		{"agree", []note{{id: "a", text: long, cos: .31}, {id: "b", text: long + "b", cos: .3}}, nil, memsearch.Query{}, true, "no clear lead"},
		{"close", []note{{id: "a", text: long + "a"}, {id: "b", text: long + "b"}}, nil, memsearch.Query{}, true, "no clear lead"},
	} {
		f := newFake(tt.notes...)
		f.exact, f.known = tt.exact, false
		tt.q.Text = "kite"
		e := engine(&recall.Options{Reranker: &judge{answer: picks(0)}}, f)
		g := ask(t, e, tt.q).Trace.Gate
		if g == nil || g.Ask != tt.ask || g.Reason != tt.reason {
			t.Errorf("%s: %+v, want %v, %q", tt.name, g, tt.ask, tt.reason)
		}
	}
}

// TestGateMargin works the lead out by hand: scores .54 and .48 by cosines .9 and .8
// of weight .6, where no word of the query is known.
func TestGateMargin(t *testing.T) {
	long := strings.Repeat("kite ", 600)
	first, second := note{id: "a", text: long, cos: .9}, note{id: "b", text: long + "b", cos: .8}
	for _, tt := range []struct {
		name   string
		margin float64 // option
		scopes [][]note
		want   float64
		ask    bool
	}{
		{"above", .1, [][]note{{first, second}}, 1. / 9, false},
		{"below", .12, [][]note{{first, second}}, 1. / 9, true},
		{"no lead is enough", -1, [][]note{{first, second}}, 1. / 9, true},
		{"scopes that cannot be compared", .1, [][]note{{first}, {second}}, 0, true},
		{"other scopes have nothing", .1, [][]note{{}, {first, second}}, 1. / 9, false},
	} {
		var fakes []*fake
		for _, notes := range tt.scopes {
			fakes = append(fakes, newFake(notes...))
		}
		e := engine(&recall.Options{Reranker: &judge{answer: picks(0)}, GateMargin: tt.margin}, fakes...)
		g := ask(t, e, memsearch.Query{Text: "dragon"}).Trace.Gate
		if g.Ask != tt.ask || !near(g.Margin, tt.want) {
			t.Errorf("%s: %+v, want %v, %v", tt.name, g, tt.ask, tt.want)
		}
	}
	// The numbers are there whatever the reason; without a model there is nobody to
	// ask. Both notes hold the query's one word: 1.54 and 1.48.
	for _, mode := range []memsearch.RerankMode{memsearch.RerankNever, memsearch.RerankAuto, memsearch.RerankAlways} {
		g := ask(t, engine(&recall.Options{GateMargin: -1}, newFake(first, second)), memsearch.Query{Text: "kite", Rerank: mode}).Trace.Gate
		if !near(g.Margin, .06/1.54) || g.Agree == 0 || g.Ask != (mode == memsearch.RerankAlways) {
			t.Errorf("%s without a model: %+v", mode, g)
		}
	}
}

func TestArms(t *testing.T) {
	for _, a := range []recall.Arms{recall.ArmBM25, recall.ArmVector, recall.ArmTemporal, recall.ArmHybrid} {
		if got, err := recall.ParseArms(a.String()); got != a || err != nil {
			t.Errorf("%v: %v %v", a, got, err)
		}
	}
	if _, err := recall.ParseArms("psychic"); !errors.Is(err, recall.ErrQuery) {
		t.Errorf("psychic: %v", err)
	}
	f := newFake(note{id: "a", text: "kite"}, note{id: "b", text: "tax", row: validity.Row{Occurred: day(2026, 11, 28)}})
	got, trace, err := engine(nil, f).Rank(t.Context(), memsearch.Query{Text: "kite yesterday", Now: now}, recall.ArmTemporal)
	if err != nil || len(got) != 1 || got[0].UnitID != "b" || len(trace.Dates) != 1 {
		t.Errorf("temporal: %v %v %v", got, trace, err)
	}
	f.fail["lexical"] = errors.New("gone")
	if _, _, err := engine(nil, f).Rank(t.Context(), memsearch.Query{Text: "kite", Now: now}, recall.ArmBM25); err == nil {
		t.Error("a ranking without its retriever must fail")
	}
	if _, _, err := engine(nil, f).Rank(t.Context(), memsearch.Query{Text: "kite", Now: now}, 0); err == nil {
		t.Error("no arm must fail")
	}
}

// TestFilterStandsInForTheTable: when the filter fails, the records decide.
func TestFilterStandsInForTheTable(t *testing.T) {
	ended := memsearch.Validity{Until: memsearch.Bound{Time: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), Date: true}}
	f := newFake(
		note{id: "now", text: "kite a", row: validity.Row{Category: memsearch.CategoryUser, Occurred: day(2026, 3, 12)}},
		note{id: "ended", text: "kite b", row: validity.Row{Valid: ended, Occurred: day(2026, 3, 12), Category: memsearch.CategoryUser}},
		note{id: "touched", text: "kite c", row: validity.Row{Category: memsearch.CategoryProject,
			Occurred: memsearch.Occurred{Span: day(2026, 3, 12).Span, Source: memsearch.DateModTime}}},
		note{id: "candidate", text: "kite d", row: validity.Row{Status: memsearch.StatusCandidate}},
	)
	f.fail["filter"] = errors.New("disk on fire")
	march := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		q    memsearch.Query
		want []string
	}{
		{memsearch.Query{}, []string{"now", "touched"}},
		{memsearch.Query{AsOf: march}, []string{"ended", "now", "touched"}},
		{memsearch.Query{Categories: []memsearch.Category{memsearch.CategoryUser}}, []string{"now"}},
		{memsearch.Query{Since: march, Until: march.AddDate(0, 1, 0)}, []string{"now"}},
		{memsearch.Query{Since: march.AddDate(0, 1, 0)}, []string{}},
	} {
		tt.q.Text = "kite"
		res := ask(t, engine(nil, f), tt.q)
		if diff := cmp.Diff(tt.want, ids(res)); diff != "" || res.Status != memsearch.StateDegraded {
			t.Errorf("%+v: %s %v", tt.q, res.Status, ids(res))
		}
	}
}

func TestSummaryFallsBackToTheText(t *testing.T) {
	f := newFake(note{id: "a", text: "\n## kite " + strings.Repeat("x", 300)})
	got := ask(t, engine(nil, f), memsearch.Query{Text: "kite"}).Hits[0].Summary
	if want := "kite " + strings.Repeat("x", 115) + "…"; got != want {
		t.Errorf("got %q", got)
	}
}
