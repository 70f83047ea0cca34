package recall_test

import (
	"bufio"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/embed/static"
	"github.com/memsearch/memsearch/index"
	"github.com/memsearch/memsearch/recall"
)

var update = flag.Bool("update", false, "rewrite the ranking goldens")

// vaultScope indexes testdata/ranking/vault in memory.
func vaultScope(t testing.TB) (recall.Scope, *recall.Options) {
	t.Helper()
	root := os.DirFS("testdata/ranking/vault")
	var docs []index.Document
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(root, path)
		docs = append(docs, index.Document{Path: path, Raw: raw})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return scopeOf(t, "vault", docs)
}

// scopeOf indexes docs in memory with the built-in model.
func scopeOf(t testing.TB, name string, docs []index.Document) (recall.Scope, *recall.Options) {
	t.Helper()
	model, err := static.Shared()
	if err != nil {
		t.Fatal(err)
	}
	ix, err := index.Memory(t.Context(), docs, &index.Options{Embedder: model})
	if err != nil {
		t.Fatal(err)
	}
	snap, err := ix.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		snap.Close()
		ix.Close()
	})
	return recall.Scope{Name: name, Snapshot: snap}, &recall.Options{Vocabulary: model}
}

// A wanted ranking is a line of queries.txt.
type wanted struct{ name, target, query string }

func queries(t *testing.T) []wanted {
	f, err := os.Open("testdata/ranking/queries.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []wanted
	for s := bufio.NewScanner(f); s.Scan(); {
		p := strings.SplitN(s.Text(), " | ", 3)
		if len(p) == 3 && !strings.HasPrefix(p[0], "#") {
			out = append(out, wanted{p[0], p[1], p[2]})
		}
	}
	return out
}

// TestRanking compares the ranking of each query with its golden file, so that a
// change of rank is a change of text. Run with -update to accept the new ones.
func TestRanking(t *testing.T) {
	scope, opts := vaultScope(t)
	e := recall.New([]recall.Scope{scope}, opts)
	for _, w := range queries(t) {
		t.Run(w.name, func(t *testing.T) {
			res := ask(t, e, memsearch.Query{Text: w.query, Explain: true})
			got := golden(w, res)
			name := filepath.Join("testdata/ranking", w.name+".txt")
			if *update {
				if err := os.WriteFile(name, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("ranking changed (-want +got):\n%s", diff)
			}
		})
	}
}

// golden writes a ranking so that it can be read: the target's rank, then every
// hit with the parts of its score.
func golden(w wanted, res *memsearch.Result) string {
	var b strings.Builder
	rank := slices.IndexFunc(res.Hits, func(h memsearch.Hit) bool { return h.Path == strings.TrimLeft(w.target, "!?") }) + 1
	fmt.Fprintf(&b, "query: %s\n", w.query)
	switch {
	case w.target == "-":
		fmt.Fprintf(&b, "target: none, status %s\n", res.Status)
	case strings.HasPrefix(w.target, "!"):
		fmt.Fprintf(&b, "not wanted: %s, rank %d\n", w.target[1:], rank)
	default:
		fmt.Fprintf(&b, "target: %s, rank %d\n", strings.TrimPrefix(w.target, "?"), rank)
	}
	fmt.Fprintf(&b, "confidence: %.2f\n", res.Confidence)
	for _, d := range res.Trace.Dates {
		fmt.Fprintf(&b, "date: %s\n", d)
	}
	for i, h := range res.Hits {
		fmt.Fprintf(&b, "\n%d. %s:%d-%d  %.3f =", i+1, h.Path, h.Lines[0], h.Lines[1], h.Score)
		for _, s := range h.Trace {
			fmt.Fprintf(&b, " %s %.3f", s.Stage, s.Delta)
		}
		fmt.Fprintf(&b, "\n   %s", h.Summary)
	}
	b.WriteString("\n")
	return b.String()
}

// TestRankingTargets asserts what queries.txt asks for, whatever the goldens say.
func TestRankingTargets(t *testing.T) {
	scope, opts := vaultScope(t)
	e := recall.New([]recall.Scope{scope}, opts)
	for _, w := range queries(t) {
		res := ask(t, e, memsearch.Query{Text: w.query})
		var paths []string
		for _, h := range res.Hits {
			paths = append(paths, h.Path)
		}
		switch {
		case w.target == "-":
			if res.Status != memsearch.StateEmpty {
				t.Errorf("%s: status %s, confidence %.3f, want empty", w.name, res.Status, res.Confidence)
			}
		case strings.HasPrefix(w.target, "!"):
			if slices.Contains(paths, w.target[1:]) {
				t.Errorf("%s: %s was returned", w.name, w.target[1:])
			}
		case !strings.HasPrefix(w.target, "?"):
			if len(paths) == 0 || paths[0] != w.target {
				t.Errorf("%s: %q got %v, want %s first", w.name, w.query, paths[:min(3, len(paths))], w.target)
			}
		}
	}
}

// TestDeterminism asks everything again on one processor and on all.
func TestDeterminism(t *testing.T) {
	scope, opts := vaultScope(t)
	e := recall.New([]recall.Scope{scope, scope}, opts)
	answers := func() []*memsearch.Result {
		var out []*memsearch.Result
		for _, w := range queries(t) {
			out = append(out, ask(t, e, memsearch.Query{Text: w.query, Explain: true}))
		}
		return out
	}
	want := answers()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if diff := cmp.Diff(want, answers()); diff != "" {
		t.Error(diff)
	}
}
