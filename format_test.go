package memsearch_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/memsearch/memsearch"
)

// docs/format.md lists every member of the JSON of a recall, and every word that
// front matter may hold.
func TestFormatDocument(t *testing.T) {
	raw, err := os.ReadFile("docs/format.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(raw)
	part := func(from, to string) string {
		_, s, ok := strings.Cut(doc, "\n"+from+"\n")
		s, _, ok2 := strings.Cut(s, "\n"+to+"\n")
		if !ok || !ok2 {
			t.Fatalf("docs/format.md has no part from %q to %q", from, to)
		}
		return s
	}
	recall := part("## Recall in JSON", "## Evaluation data")
	for _, v := range []any{memsearch.Result{}, memsearch.Hit{}, memsearch.Cost{}, memsearch.Trace{}, memsearch.Gate{}, memsearch.RerankTrace{},
		memsearch.Signals{}, memsearch.Signal{}, memsearch.Step{}} {
		for f := range reflect.TypeOf(v).Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !strings.Contains(recall, "`"+name+"`") {
				t.Errorf("%T: member %s is missing", v, name)
			}
		}
	}
	memory := part("## The memory file", "## What a writer adds")
	words := func(list ...string) {
		for _, w := range list {
			if !strings.Contains(memory, "`"+w+"`") {
				t.Errorf("%q is missing in the table of the memory file", w)
			}
		}
	}
	for _, c := range memsearch.Categories {
		words(string(c))
	}
	for _, k := range memsearch.Kinds {
		words(string(k))
	}
	for _, s := range memsearch.Statuses {
		words(string(s))
	}
}
