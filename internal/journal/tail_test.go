package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch/internal/atomicfile"
	"github.com/memsearch/memsearch/internal/journal"
)

// last returns the newest records, at most n.
func last(t *testing.T, j *journal.Journal, n int) (got []int) {
	t.Helper()
	err := j.Last(journal.Usage, func(raw json.RawMessage) (bool, error) {
		var r note
		err := json.Unmarshal(raw, &r)
		got = append(got, r.N)
		return len(got) < n, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestLast reads files whose lines cross the blocks that are read, with torn lines
// and without an end.
func TestLast(t *testing.T) {
	long := `{"v":1,"n":2,"x":"` + strings.Repeat("y", 200_000) + `"}`
	for name, tt := range map[string]struct {
		file string
		want []int
	}{
		"empty":       {"", nil},
		"one":         {`{"v":1,"n":1}` + "\n", []int{1}},
		"no end":      {`{"v":1,"n":1}` + "\n" + `{"v":1,"n":2}`, []int{2, 1}},
		"torn":        {`{"v":1,"n":1}` + "\n" + `{"v":1,"n` + "\n" + `{"v":1,"n":3}` + "\n" + `{"v":`, []int{3, 1}},
		"blank lines": {"\n\n" + `{"v":1,"n":1}` + "\n\n", []int{1}},
		"long":        {`{"v":1,"n":1}` + "\n" + long + "\n" + `{"v":1,"n":3}` + "\n", []int{3, 2, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			j, dir := open(t, nil)
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "usage.jsonl"), []byte(tt.file), 0o600); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, last(t, j, 100)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if len(tt.want) > 0 {
				if d := cmp.Diff(tt.want[:1], last(t, j, 1)); d != "" {
					t.Errorf("one (-want +got):\n%s", d)
				}
			}
		})
	}
	j, _ := open(t, nil)
	if got := last(t, j, 1); got != nil {
		t.Errorf("without a file: %v", got)
	}
}

// FuzzLast: from the end and from the start, a stream has the same records.
func FuzzLast(f *testing.F) {
	f.Add(`{"n":1}`+"\n"+`{"n":2}`, 10)
	f.Add("{}\n\r\n[1]\n{\"v\":2}\n", 70_000)
	f.Fuzz(func(t *testing.T, text string, pad int) {
		dir := t.TempDir()
		d, err := atomicfile.OpenDir(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		j := journal.New(d, ".")
		text = `{"pad":"` + strings.Repeat("x", max(0, pad)%100_000) + "\"}\n" + text
		if err := os.WriteFile(filepath.Join(dir, "usage.jsonl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var down, up []string
		errDown := j.Read(journal.Usage, func(r json.RawMessage) error { down = append(down, string(r)); return nil })
		errUp := j.Last(journal.Usage, func(r json.RawMessage) (bool, error) { up = append(up, string(r)); return true, nil })
		if (errDown == nil) != (errUp == nil) {
			t.Fatalf("read: %v, from the end: %v", errDown, errUp)
		}
		slices.Reverse(up)
		if d := cmp.Diff(down, up); errDown == nil && d != "" {
			t.Errorf("(-read +from the end):\n%s", d)
		}
	})
}

func TestLastOfANewerVersion(t *testing.T) {
	j, dir := open(t, nil)
	if err := j.Append(journal.Usage, note{1}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "usage.jsonl"), []byte(`{"v":99}`), 0o600); err != nil {
		t.Fatal(err)
	}
	err := j.Last(journal.Usage, func(json.RawMessage) (bool, error) { return true, nil })
	if !errors.Is(err, journal.ErrVersion) {
		t.Errorf("error %v", err)
	}
}

// A lock keeps out another journal of the same folder, and only of the same
// stream; it ends with unlock, and with the wait of its caller.
func TestLock(t *testing.T) {
	j, dir := open(t, nil)
	d, err := atomicfile.OpenDir(filepath.Dir(dir), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	other := journal.New(d, filepath.Base(dir))
	unlock, err := j.Lock(t.Context(), journal.Ledger)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := other.Lock(ctx, journal.Ledger); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second lock: %v", err)
	}
	if free, err := other.Lock(t.Context(), journal.Usage); err != nil || free() != nil {
		t.Errorf("lock of another stream: %v", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	free, err := other.Lock(t.Context(), journal.Ledger)
	if err != nil || free() != nil {
		t.Errorf("lock after unlock: %v", err)
	}
	if _, err := j.Lock(t.Context(), "none"); err == nil {
		t.Error("lock of a stream that is none")
	}
}
