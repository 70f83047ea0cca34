package journal_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch/internal/atomicfile"
	"github.com/memsearch/memsearch/internal/journal"
)

// TestBackcompat reads the sample that version 1 left. A journal cannot be made
// again from anything: when [journal.Version] is raised, a folder v2 joins this
// one, and v1 must go on being read as it is here. A sample is never rewritten.
//
// The sums in it are those of openssl dgst -sha256 -mac HMAC with the key of
// bytes 0 to 31 over the normal forms below; one line is torn.
func TestBackcompat(t *testing.T) {
	d, err := atomicfile.OpenDir("testdata/backcompat", func(op, name string) error {
		t.Errorf("%s %s while reading", op, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	j := journal.New(d, "v1")

	for _, tt := range []struct {
		text   string
		events []string
		want   bool
	}{
		// door the code of the back door is 4711 abc done 数据库的维护窗口是每周二凌晨三点
		{"# Door\n\n- The code of the back door is 4711-ABC.\n- Done\n\n数据库的维护窗口是每周二凌晨三点。\n", nil, true},
		{"The code of the back door is 4711-ABC.\nDone", nil, true}, // a paragraph
		{"THE CODE of the back door is ４７１１ ABC", nil, true},        // a line, full width
		{"数据库的维护窗口是每周二凌晨三点", nil, true},
		{"Short!", nil, true}, // the record behind the torn line
		{"Done", nil, false},  // a line too short to be kept
		{"The code of the front door is 1234.", nil, false},
		{"other words", []string{"s-481/n12"}, true},
		{"other words", []string{"s-481/n12", "e-2"}, false},
	} {
		got, err := j.Entombed(tt.text, tt.events)
		if err != nil || got != tt.want {
			t.Errorf("Entombed(%q, %q) = %v, %v; want %v", tt.text, tt.events, got, err, tt.want)
		}
	}

	type event struct {
		Time                                     time.Time
		Event, Op, ID, Path, Rule, Field, Reason string
	}
	const id, path = "mem_20261129101500_k3f9a2", "reference/region-20261129-mem_20261129101500_k3f9a2.md"
	want := []event{
		{Time: time.Date(2026, 11, 29, 10, 15, 0, 0, time.UTC), Event: "created", ID: id, Path: path},
		{Time: time.Date(2026, 11, 29, 10, 16, 0, 0, time.UTC), Event: "refused", Op: "create", Rule: "secret", Field: "body"},
		{Time: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC), Event: "retired", ID: id, Path: path, Reason: "wrong"},
	}
	var got []event
	err = j.Read(journal.Lifecycle, func(raw json.RawMessage) error {
		var e event
		err := json.Unmarshal(raw, &e)
		got = append(got, e)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
