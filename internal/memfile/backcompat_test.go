package memfile_test

import (
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/memfile"
)

// TestBackcompat reads the sample of the memory file that each version of
// docs/format.md left. Users keep such files for ever: a new version adds a folder
// and a case, and the old ones must go on being read as they are here. A sample
// is never rewritten.
func TestBackcompat(t *testing.T) {
	raw, err := os.ReadFile("testdata/backcompat/v1/memory.md")
	if err != nil {
		t.Fatal(err)
	}
	const name = "reference/region-20261129-mem_20261129101500_k3f9a2.md"
	f := memfile.Parse(name, raw, nil)
	want := memsearch.Memory{
		ID: "mem_20261129101500_k3f9a2", Path: name,
		Category: memsearch.CategoryReference, Kind: memsearch.KindDecision,
		Title: "Production region", Summary: "Production moved from us-east-1 to eu-central-1", Catalog: "Where production runs",
		Tags: []string{"infra", "aws", "区域"}, Aliases: []string{"prod region"},
		Status: memsearch.StatusSuperseded, Pinned: true, Packable: false,
		CanonicalKey: "production.region", Confidence: 0.9,
		CreatedAt:       time.Date(2026, 11, 29, 10, 15, 0, 0, time.UTC),
		UpdatedAt:       time.Date(2026, 11, 30, 8, 0, 0, 0, time.FixedZone("", 8*3600)),
		LastConfirmedAt: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC),
		Valid: memsearch.Validity{
			From:  memsearch.Bound{Time: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), Date: true},
			Until: memsearch.Bound{Time: time.Date(2026, 12, 1, 6, 30, 0, 0, time.UTC)},
		},
		Supersedes: []string{"mem_20250302090000_p1c2d3"}, SupersededBy: []string{"mem_20261201063000_q7w8e9"},
		Source: memsearch.Source{SessionID: "s-481", TurnID: "t-9", NodeIDs: []string{"n12", "n14"},
			Trust: memsearch.TrustAssistant, ConfirmedBy: "n14"},
		Tools: []string{"terraform"}, SourceEvents: []string{"e-1", "e:2"},
	}
	if d := cmp.Diff(want, f.Memory); d != "" {
		t.Errorf("memory (-want +got):\n%s", d)
	}
	if len(f.Problems) > 0 {
		t.Errorf("problems: %v", f.Problems)
	}
	const text = "# Region\n\nEverything runs in `eu-central-1` since the first of November."
	if len(f.Units) != 1 || f.Units[0].ID != want.ID || f.Units[0].Lines != [2]int{26, 28} || f.Units[0].Text != text {
		t.Errorf("units: %+v", f.Units)
	}
	// Hash: the first 16 hex digits of sha256sum over the text.
	if len(f.Units) == 1 && f.Units[0].Hash != "9d01f43e7c833766" {
		t.Errorf("hash %s", f.Units[0].Hash)
	}
	// What a writer of today makes of the memory is the same file.
	if d := cmp.Diff(string(raw), string(memfile.Format(f.Memory, f.Text[f.Body[0]:]))); d != "" {
		t.Errorf("formatted (-sample +got):\n%s", d)
	}
}
