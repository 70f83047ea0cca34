package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch/internal/atomicfile"
)

var errInjected = errors.New("injected")

func open(t *testing.T, dir string, hook atomicfile.Hook) *atomicfile.Dir {
	t.Helper()
	d, err := atomicfile.OpenDir(dir, hook)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// tree maps each file below dir to its content; temporary files have the name "tmp".
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(p)
		name, _ := filepath.Rel(dir, p)
		if ok, _ := path.Match(atomicfile.TempPattern, filepath.Base(p)); ok {
			name = "tmp"
		}
		got[filepath.ToSlash(name)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestWriteStaysInside(t *testing.T) {
	outside, inside := t.TempDir(), t.TempDir()
	victim := filepath.Join(outside, "victim.md")
	write(t, victim, "old")
	for name, target := range map[string]string{"dirlink": outside, "filelink.md": victim} {
		if err := os.Symlink(target, filepath.Join(inside, name)); err != nil {
			t.Fatal(err)
		}
	}
	d := open(t, inside, nil)
	for _, tt := range []struct {
		name string
		ok   bool
	}{
		{"note.md", true},
		{"note.md", true}, // again: replaces
		{"../victim.md", false},
		{"dirlink/victim.md", false},
		{"filelink.md", false},
		{victim, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := d.Write(tt.name, []byte("new"), 0o600); (err == nil) != tt.ok {
				t.Errorf("Write(%q) = %v, want ok=%v", tt.name, err, tt.ok)
			}
			if tt.ok {
				return
			}
			if err := d.Append(tt.name, []byte("new")); err == nil {
				t.Errorf("Append(%q) succeeded", tt.name)
			}
			if err := d.WriteNew(tt.name, []byte("new"), 0o600); err == nil {
				t.Errorf("WriteNew(%q) succeeded", tt.name)
			}
		})
	}
	if err := d.Write("filelink.md", nil, 0o600); !errors.Is(err, atomicfile.ErrNotRegular) {
		t.Errorf("symlink: got %v, want %v", err, atomicfile.ErrNotRegular)
	}
	if diff := cmp.Diff(map[string]string{"victim.md": "old"}, tree(t, outside)); diff != "" {
		t.Errorf("outside the root (-want +got):\n%s", diff)
	}
	if got := tree(t, inside); got["tmp"] != "" || got["note.md"] != "new" {
		t.Errorf("inside the root: %v", got)
	}
}

// Whatever operation fails, and whether or not anything works after it, every
// file holds its old content or its new one.
func TestFaultAtEveryOperation(t *testing.T) {
	for name, tt := range map[string]struct {
		do  func(*atomicfile.Dir) error
		new string // of a.md, which holds "old"
	}{
		"Write":    {func(d *atomicfile.Dir) error { return d.Write("a.md", []byte("new"), 0o600) }, "new"},
		"WriteNew": {func(d *atomicfile.Dir) error { return d.WriteNew("b.md", []byte("new"), 0o600) }, "old"},
		"Swap": {func(d *atomicfile.Dir) error {
			return d.Swap("a.md", []byte("new"), 0o600, func(b []byte) bool { return string(b) == "old" })
		}, "new"},
		"Append": {func(d *atomicfile.Dir) error { return d.Append("a.md", []byte("er")) }, "older"},
	} {
		for _, dies := range []bool{false, true} {
			for n := 0; ; n++ {
				dir := t.TempDir()
				write(t, filepath.Join(dir, "a.md"), "old")
				ops, at := 0, ""
				d := open(t, dir, func(op, name string) error {
					if ops++; ops-1 == n {
						at = op
					}
					if ops-1 == n || dies && ops > n {
						return errInjected
					}
					return nil
				})
				err := tt.do(d)
				if ops <= n {
					if err != nil {
						t.Errorf("%s without a fault: %v", name, err)
					}
					break
				}
				if !errors.Is(err, errInjected) {
					t.Errorf("%s, fault %d: got %v, want the injected error", name, n, err)
				}
				got := tree(t, dir)
				if a := got["a.md"]; a != "old" && a != tt.new {
					t.Errorf("%s, fault %d: a.md holds %q", name, n, a)
				}
				if b, ok := got["b.md"]; ok && b != "new" {
					t.Errorf("%s, fault %d: b.md holds %q", name, n, b)
				}
				if left, ok := got["tmp"]; ok && !dies && at != "remove" {
					t.Errorf("%s, fault %d at %s: left behind %q", name, n, at, left)
				}
			}
		}
	}
}

func TestFailedWriteLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir, func(op, name string) error {
		if op == "rename" {
			return errInjected
		}
		return nil
	})
	if err := d.Write("a.md", []byte("new"), 0o600); !errors.Is(err, errInjected) {
		t.Fatalf("got %v", err)
	}
	if got := tree(t, dir); len(got) != 0 {
		t.Errorf("left behind: %v", got)
	}
}

func TestWriteNewKeepsWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir, func(op, name string) error {
		if op == "sync" { // someone else is faster
			write(t, filepath.Join(dir, "a.md"), "theirs")
		}
		return nil
	})
	if err := d.WriteNew("a.md", []byte("ours"), 0o600); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v, want %v", err, fs.ErrExist)
	}
	if diff := cmp.Diff(map[string]string{"a.md": "theirs"}, tree(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestSwapKeepsEdits(t *testing.T) {
	old := func(b []byte) bool { return string(b) == "old" }
	t.Run("edit before the rename", func(t *testing.T) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "a.md"), "old")
		d := open(t, dir, func(op, name string) error {
			if op == "rename" {
				write(t, filepath.Join(dir, "a.md"), "edit")
			}
			return nil
		})
		if err := d.Swap("a.md", []byte("new"), 0o600, old); !errors.Is(err, atomicfile.ErrChanged) {
			t.Errorf("got %v, want %v", err, atomicfile.ErrChanged)
		}
		if diff := cmp.Diff(map[string]string{"a.md": "edit"}, tree(t, dir)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("edit between the last look and the rename", func(t *testing.T) {
		if runtime.GOOS != "linux" {
			return // only there can two names be exchanged
		}
		dir := t.TempDir()
		write(t, filepath.Join(dir, "a.md"), "old")
		first := true
		err := open(t, dir, nil).Swap("a.md", []byte("new"), 0o600, func(b []byte) bool {
			if ok := old(b); !first || !ok {
				return ok
			}
			first = false
			write(t, filepath.Join(dir, "a.md"), "edit")
			return true
		})
		if !errors.Is(err, atomicfile.ErrChanged) {
			t.Errorf("got %v, want %v", err, atomicfile.ErrChanged)
		}
		if diff := cmp.Diff(map[string]string{"a.md": "edit"}, tree(t, dir)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("no edit", func(t *testing.T) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "a.md"), "old")
		if err := open(t, dir, nil).Swap("a.md", []byte("new"), 0o600, old); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(map[string]string{"a.md": "new"}, tree(t, dir)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestSubReportsFullNames(t *testing.T) {
	dir := t.TempDir()
	var got []string
	d := open(t, dir, func(op, name string) error {
		if ok, _ := path.Match(atomicfile.TempPattern, path.Base(name)); ok {
			name = path.Join(path.Dir(name), "tmp")
		}
		got = append(got, op+" "+name)
		return nil
	})
	if err := d.MkdirAll("x/y", 0o700); err != nil {
		t.Fatal(err)
	}
	sub, err := d.Sub("x")
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	if err := sub.Write("y/a", []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := sub.Append("y/a", []byte("2")); err != nil {
		t.Fatal(err)
	}
	if err := sub.Link("y/a", "y/b"); err != nil {
		t.Fatal(err)
	}
	if err := sub.RemoveAll("y"); err != nil {
		t.Fatal(err)
	}
	want := []string{"mkdir x/y", "create x/y/tmp", "write x/y/tmp", "sync x/y/tmp", "rename x/y/a", "syncdir x/y",
		"append x/y/a", "sync x/y/a", "link x/y/b", "remove x/y"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
}

// Some file systems have no hard links.
func TestWriteNewWithoutLinks(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir, func(op, name string) error {
		if op == "link" {
			return &fs.PathError{Op: op, Path: name, Err: errors.ErrUnsupported}
		}
		return nil
	})
	if err := d.WriteNew("a.md", []byte("first"), 0o600); err != nil {
		t.Error(err)
	}
	if err := d.WriteNew("a.md", []byte("second"), 0o600); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v, want %v", err, fs.ErrExist)
	}
	if diff := cmp.Diff(map[string]string{"a.md": "first"}, tree(t, dir)); diff != "" {
		t.Error(diff)
	}
}

// An edit that lands on our version while an earlier one is put back stays.
func TestSwapEditedTwice(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // only there can two names be exchanged
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "a.md")
	write(t, name, "old")
	looks := 0
	err := open(t, dir, nil).Swap("a.md", []byte("new"), 0o600, func(b []byte) bool {
		switch looks++; looks {
		case 1:
			write(t, name, "edit 1")
			return true
		case 2:
			write(t, name, "edit 2")
		}
		return string(b) == "old"
	})
	if err != nil && !errors.Is(err, atomicfile.ErrChanged) {
		t.Error(err)
	}
	if diff := cmp.Diff(map[string]string{"a.md": "edit 2"}, tree(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestCreateAndRead(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir, nil)
	for range 2 {
		if err := d.Create("a"); err != nil {
			t.Fatal(err)
		}
		if err := d.Append("a", []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if b, err := d.ReadFile("a"); err != nil || string(b) != "xx" {
		t.Errorf("got %q, %v", b, err)
	}
	if fi, err := d.Lstat("a"); err != nil || fi.Size() != 2 {
		t.Errorf("got %v, %v", fi, err)
	}
	f, err := d.Open("a")
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}
