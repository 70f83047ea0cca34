package index_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/memsearch/memsearch/index"
)

var small = map[string]string{
	"region.md": "---\nid: mem_region\ncategory: reference\nsummary: Production moved to eu-central-1\ncreated_at: 2026-11-01T10:00:00Z\n" +
		"supersedes: [mem_old]\n---\nProduction runs in eu-central-1 since November.\n",
	"old.md":              "---\nid: mem_old\ncreated_at: 2025-03-02T10:00:00Z\n---\nProduction runs in us-east-1.\n",
	"tea.md":              "我不喜欢咖啡，喜欢喝茶。\n",
	"daily/2026-03-12.md": "# 2026-03-12\n\n- Fixed the flaky login test\n- Met Alice about the release steps\n",
	"empty.md":            "",
}

func TestSync(t *testing.T) {
	f := newFixture(t, small, nil)
	r := f.sync()
	want := &index.SyncReport{State: index.StateMissing, Reason: "there is no index yet", Generation: 1, Published: true,
		Files: 5, Indexed: 4, Skipped: 1, Units: 4, Added: 5}
	if d := cmp.Diff(want, r, cmpopts.IgnoreFields(index.SyncReport{}, "Skips")); d != "" {
		t.Errorf("first sync (-want +got):\n%s", d)
	}
	clean(t, f.ix)
	if got := lexicalIDs(t, f.ix, "eu-central-1"); len(got) == 0 || got[0] != "mem_region" {
		t.Errorf("eu-central-1 finds %q", got)
	}
	before := tree(t, f.dir)
	r = f.sync()
	if r.Published || r.State != index.StateEqual || r.Generation != 1 {
		t.Errorf("second sync: %+v", r)
	}
	if d := cmp.Diff(before, tree(t, f.dir)); d != "" {
		t.Errorf("a sync without changes wrote (-before +after):\n%s", d)
	}
}
