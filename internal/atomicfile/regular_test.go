//go:build unix

package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/memsearch/memsearch/internal/atomicfile"
)

// TestRegular guards against a read that waits for the other end of a pipe, or
// that never ends.
func TestRegular(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	text := strings.Repeat("x", 10_000)
	for _, err := range []error{
		os.WriteFile(in("file"), []byte(text), 0o600), os.Symlink("file", in("link")), os.Symlink("/dev/zero", in("device")),
		syscall.Mkfifo(in("pipe"), 0o600), os.Mkdir(in("folder"), 0o700),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	d, err := atomicfile.OpenDir(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for name, want := range map[string]error{
		"file": nil, "link": nil, "device": atomicfile.ErrNotRegular, "pipe": atomicfile.ErrNotRegular, "folder": atomicfile.ErrNotRegular, "none": fs.ErrNotExist,
	} {
		b, err := atomicfile.ReadRegular(in(name))
		if !errors.Is(err, want) || err == nil && string(b) != text {
			t.Errorf("%s: %d bytes, %v, want %v", name, len(b), err, want)
		}
		if b, derr := d.ReadFile(name); name != "device" && !errors.Is(derr, want) || derr == nil && string(b) != text {
			t.Errorf("%s below the directory: %d bytes, %v, want %v", name, len(b), derr, want)
		}
	}
	f, err := d.Open("pipe")
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}
