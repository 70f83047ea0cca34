package journal_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memsearch/memsearch/internal/journal"
)

func TestStrip(t *testing.T) {
	j, dir := open(t, nil)
	drop := func(record json.RawMessage) []string {
		if strings.Contains(string(record), `"stay"`) {
			return nil
		}
		return []string{"path", "reason"}
	}
	if err := j.Strip(journal.Lifecycle, drop); err != nil {
		t.Errorf("a stream without a file: %v", err)
	}
	const before = `{"v":1,"event":"created","id":"a","path":"x/y.md"}
{"v":1,"path":"p","event":"stay"}
{"v":1,"event":"torn","path":"se
{"v":1,"reason":"because","n":1.50,"of":{"path":1}}
{"v":2,"path":"newer"}
{"v":1,"path":"at the end"}`
	const after = `{"v":1,"event":"created","id":"a"}
{"v":1,"path":"p","event":"stay"}
{"v":1,"n":1.50,"of":{"path":1}}
{"v":2,"path":"newer"}
{"v":1}
`
	file := filepath.Join(dir, "lifecycle.jsonl")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := j.Strip(journal.Lifecycle, drop); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != after {
			t.Errorf("got %s %v, want %s", got, err, after)
		}
	}
}
