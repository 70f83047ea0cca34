package index_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/memsearch/memsearch/index"
)

// note makes up a memory file. The ids collide now and then, and memories
// supersede one another.
func note(t *rapid.T) string {
	words := rapid.SliceOfN(rapid.SampledFrom([]string{"deploy", "region", "eu-central-1", "production", "runs",
		"茶", "饮料", "release", "steps", "tag", "alpha", "beta", "gamma", "the", "DEC-0054"}), 1, 30).Draw(t, "words")
	body := strings.Join(words, " ") + "\n"
	switch rapid.IntRange(0, 5).Draw(t, "shape") {
	case 0:
		return body
	case 1:
		id := rapid.SampledFrom([]string{"mem_a", "mem_b", "mem_c"}).Draw(t, "id")
		other := rapid.SampledFrom([]string{"mem_a", "mem_b", "mem_c", "mem_d"}).Draw(t, "superseded")
		day := rapid.IntRange(1, 28).Draw(t, "day")
		return fmt.Sprintf("---\nid: %s\nsummary: %s\ncreated_at: 2026-03-%02d\nsupersedes: [%s]\n---\n%s", id, words[0], day, other, body)
	case 2:
		return fmt.Sprintf("# Log\n\n## 2026-03-12\n\n%s\n## 2026-03-13\n\n%s\n", body, strings.Repeat("- "+body, 3))
	case 3:
		return strings.Repeat(body+"\n", 400) // long: several chunks
	case 4:
		return ""
	}
	return "---\nstatus: " + rapid.SampledFrom([]string{"active", "retired", "superseded", "rejected"}).Draw(t, "status") + "\n---\n" + body
}

var names = []string{"a.md", "b.md", "sub/c.md", "sub/2026-03-12.md", "MEMORY.md", "z.md", "é.md"}

// edit changes one file of the vault.
func (f *fixture) edit(t *rapid.T) {
	name := rapid.SampledFrom(names).Draw(t, "name")
	p := filepath.Join(f.dir, filepath.FromSlash(name))
	old, err := os.ReadFile(p)
	switch op := rapid.IntRange(0, 6).Draw(t, "op"); {
	case err != nil || op <= 1:
		text := note(t)
		if name == "MEMORY.md" {
			text = "# Memory\n\n- [A](a.md) hook\n- [C](sub/c.md)\n" + text
		}
		f.write(name, text)
	case op == 2:
		f.remove(name)
	case op == 3:
		f.rename(name, rapid.SampledFrom(names).Draw(t, "to"))
	case op == 4: // touch
		at := time.Unix(1700000000+rapid.Int64Range(0, 1e7).Draw(t, "mtime"), 0)
		if err := os.Chtimes(p, at, at); err != nil {
			t.Fatal(err)
		}
	case op == 5: // same size, same modification time
		fi, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		f.write(name, strings.ReplaceAll(string(old), "alpha", "gamma"))
		if err := os.Chtimes(p, fi.ModTime(), fi.ModTime()); err != nil {
			t.Fatal(err)
		}
	default:
		f.write(name, string(old)+"\n- appended alpha\n")
	}
}

// TestIncrementalEqualsRebuild edits at random, syncs now and then, and compares
// what the index says with one built from nothing.
func TestIncrementalEqualsRebuild(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := &fixture{t: t, dir: t.TempDir()}
		f.ix = f.open(nil)
		for range rapid.IntRange(1, 6).Draw(rt, "syncs") {
			for range rapid.IntRange(1, 5).Draw(rt, "edits") {
				f.edit(rt)
			}
			r := f.sync()
			if r.Indexed+r.Skipped != r.Files {
				rt.Fatalf("%d indexed + %d skipped, %d files", r.Indexed, r.Skipped, r.Files)
			}
		}
		got := answers(t, f.ix)
		clean(t, f.ix)
		if t.Failed() {
			rt.FailNow()
		}
		syncOf(t, f.ix, index.SyncOptions{Rebuild: true})
		same(rt, "rebuild", answers(t, f.ix), got)
		mem := f.open(&index.Options{Embedder: model(t), InMemory: true})
		syncOf(t, mem, index.SyncOptions{})
		same(rt, "memory", answers(t, mem), got)
		if err := mem.Close(); err != nil {
			rt.Fatal(err)
		}
	})
}

func same(t interface{ Fatalf(string, ...any) }, what string, want, got *answer) {
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("incremental differs from %s (-%s +incremental):\n%s", what, what, d)
	}
}
