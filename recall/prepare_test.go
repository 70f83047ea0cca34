package recall_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/index/validity"
	"github.com/memsearch/memsearch/internal/tokens"
	"github.com/memsearch/memsearch/recall"
)

func standing() *fake {
	ended := memsearch.Validity{Until: memsearch.Bound{Time: now.AddDate(0, 0, -1)}}
	return newFake(
		note{id: "tabs", text: "Always use tabs.", row: validity.Row{Pinned: true, Category: memsearch.CategoryUser, Kind: memsearch.KindPreference}},
		note{id: "old", text: "Always use spaces.", row: validity.Row{Pinned: true, Valid: ended}},
		note{id: "freeze", text: "No deploys before the launch.", row: validity.Row{Kind: memsearch.KindTimelineConstraint}},
		note{id: "kite", text: "The red kite nests in May.", cos: .4},
	)
}

func TestPrepareWithoutText(t *testing.T) {
	e := engine(nil, standing())
	p, err := e.Prepare(t.Context(), memsearch.Query{Now: now}, recall.Outline{Catalog: []string{"[Kite](kite.md)", "[Freeze](freeze.md)"}})
	if err != nil {
		t.Fatal(err)
	}
	want := `<memory ids="tabs freeze" categories="user">
Pinned:
- tabs.md:1-1
  Always use tabs.
Timeline constraints:
- freeze.md:1-1
  No deploys before the launch.
Catalog:
- [Kite](kite.md)
- [Freeze](freeze.md)
</memory>`
	if diff := cmp.Diff(want, p.Content); diff != "" {
		t.Error(diff)
	}
	if p.Instructions != recall.Instructions || p.Tokens > memsearch.DefaultBudget || p.Result.Status != memsearch.StateOK {
		t.Errorf("%+v", p)
	}
	for _, word := range []string{"data", "stale", "check", "ignore memory"} {
		if !strings.Contains(p.Instructions, word) {
			t.Errorf("instructions do not speak of %q", word)
		}
	}
}

func TestPrepareWithText(t *testing.T) {
	e := engine(nil, standing())
	p, err := e.Prepare(t.Context(), memsearch.Query{Now: now, Text: "when does the red kite nest"}, recall.Outline{
		History: []recall.Piece{{Text: "We spoke of birds."}},
		Turns:   []recall.Piece{{Text: "User asks about May."}},
	})
	if err != nil {
		t.Fatal(err)
	}
	at := -1
	for _, part := range []string{"Pinned:", "Timeline constraints:", "Memories:", "red kite nests", "Packed history:", "birds", "Recent turns:", "asks about May"} {
		i := strings.Index(p.Content, part)
		if i <= at {
			t.Errorf("%q is missing or out of order in %q", part, p.Content)
		}
		at = i
	}
	if strings.Contains(p.Content, "spaces") {
		t.Error("an expired pinned memory was injected")
	}
}

// TestStandingLeavesRoom guards against pinned memories that fill a small budget and
// keep out the answer, and against a larger budget that loses what a smaller one held.
func TestStandingLeavesRoom(t *testing.T) {
	notes := []note{{id: "kite", text: "The red kite nests in May.", cos: .4}}
	for i := range 6 {
		notes = append(notes, note{id: fmt.Sprintf("rule%d", i), text: fmt.Sprintf("Rule %d of the house is long and says what must always be done, whatever else is asked of the one who works here.", i),
			row: validity.Row{Pinned: true}})
	}
	e := engine(nil, newFake(notes...))
	var last []string
	both := 0 // budgets that hold the answer and some of the rules
	for budget := 150; budget < 800; budget += 13 {
		p, err := e.Prepare(t.Context(), memsearch.Query{Now: now, Text: "when does the red kite nest", Budget: budget}, recall.Outline{})
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range last {
			if !slices.Contains(p.Result.Injected, id) {
				t.Errorf("budget %d loses %s", budget, id)
			}
		}
		if last = p.Result.Injected; len(last) > 1 && len(last) < len(notes) {
			both++
			if !slices.Contains(last, "kite") {
				t.Errorf("budget %d has %v without the answer", budget, last)
			}
		}
	}
	if both == 0 || len(last) != len(notes) {
		t.Errorf("%d budgets between, the largest holds %v", both, last)
	}
}

func TestPrepareBudget(t *testing.T) {
	var catalog []string
	for i := range 300 {
		catalog = append(catalog, fmt.Sprintf("[Note %d](notes/%d.md)", i, i))
	}
	kept := 0
	for budget := 1; budget < 1500; budget += 37 {
		p, err := engine(nil, standing()).Prepare(t.Context(), memsearch.Query{Now: now, Budget: budget}, recall.Outline{Catalog: catalog})
		if err != nil {
			t.Fatal(err)
		}
		if got := tokens.Bound(p.Instructions + "\n" + p.Content); p.Tokens > budget || p.Content != "" && got > budget {
			t.Errorf("budget %d: said %d, is %d", budget, p.Tokens, got)
		}
		n := strings.Count(p.Content, "](")
		if n < kept {
			t.Errorf("budget %d keeps %d lines, a smaller one %d", budget, n, kept)
		}
		kept = n
	}
	if kept == 0 {
		t.Error("no budget kept a line of the catalog")
	}
}

func TestPrepareIgnoresOnRequest(t *testing.T) {
	p, err := engine(nil, standing()).Prepare(t.Context(), memsearch.Query{Now: now, Text: "sort a list", Request: "Ignore memory. How do I sort a list?"}, recall.Outline{})
	if err != nil || p.Content != "" || p.Instructions != "" || p.Result.Status != memsearch.StateEmpty {
		t.Errorf("%+v %v, want two empty blocks", p, err)
	}
}

func TestPrepareSurvivesAFailingTable(t *testing.T) {
	f := standing()
	f.fail["list"] = errors.New("disk on fire")
	p, err := engine(nil, f).Prepare(t.Context(), memsearch.Query{Now: now, Text: "red kite"}, recall.Outline{})
	if err != nil || p.Result.Status != memsearch.StateDegraded || !strings.Contains(p.Content, "red kite") {
		t.Errorf("%+v %v", p, err)
	}
}

// TestPrepareOnAnIndex reads the pinned memories of a real validity table.
func TestPrepareOnAnIndex(t *testing.T) {
	scope, opts := vaultScope(t)
	p, err := recall.New([]recall.Scope{scope}, opts).Prepare(t.Context(), memsearch.Query{Now: now}, recall.Outline{})
	if err != nil || !strings.Contains(p.Content, "Pinned:\n") || !strings.Contains(p.Content, "600 requests a minute") {
		t.Errorf("%+v %v", p, err)
	}
}

func TestTimings(t *testing.T) {
	at := now
	clock := func() time.Time { at = at.Add(time.Millisecond); return at }
	res := ask(t, engine(&recall.Options{Clock: clock}, newFake(note{id: "a", text: "kite"})), memsearch.Query{Text: "kite"})
	if diff := cmp.Diff(map[string]float64{"search": 1, "collect": 1, "pack": 1}, res.Timings); diff != "" {
		t.Error(diff)
	}
}
