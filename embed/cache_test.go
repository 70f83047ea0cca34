package embed_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/ncruces/go-sqlite3"

	"github.com/memsearch/memsearch/embed"
)

// counter embeds a text as the first bytes of its hash and counts.
type counter struct {
	mu    sync.Mutex
	texts map[string]int
	calls int
	dims  int
	int8  bool
	fail  func(text string) error
}

func (c *counter) Fingerprint() embed.Fingerprint {
	return embed.Fingerprint{Model: "counter", Dims: c.dims}
}

func (c *counter) Int8() bool { return c.int8 }

func (c *counter) Embed(_ context.Context, texts []string, _ embed.Kind) ([][]float32, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	var rows [][]float32
	for _, text := range texts {
		if c.fail != nil {
			if err := c.fail(text); err != nil {
				return nil, err
			}
		}
		if c.texts == nil {
			c.texts = map[string]int{}
		}
		c.texts[text]++
		rows = append(rows, vector(text, c.dims))
	}
	return rows, nil
}

func vector(text string, dims int) []float32 {
	sum := sha256.Sum256([]byte(text))
	row := make([]float32, dims)
	for i := range row {
		row[i] = float32(sum[i%len(sum)]) - 100
	}
	if text != "" {
		embed.Normalize(row)
	} else {
		clear(row)
	}
	return row
}

func cachePath(t *testing.T) string { return filepath.Join(t.TempDir(), "vectors.db") }

// check embeds texts through the cache and compares with vector.
func check(t *testing.T, c *embed.Cached, dims int, texts ...string) {
	t.Helper()
	rows, err := c.Embed(t.Context(), texts, embed.Passage)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(texts) {
		t.Fatalf("%d rows for %d texts", len(rows), len(texts))
	}
	for i, text := range texts {
		if d := cmp.Diff(vector(text, dims), rows[i]); d != "" {
			t.Errorf("row of %q (-want +got):\n%s", text, d)
		}
	}
}

func TestCacheEmbedsATextOnce(t *testing.T) {
	path := cachePath(t)
	e := &counter{dims: 5}
	for range 3 { // each time as another process would
		c := embed.Wrap(e, path, nil)
		check(t, c, 5, "a", "b", "a", "", "中文")
		if err := c.Cache().Err(); err != nil {
			t.Error(err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if d := cmp.Diff(map[string]int{"a": 1, "b": 1, "": 1, "中文": 1}, e.texts); d != "" {
		t.Errorf("times embedded (-want +got):\n%s", d)
	}
	// Same texts, another space.
	check(t, embed.Wrap(&counter{dims: 6}, path, nil), 6, "a")
}

func TestCacheHoldsNoText(t *testing.T) {
	path := cachePath(t)
	check(t, embed.Wrap(&counter{dims: 3}, path, nil), 3, "a rather unique canary")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b, []byte("canary")) {
		t.Error("the file holds the text")
	}
}

func TestQueriesAndCheapModelsBypassTheCache(t *testing.T) {
	path := cachePath(t)
	e := &counter{dims: 3}
	c := embed.Wrap(e, path, nil)
	for range 2 {
		if _, err := c.Embed(t.Context(), []string{"q"}, embed.Query); err != nil {
			t.Fatal(err)
		}
	}
	if e.texts["q"] != 2 {
		t.Errorf("query embedded %d times", e.texts["q"])
	}
	w := embed.Wrap(cheap{}, path, nil)
	if w.Cache() != nil || w.Close() != nil {
		t.Error("a cheap embedder has a cache")
	}
	if _, err := w.Embed(t.Context(), []string{"x"}, embed.Passage); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the cache file was made: %v", err)
	}
	if _, ok := embed.As[embed.Cheap](w); !ok {
		t.Error("ability of the wrapped embedder not found")
	}
}

type cheap struct{ plain }

func (cheap) Cheap() bool { return true }

// TestQuantisedRowsAreStable: the row of a miss is the row of a hit, and close to
// the row of the model.
func TestQuantisedRowsAreStable(t *testing.T) {
	path := cachePath(t)
	e := &counter{dims: 64, int8: true}
	texts := []string{"one", "two", ""}
	var last [][]float32
	for i := range 2 {
		c := embed.Wrap(e, path, nil)
		rows, err := c.Embed(t.Context(), texts, embed.Passage)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			if d := cmp.Diff(last, rows); d != "" {
				t.Errorf("rows changed (-first +second):\n%s", d)
			}
		}
		last = rows
		c.Close()
	}
	if e.calls != 1 {
		t.Errorf("%d calls", e.calls)
	}
	for i, text := range texts {
		var dot, n float64
		for j, x := range vector(text, 64) {
			dot += float64(x) * float64(last[i][j])
			n += float64(last[i][j]) * float64(last[i][j])
		}
		if text == "" && n != 0 || text != "" && dot/math.Sqrt(n) < .9999 {
			t.Errorf("%q: dot %v, norm² %v", text, dot, n)
		}
	}
}

func TestForeignDatabaseIsLeftAlone(t *testing.T) {
	path := cachePath(t)
	exec1(t, path, `CREATE TABLE mine (x); INSERT INTO mine VALUES ('precious')`)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := embed.Wrap(&counter{dims: 4}, path, nil)
	check(t, c, 4, "a", "a")
	if c.Cache().Err() == nil {
		t.Error("no reason given")
	}
	if err := c.Cache().Purge(t.Context(), nil); err != nil {
		t.Error(err)
	}
	c.Close()
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file changed: %v", err)
	}
}

func TestUnusableDiskTurnsTheCacheOff(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	writeFile(t, file, nil)
	var log bytes.Buffer
	c := embed.Wrap(&counter{dims: 4}, filepath.Join(file, "vectors.db"),
		&embed.CacheOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	check(t, c, 4, "a")
	check(t, c, 4, "a")
	if c.Cache().Err() == nil {
		t.Error("no reason given")
	}
	if n := strings.Count(log.String(), "vector cache turned off"); n != 1 {
		t.Errorf("warned %d times:\n%s", n, log.String())
	}
}

// TestFullCacheIsStillRead fills a file of at most eight pages.
func TestFullCacheIsStillRead(t *testing.T) {
	path := cachePath(t)
	opts := &embed.CacheOptions{MaxBytes: 8 * 4096}
	e := &counter{dims: 500}
	c := embed.Wrap(e, path, opts)
	check(t, c, 500, "a")
	var many []string
	for i := range 100 {
		many = append(many, fmt.Sprint(i))
	}
	check(t, c, 500, many...)
	if !errors.Is(c.Cache().Err(), sqlite3.FULL) {
		t.Errorf("Err() = %v", c.Cache().Err())
	}
	check(t, c, 500, "a")
	if e.texts["a"] != 1 {
		t.Errorf("a was embedded %d times", e.texts["a"])
	}
	if err := c.Cache().Purge(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

func TestReadOnlyCache(t *testing.T) {
	path := cachePath(t)
	ro := &embed.CacheOptions{ReadOnly: true}
	absent := embed.Wrap(&counter{dims: 4}, path, ro)
	check(t, absent, 4, "a")
	if err := absent.Cache().Err(); err != nil {
		t.Errorf("no file yet: %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("made the file")
	}
	w := embed.Wrap(&counter{dims: 4}, path, nil)
	check(t, w, 4, "a")
	w.Close()
	e := &counter{dims: 4}
	c := embed.Wrap(e, path, ro)
	check(t, c, 4, "a", "b")
	check(t, c, 4, "a", "b")
	if d := cmp.Diff(map[string]int{"b": 2}, e.texts); d != "" {
		t.Errorf("times embedded (-want +got):\n%s", d)
	}
	if c.Cache().Purge(t.Context(), nil) == nil {
		t.Error("purged a read-only cache")
	}
}

// TestPurge looks for the bytes of a row in the file: before, to prove that it
// can see them, and after.
func TestPurge(t *testing.T) {
	path := cachePath(t)
	c := embed.Wrap(&counter{dims: 4}, path, nil)
	check(t, c, 4, "secret", "kept")
	secret, kept := embed.KeyOf("secret"), embed.KeyOf("kept")
	if want := "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"; hex.EncodeToString(secret[:]) != want {
		t.Errorf("key of secret is %x, want its SHA-256", secret)
	}
	has := func(k embed.Key) bool {
		t.Helper()
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Contains(b, k[:])
	}
	if !has(secret) || !has(kept) {
		t.Fatal("keys cannot be seen")
	}
	if err := c.Cache().Purge(t.Context(), func(k embed.Key) bool { return k == kept }); err != nil {
		t.Fatal(err)
	}
	if has(secret) || !has(kept) {
		t.Errorf("after Purge: secret %v, kept %v", has(secret), has(kept))
	}
	rows, err := c.Cache().Lookup(t.Context(), (&counter{dims: 4}).Fingerprint(), []embed.Key{secret, kept})
	if err != nil || rows[0] != nil || rows[1] == nil {
		t.Errorf("Lookup = %v, %v", rows, err)
	}
	if err := embed.OpenCache(path+".none", nil).Purge(t.Context(), nil); err != nil {
		t.Errorf("no file: %v", err)
	}
	if _, err := os.Stat(path + ".none"); err == nil {
		t.Error("Purge made a file")
	}
}

func TestBusyCacheIsAMiss(t *testing.T) {
	path := cachePath(t)
	e := &counter{dims: 4}
	c := embed.Wrap(e, path, &embed.CacheOptions{BusyTimeout: time.Millisecond})
	check(t, c, 4, "a")
	other, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := other.Exec(`BEGIN EXCLUSIVE`); err != nil {
		t.Fatal(err)
	}
	check(t, c, 4, "a", "b")
	if err := c.Cache().Err(); err != nil {
		t.Errorf("turned off: %v", err)
	}
	if err := c.Cache().Purge(t.Context(), nil); !errors.Is(err, sqlite3.BUSY) {
		t.Errorf("Purge = %v", err)
	}
	if err := other.Exec(`ROLLBACK`); err != nil {
		t.Fatal(err)
	}
	check(t, c, 4, "a")
	if d := cmp.Diff(map[string]int{"a": 2, "b": 1}, e.texts); d != "" {
		t.Errorf("times embedded (-want +got):\n%s", d)
	}
}

// TestInterruptedRunKeepsWhatItPaidFor fails in the second part of 512.
func TestInterruptedRunKeepsWhatItPaidFor(t *testing.T) {
	var texts []string
	for i := range 600 {
		texts = append(texts, fmt.Sprint(i))
	}
	e := &counter{dims: 4, fail: func(text string) error {
		if text == "550" {
			return errors.New("down")
		}
		return nil
	}}
	c := embed.Wrap(e, cachePath(t), nil)
	if rows, err := c.Embed(t.Context(), texts, embed.Passage); err == nil || rows != nil {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	e.fail = nil
	check(t, c, 4, texts...)
	if e.texts["511"] != 1 || e.texts["512"] != 2 {
		t.Errorf("511 embedded %d times, 512 %d times", e.texts["511"], e.texts["512"])
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Embed(ctx, texts, embed.Passage); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	check(t, c, 4, texts[:3]...)
	if err := c.Cache().Err(); err != nil {
		t.Errorf("turned off: %v", err)
	}
}

type short struct{ counter }

func (s *short) Embed(ctx context.Context, texts []string, k embed.Kind) ([][]float32, error) {
	rows, err := s.counter.Embed(ctx, texts, k)
	return rows[1:], err
}

func TestCachedRefusesAWrongNumberOfRows(t *testing.T) {
	c := embed.Wrap(&short{counter{dims: 4}}, cachePath(t), nil)
	if _, err := c.Embed(t.Context(), []string{"a", "b"}, embed.Passage); err == nil {
		t.Error("no error")
	}
}

func BenchmarkLookup(b *testing.B) {
	e := &counter{dims: 512}
	c := embed.OpenCache(filepath.Join(b.TempDir(), "vectors.db"), nil)
	var keys []embed.Key
	var rows [][]float32
	for i := range 1000 {
		keys = append(keys, embed.KeyOf(fmt.Sprint(i)))
		rows = append(rows, vector(fmt.Sprint(i), 512))
	}
	c.Store(b.Context(), e.Fingerprint(), keys, rows, false)
	for b.Loop() {
		if _, err := c.Lookup(b.Context(), e.Fingerprint(), keys); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/row")
}
