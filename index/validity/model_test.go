package validity_test

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/index/key"
	"github.com/memsearch/memsearch/index/validity"
)

// A model is the table as a map from file number to rows, and answers by the
// definitions alone.
type model map[uint32][]validity.Row

func (m model) rows() []validity.Row {
	var out []validity.Row
	for _, file := range slices.Sorted(maps.Keys(m)) {
		out = append(out, m[file]...)
	}
	return out
}

func wasAccepted(s memsearch.Status) bool {
	return s == "" || s == memsearch.StatusActive || s == memsearch.StatusSuperseded || s == memsearch.StatusRetired
}

// reaches reports whether accepted edges lead from one memory to another.
func reaches(rows []validity.Row, from, to string) bool {
	seen := map[string]bool{}
	var visit func(string) bool
	visit = func(id string) bool {
		if id == to {
			return true
		}
		if seen[id] {
			return false
		}
		seen[id] = true
		for _, r := range rows {
			if r.MemoryID == id && wasAccepted(r.Status) && slices.ContainsFunc(r.Supersedes, visit) {
				return true
			}
		}
		return false
	}
	return visit(from)
}

func (m model) excluded(f validity.Filter) []key.Key {
	var out []key.Key
	rows := m.rows()
	for _, r := range rows {
		if !m.holds(rows, r, f) || !answers(r, f) {
			out = append(out, r.Key)
		}
	}
	slices.Sort(out)
	return out
}

func (m model) holds(rows []validity.Row, r validity.Row, f validity.Filter) bool {
	t, current := f.AsOf, false
	if t.IsZero() {
		t, current = f.Now, true
	}
	ok := r.Valid.Holds(t)
	if r.Valid.From.IsZero() && replaces(rows, r.MemoryID) {
		ok = ok && !r.CreatedAt.After(t)
	}
	ended := !r.Valid.Until.IsZero()
	for _, s := range rows {
		if !wasAccepted(s.Status) || !slices.Contains(s.Supersedes, r.MemoryID) || reaches(rows, r.MemoryID, s.MemoryID) {
			continue
		}
		from := s.Valid.From
		if from.IsZero() {
			from = memsearch.Bound{Time: s.CreatedAt}
		}
		ended = ended || !from.IsZero()
		ok = ok && from.After(t)
	}
	switch r.Status {
	case "", memsearch.StatusActive:
		return ok
	case memsearch.StatusSuperseded, memsearch.StatusRetired:
		return ok && !current && ended
	}
	return false
}

// replaces reports whether a memory supersedes another, not in a cycle.
func replaces(rows []validity.Row, id string) bool {
	return slices.ContainsFunc(rows, func(r validity.Row) bool {
		return r.MemoryID == id && wasAccepted(r.Status) &&
			slices.ContainsFunc(r.Supersedes, func(old string) bool { return !reaches(rows, old, id) })
	})
}

func answers(r validity.Row, f validity.Filter) bool {
	if f.Turn != "" && r.Turn == f.Turn && (f.Session == "" || r.Session == "" || f.Session == r.Session) {
		return false
	}
	if len(f.Categories) > 0 && !slices.Contains(f.Categories, r.Category) {
		return false
	}
	if f.Since.IsZero() && f.Until.IsZero() {
		return true
	}
	want := memsearch.Span{From: f.Since, Until: f.Until}
	if r.Occurred.Source == memsearch.DateNone || r.Occurred.Source == memsearch.DateModTime {
		return !r.CreatedAt.IsZero() && want.Contains(r.CreatedAt)
	}
	return r.Occurred.Span.Overlaps(want)
}

func (m model) overlapping(span memsearch.Span) []string {
	var rows []validity.Row
	for _, r := range m.rows() {
		if r.Occurred.Source != memsearch.DateNone && r.Occurred.Span.Overlaps(span) {
			rows = append(rows, r)
		}
	}
	weak := func(r validity.Row) int {
		return strings.Count(string(r.Occurred.Source), string(memsearch.DateModTime))
	}
	slices.SortFunc(rows, func(a, b validity.Row) int {
		x, y := a.Occurred, b.Occurred
		return cmp.Or(weak(a)-weak(b), cmp.Compare(x.Granularity, y.Granularity),
			cmp.Compare(x.Span.Until.Sub(x.Span.From), y.Span.Until.Sub(y.Span.From)), x.Span.From.Compare(y.Span.From), cmp.Compare(a.UnitID, b.UnitID))
	})
	var ids []string
	for _, r := range rows {
		ids = append(ids, r.UnitID)
	}
	return ids
}

var zones = []*time.Location{time.UTC, time.FixedZone("", 14*3600), time.FixedZone("", -11*3600), time.FixedZone("", 5*3600+1800)}

// drawTime returns a moment near the turn of 2026, often on an hour that is
// midnight in one of the zones.
func drawTime(t *rapid.T, name string) time.Time {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(rapid.IntRange(-12*12, 12*12).Draw(t, name)) * 10 * time.Minute)
	return at.In(rapid.SampledFrom(zones).Draw(t, name+" zone"))
}

func drawBound(t *rapid.T, name string) memsearch.Bound {
	switch rapid.IntRange(0, 3).Draw(t, name+" kind") {
	case 0:
		return memsearch.Bound{Time: drawTime(t, name)}
	case 1:
		return memsearch.Bound{Time: time.Date(2026, 1, rapid.IntRange(0, 2).Draw(t, name+" day"), 0, 0, 0, 0, time.UTC), Date: true}
	}
	return memsearch.Bound{}
}

func drawRow(t *rapid.T, k key.Key, id string) validity.Row {
	ids := []string{"m0", "m1", "m2", "m3", "m4", "m5"}
	r := validity.Row{Key: k, MemoryID: id, UnitID: id + "#" + strconv.Itoa(int(k.Unit()))}
	r.Status = rapid.SampledFrom(append(memsearch.Statuses, memsearch.StatusActive, memsearch.StatusActive, "")).Draw(t, "status")
	r.Category = rapid.SampledFrom(append(memsearch.Categories, "")).Draw(t, "category")
	r.Valid = memsearch.Validity{From: drawBound(t, "valid from"), Until: drawBound(t, "valid until")}
	if rapid.Bool().Draw(t, "created") {
		r.CreatedAt = drawTime(t, "created at")
	}
	if r.Occurred.Source = rapid.SampledFrom(append([]memsearch.DateSource{memsearch.DateText}, dateSources...)).Draw(t, "source"); r.Occurred.Source != "" {
		r.Occurred.Span.From = drawTime(t, "occurred")
		long := []time.Duration{time.Minute, 24 * time.Hour, 25 * time.Hour, 7 * 24 * time.Hour, 31 * 24 * time.Hour, 90 * 24 * time.Hour, 366 * 24 * time.Hour, 9e4 * time.Hour}
		r.Occurred.Span.Until = r.Occurred.Span.From.Add(rapid.SampledFrom(long).Draw(t, "length"))
		r.Occurred.Granularity = memsearch.Granularity(rapid.IntRange(0, 6).Draw(t, "granularity"))
	}
	r.Turn = rapid.SampledFrom([]string{"", "", "t1", "t2"}).Draw(t, "turn")
	r.Session = rapid.SampledFrom([]string{"", "s1", "s2"}).Draw(t, "session")
	r.Supersedes = rapid.SliceOfN(rapid.SampledFrom(ids), 0, 2).Draw(t, "supersedes")
	if len(r.Supersedes) == 0 {
		r.Supersedes = nil
	}
	return r
}

var dateSources = []memsearch.DateSource{memsearch.DateNone, memsearch.DateHeading, memsearch.DateModTime, memsearch.DateFrontMatter}

func drawFilter(t *rapid.T) validity.Filter {
	f := validity.Filter{Now: drawTime(t, "now")}
	if rapid.Bool().Draw(t, "historic") {
		f.AsOf = drawTime(t, "as of")
	}
	switch rapid.IntRange(0, 5).Draw(t, "filter") {
	case 0:
		f.Since = drawTime(t, "since")
	case 1:
		f.Until = drawTime(t, "until")
	case 2:
		f.Since = drawTime(t, "since")
		f.Until = f.Since.Add(30 * time.Minute)
	case 3:
		f.Categories = rapid.SliceOfN(rapid.SampledFrom(memsearch.Categories), 1, 2).Draw(t, "categories")
	case 4:
		f.Turn, f.Session = "t1", rapid.SampledFrom([]string{"", "s1"}).Draw(t, "in session")
	}
	return f
}

// TestModel changes files at random, each generation from the last, and
// compares every answer with the model's and with a table written from nothing.
func TestModel(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		sub, err := os.MkdirTemp(dir, "")
		if err != nil {
			t.Fatal(err)
		}
		m, base := model{}, ""
		for gen := range rapid.IntRange(1, 4).Draw(t, "generations") {
			var drop []uint32
			var add []validity.Row
			for _, file := range rapid.SliceOfNDistinct(rapid.Uint32Range(0, 5), 0, 5, rapid.ID).Draw(t, "files") {
				drop = append(drop, file)
				delete(m, file)
				id := "m" + strconv.Itoa(int(file))
				for unit := range rapid.IntRange(0, 2).Draw(t, "units") {
					m[file] = append(m[file], drawRow(t, key.Make(file, uint16(unit), 0), id))
				}
				add = append(add, m[file]...)
			}
			next := filepath.Join(sub, strconv.Itoa(gen))
			if err := validity.Write(t.Context(), next, base, drop, slices.Values(add)); err != nil {
				t.Fatal(err)
			}
			base = next
		}
		compare(t, m, base)
	})
}

func compare(t *rapid.T, m model, path string) {
	grown, err := validity.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer grown.Close()
	fresh, err := validity.Memory(t.Context(), slices.Values(m.rows()))
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Close()

	readers := map[string]*validity.Reader{"grown": grown, "fresh": fresh}
	for range 4 {
		f := drawFilter(t)
		for name, r := range readers {
			got, err := r.Excluded(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(m.excluded(f), got); diff != "" {
				t.Fatalf("%s: excluded by %+v: %s", name, f, diff)
			}
		}
	}
	from := drawTime(t, "span")
	span := memsearch.Span{From: from, Until: from.Add(time.Duration(rapid.IntRange(1, 2000).Draw(t, "minutes")) * time.Minute)}
	want := m.overlapping(span)
	limit := rapid.IntRange(1, 4).Draw(t, "limit")
	byKey := map[key.Key]string{}
	for _, r := range m.rows() {
		byKey[r.Key] = r.UnitID
	}
	for name, r := range readers {
		got, err := r.Overlapping(t.Context(), []memsearch.Span{span}, limit)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, o := range got {
			ids = append(ids, byKey[o.Key])
		}
		if diff := gocmp.Diff(want[:min(limit, len(want))], ids); diff != "" && len(want) > 0 {
			t.Fatalf("%s: overlapping %v: %s", name, span, diff)
		}
	}
	a, errA := grown.List(t.Context(), validity.ListFilter{Units: true})
	b, errB := fresh.List(t.Context(), validity.ListFilter{Units: true})
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	if diff := gocmp.Diff(b, a); diff != "" {
		t.Fatalf("grown and fresh rows differ: %s", diff)
	}
}
