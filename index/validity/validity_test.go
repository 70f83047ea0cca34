package validity_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/index/key"
	"github.com/memsearch/memsearch/index/validity"
)

func day(s string) memsearch.Bound {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err)
	}
	return memsearch.Bound{Time: t, Date: true}
}

func at(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t
}

func instant(s string) memsearch.Bound { return memsearch.Bound{Time: at(s)} }

func span(from, until string) memsearch.Span {
	return memsearch.Span{From: at(from), Until: at(until)}
}

// number gives the n-th memory its key and ids.
func number(rows []validity.Row) []validity.Row {
	for i := range rows {
		r := &rows[i]
		if r.Key == 0 {
			r.Key = key.Make(uint32(i), 0, 0)
		}
		if r.MemoryID == "" {
			r.MemoryID = string(rune('a' + i))
		}
		if r.UnitID == "" {
			r.UnitID = r.MemoryID
		}
	}
	return rows
}

func memory(t *testing.T, rows ...validity.Row) *validity.Reader {
	t.Helper()
	r, err := validity.Memory(t.Context(), slices.Values(number(rows)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// left returns the memory ids that f lets answer.
func left(t *testing.T, r *validity.Reader, f validity.Filter) string {
	t.Helper()
	out, err := r.Excluded(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := r.List(t.Context(), validity.ListFilter{Units: true})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, row := range rows {
		if !slices.Contains(out, row.Key) {
			ids = append(ids, row.MemoryID)
		}
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

func TestCurrentAndAsOf(t *testing.T) {
	bounded := func(s memsearch.Status, from, until memsearch.Bound) validity.Row {
		return validity.Row{Status: s, Valid: memsearch.Validity{From: from, Until: until}}
	}
	var none memsearch.Bound
	r := memory(t,
		bounded("", none, none), // a
		bounded(memsearch.StatusActive, day("2026-05-01"), day("2026-05-08")),     // b
		bounded(memsearch.StatusSuperseded, day("2025-03-01"), day("2026-05-01")), // c
		bounded(memsearch.StatusSuperseded, none, none),                           // d: end unknown
		bounded(memsearch.StatusRetired, none, instant("2026-05-03T12:00:00Z")),   // e
		bounded(memsearch.StatusCandidate, none, none),                            // f
		bounded(memsearch.StatusRejected, none, day("2027-01-01")),                // g
		bounded("no such status", none, none),                                     // h
	)
	for _, tt := range []struct{ now, asOf, want string }{
		{now: "2026-04-30T23:59:59Z", want: "a"},
		{now: "2026-05-01T00:00:00Z", want: "a b"},
		{now: "2026-05-07T23:59:59Z", want: "a b"},
		{now: "2026-05-08T00:00:00Z", want: "a"},
		// The civil date in the zone of the question decides.
		{now: "2026-05-08T07:00:00+08:00", want: "a"},
		{now: "2026-05-07T20:00:00-08:00", want: "a b"},
		{now: "2026-05-01T01:00:00+08:00", want: "a b"},
		{now: "2026-12-01T00:00:00Z", asOf: "2026-04-30T00:00:00Z", want: "a c e"},
		{now: "2026-12-01T00:00:00Z", asOf: "2026-05-01T00:00:00Z", want: "a b e"},
		{asOf: "2026-05-03T11:59:59Z", want: "a b e"},
		{asOf: "2026-05-03T12:00:00Z", want: "a b"},
		{asOf: "2026-05-03T19:59:59+08:00", want: "a b e"},
		{asOf: "2020-01-01T00:00:00Z", want: "a e"},
	} {
		var f validity.Filter
		if tt.now != "" {
			f.Now = at(tt.now)
		}
		if tt.asOf != "" {
			f.AsOf = at(tt.asOf)
		}
		if got := left(t, r, f); got != tt.want {
			t.Errorf("now %s as of %s: %q, want %q", tt.now, tt.asOf, got, tt.want)
		}
	}
	if _, err := r.Excluded(t.Context(), validity.Filter{}); !errors.Is(err, validity.ErrNoTime) {
		t.Errorf("no time: %v", err)
	}
}

func TestSupersede(t *testing.T) {
	type rows = []validity.Row
	from := func(s string) memsearch.Validity { return memsearch.Validity{From: day(s)} }
	now := validity.Filter{Now: at("2026-06-15T00:00:00Z")}
	asOf := func(s string) validity.Filter { return validity.Filter{AsOf: at(s)} }
	for _, tt := range []struct {
		name   string
		rows   rows
		filter validity.Filter
		want   string
	}{
		{"from valid_from on", rows{{}, {Supersedes: []string{"a"}, Valid: from("2026-06-01")}}, now, "b"},
		{"the old one as of before", rows{{}, {Supersedes: []string{"a"}, Valid: from("2026-06-01")}}, asOf("2026-05-31T23:00:00Z"), "a"},
		{"else from created_at on", rows{{}, {Supersedes: []string{"a"}, CreatedAt: at("2026-06-01T10:00:00Z")}}, asOf("2026-06-01T09:59:59Z"), "a"},
		{"and the new one from then on", rows{{}, {Supersedes: []string{"a"}, CreatedAt: at("2026-06-01T10:00:00Z")}}, asOf("2026-06-01T10:00:00Z"), "b"},
		{"recorded after now", rows{{}, {Supersedes: []string{"a"}, CreatedAt: at("2026-07-01T10:00:00Z")}}, now, "a"},
		{"a chain of created_at", rows{{CreatedAt: at("2026-01-01T00:00:00Z")}, {Supersedes: []string{"a"}, CreatedAt: at("2026-02-01T00:00:00Z"), Status: memsearch.StatusSuperseded},
			{Supersedes: []string{"b"}, CreatedAt: at("2026-03-01T00:00:00Z")}}, asOf("2026-02-10T00:00:00Z"), "b"},
		{"before a chain of created_at", rows{{CreatedAt: at("2026-01-01T00:00:00Z")}, {Supersedes: []string{"a"}, CreatedAt: at("2026-02-01T00:00:00Z"), Status: memsearch.StatusSuperseded},
			{Supersedes: []string{"b"}, CreatedAt: at("2026-03-01T00:00:00Z")}}, asOf("2025-02-10T00:00:00Z"), "a"},
		{"a cycle begins nothing", rows{{Supersedes: []string{"b"}, CreatedAt: at("2026-01-01T00:00:00Z")}, {Supersedes: []string{"a"}, CreatedAt: at("2026-01-01T00:00:00Z")}},
			asOf("2025-01-01T00:00:00Z"), "a b"},
		{"nor does a memory that names itself", rows{{Supersedes: []string{"a"}, CreatedAt: at("2026-01-01T00:00:00Z")}}, asOf("2025-01-01T00:00:00Z"), "a"},
		{"the old one is gone", rows{{Supersedes: []string{"zzz"}, CreatedAt: at("2026-01-01T00:00:00Z")}}, asOf("2025-01-01T00:00:00Z"), ""},
		{"all units of the successor", rows{{}, {MemoryID: "m", UnitID: "m#1", Supersedes: []string{"a"}, CreatedAt: at("2026-06-01T00:00:00Z")},
			{MemoryID: "m", UnitID: "m#2", Supersedes: []string{"a"}, CreatedAt: at("2026-06-01T00:00:00Z")}}, asOf("2026-05-01T00:00:00Z"), "a"},
		{"valid_from before created_at counts", rows{{}, {Supersedes: []string{"a"}, Valid: from("2026-05-01"), CreatedAt: at("2026-06-10T00:00:00Z")}}, asOf("2026-06-01T00:00:00Z"), "b"},
		{"undated: at all times", rows{{}, {Supersedes: []string{"a"}}}, asOf("2000-01-01T00:00:00Z"), "b"},
		{"not yet", rows{{}, {Supersedes: []string{"a"}, Valid: from("2026-07-01")}}, now, "a"},
		{"by a candidate: no", rows{{}, {Supersedes: []string{"a"}, Status: memsearch.StatusCandidate}}, now, "a"},
		{"by a rejected: no", rows{{}, {Supersedes: []string{"a"}, Status: memsearch.StatusRejected}}, now, "a"},
		{"chain", rows{{}, {Supersedes: []string{"a"}, Valid: from("2026-01-01")}, {Supersedes: []string{"b"}, Valid: from("2026-06-01")}}, now, "c"},
		{"chain as of", rows{{}, {Supersedes: []string{"a"}, Valid: from("2026-01-01")}, {Supersedes: []string{"b"}, Valid: from("2026-06-01")}}, asOf("2026-03-01T00:00:00Z"), "b"},
		// After a crash between the two files a stays active; b, superseded in
		// its turn, must not bring it back.
		{"successor superseded", rows{{}, {Supersedes: []string{"a"}, Valid: from("2026-01-01"), Status: memsearch.StatusSuperseded},
			{Supersedes: []string{"b"}, Valid: from("2026-06-01")}}, now, "c"},
		{"successor retired", rows{{}, {Supersedes: []string{"a"}, Valid: from("2026-01-01"), Status: memsearch.StatusRetired}}, now, ""},
		{"a superseded status with a known successor", rows{{Status: memsearch.StatusSuperseded},
			{Supersedes: []string{"a"}, Valid: from("2026-06-01")}}, asOf("2026-05-01T00:00:00Z"), "a"},
		{"itself", rows{{Supersedes: []string{"a"}, Valid: from("2026-01-01")}}, now, "a"},
		{"cycle", rows{{Supersedes: []string{"b"}, Valid: from("2026-01-01")}, {Supersedes: []string{"a"}, Valid: from("2026-01-01")}}, now, "a b"},
		{"into a cycle", rows{{Supersedes: []string{"b"}, Valid: from("2026-01-01")}, {Supersedes: []string{"a"}, Valid: from("2026-01-01")},
			{Supersedes: []string{"b"}, Valid: from("2026-02-01")}}, now, "a c"},
		{"the earliest of several", rows{{}, {Supersedes: []string{"a"}, Valid: from("2026-06-10")}, {Supersedes: []string{"a"}, Valid: from("2026-05-01")}},
			asOf("2026-05-02T00:00:00Z"), "c"},
		{"date and instant", rows{{}, {Supersedes: []string{"a"}, Valid: from("2026-06-10")},
			{Supersedes: []string{"a"}, CreatedAt: at("2026-06-12T00:00:00Z")}}, asOf("2026-06-10T00:00:00Z"), "b"},
		{"both of them", rows{{}, {Supersedes: []string{"a"}, Valid: from("2026-06-10")},
			{Supersedes: []string{"a"}, CreatedAt: at("2026-06-12T00:00:00Z")}}, asOf("2026-06-12T00:00:00Z"), "b c"},
		{"all units of a memory", rows{{Key: key.Make(0, 0, 0), MemoryID: "m", UnitID: "m#1"}, {Key: key.Make(0, 1, 0), MemoryID: "m", UnitID: "m#2"},
			{MemoryID: "n", Supersedes: []string{"m"}}}, now, "n"},
		{"nobody", rows{{Supersedes: []string{"zzz"}}}, now, "a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := left(t, memory(t, tt.rows...), tt.filter); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestCycles(t *testing.T) {
	r := memory(t,
		validity.Row{Supersedes: []string{"c"}},                                    // a
		validity.Row{Supersedes: []string{"a"}},                                    // b
		validity.Row{Supersedes: []string{"b"}},                                    // c
		validity.Row{Supersedes: []string{"d"}},                                    // d
		validity.Row{Supersedes: []string{"d"}},                                    // e
		validity.Row{Supersedes: []string{"g"}, Status: memsearch.StatusCandidate}, // f
		validity.Row{Supersedes: []string{"f"}},                                    // g
	)
	got, err := r.Cycles(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]string{{"a", "b", "c"}, {"d"}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestOtherFilters(t *testing.T) {
	june := span("2026-06-01T00:00:00Z", "2026-07-01T00:00:00Z")
	occurred := func(s memsearch.Span, src memsearch.DateSource) memsearch.Occurred {
		return memsearch.Occurred{Span: s, Source: src}
	}
	point := at("2026-06-15T00:00:00Z")
	r := memory(t,
		validity.Row{Category: memsearch.CategoryUser, Occurred: occurred(june, memsearch.DateText)},       // a
		validity.Row{Category: memsearch.CategoryProject, Occurred: occurred(june, memsearch.DateModTime)}, // b
		validity.Row{Turn: "t1", Session: "s1"},                                                            // c
		validity.Row{Turn: "t1", Session: "s2", CreatedAt: at("2026-06-30T00:00:00Z")},                     // d
		validity.Row{Turn: "t1"}, // e
		validity.Row{Occurred: occurred(memsearch.Span{From: point, Until: point}, memsearch.DateHeading)},       // f
		validity.Row{Occurred: occurred(memsearch.Span{Until: point}, memsearch.DateFrontMatter)},                // g
		validity.Row{Occurred: occurred(june, memsearch.DateModTime), CreatedAt: at("2026-06-02T00:00:00Z")},     // h
		validity.Row{Occurred: occurred(june, memsearch.DateFileName), CreatedAt: at("2026-08-02T00:00:00Z")},    // i
		validity.Row{Occurred: occurred(memsearch.Span{}, memsearch.DateText), Category: memsearch.CategoryUser}, // j
	)
	for _, tt := range []struct {
		name string
		f    validity.Filter
		want string
	}{
		{"nothing asked", validity.Filter{}, "a b c d e f g h i j"},
		{"category", validity.Filter{Categories: []memsearch.Category{memsearch.CategoryUser}}, "a j"},
		{"categories", validity.Filter{Categories: []memsearch.Category{memsearch.CategoryProject, memsearch.CategoryUser}}, "a b j"},
		{"turn in any session", validity.Filter{Turn: "t1"}, "a b f g h i j"},
		{"turn of a session", validity.Filter{Turn: "t1", Session: "s1"}, "a b d f g h i j"},
		{"other turn", validity.Filter{Turn: "t2"}, "a b c d e f g h i j"},
		{"since", validity.Filter{Since: at("2026-06-30T23:59:59Z")}, "a i"},
		{"since its end", validity.Filter{Since: at("2026-07-01T00:00:00Z")}, ""},
		{"until its begin", validity.Filter{Until: at("2026-06-01T00:00:00Z")}, "g"},
		{"point at since", validity.Filter{Since: point, Until: point.Add(time.Second)}, "a f i"},
		{"point at until", validity.Filter{Until: point}, "a g h i"},
		{"recorded", validity.Filter{Since: at("2026-06-02T00:00:00Z"), Until: at("2026-06-03T00:00:00Z")}, "a g h i"},
		{"both", validity.Filter{Since: point, Categories: []memsearch.Category{memsearch.CategoryUser}}, "a"},
	} {
		tt.f.Now = at("2026-09-01T00:00:00Z")
		if got := left(t, r, tt.f); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestOverlapping(t *testing.T) {
	row := func(g memsearch.Granularity, src memsearch.DateSource, from, until string) validity.Row {
		return validity.Row{Occurred: memsearch.Occurred{Span: span(from, until), Granularity: g, Source: src}}
	}
	r := memory(t,
		row(memsearch.GranularityYear, memsearch.DateText, "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"),           // a
		row(memsearch.GranularityMonth, memsearch.DateHeading, "2026-06-01T00:00:00Z", "2026-07-01T00:00:00Z"),       // b
		row(memsearch.GranularityDay, memsearch.DateText, "2026-06-15T00:00:00+08:00", "2026-06-16T00:00:00+08:00"),  // c
		row(memsearch.GranularityDay, memsearch.DateModTime, "2026-06-15T00:00:00Z", "2026-06-16T00:00:00Z"),         // d
		row(memsearch.GranularityWeek, memsearch.DateText, "2026-06-15T00:00:00Z", "2026-06-22T00:00:00Z"),           // e
		row(memsearch.GranularityRange, memsearch.DateText, "2020-01-01T00:00:00Z", "2030-01-01T00:00:00Z"),          // f
		row(memsearch.GranularityInstant, memsearch.DateFrontMatter, "2026-06-15T12:00:00Z", "2026-06-15T12:00:00Z"), // g
		row(memsearch.GranularityDay, memsearch.DateText, "2026-06-16T00:00:00Z", "2026-06-17T00:00:00Z"),            // h
		validity.Row{}, // i
		row(memsearch.GranularityQuarter, memsearch.DateText, "2026-04-01T00:00:00Z", "2026-07-01T00:00:00Z"),                                                                   // j
		validity.Row{Occurred: memsearch.Occurred{Span: memsearch.Span{From: at("2026-01-01T00:00:00Z")}, Granularity: memsearch.GranularityRange, Source: memsearch.DateText}}, // k
		row(memsearch.GranularityDay, memsearch.DateText, "2026-06-16T00:00:00Z", "2026-06-17T00:00:00Z"),                                                                       // l
	)
	fifteenth := span("2026-06-15T00:00:00Z", "2026-06-16T00:00:00Z")
	for _, tt := range []struct {
		name  string
		spans []memsearch.Span
		limit int
		want  string
	}{
		{"a day", []memsearch.Span{fifteenth}, 0, "g c e b j a f k d"},
		{"limit", []memsearch.Span{fifteenth}, 3, "g c e"},
		{"two spans, each unit once", []memsearch.Span{fifteenth, span("2026-06-16T00:00:00Z", "2026-06-17T00:00:00Z")}, 0, "g c h l e b j a f k d"},
		{"a tie at the limit", []memsearch.Span{span("2026-06-16T00:00:00Z", "2026-06-17T00:00:00Z")}, 1, "h"},
		{"the last instant of a year", []memsearch.Span{span("2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z")}, 0, "a f k"},
		{"after it", []memsearch.Span{span("2027-01-01T00:00:00Z", "2027-01-02T00:00:00Z")}, 0, "f k"},
		{"open", []memsearch.Span{{From: at("2029-12-31T00:00:00Z")}}, 0, "f k"},
		{"open before", []memsearch.Span{{Until: at("2026-01-01T00:00:01Z")}}, 0, "a f k"},
		{"all time", []memsearch.Span{{}}, 2, "g c"},
		{"empty", []memsearch.Span{{From: fifteenth.From, Until: fifteenth.From}}, 0, ""},
		{"none", nil, 0, ""},
	} {
		got, err := r.Overlapping(t.Context(), tt.spans, tt.limit)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, o := range got {
			ids = append(ids, string(rune('a'+o.Key.File())))
		}
		if got := strings.Join(ids, " "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if tt.limit > 0 {
			continue
		}
		within, err := r.Within(t.Context(), tt.spans)
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(got, func(a, b validity.Overlap) int { return int(a.Key.File()) - int(b.Key.File()) })
		if diff := cmp.Diff(got, within, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: within (-overlapping +within): %s", tt.name, diff)
		}
	}
	got, err := r.Overlapping(t.Context(), []memsearch.Span{fifteenth}, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := []validity.Overlap{{Key: key.Make(6, 0, 0), Granularity: memsearch.GranularityInstant, Source: memsearch.DateFrontMatter,
		Span: memsearch.Span{From: at("2026-06-15T12:00:00Z"), Until: at("2026-06-15T12:00:00.000001Z")}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func full() validity.Row {
	east := time.FixedZone("", 8*3600)
	return validity.Row{
		Key: key.Make(1<<31+5, 3, 0), UnitID: "mem_1#家", MemoryID: "mem_1", Path: "a/b ?#%.md", Lines: [2]int{3, 9}, Bytes: [2]int{40, 90},
		Hash: "00ff", FileHash: "aa", Category: memsearch.CategoryUser, Kind: memsearch.KindFact, Status: memsearch.StatusRetired,
		Summary: "nul \x00 and 中文", Title: "T", CanonicalKey: "user.home", Tags: []string{"x", "y,z"}, Tools: []string{"grep"},
		Trust: memsearch.TrustTool, Confidence: .25, Session: "s", Turn: "t", Pinned: true, Packable: true, Tokens: 77,
		Valid: memsearch.Validity{From: day("0001-02-03"), Until: memsearch.Bound{Time: time.Date(9999, 12, 31, 1, 2, 3, 4000, east)}},
		Occurred: memsearch.Occurred{Span: memsearch.Span{From: time.Date(2026, 3, 12, 0, 0, 0, 0, east), Until: time.Date(2026, 3, 13, 0, 0, 0, 0, east)},
			Granularity: memsearch.GranularityDay, Source: memsearch.DateFileName},
		CreatedAt: at("2026-01-01T00:00:00Z"), UpdatedAt: at("2026-01-02T00:00:00-05:00"), ConfirmedAt: at("2026-01-03T00:00:00Z"),
		Supersedes: []string{"o1", "o2"}, SupersededBy: []string{"n1"},
	}
}

func TestRoundTrip(t *testing.T) {
	want := full()
	bare := validity.Row{Key: key.Make(2, 0, 0), UnitID: "u", MemoryID: "u", Status: memsearch.StatusActive}
	path := filepath.Join(t.TempDir(), "a b?#%41é.db")
	if err := validity.Write(t.Context(), path, "", nil, slices.Values([]validity.Row{want, bare})); err != nil {
		t.Fatal(err)
	}
	r, err := validity.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := r.Fetch(t.Context(), []key.Key{bare.Key, want.Key + 1, bare.Key})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]validity.Row{bare, want, bare}, got); diff != "" {
		t.Error(diff)
	}
	for i, pair := range [][2]time.Time{
		{got[1].Occurred.Span.From, want.Occurred.Span.From},
		{got[1].UpdatedAt, want.UpdatedAt},
		{got[1].Valid.Until.Time, want.Valid.Until.Time},
		{got[1].CreatedAt, want.CreatedAt},
	} {
		if g, w := pair[0].Format(time.RFC3339Nano), pair[1].Format(time.RFC3339Nano); g != w {
			t.Errorf("time %d is shown as %s, want %s", i, g, w)
		}
	}
	if _, err := r.Fetch(t.Context(), []key.Key{key.Make(9, 9, 0)}); !errors.Is(err, validity.ErrNotFound) {
		t.Errorf("unknown key: %v", err)
	}
	if err := validity.Verify(t.Context(), path); err != nil {
		t.Error(err)
	}
}

func project(t *testing.T) *validity.Reader {
	return memory(t,
		validity.Row{Path: "p/one.md", CreatedAt: at("2026-01-01T00:00:00Z"), Kind: memsearch.KindFact, Tags: []string{"x"}},                            // a
		validity.Row{Path: "p/two.md", CreatedAt: at("2026-02-01T00:00:00Z"), Status: memsearch.StatusSuperseded, SupersededBy: []string{"c"}},          // b
		validity.Row{Path: "p%/three.md", CreatedAt: at("2026-02-01T00:00:00Z"), Supersedes: []string{"b", "a"}, Category: memsearch.CategoryReference}, // c
		validity.Row{Path: "q.md", Pinned: true}, // d
		validity.Row{Path: "p/one.md", Key: key.Make(0, 1, 0), MemoryID: "a", UnitID: "a#2", CreatedAt: at("2026-01-01T00:00:00Z")},
	)
}

func TestList(t *testing.T) {
	r := project(t)
	for _, tt := range []struct {
		name string
		f    validity.ListFilter
		want string
	}{
		{"all", validity.ListFilter{}, "c b a d"},
		{"units", validity.ListFilter{Units: true}, "c b a a#2 d"},
		{"limit", validity.ListFilter{Limit: 2}, "c b"},
		{"status", validity.ListFilter{Statuses: []memsearch.Status{memsearch.StatusSuperseded, memsearch.StatusRetired}}, "b"},
		{"category", validity.ListFilter{Categories: []memsearch.Category{memsearch.CategoryReference}}, "c"},
		{"kind", validity.ListFilter{Kinds: []memsearch.Kind{memsearch.KindFact}}, "a"},
		{"tag", validity.ListFilter{Tag: "x"}, "a"},
		{"under a folder", validity.ListFilter{Under: "p"}, "b a"},
		{"a file", validity.ListFilter{Under: "q.md"}, "d"},
		{"pinned", validity.ListFilter{Pinned: true}, "d"},
		{"since", validity.ListFilter{Since: at("2026-02-01T00:00:00Z")}, "c b"},
		{"current before the successor", validity.ListFilter{CurrentAt: at("2026-01-15T00:00:00Z")}, "a d"},
		{"current", validity.ListFilter{CurrentAt: at("2026-02-15T00:00:00Z")}, "c d"},
		{"valid at", validity.ListFilter{ValidAt: at("2026-01-15T00:00:00Z")}, "b a d"},
	} {
		rows, err := r.List(t.Context(), tt.f)
		if err != nil {
			t.Fatal(err)
		}
		if got := unitIDs(rows); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestChainAndStats(t *testing.T) {
	r := project(t)
	chain, err := r.Chain(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if got := unitIDs(chain); got != "a b c" {
		t.Errorf("chain %q", got)
	}
	if got, want := chain[0].End(), instant("2026-02-01T00:00:00Z"); got != want {
		t.Errorf("a ends %v, want %v", got, want)
	}
	if alone, err := r.Chain(t.Context(), "d"); err != nil || unitIDs(alone) != "d" {
		t.Errorf("chain of one: %q, %v", unitIDs(alone), err)
	}
	if units, err := r.Memory(t.Context(), "a"); err != nil || unitIDs(units) != "a a#2" {
		t.Errorf("units: %q, %v", unitIDs(units), err)
	}
	stats, err := r.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := validity.Stats{Units: 5, Memories: 4,
		Statuses:   map[memsearch.Status]int{memsearch.StatusActive: 3, memsearch.StatusSuperseded: 1},
		Categories: map[memsearch.Category]int{"": 3, memsearch.CategoryReference: 1}}
	if diff := cmp.Diff(want, stats); diff != "" {
		t.Error(diff)
	}
}

func unitIDs(rows []validity.Row) string {
	var ids []string
	for _, r := range rows {
		ids = append(ids, r.UnitID)
	}
	return strings.Join(ids, " ")
}
