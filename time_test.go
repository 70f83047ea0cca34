package memsearch_test

import (
	"testing"
	"time"

	"github.com/memsearch/memsearch"
)

func at(t *testing.T, s string) time.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A civil date is compared with the date where T is, an instant with T itself.
func TestValidityHolds(t *testing.T) {
	day := func(s string) memsearch.Bound {
		d, err := time.Parse(time.DateOnly, s)
		if err != nil {
			t.Fatal(err)
		}
		return memsearch.Bound{Time: d, Date: true}
	}
	instant := func(s string) memsearch.Bound { return memsearch.Bound{Time: at(t, s)} }
	may := memsearch.Validity{From: day("2026-05-01"), Until: day("2026-05-08")}
	for _, tt := range []struct {
		name string
		v    memsearch.Validity
		t    string
		want bool
	}{
		{"open", memsearch.Validity{}, "2026-05-01T00:00:00Z", true},
		{"first day", may, "2026-05-01T00:00:00Z", true},
		{"day before", may, "2026-04-30T23:59:59Z", false},
		{"last day", may, "2026-05-07T23:59:59Z", true},
		{"end is exclusive", may, "2026-05-08T00:00:00Z", false},
		{"first day in Shanghai while UTC is a day behind", may, "2026-05-01T00:30:00+08:00", true},
		{"last day in Los Angeles while UTC is a day ahead", may, "2026-05-07T23:30:00-07:00", true},
		{"instant, before", memsearch.Validity{From: instant("2026-05-01T12:00:00Z")}, "2026-05-01T19:59:59+08:00", false},
		{"instant, at", memsearch.Validity{From: instant("2026-05-01T12:00:00Z")}, "2026-05-01T20:00:00+08:00", true},
		{"instant end is exclusive", memsearch.Validity{Until: instant("2026-05-01T12:00:00Z")}, "2026-05-01T12:00:00Z", false},
	} {
		if got := tt.v.Holds(at(t, tt.t)); got != tt.want {
			t.Errorf("%s: Holds(%s) = %v, want %v", tt.name, tt.t, got, tt.want)
		}
	}
}

func TestCivilDay(t *testing.T) {
	for s, want := range map[string]int64{
		"1970-01-01T00:00:00Z":      0,
		"1970-01-02T00:00:00+14:00": 1,
		"1969-12-31T23:59:59Z":      -1,
		"2000-03-01T00:00:00Z":      11017, // 30 years, 7 leap days, 31 + 29
	} {
		if got := memsearch.CivilDay(at(t, s)); got != want {
			t.Errorf("CivilDay(%s) = %d, want %d", s, got, want)
		}
	}
}

func TestSpan(t *testing.T) {
	a, b, c := at(t, "2026-01-01T00:00:00Z"), at(t, "2026-02-01T00:00:00Z"), at(t, "2026-03-01T00:00:00Z")
	jan, feb := memsearch.Span{From: a, Until: b}, memsearch.Span{From: b, Until: c}
	if jan.Overlaps(feb) || feb.Overlaps(jan) {
		t.Error("spans that only touch overlap")
	}
	if !jan.Overlaps(memsearch.Span{}) || !(memsearch.Span{From: a}).Overlaps(feb) {
		t.Error("an open span overlaps nothing")
	}
	for _, empty := range []memsearch.Span{{From: b, Until: b}, {From: c, Until: a}} {
		if (memsearch.Span{From: a, Until: c}).Overlaps(empty) || empty.Overlaps(memsearch.Span{}) || empty.Overlaps(memsearch.Span{From: a}) {
			t.Errorf("%v shares an instant with another", empty)
		}
	}
	if !(memsearch.Span{Until: b}).Overlaps(memsearch.Span{Until: a}) || (memsearch.Span{Until: b}).Overlaps(memsearch.Span{From: b}) {
		t.Error("spans without a beginning")
	}
	if jan.Contains(b) || !jan.Contains(a) || !(memsearch.Span{}).Contains(b) {
		t.Error("a span is half-open")
	}
}
