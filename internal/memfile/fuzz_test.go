package memfile_test

import (
	"testing"
	"time"
	"unicode/utf8"

	"github.com/memsearch/memsearch/internal/memfile"
)

var seeds = []string{
	"---\nid: a\nvalid_to: 2026-02-30\n---\n# T\n\n- 2026-03-12 a\n- b\n- c\n",
	"\ufeff---\r\nid: a # c\r\ntags:\r\n- x\r\n---\r\ntext\r\n",
	"---\rid: cr\r---\r\rtext\r",
	"---\na: &a [*a]\nb: [*a, *a]\n---\n",
	"---\n? a\n: b\n---\n",
	"+++\na = 1\n+++\nb\n",
	"```\n# x\n~~~\n- a\n  ```\n",
	"<!-- memsearch:catalog:begin -->\n- [x](y.md)\n<!-- memsearch:catalog:end -->\n[[z]]\n",
	"\xff\xfe-\x00-\x00-\x00\n\x00",
	"\xd6\xd0\xce\xc4\x00",
	"a\n===\nb\n---\n<pre>\n1. x\n   - y\n",
}

func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add("n.md", []byte(s))
	}
	f.Add("MEMORY.md", []byte(seeds[7]))
	f.Add("2026-03-12.md", []byte(seeds[0]))
	opts := &memfile.Options{ModTime: time.Unix(1e9, 0)}
	f.Fuzz(func(t *testing.T, path string, raw []byte) {
		file := memfile.Parse(path, raw, opts)
		if !utf8.ValidString(file.Text) || !utf8.ValidString(file.Memory.Summary) || !utf8.ValidString(file.Memory.Title) {
			t.Fatal("text is not valid UTF-8")
		}
		if file.Memory.ID == "" || file.Memory.Status == "" {
			t.Fatalf("memory without id or status: %+v", file.Memory)
		}
		for _, u := range file.Units {
			if u.Text == "" && len(file.Units) > 1 {
				t.Fatal("empty unit among others")
			}
		}
		checkUnits(t, path, file)
	})
}

func FuzzSplice(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s), "id", "b")
	}
	f.Add([]byte("---\x00\n---"), "a", "0") // front matter as it is read
	f.Fuzz(func(t *testing.T, raw []byte, key, value string) {
		if !utf8.ValidString(value) {
			t.Skip()
		}
		before := memfile.Parse("n.md", raw, nil)
		for _, v := range []any{value, nil, []string{value, "x"}} {
			out, err := memfile.Splice(raw, []memfile.Change{{Key: key, Value: v}})
			if err != nil {
				continue
			}
			after := memfile.Parse("n.md", out, nil)
			if before.Text[before.Body[0]:] != after.Text[after.Body[0]:] {
				t.Fatalf("%q: the body of %q changed in %q", key, raw, out)
			}
			if key == "title" && v == nil && after.Memory.Summary != before.Memory.Summary {
				t.Fatalf("summary of %q changed in %q", raw, out)
			}
			again, err := memfile.Splice(out, []memfile.Change{{Key: key, Value: v}})
			if err != nil || string(again) != string(out) {
				t.Fatalf("%q twice: %q, then %q, %v", key, out, again, err)
			}
		}
	})
}

func FuzzChunks(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, 32)
	}
	f.Fuzz(func(t *testing.T, text string, limit int) {
		checkChunks(t, text, 1+int(uint(limit)%4096))
		got := memfile.Indexable(text)
		if again := memfile.Indexable(got); again != got {
			t.Fatalf("%q became %q, then %q", text, got, again)
		}
	})
}
