//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/memsearch/memsearch"
)

// TestPipes guards against a recall that waits for ever because something else
// stands where a file should be.
func TestPipes(t *testing.T) {
	v := newVault(t, notes{"x.md": "keyword limpkin\n"})
	var out, errs bytes.Buffer
	ask := func(args ...string) int {
		out.Reset()
		errs.Reset()
		return run(append(args, "--vault", v.dir), strings.NewReader(""), &out, &errs)
	}
	if code := ask("recall", "limpkin"); code != exitOK {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	list, err := filepath.Glob(v.path(".memsearch/gen-*/*"))
	if err != nil || len(list) < 6 {
		t.Fatal(list, err)
	}
	parts, err := filepath.Glob(v.path(".memsearch/gen-*/lexical/*"))
	if err != nil || len(parts) < 2 {
		t.Fatal(parts, err)
	}
	for _, name := range append(append(list, parts...), v.path(".memsearch/CURRENT")) {
		// The generation is another one after each repair.
		rel := filepath.Base(name)
		if filepath.Base(filepath.Dir(name)) == "lexical" {
			rel = filepath.Join("lexical", rel)
		}
		current := v.path(".memsearch/CURRENT")
		if rel != "CURRENT" {
			raw, err := os.ReadFile(current)
			if err != nil {
				t.Fatal(err)
			}
			gen, _, _ := strings.Cut(string(raw), " ")
			current = v.path(".memsearch/" + gen + "/" + rel)
		}
		if fi, err := os.Stat(current); err != nil || fi.IsDir() {
			continue // lexical, or a segment of another name
		}
		if err := errors.Join(os.Remove(current), syscall.Mkfifo(current, 0o600)); err != nil {
			t.Fatal(err)
		}
		code := ask("recall", "--json", "limpkin")
		res := &memsearch.Result{}
		if err := json.Unmarshal(out.Bytes(), res); err != nil || code != exitOK || len(res.Hits) != 1 {
			t.Errorf("a pipe instead of %s: exit %d, %s %v: %s", rel, code, res.Status, res.Reasons, errs.String())
		}
	}
	if err := syscall.Mkfifo(v.path("memsearch.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"config"}, {"index"}, {"recall", "limpkin"}} {
		if code := ask(args...); code == exitOK || !strings.Contains(errs.String(), "memsearch.yaml: not a regular file") {
			t.Errorf("%v: exit %d: %s", args, code, errs.String())
		}
	}
}
