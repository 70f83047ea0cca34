package embed_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/memsearch/memsearch/embed"
)

func TestDamagedCacheIsMovedAside(t *testing.T) {
	garbage := bytes.Repeat([]byte("not a database. "), 1000)
	for name, spoil := range map[string]func(t *testing.T, path string){
		"garbage": func(t *testing.T, path string) { writeFile(t, path, garbage) },
		"header":  func(t *testing.T, path string) { patch(t, path, 0, garbage[:64]) },
		"pages":   func(t *testing.T, path string) { patch(t, path, 4096, garbage[:8192]) },
		"newer":   func(t *testing.T, path string) { exec1(t, path, `PRAGMA user_version = 99`) },
	} {
		t.Run(name, func(t *testing.T) {
			path := cachePath(t)
			c := embed.Wrap(&counter{dims: 4}, path, nil)
			check(t, c, 4, "a", "b")
			c.Close()
			spoil(t, path)

			e := &counter{dims: 4}
			c = embed.Wrap(e, path, nil)
			check(t, c, 4, "a", "b")
			check(t, c, 4, "a", "b")
			if err := c.Cache().Err(); err != nil {
				t.Errorf("cache is off: %v", err)
			}
			if e.texts["a"] != 1 {
				t.Errorf("embedded %d times after the damage", e.texts["a"])
			}
			if _, err := os.Stat(path + embed.BrokenSuffix); err != nil {
				t.Error(err)
			}
			if err := c.Cache().Purge(t.Context(), nil); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(path + embed.BrokenSuffix); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("damaged file after Purge: %v", err)
			}
		})
	}
}

func writeFile(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func patch(t *testing.T, path string, at int, with []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copy(b[min(at, len(b)):], with)
	writeFile(t, path, b)
}

// exec1 runs SQL on the file.
func exec1(t *testing.T, path, sql string) {
	t.Helper()
	db, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Exec(sql); err != nil {
		t.Fatal(err)
	}
}

// TestChangedRowIsAMiss changes one byte of a stored row behind SQLite's back.
func TestChangedRowIsAMiss(t *testing.T) {
	path := cachePath(t)
	c := embed.Wrap(&counter{dims: 4}, path, nil)
	check(t, c, 4, "a")
	c.Close()
	exec1(t, path, `UPDATE vectors SET row = x'00000000000000000000000000000000'`)
	e := &counter{dims: 4}
	check(t, embed.Wrap(e, path, nil), 4, "a")
	if e.texts["a"] != 1 {
		t.Error("the changed row was believed")
	}
}

// TestManyProcesses runs this test binary several times on one file.
func TestManyProcesses(t *testing.T) {
	const n = 4
	texts := make([]string, 50)
	for i := range texts {
		texts[i] = fmt.Sprint("text ", i)
	}
	if path := os.Getenv("MEMSEARCH_TEST_CACHE"); path != "" {
		c := embed.Wrap(&counter{dims: 16}, path, nil)
		for i := range 20 {
			check(t, c, 16, texts[i:i+30]...)
		}
		if err := c.Cache().Err(); err != nil {
			t.Error(err)
		}
		return
	}
	path := cachePath(t)
	writeFile(t, path, bytes.Repeat([]byte("damaged "), 1000)) // found by all at once
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestManyProcesses$")
			cmd.Env = append(os.Environ(), "MEMSEARCH_TEST_CACHE="+path)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("child: %v\n%s", err, out)
			}
		})
	}
	wg.Wait()
	e := &counter{dims: 16}
	check(t, embed.Wrap(e, path, nil), 16, texts[:49]...)
	if len(e.texts) != 0 {
		t.Errorf("%d texts are not in the cache", len(e.texts))
	}
}
