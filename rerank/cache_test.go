package rerank_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/rerank"
)

// answer returns a's JSON form without what differs when it comes from a cache.
func answer(t *testing.T, a *rerank.Answer) string {
	t.Helper()
	plain := *a
	plain.Cached, plain.Cost = false, memsearch.Cost{}
	b, err := json.Marshal(plain)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func entries(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache", "rerank")
	f := says(`{"ranking":[{"n":2,"grade":3},{"n":1,"grade":3},{"n":2,"grade":1},{"n":9,"grade":1}]}`)
	ask := func(o rerank.ListwiseOptions, tk rerank.Task) *rerank.Answer {
		t.Helper()
		o.Cache = rerank.OpenCache(dir) // as another process would
		a, err := rerank.NewListwise(f, &o).Rerank(t.Context(), tk)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	first := ask(rerank.ListwiseOptions{Model: "m"}, task(3))
	if first.Cached || first.Cost.Calls != 1 {
		t.Errorf("first answer %+v", first)
	}
	if want := []string{"the model named 1 number that no candidate has", "the model named 1 candidate more than once"}; !cmp.Equal(want, first.Notes) {
		t.Error(cmp.Diff(want, first.Notes))
	}
	for range 3 {
		again := ask(rerank.ListwiseOptions{Model: "m"}, task(3))
		if !again.Cached || again.Cost != (memsearch.Cost{}) || answer(t, again) != answer(t, first) {
			t.Errorf("again %+v, first %+v", again, first)
		}
	}
	if f.calls() != 1 {
		t.Errorf("%d calls", f.calls())
	}
	for _, name := range entries(t, dir) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), "Anna") || strings.Contains(string(data), "mem_") {
			t.Errorf("text in %s: %s", name, data)
		}
	}
}

// Whatever changes what the model is shown, or who is asked, is asked again.
func TestCacheMisses(t *testing.T) {
	dir := t.TempDir()
	f := says(goodReply)
	ask := func(o rerank.ListwiseOptions, tk rerank.Task) *rerank.Answer {
		t.Helper()
		o.Cache = rerank.OpenCache(dir)
		a, err := rerank.NewListwise(f, &o).Rerank(t.Context(), tk)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	ask(rerank.ListwiseOptions{Model: "m"}, task(3))
	second, err := rerank.LoadPrompt("rerank@2")
	if err != nil {
		t.Fatal(err)
	}
	changed := task(3)
	changed.Candidates[2].Text += " And more."
	swapped := task(3)
	swapped.Candidates[0], swapped.Candidates[1] = swapped.Candidates[1], swapped.Candidates[0]
	asked := task(3)
	asked.Query += "?"
	sampled := task(3)
	sampled.Sample = 1
	for name, c := range map[string]struct {
		o  rerank.ListwiseOptions
		tk rerank.Task
	}{
		"model":   {rerank.ListwiseOptions{Model: "other"}, task(3)},
		"prompt":  {rerank.ListwiseOptions{Model: "m", Prompt: second}, task(3)},
		"text":    {rerank.ListwiseOptions{Model: "m"}, changed},
		"order":   {rerank.ListwiseOptions{Model: "m"}, swapped},
		"query":   {rerank.ListwiseOptions{Model: "m"}, asked},
		"sample":  {rerank.ListwiseOptions{Model: "m"}, sampled},
		"shorter": {rerank.ListwiseOptions{Model: "m", Snippet: 5}, task(3)},
		"fewer":   {rerank.ListwiseOptions{Model: "m"}, task(2)},
	} {
		if a := ask(c.o, c.tk); a.Cached || a.Cost.Calls != 1 {
			t.Errorf("changed %s: %+v", name, a)
		}
	}
}

// An answer over windows is from the cache when all of them are.
func TestCacheOfWindows(t *testing.T) {
	dir := t.TempDir()
	know := worthOf(map[int]int{3: 300, 40: 250, 79: 220})
	o := &rerank.ListwiseOptions{Budget: narrow, MaxCalls: 40, Cache: rerank.OpenCache(dir)}
	first, err := rerank.NewListwise(perfect(t, know), o).Rerank(t.Context(), task(80))
	if err != nil {
		t.Fatal(err)
	}
	names := entries(t, dir)
	if len(names) != first.Cost.Calls {
		t.Errorf("%d entries of %d calls", len(names), first.Cost.Calls)
	}
	if err := os.Remove(names[0]); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{1, 0} {
		f := perfect(t, know)
		a, err := rerank.NewListwise(f, o).Rerank(t.Context(), task(80))
		if err != nil {
			t.Fatal(err)
		}
		if f.calls() != want || a.Cached != (want == 0) || answer(t, a) != answer(t, first) {
			t.Errorf("run %d: %d calls, %+v", i, f.calls(), a)
		}
	}
}

// A damaged entry is a miss, and is replaced.
func TestCacheDamage(t *testing.T) {
	for name, damage := range map[string]string{
		"empty":          "",
		"cut":            `{"v":1,"picks":[{"n":1,`,
		"zeros":          "\x00\x00\x00\x00",
		"null":           "null",
		"no picks":       `{"v":1}`,
		"other version":  `{"v":2,"picks":[]}`,
		"unknown number": `{"v":1,"picks":[{"n":4,"grade":1}]}`,
		"number twice":   `{"v":1,"picks":[{"n":1,"grade":1},{"n":1,"grade":1}]}`,
		"zero":           `{"v":1,"picks":[{"n":0,"grade":1}]}`,
		"huge grade":     `{"v":1,"picks":[{"n":1,"grade":1e999}]}`,
		"negative":       `{"v":1,"picks":[],"unknown":-1}`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			f := says(`{"ranking":[{"n":3,"grade":2}]}`)
			l := rerank.NewListwise(f, &rerank.ListwiseOptions{Cache: rerank.OpenCache(dir)})
			for i := range 3 {
				a, err := l.Rerank(t.Context(), task(3))
				if err != nil {
					t.Fatal(err)
				}
				if want := []rerank.Pick{{Index: 2, Grade: 2}}; !cmp.Equal(want, a.Picks) || a.Cached != (i == 2) {
					t.Errorf("answer %d: %+v", i, a)
				}
				if i == 0 {
					if err := os.WriteFile(entries(t, dir)[0], []byte(damage), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}

// A cache that cannot be used costs nothing but the saving.
func TestCacheUnusable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "below"), "/proc/none"} {
		f := says(`{"ranking":[]}`)
		l := rerank.NewListwise(f, &rerank.ListwiseOptions{Cache: rerank.OpenCache(dir)})
		for range 2 {
			if a, err := l.Rerank(t.Context(), task(1)); err != nil || a.Cached {
				t.Errorf("%s: answer %+v, error %v", dir, a, err)
			}
		}
		if f.calls() != 2 {
			t.Errorf("%s: %d calls", dir, f.calls())
		}
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "mine" {
		t.Errorf("the file was changed: %q, %v", data, err)
	}
}

func TestCacheConcurrently(t *testing.T) {
	dir := t.TempDir()
	f := says(`{"ranking":[{"n":1,"grade":3}]}`)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			l := rerank.NewListwise(f, &rerank.ListwiseOptions{Cache: rerank.OpenCache(dir)})
			for j := range 6 {
				a, err := l.Rerank(t.Context(), task(1+(i+j)%3))
				if err != nil || !cmp.Equal([]rerank.Pick{{Index: 0, Grade: 3}}, a.Picks) {
					t.Errorf("answer %+v, error %v", a, err)
				}
			}
		})
	}
	wg.Wait()
	if n := len(entries(t, dir)); n != 3 {
		t.Errorf("%d entries", n)
	}
}

// fill makes n old entries, the first the oldest.
func fill(t *testing.T, dir string, n int) {
	t.Helper()
	for i := range n {
		name := filepath.Join(dir, fmt.Sprintf("%064x.json", i))
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		at := noon.AddDate(-6, 0, 0).Add(time.Duration(i) * time.Second)
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCachePrune(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, rerank.CacheEntries)
	other := filepath.Join(dir, "notes.json")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l := rerank.NewListwise(says(`{"ranking":[]}`), &rerank.ListwiseOptions{Cache: rerank.OpenCache(dir)})
	if _, err := l.Rerank(t.Context(), task(1)); err != nil {
		t.Fatal(err)
	}
	if n := len(entries(t, dir)); n != rerank.CacheEntries*3/4+1 {
		t.Errorf("%d files are left", n)
	}
	// 4097 entries become 3072: the oldest 1025 go.
	for i, want := range map[int]bool{0: false, 1024: false, 1025: true, rerank.CacheEntries - 1: true} {
		if _, err := os.Stat(filepath.Join(dir, fmt.Sprintf("%064x.json", i))); (err == nil) != want {
			t.Errorf("entry %d: %v", i, err)
		}
	}
	if a, err := l.Rerank(t.Context(), task(1)); err != nil || !a.Cached {
		t.Errorf("the newest entry is gone: %+v, %v", a, err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
}

// Failures are not kept: the next time the model is asked again.
func TestCacheKeepsNoFailure(t *testing.T) {
	dir := t.TempDir()
	broken := errors.New("broken")
	f := &fake{reply: func(llm.Request) (string, error) { return "", broken }}
	l := rerank.NewListwise(f, &rerank.ListwiseOptions{Model: "m", Cache: rerank.OpenCache(dir)})
	a, err := l.Rerank(t.Context(), task(2))
	if !errors.Is(err, broken) || a == nil || a.Cost.Calls != 1 || len(a.Picks) != 0 || a.Judged != 0 {
		t.Errorf("answer %+v, error %v", a, err)
	}
	if names := entries(t, dir); len(names) != 0 {
		t.Errorf("kept %v", names)
	}
}
