// Package atomicfile replaces files below a directory so that a reader, or a
// restart after a crash, sees the old content or the new, never a mixture.
//
//	data -> temporary file -> fsync -> rename -> fsync of the directory
//
// Every operation goes through an [os.Root]: no name, and no symbolic link,
// leads outside the directory. Leftovers of an interrupted write match
// [TempPattern] and are safe to delete once no writer runs.
//
// A [Hook] sees each operation before it happens and may fail it; that is how
// tests stop a writer at every single file operation.
package atomicfile

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
)

// TempPattern matches, by [path.Match], the base name of a temporary file.
const TempPattern = ".memsearch-*.tmp"

// ErrNotRegular is returned when the target exists and is not a regular file,
// for example a symbolic link, which a rename would silently replace.
var ErrNotRegular = errors.New("not a regular file")

// A Hook is called before every operation that changes the disk. The op is one
// of create, write, sync, rename, remove, mkdir, link, append and syncdir; the
// name is slash-separated, below the directory given to [OpenDir]. An error it
// returns becomes the error of the operation, which then does not happen.
type Hook func(op, name string) error

// A Dir is a directory whose files change atomically. It is safe for concurrent
// use as far as its Hook is.
type Dir struct {
	root   *os.Root
	hook   Hook
	prefix string // of this Dir below the one that OpenDir returned
}

// OpenDir opens the directory called dir. A nil hook is never called.
func OpenDir(dir string, hook Hook) (*Dir, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Dir{root: root, hook: hook}, nil
}

// Sub opens the directory called name below d. The caller closes both.
func (d *Dir) Sub(name string) (*Dir, error) {
	root, err := d.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return &Dir{root: root, hook: d.hook, prefix: path.Join(d.prefix, name)}, nil
}

// Root returns the root that d works in. It lives until [Dir.Close].
func (d *Dir) Root() *os.Root { return d.root }

// Close releases d. Files opened through it stay open.
func (d *Dir) Close() error { return d.root.Close() }

func (d *Dir) before(op, name string) error {
	if d.hook == nil {
		return nil
	}
	return d.hook(op, path.Join(d.prefix, name))
}

// Write replaces the file called name with data. When it returns nil, the new
// content survives a power failure.
func (d *Dir) Write(name string, data []byte, perm fs.FileMode) error {
	if err := d.regular("write", name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	tmp, err := d.temp(name, perm, data)
	if err != nil {
		return err
	}
	if err := d.Rename(tmp, name); err != nil {
		return errors.Join(fmt.Errorf("replace %s: %w", name, err), d.discard(tmp))
	}
	return d.SyncDir(path.Dir(name))
}

// WriteNew is [Dir.Write] for a file that must not exist yet: when it does, the
// error is [fs.ErrExist] and the file stays as it is, even if it appeared while
// the data was being written (on a file system without hard links, unless it
// appeared in the very last moment).
func (d *Dir) WriteNew(name string, data []byte, perm fs.FileMode) error {
	tmp, err := d.temp(name, perm, data)
	if err != nil {
		return err
	}
	err = d.Link(tmp, name)
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) { // no hard links here
		if _, err = d.root.Lstat(name); err == nil {
			err = &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
		} else if errors.Is(err, fs.ErrNotExist) {
			err = d.Rename(tmp, name)
		}
	}
	if err != nil {
		return errors.Join(fmt.Errorf("create %s: %w", name, err), d.discard(tmp))
	}
	return errors.Join(d.discard(tmp), d.SyncDir(path.Dir(name)))
}

// Swap replaces the file called name with data if it still holds what was read
// from it: same is asked about the present content immediately before the
// rename. When it says no, nothing changes and the error is [ErrChanged]. Where
// the system can exchange two names, same is asked once more about the file that
// was displaced, and an edit that slipped in between is put back.
func (d *Dir) Swap(name string, data []byte, perm fs.FileMode, same func(current []byte) bool) error {
	if err := d.regular("write", name); err != nil {
		return err
	}
	tmp, err := d.temp(name, perm, data)
	if err != nil {
		return err
	}
	if err := d.swap(tmp, name, data, same); err != nil {
		return errors.Join(err, d.discard(tmp))
	}
	return errors.Join(d.discard(tmp), d.SyncDir(path.Dir(name)))
}

// ErrChanged is returned by [Dir.Swap] when the file was changed by someone else.
var ErrChanged = errors.New("file changed while it was being rewritten")

func (d *Dir) swap(tmp, name string, data []byte, same func([]byte) bool) error {
	if err := d.before("rename", name); err != nil {
		return fmt.Errorf("replace %s: %w", name, err)
	}
	current, err := d.root.ReadFile(name)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if !same(current) {
		return fmt.Errorf("replace %s: %w", name, ErrChanged)
	}
	switch err := exchange(d.root, tmp, name); {
	case errors.Is(err, errors.ErrUnsupported):
		if err := d.root.Rename(tmp, name); err != nil {
			return fmt.Errorf("replace %s: %w", name, err)
		}
		return nil
	case err != nil:
		return fmt.Errorf("replace %s: %w", name, err)
	}
	// The displaced file now bears the temporary name.
	placed, displaced := data, []byte(nil)
	if displaced, err = d.root.ReadFile(tmp); err != nil {
		return fmt.Errorf("read displaced %s: %w", name, err)
	}
	if same(displaced) {
		return nil
	}
	// It is an edit, so it goes back. If that displaces anything but what was put
	// there, someone saved once more, and that is the newest.
	for {
		if err := exchange(d.root, tmp, name); err != nil {
			return fmt.Errorf("put back %s: %w", name, err)
		}
		got, err := d.root.ReadFile(tmp)
		if err != nil {
			return fmt.Errorf("read displaced %s: %w", name, err)
		}
		if bytes.Equal(got, placed) {
			return fmt.Errorf("replace %s: %w", name, ErrChanged)
		}
		placed, displaced = displaced, got
	}
}

// temp writes a temporary file beside name and syncs it. On error none is left.
func (d *Dir) temp(name string, perm fs.FileMode, data []byte) (_ string, err error) {
	tmp := path.Join(path.Dir(name), ".memsearch-"+rand.Text()+".tmp")
	if err := d.before("create", tmp); err != nil {
		return "", fmt.Errorf("create temporary file: %w", err)
	}
	f, err := d.root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return "", fmt.Errorf("create temporary file: %w", err)
	}
	defer func() {
		if err != nil {
			f.Close() // a second Close is harmless
			err = errors.Join(err, d.discard(tmp))
		}
	}()
	if err := d.before("write", tmp); err != nil {
		return "", fmt.Errorf("write %s: %w", name, err)
	}
	if _, err := f.Write(data); err != nil {
		return "", fmt.Errorf("write %s: %w", name, err)
	}
	if err := d.before("sync", tmp); err != nil {
		return "", fmt.Errorf("sync %s: %w", name, err)
	}
	if err := f.Sync(); err != nil {
		return "", fmt.Errorf("sync %s: %w", name, err)
	}
	if err := f.Close(); err != nil {
		return "", fmt.Errorf("close %s: %w", name, err)
	}
	return tmp, nil
}

// discard removes a temporary file that may already be gone.
func (d *Dir) discard(tmp string) error {
	if err := d.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (d *Dir) regular(op, name string) error {
	fi, err := d.root.Lstat(name)
	if err != nil {
		return err
	}
	if !fi.Mode().IsRegular() {
		return &fs.PathError{Op: op, Path: name, Err: ErrNotRegular}
	}
	return nil
}

// Append adds data to the end of the file called name, which is made, readable
// by its owner alone, if it is missing. The data goes out in one write, so that
// appends of several processes do not mix; a crash may leave a part of it.
func (d *Dir) Append(name string, data []byte) error {
	err := d.regular("append", name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	fresh := err != nil
	if err := d.before("append", name); err != nil {
		return err
	}
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close() // after an error; a second Close is harmless
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := d.before("sync", name); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if fresh {
		return d.SyncDir(path.Dir(name))
	}
	return nil
}

// Create makes an empty file called name unless there is one. It is not synced:
// it outlives the process, but perhaps not a power failure.
func (d *Dir) Create(name string) error {
	if err := d.before("create", name); err != nil {
		return err
	}
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// Rename gives the file or directory called from the name to, replacing a file
// of that name. It is durable after a [Dir.SyncDir].
func (d *Dir) Rename(from, to string) error {
	if err := d.before("rename", to); err != nil {
		return err
	}
	return d.root.Rename(from, to)
}

// Link makes to a second name of the file called from.
func (d *Dir) Link(from, to string) error {
	if err := d.before("link", to); err != nil {
		return err
	}
	return d.root.Link(from, to)
}

// Remove removes the file or empty directory called name.
func (d *Dir) Remove(name string) error {
	if err := d.before("remove", name); err != nil {
		return err
	}
	return d.root.Remove(name)
}

// RemoveAll removes name and all below it. The Hook is told once.
func (d *Dir) RemoveAll(name string) error {
	if err := d.before("remove", name); err != nil {
		return err
	}
	return d.root.RemoveAll(name)
}

// MkdirAll makes the directory called name and its missing parents.
func (d *Dir) MkdirAll(name string, perm fs.FileMode) error {
	if fi, err := d.root.Stat(name); err == nil && fi.IsDir() {
		return nil
	}
	if err := d.before("mkdir", name); err != nil {
		return err
	}
	return d.root.MkdirAll(name, perm)
}

// SyncDir makes the names in the directory called name durable. Systems that
// cannot sync a directory do nothing.
func (d *Dir) SyncDir(name string) error {
	if err := d.before("syncdir", name); err != nil {
		return err
	}
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := d.root.Open(name)
	if err != nil {
		return fmt.Errorf("open directory %s: %w", name, err)
	}
	return errors.Join(f.Sync(), f.Close())
}

// ReadFile returns the content of the regular file called name.
func (d *Dir) ReadFile(name string) ([]byte, error) {
	f, err := regular(name, func(flag int) (*os.File, error) { return d.root.OpenFile(name, flag, 0) })
	if err != nil {
		return nil, err
	}
	return readClose(f)
}

// Lstat describes name without following a link.
func (d *Dir) Lstat(name string) (fs.FileInfo, error) { return d.root.Lstat(name) }

// Open opens the file or directory called name for reading. It waits for nobody,
// also when that is a pipe.
func (d *Dir) Open(name string) (*os.File, error) {
	return d.root.OpenFile(name, os.O_RDONLY|noWait, 0)
}
