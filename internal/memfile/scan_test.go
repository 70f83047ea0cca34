package memfile_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/memsearch/memsearch/internal/memfile"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// reference reads the structure of a text with goldmark. Headings under long
// paragraphs are left out, as in our reading.
func reference(src []byte) (headings [][2]int, bullets []int) {
	lineOf := func(at int) int { return 1 + bytes.Count(src[:at], []byte("\n")) }
	doc := goldmark.DefaultParser().Parse(text.NewReader(src))
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			at, ok := firstByte(n)
			if !ok {
				continue // an empty heading has no position
			}
			headings = append(headings, [2]int{lineOf(at), n.Level})
		case *ast.List:
			if n.IsOrdered() {
				continue
			}
			for item := n.FirstChild(); item != nil; item = item.NextSibling() {
				if at, ok := firstByte(item); ok {
					bullets = append(bullets, lineOf(at))
				}
			}
		}
	}
	return headings, bullets
}

func firstByte(n ast.Node) (int, bool) {
	if n.Type() == ast.TypeBlock && n.Lines().Len() > 0 {
		return n.Lines().At(0).Start, true
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c.Type() != ast.TypeBlock {
			continue
		}
		if at, ok := firstByte(c); ok {
			return at, true
		}
	}
	return 0, false
}

func TestScanAgainstGoldmark(t *testing.T) {
	for _, src := range []string{
		"# a\n\ntext\n\n## b ##\ntext\n### c\n####### no\n#no\n",
		"Title\n=====\n\nSub\n---\n\n---\n\ntext\n\n- - -\n",
		"two\nlines\n===\n\ntext\n***\ntext\n",
		"```\n# no\n```\n# yes\n~~~~\n```\n# no\n~~~\n~~~~~\n# yes\n",
		"    # code\n\n# yes\n\ttab code\n   # three\n",
		"- a\n  # inside\n- b\n\n  text\n\n# yes\n* c\n+ d\n",
		"- a\n  ```\n  # no\n  ```\n- b\n  ```\n  # open\nout\n\n# yes\n",
		"1. one\n   # inside\n2. two\n\n# yes\n",
		"> # quoted\n> text\nlazy\n# yes\n",
		"> ```\n> # no\n\n# yes\n",
		"<!-- # no\n# no\n-->\n# yes\n",
		"<div>\n# no\n</div>\n\n# yes\n",
		"<pre>\n\n# no\n</pre>\n# yes\n",
		"text\n- a\n- b\n2. no\n1. yes\n",
		"- a\n\n  - nested\n\n- b\n   - deeper\n- c\n",
		"- a\nlazy\n===\n# yes\n",
		"* * *\n- a\n- - b\n",
		"text\n<div>\n# no\n\n# yes\n",
		"-\n-  b\n-\tc\n-d\n",
	} {
		headings, bullets := reference([]byte(src))
		if diff := cmp.Diff(headings, memfile.TopHeadings(src)); diff != "" {
			t.Errorf("headings of %q (-goldmark +ours):\n%s", src, diff)
		}
		var ours []int
		for _, n := range memfile.TopBullets(src) {
			if line := strings.Split(src, "\n")[n-1]; strings.Trim(line, "-*+ ") != "" {
				ours = append(ours, n)
			}
		}
		if diff := cmp.Diff(bullets, ours); diff != "" {
			t.Errorf("bullets of %q (-goldmark +ours):\n%s", src, diff)
		}
	}
}

// TestScanRealNotes compares the scanner with goldmark on vaults that people
// wrote. The scanner need not know all of CommonMark: one difference in two
// hundred files is allowed.
func TestScanRealNotes(t *testing.T) {
	files, differ := 0, 0
	for _, name := range []string{"vault_til", "vault_fpb"} {
		err := filepath.WalkDir(filepath.Join(dataDir(t), name), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".md" {
				return err
			}
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			src, _ := memfile.Decode(raw)
			src = strings.ReplaceAll(src, "\r\n", "\n")
			files++
			headings, bullets := reference([]byte(src))
			if diff := cmp.Diff(headings, memfile.TopHeadings(src)); diff != "" {
				differ++
				t.Logf("headings of %s (-goldmark +ours):\n%s", path, diff)
			}
			if diff := cmp.Diff(bullets, memfile.TopBullets(src)); diff != "" {
				differ++
				t.Logf("bullets of %s (-goldmark +ours):\n%s", path, diff)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if differ*200 > files {
		t.Errorf("%d differences in %d files", differ, files)
	}
}

// dataDir returns the directory of the shared data sets.
func dataDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("MEMSEARCH_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no data sets: set MEMSEARCH_DATA")
	}
	return dir
}
