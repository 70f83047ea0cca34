//go:build unix

package vault_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/memfile"
	"github.com/memsearch/memsearch/internal/vault"
)

// A known is what the model keeps of a memory.
type known struct {
	path, body string
	status     memsearch.Status
	by         []string
}

// Random writes agree with a map, also when single file operations fail and when
// the process dies in between: then the memory has its old state or its new one.
func TestModel(t *testing.T) {
	parent := memoryDir(t)
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(parent, "")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		countdown, dead := 0, false // the operation that fails; 0 means none
		opts := options()
		tick := 0
		opts.Now = func() time.Time { return now.Add(time.Duration(tick) * time.Hour) }
		opts.Hook = func(op, name string) error {
			if countdown > 0 {
				if countdown--; countdown == 0 {
					dead = true
				}
			}
			if dead {
				return errInjected
			}
			return nil
		}
		v, err := vault.Open(dir, opts)
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		w, err := v.Writer()
		if err != nil {
			t.Fatal(err)
		}
		model := map[string]known{}
		pick := func(t *rapid.T) (string, known) {
			if len(model) == 0 {
				t.Skip("empty")
			}
			id := rapid.SampledFrom(slices.Sorted(maps.Keys(model))).Draw(t, "id")
			return id, model[id]
		}
		fresh := func() vault.NewMemory {
			tick++
			return fact(fmt.Sprintf("summary %d", tick), fmt.Sprintf("the body of memory number %d\n", tick))
		}
		step := func(t *rapid.T, apply func() error, change func(model map[string]known)) {
			countdown, dead = 0, false
			if rapid.IntRange(0, 3).Draw(t, "fault") == 0 {
				countdown = rapid.IntRange(1, 40).Draw(t, "at")
			}
			err := apply()
			failed := dead
			countdown, dead = 0, false
			if err != nil && !failed {
				t.Fatal(err)
			}
			after := maps.Clone(model)
			change(after)
			if failed {
				if err := w.Repair(context.Background()); err != nil {
					t.Fatal(err)
				}
				if got := read(t, dir); err != nil && cmp.Equal(got, model, cmp.AllowUnexported(known{})) {
					return // it did not happen
				}
			}
			model = after
		}
		t.Repeat(map[string]func(*rapid.T){
			"create": func(t *rapid.T) {
				n := fresh()
				n.Memory.ID = fmt.Sprintf("m%d", tick)
				step(t, func() error { _, err := w.Create(context.Background(), n); return err }, func(m map[string]known) {
					m[n.Memory.ID] = known{pathOf(n, tick), n.Body, memsearch.StatusActive, nil}
				})
			},
			"supersede": func(t *rapid.T) {
				id, k := pick(t)
				if k.status != memsearch.StatusActive {
					t.Skip("over")
				}
				n := fresh()
				n.Memory.ID = fmt.Sprintf("m%d", tick)
				apply := func() error {
					_, err := w.Supersede(context.Background(), k.path, n, memsearch.Bound{})
					return err
				}
				step(t, apply, func(m map[string]known) {
					m[n.Memory.ID] = known{pathOf(n, tick), n.Body, memsearch.StatusActive, nil}
					k.status, k.by = memsearch.StatusSuperseded, []string{n.Memory.ID}
					m[id] = k
				})
			},
			"retire": func(t *rapid.T) {
				id, k := pick(t)
				active := k.status == memsearch.StatusActive
				step(t, func() error {
					got := w.Retire(context.Background(), k.path, memsearch.Bound{Time: opts.Now()}, "")
					if _, refused := errors.AsType[*vault.RefusedError](got); refused && !active {
						return nil
					}
					return got
				}, func(m map[string]known) {
					if active {
						k.status = memsearch.StatusRetired
						m[id] = k
					}
				})
			},
			"forget": func(t *rapid.T) {
				id, k := pick(t)
				step(t, func() error {
					_, err := w.Forget(context.Background(), []vault.Target{{Path: k.path}}, false)
					return err
				}, func(m map[string]known) { delete(m, id) })
			},
			"": func(t *rapid.T) {
				if diff := cmp.Diff(model, read(t, dir), cmp.AllowUnexported(known{})); diff != "" {
					t.Fatalf("(-model +disk):\n%s", diff)
				}
				if stale, err := v.CatalogStale(context.Background()); stale || err != nil {
					t.Fatalf("catalog stale: %v, %v", stale, err)
				}
			},
		})
	})
}

func pathOf(n vault.NewMemory, tick int) string {
	day := now.Add(time.Duration(tick) * time.Hour).Format("20060102")
	return fmt.Sprintf("reference/decision-%s-%s.md", day, n.Memory.ID)
}

func read(t *rapid.T, dir string) map[string]known {
	out := map[string]known{}
	names, err := filepath.Glob(filepath.Join(dir, "reference", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		rel, _ := filepath.Rel(dir, name)
		f := memfile.Parse(filepath.ToSlash(rel), raw, nil)
		out[f.Memory.ID] = known{f.Memory.Path, f.Text[f.Body[0]:], f.Memory.Status, f.Memory.SupersededBy}
	}
	return out
}

// Two writers on one vault lose nothing, and all ids differ.
func TestConcurrentWriters(t *testing.T) {
	dir := t.TempDir()
	const each = 12
	var wg sync.WaitGroup
	errs := make([]error, 2)
	for i := range errs {
		opts := options()
		opts.Rand, opts.Wait = nil, time.Minute
		w := writer(t, dir, opts)
		wg.Go(func() {
			last := ""
			for n := range each {
				m, err := w.Create(context.Background(), fact(fmt.Sprintf("writer %d, memory %d", i, n), fmt.Sprintf("body %d of writer %d", n, i)))
				if err == nil && n%3 == 2 {
					m, err = w.Supersede(context.Background(), last, fact("newer", fmt.Sprintf("newer %d of writer %d", n, i)), memsearch.Bound{})
				}
				errs[i] = errors.Join(errs[i], err)
				last = m.Path
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	v := open(t, dir, options())
	paths, _ := walk(t, v)
	if want := 2*(each+each/3) + 1; len(paths) != want { // and MEMORY.md
		t.Errorf("%d files, want %d", len(paths), want)
	}
	if facts := current(tree(t, dir)); len(facts) != 2*each {
		t.Errorf("%d facts, want %d", len(facts), 2*each)
	}
	if stale, err := v.CatalogStale(t.Context()); stale || err != nil {
		t.Errorf("catalog stale: %v, %v", stale, err)
	}
}
