package rerank_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch/rerank"
)

// keyed returns a reranker of three candidates that asks f, and the file that its
// verdict is kept in.
func keyed(t testing.TB, f *fake) (l *rerank.Listwise, file string) {
	t.Helper()
	dir := t.TempDir()
	l = rerank.NewListwise(f, &rerank.ListwiseOptions{Cache: rerank.OpenCache(dir)})
	if _, err := l.Rerank(t.Context(), task(3)); err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 1 {
		t.Fatalf("entries %v, %v", names, err)
	}
	return l, filepath.Join(dir, names[0].Name())
}

// TestBackcompat reads an entry of each version.
func TestBackcompat(t *testing.T) {
	for name, want := range map[string]*rerank.Answer{
		"v1.json": {Picks: []rerank.Pick{{Index: 2, Grade: 3}, {Index: 0, Grade: 1.5}}, Judged: 3,
			Notes: []string{"the model named 2 numbers that no candidate has", "the model named 1 candidate more than once"}, Cached: true},
	} {
		data, err := os.ReadFile(filepath.Join("testdata", "backcompat", name))
		if err != nil {
			t.Fatal(err)
		}
		l, file := keyed(t, says(`{"ranking":[]}`))
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := l.Rerank(t.Context(), task(3))
		if err != nil {
			t.Fatal(err)
		}
		want.Prompt = got.Prompt
		if d := cmp.Diff(want, got); d != "" {
			t.Error(name, d)
		}
	}
}

// FuzzEntry: whatever stands in an entry, the answer is one about the candidates.
func FuzzEntry(f *testing.F) {
	f.Add([]byte(`{"v":1,"picks":[{"n":3,"grade":3}],"unknown":1}`))
	f.Add([]byte(`{"v":1,"picks":[]}`))
	f.Add([]byte(`{"v":1,"picks":[{"n":4,"grade":1e309}]}`))
	l, file := keyed(f, says(`{"ranking":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := l.Rerank(t.Context(), task(3))
		if err != nil || a.Judged != 3 {
			t.Fatalf("answer %+v, error %v", a, err)
		}
		seen := map[int]bool{}
		for _, p := range a.Picks {
			if p.Index < 0 || p.Index > 2 || seen[p.Index] {
				t.Errorf("picks %v", a.Picks)
			}
			seen[p.Index] = true
		}
	})
}

// FuzzReply: whatever a model says, the answer is one about the candidates, or an
// error.
func FuzzReply(f *testing.F) {
	for _, s := range []string{goodReply, "```json\n" + goodReply + "\n```", `{"ranking":[{"n":9,"grade":3}]}`, "null", `{"ranking":[{"n":1e3,"grade":1}]}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		a, err := rerank.NewListwise(says(reply), nil).Rerank(t.Context(), task(3))
		if err != nil {
			if a == nil || a.Cost.Calls < 1 || a.Cost.Calls > 2 || len(a.Picks) > 0 {
				t.Errorf("answer %+v, error %v", a, err)
			}
			return
		}
		seen := map[int]bool{}
		for i, p := range a.Picks {
			if p.Index < 0 || p.Index > 2 || seen[p.Index] || p.Grade < 1 || p.Grade > 3 || i > 0 && p.Grade > a.Picks[i-1].Grade {
				t.Errorf("picks %v", a.Picks)
			}
			seen[p.Index] = true
		}
	})
}
