package llm_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memsearch/memsearch/internal/llm"
)

func holds(word string) func(string) bool {
	return func(text string) bool { return strings.Contains(text, word) }
}

func TestPurgeCassette(t *testing.T) {
	quiet := "a \"quoted\"\nviolet <heron> 紫鷺"
	whole := read(t, tape(t, "one", quiet, "two"))
	lines := strings.Split(strings.ReplaceAll(strings.TrimSpace(whole), "\n\n", "\n"), "\n")
	one, heron, two := lines[0], lines[1], lines[2]
	for name, tt := range map[string]struct {
		text, word, left string
		removed          int
	}{
		"escaped in the file":    {whole, "\"quoted\"\nviolet <heron> 紫鷺", one + "\n" + two + "\n", 1},
		"not there":              {whole, "eagle", whole, 0},
		"torn":                   {one + "\n" + heron[:len(heron)-9] + "\n" + two, "violet", one + "\n" + two + "\n", 1},
		"damaged":                {one + "\nviolet\n", "violet", one + "\n", 1},
		"all":                    {one + "\n" + two + "\n", "", "", 2},
		"twice":                  {heron + "\r\n" + heron + "\r\n" + one + "\r\n", "violet", one + "\n", 2},
		"no cassette":            {"{\"text\":\"violet\"}\n", "violet", "{\"text\":\"violet\"}\n", 0},
		"of another program":     {"{\"v\":7,\"text\":\"violet\"}\n", "violet", "{\"v\":7,\"text\":\"violet\"}\n", 0},
		"keys of another format": {"{\"key\":\"k\",\"reply\":\"violet\"}\n", "violet", "{\"key\":\"k\",\"reply\":\"violet\"}\n", 0},
		"empty":                  {"", "violet", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, tt.text)
			n, err := llm.PurgeCassette(path, holds(tt.word))
			if err != nil || n != tt.removed {
				t.Errorf("removed %d, %v, want %d", n, err, tt.removed)
			}
			if left := read(t, path); left != tt.left {
				t.Errorf("left %q, want %q", left, tt.left)
			}
			if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
				t.Errorf("files %v, %v", files, err)
			}
		})
	}
	path := write(t, strings.Replace(one, `"v":1`, `"v":2`, 1)+"\n")
	if _, err := llm.PurgeCassette(path, holds("one")); err == nil || !strings.Contains(err.Error(), "newer version") {
		t.Errorf("newer: %v", err)
	}
	if _, err := llm.PurgeCassette(t.TempDir(), holds("one")); err == nil {
		t.Error("a directory is no error")
	}
}

// The file that a link points to is purged, not the link replaced.
func TestPurgeLinkedCassette(t *testing.T) {
	path := tape(t, "one", "violet")
	link := filepath.Join(t.TempDir(), "link.jsonl")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	if n, err := llm.PurgeCassette(link, holds("violet")); n != 1 || err != nil {
		t.Errorf("removed %d, %v", n, err)
	}
	if strings.Contains(read(t, path), "violet") {
		t.Error("the file still holds the text")
	}
	if fi, err := os.Lstat(link); err != nil || fi.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", fi, err)
	}
}

// FuzzCassette reads any file: what opens still opens after a purge, and holds
// nothing that was purged.
func FuzzCassette(f *testing.F) {
	const line = `{"v":1,"key":"k","kind":"chat","prompt":"p","request":{"messages":["violet"]},"reply":{"text":"\u0041b"}}`
	for _, s := range []string{line, line + "\r\n" + line, "\ufeff" + line, line[:50] + "\n" + line, "\n{}\n", "null", `{"v":9,"key":"k"}`,
		strings.Repeat("[", 1000), "\x00", line + "x"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "f.jsonl")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, opened := llm.OpenCassette(path, llm.CassetteReplay)
		if _, err := llm.PurgeCassette(path, holds("violet")); opened == nil && err != nil {
			t.Fatalf("opens, but is not purged: %v", err)
		}
		if _, err := llm.OpenCassette(path, llm.CassetteReplay); opened == nil && err != nil {
			t.Fatalf("after a purge: %v", err)
		}
		if n, err := llm.PurgeCassette(path, holds("violet")); opened == nil && (n != 0 || err != nil) {
			t.Fatalf("a second purge removes %d more, %v", n, err)
		}
	})
}
