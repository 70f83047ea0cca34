package journal_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch/internal/atomicfile"
	"github.com/memsearch/memsearch/internal/journal"
)

func open(t *testing.T, hook atomicfile.Hook) (*journal.Journal, string) {
	t.Helper()
	dir := t.TempDir()
	d, err := atomicfile.OpenDir(dir, hook)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return journal.New(d, "j"), filepath.Join(dir, "j")
}

type note struct {
	N int `json:"n"`
}

func read(t *testing.T, j *journal.Journal) (got []int) {
	t.Helper()
	err := j.Read(journal.Usage, func(raw json.RawMessage) error {
		var n note
		err := json.Unmarshal(raw, &n)
		got = append(got, n.N)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestAppendAndRead(t *testing.T) {
	j, dir := open(t, nil)
	if got := read(t, j); got != nil {
		t.Errorf("empty journal: %v", got)
	}
	for i := range 3 {
		if err := j.Append(journal.Usage, note{i}); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Append(journal.Usage, struct{}{}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "usage.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	want := "{\"v\":1,\"n\":0}\n{\"v\":1,\"n\":1}\n{\"v\":1,\"n\":2}\n{\"v\":1}\n"
	if diff := cmp.Diff(want, string(b)); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{0, 1, 2, 0}, read(t, j)); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	if err := j.Append("../x", note{}); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("unknown stream: %v", err)
	}
	if err := j.Append(journal.Usage, 3); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("not an object: %v", err)
	}
}

// A crash may leave any part of the last line.
func TestTornLine(t *testing.T) {
	const whole = "{\"v\":1,\"n\":1}\n{\"v\":1,\"n\":2}\n"
	const first = len(whole) / 2
	for cut := first; cut <= len(whole); cut++ {
		j, dir := open(t, nil)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "usage.jsonl"), []byte(whole[:cut]), 0o600); err != nil {
			t.Fatal(err)
		}
		want := []int{1}
		if cut >= len(whole)-1 { // only the line end is missing
			want = append(want, 2)
		}
		if diff := cmp.Diff(want, read(t, j)); diff != "" {
			t.Errorf("cut at %d (-want +got):\n%s", cut, diff)
		}
		if err := j.Append(journal.Usage, note{3}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(append(want, 3), read(t, j)); diff != "" {
			t.Errorf("cut at %d, after an append (-want +got):\n%s", cut, diff)
		}
	}
}

func TestNewerVersion(t *testing.T) {
	j, dir := open(t, nil)
	if err := j.Append(journal.Usage, note{1}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "usage.jsonl"), []byte("{\"v\":2}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := j.Read(journal.Usage, func(json.RawMessage) error { return nil }); !errors.Is(err, journal.ErrVersion) {
		t.Errorf("got %v, want %v", err, journal.ErrVersion)
	}
}

func TestEntombed(t *testing.T) {
	j, dir := open(t, nil)
	if got, err := j.Entombed("anything", []string{"e1"}); got || err != nil {
		t.Fatalf("empty journal: %v, %v", got, err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("asking made the journal: %v", err)
	}
	at := time.Date(2026, 11, 29, 10, 15, 0, 0, time.UTC)
	texts := []string{"# Door\n\n- The code of the back door is 4711-ABC.\n- Done\n\n数据库的维护窗口是每周二凌晨三点。\n", "Short"}
	if err := j.Bury(at, "mem_1", texts, []string{"e1", "e2"}); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		text   string
		events []string
		want   bool
	}{
		"the same":               {texts[0], nil, true},
		"other line ends":        {strings.ReplaceAll(texts[0], "\n", "\r\n"), nil, true},
		"one line":               {"the code of the BACK door is 4711 abc", nil, true},
		"a line among others":    {"Intro.\n\n* The code of the back door is `4711-ABC`\n", nil, true},
		"Chinese":                {"数据库的维护窗口是每周二凌晨三点", nil, true},
		"a short whole":          {"short!", nil, true},
		"a short line":           {"Something else\n- Done\n", nil, false},
		"other text":             {"The code of the front door is 1234-XYZ.", nil, false},
		"nothing":                {"", nil, false},
		"punctuation":            {"...", nil, false},
		"same events":            {"other words", []string{"e2", "e1"}, true},
		"some of the events":     {"other words", []string{"e1"}, true},
		"events that go further": {"other words", []string{"e1", "e3"}, false},
	} {
		got, err := j.Entombed(tt.text, tt.events)
		if err != nil || got != tt.want {
			t.Errorf("%s: got %v, %v; want %v", name, got, err, tt.want)
		}
	}

	b, err := os.ReadFile(filepath.Join(dir, "tombstones.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"4711", "code", "Short", "short", "维护"} {
		if strings.Contains(string(b), word) {
			t.Errorf("the tombstone holds %q", word)
		}
	}
	fi, err := os.Stat(filepath.Join(dir, "key"))
	if err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("key: %v, %v", fi.Mode(), err)
	}

	// Another vault's key gives other sums.
	other, otherDir := open(t, nil)
	if err := other.Bury(at, "mem_1", texts, nil); err != nil {
		t.Fatal(err)
	}
	if c, _ := os.ReadFile(filepath.Join(otherDir, "tombstones.jsonl")); string(c) == string(b) {
		t.Error("two vaults have the same sums")
	}
	if err := os.WriteFile(filepath.Join(dir, "key"), []byte("?"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Entombed("x", nil); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("damaged key: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("{\"v\":1}\n{\"hmac\":[\"x\"]}\n{\"v\":1,\"ti"))
	f.Add([]byte("\n\x00{\n[]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		j, dir := open(t, nil)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "usage.jsonl"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		err := j.Read(journal.Usage, func(raw json.RawMessage) error {
			if !json.Valid(raw) {
				t.Errorf("not JSON: %q", raw)
			}
			return nil
		})
		if err != nil && !errors.Is(err, journal.ErrVersion) {
			t.Error(err)
		}
	})
}
