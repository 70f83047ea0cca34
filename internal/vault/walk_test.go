//go:build unix

package vault_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch/internal/vault"
)

func open(t *testing.T, dir string, opts *vault.Options) *vault.Vault {
	t.Helper()
	v, err := vault.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	return v
}

// fill writes files below dir; a value that starts with "->" makes a link.
func fill(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		var err error
		if len(text) > 2 && text[:2] == "->" {
			err = os.Symlink(text[2:], full)
		} else {
			err = os.WriteFile(full, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func walk(t *testing.T, v *vault.Vault) (paths []string, skips map[string]string) {
	t.Helper()
	entries, skipped, err := v.Walk(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		paths = append(paths, e.Path)
	}
	skips = map[string]string{}
	for _, s := range skipped {
		skips[s.Path] = s.Reason
	}
	return paths, skips
}

func TestWalk(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	fill(t, outside, map[string]string{"secret.md": "outside", "folder/secret.md": "outside"})
	fill(t, dir, map[string]string{
		"b.md":                          "b",
		"a/c.MD":                        "c",
		"a/deep/er/d.markdown":          "d",
		"a/picture.png":                 "",
		"md":                            "",
		"dir.md/inside.md":              "",
		".git/x.md":                     "",
		".obsidian":                     "",
		".draft.md":                     "",
		".memsearch/gen-1/x.md":         "",
		".memsearch-journal/x.md":       "",
		"a/node_modules/p/README.md":    "",
		"loop":                          "->.",
		"a/up":                          "->..",
		"self.md":                       "->self.md",
		"dangling.md":                   "->missing.md",
		"dangling":                      "->missing",
		"inside.md":                     "->b.md",
		"picture":                       "->a/picture.png",
		"escape.md":                     "->" + filepath.Join(outside, "secret.md"),
		"escape":                        "->" + filepath.Join(outside, "folder"),
		"relative.md":                   "->../" + filepath.Base(outside) + "/secret.md",
		"spaces  and\ttabs #1 100%?.md": "",
	})
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, "b.md"), 1); err != nil {
		t.Fatal(err)
	}
	fill(t, dir, map[string]string{"huge.md": ""})
	if err := os.Truncate(filepath.Join(dir, "huge.md"), vault.MaxFileSize+1); err != nil {
		t.Fatal(err)
	}

	v := open(t, dir, nil)
	paths, skips := walk(t, v)
	wantPaths := []string{"a/c.MD", "a/deep/er/d.markdown", "b.md", "dir.md/inside.md", "spaces  and\ttabs #1 100%?.md"}
	if diff := cmp.Diff(wantPaths, paths); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	wantSkips := map[string]string{
		".git/":           vault.ReasonHidden,
		".draft.md":       vault.ReasonHidden,
		"a/node_modules/": vault.ReasonModules,
		"loop/":           vault.ReasonLink,
		"a/up/":           vault.ReasonLink,
		"self.md":         vault.ReasonDangling,
		"dangling.md":     vault.ReasonDangling,
		"inside.md":       vault.ReasonLink,
		"escape.md":       vault.ReasonLinkOut,
		"escape/":         vault.ReasonLinkOut,
		"relative.md":     vault.ReasonLinkOut,
		"pipe.md":         vault.ReasonNotFile,
		"huge.md":         vault.ReasonTooLarge,
	}
	if diff := cmp.Diff(wantSkips, skips); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}

	for name, want := range map[string]string{"b.md": "b", "a/deep/er/d.markdown": "d"} {
		if got, err := v.Read(name); err != nil || string(got) != want {
			t.Errorf("Read(%q) = %q, %v; want %q", name, got, err, want)
		}
	}
	for name := range wantSkips {
		if b, err := v.Read(name); err == nil {
			t.Errorf("Read(%q) = %q, want an error", name, b)
		}
	}
	for _, name := range []string{"escape/secret.md", "loop/b.md", "../x.md", "/etc/x.md", "a/../b.md", "a//c.MD",
		"a/picture.png", "dir.md", ".git/x.md", ".memsearch-journal/x.md", "missing.md", "", "a/node_modules/p/README.md"} {
		if b, err := v.Read(name); err == nil {
			t.Errorf("Read(%q) = %q, want an error", name, b)
		}
	}
}

// Names that only some file systems can hold are tested where they can be made.
func TestWalkNames(t *testing.T) {
	const nfc, nfd = "caf\u00e9.md", "cafe\u0301.md"
	for name, tt := range map[string]struct {
		files map[string]string // OS name -> text
		want  map[string]string // Path -> text
		odd   int               // files with a notice
	}{
		"NFD":                {map[string]string{nfd: "1"}, map[string]string{nfc: "1"}, 0},
		"NFD folder":         {map[string]string{"re\u0301s/a.md": "1"}, map[string]string{"r\u00e9s/a.md": "1"}, 0},
		"both forms":         {map[string]string{nfc: "1", nfd: "2"}, map[string]string{nfc: "1", nfd: "2"}, 2},
		"case":               {map[string]string{"Case.md": "1", "case.md": "2"}, map[string]string{"Case.md": "1", "case.md": "2"}, 2},
		"folder case":        {map[string]string{"A/x.md": "1", "a/x.md": "2"}, map[string]string{"A/x.md": "1", "a/x.md": "2"}, 2},
		"not UTF-8":          {map[string]string{"bad-\xff\xfe.md": "1"}, map[string]string{"bad-%FF%FE.md": "1"}, 1},
		"not UTF-8, escaped": {map[string]string{"bad-\xff.md": "1", "bad-%FF.md": "2"}, nil, 2},
		"hostile": {map[string]string{"-rf.md": "1", "a\nb.md": "2", "\u202egnp.md": "3"},
			map[string]string{"-rf.md": "1", "a\nb.md": "2", "\u202egnp.md": "3"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			fill(t, dir, tt.files)
			v := open(t, dir, nil)
			entries, skips, err := v.Walk(t.Context())
			if err != nil || len(skips) > 0 || len(entries) != len(tt.files) {
				t.Fatalf("got %v, %v, %v", entries, skips, err)
			}
			got := map[string]string{}
			for _, e := range entries {
				b, err := v.ReadEntry(e)
				if err != nil || string(b) != tt.files[e.OSPath] {
					t.Errorf("ReadEntry(%+q) = %q, %v", e.OSPath, b, err)
				}
				if again, err := v.Read(e.Path); err != nil || string(again) != string(b) {
					t.Errorf("Read(%+q) = %q, %v; want %q", e.Path, again, err, b)
				}
				if !utf8.ValidString(e.Path) {
					t.Errorf("path %q is not UTF-8", e.Path)
				}
				got[e.Path] = string(b)
			}
			if diff := cmp.Diff(tt.want, got); tt.want != nil && diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(got) != len(tt.files) {
				t.Errorf("%d paths for %d files: %q", len(got), len(tt.files), got)
			}
			odd := map[string]bool{}
			for _, n := range vault.Notices(entries) {
				odd[n.Path] = true
			}
			if len(odd) != tt.odd {
				t.Errorf("%d files with notices, want %d: %v", len(odd), tt.odd, vault.Notices(entries))
			}
		})
	}
}

// What the user may not read is reported, and the rest is read.
func TestWalkUnreadable(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, map[string]string{"open.md": "open", "closed/x.md": "x", "closed.md": "x"})
	for _, name := range []string{"closed", "closed.md"} {
		if err := os.Chmod(filepath.Join(dir, name), 0); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.Chmod(filepath.Join(dir, "closed"), 0o700) })
	for p := dir; p != filepath.Dir(os.TempDir()) && p != "/"; p = filepath.Dir(p) {
		if p != os.TempDir() {
			os.Chmod(p, 0o755)
		}
	}
	os.Chmod(filepath.Join(dir, "open.md"), 0o644)
	if os.Geteuid() == 0 { // root may read everything, so be someone else
		if err := syscall.Seteuid(65534); err != nil {
			t.Fatal(err)
		}
		defer syscall.Seteuid(0)
	}
	v := open(t, dir, nil)
	entries, skips, err := v.Walk(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]vault.Skip{{Path: "closed/", Reason: vault.ReasonPermission}}, skips); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
	read := map[string]string{}
	for _, e := range entries {
		b, err := v.ReadEntry(e)
		if se, ok := errors.AsType[*vault.SkipError](err); ok {
			b = []byte(se.Skip.Reason)
		} else if err != nil {
			t.Error(err)
		}
		read[e.Path] = string(b)
	}
	if diff := cmp.Diff(map[string]string{"open.md": "open", "closed.md": vault.ReasonPermission}, read); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
}

// A file may change into something else between the walk and the read.
func TestReadEntryAfterChange(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.md")
	fill(t, filepath.Dir(outside), map[string]string{"secret.md": "outside"})
	for name, tt := range map[string]struct {
		change func(path string) error
		reason string
	}{
		"link out": {func(p string) error { return os.Symlink(outside, p) }, vault.ReasonLinkOut},
		"link in":  {func(p string) error { return os.Symlink("other.md", p) }, vault.ReasonLink},
		"pipe":     {func(p string) error { return syscall.Mkfifo(p, 0o600) }, vault.ReasonNotFile},
		"folder":   {func(p string) error { return os.Mkdir(p, 0o700) }, vault.ReasonNotFile},
		"gone":     {func(p string) error { return nil }, vault.ReasonGone},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			fill(t, dir, map[string]string{"a.md": "a", "other.md": "o"})
			v := open(t, dir, nil)
			entries, _, err := v.Walk(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			p := filepath.Join(dir, "a.md")
			if err := errors.Join(os.Remove(p), tt.change(p)); err != nil {
				t.Fatal(err)
			}
			b, err := v.ReadEntry(entries[0])
			se, ok := errors.AsType[*vault.SkipError](err)
			if !ok || se.Skip != (vault.Skip{Path: "a.md", Reason: tt.reason}) {
				t.Errorf("got %q, %v; want reason %q", b, err, tt.reason)
			}
		})
	}
}

func TestWalkBigFolder(t *testing.T) {
	dir := memoryDir(t)
	files := map[string]string{}
	for i := range 1300 {
		files[string(rune('a'+i%26))+"-"+string(rune('a'+i/26%26))+string(rune('a'+i/676))+".md"] = ""
	}
	fill(t, dir, files)
	paths, _ := walk(t, open(t, dir, nil))
	seen := map[string]bool{}
	for i, p := range paths {
		if i > 0 && paths[i-1] >= p {
			t.Fatalf("%q after %q", p, paths[i-1])
		}
		seen[p] = true
	}
	if len(seen) != len(files) || len(paths) != len(files) {
		t.Errorf("%d paths, %d different, want %d", len(paths), len(seen), len(files))
	}
}

func TestWalkCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := open(t, t.TempDir(), nil).Walk(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func TestOpenMissing(t *testing.T) {
	if _, err := vault.Open(filepath.Join(t.TempDir(), "none"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want %v", err, fs.ErrNotExist)
	}
}
