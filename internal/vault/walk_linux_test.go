package vault_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch/internal/vault"
)

func TestWalkDescribesFiles(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, map[string]string{"a/b.md": "hello"})
	fi, err := os.Stat(filepath.Join(dir, "a/b.md"))
	if err != nil {
		t.Fatal(err)
	}
	entries, _, err := open(t, dir, nil).Walk(t.Context())
	if err != nil || len(entries) != 1 {
		t.Fatal(entries, err)
	}
	e := entries[0]
	st := fi.Sys().(*syscall.Stat_t)
	want := vault.Entry{Path: "a/b.md", OSPath: "a/b.md", Size: 5, MTime: fi.ModTime().UnixNano(),
		CTime: st.Ctim.Nano(), Inode: st.Ino}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
