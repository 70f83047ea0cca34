package vault

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// openFlags keep an open from waiting for the other end of a pipe.
const openFlags = unix.O_NONBLOCK

func inode(fi fs.FileInfo) uint64 {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return st.Ino
	}
	return 0
}

// statSlice is how many files of one folder a worker describes at a time: small
// enough that one big folder keeps every worker busy.
const statSlice = 512

// A walker hands folders, and slices of big folders, to a few workers.
type walker struct {
	v       *Vault
	ctx     context.Context
	mu      sync.Mutex
	more    sync.Cond
	tasks   []task
	pending int // tasks queued or at work
	err     error
}

// A task is a folder to list, or, with names, a part of a folder to describe.
type task struct {
	path  string // of the folder, in the file system's spelling; "" for the vault
	dir   *handle
	names []string // whole paths
}

// A handle is a folder's descriptor, shared by the tasks that describe its files.
type handle struct {
	file *os.File
	fd   int
	refs atomic.Int32
}

func (h *handle) release() {
	if h.refs.Add(-1) == 0 {
		h.file.Close() // nothing was written through it
	}
}

// A found is what one worker collected.
type found struct {
	entries []Entry
	skips   []Skip
	buf     []byte
}

func (v *Vault) gather(ctx context.Context) ([]Entry, []Skip, error) {
	w := &walker{v: v, ctx: ctx, tasks: []task{{}}, pending: 1}
	w.more.L = &w.mu
	results := make([]found, min(8, runtime.GOMAXPROCS(0)))
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() {
			f := &results[i]
			f.buf = make([]byte, 64<<10)
			for t, ok := w.next(); ok; t, ok = w.next() {
				w.done(w.do(t, f))
			}
		})
	}
	wg.Wait()
	if w.err != nil {
		return nil, nil, w.err
	}
	total := results[0]
	for _, f := range results[1:] {
		total.entries = append(total.entries, f.entries...)
		total.skips = append(total.skips, f.skips...)
	}
	return total.entries, total.skips, nil
}

func (w *walker) next() (task, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.tasks) == 0 && w.pending > 0 {
		w.more.Wait()
	}
	if len(w.tasks) == 0 {
		return task{}, false
	}
	t := w.tasks[len(w.tasks)-1]
	w.tasks = w.tasks[:len(w.tasks)-1]
	return t, true
}

func (w *walker) add(t task) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tasks = append(w.tasks, t)
	w.pending++
	w.more.Signal()
}

func (w *walker) done(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
	if w.pending--; w.pending == 0 {
		w.more.Broadcast()
	}
}

func (w *walker) do(t task, f *found) error {
	if t.names != nil {
		defer t.dir.release()
	}
	if err := context.Cause(w.ctx); err != nil {
		return err
	}
	if t.names != nil {
		w.describe(t, f)
		return nil
	}
	file, err := w.v.dir.Open(cmp.Or(t.path, "."))
	if err != nil {
		if t.path == "" {
			return err
		}
		f.skips = append(f.skips, skipFor(Name(t.path)+"/", err))
		return nil
	}
	t.dir = &handle{file: file, fd: int(file.Fd())}
	t.dir.refs.Store(1)
	defer t.dir.release()
	if err := w.list(t, f); err != nil {
		if t.path == "" {
			return err
		}
		f.skips = append(f.skips, skipFor(Name(t.path)+"/", err))
	}
	return nil
}

// list reads the names in a folder: subfolders become tasks, Markdown files are
// described here or, when there are many, by whoever is free.
func (w *walker) list(t task, f *found) error {
	prefix := t.path
	if prefix != "" {
		prefix += "/"
	}
	var names []string
	for {
		n, err := unix.ReadDirent(t.dir.fd, f.buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			w.describe(task{path: t.path, dir: t.dir, names: names}, f)
			return err
		}
		if n == 0 {
			break
		}
		for b := f.buf[:n]; len(b) > 0; {
			// struct linux_dirent64: inode, offset, length, type, name.
			size := binary.NativeEndian.Uint16(b[16:])
			kind, name := b[18], b[19:size]
			b = b[size:]
			name = name[:bytes.IndexByte(name, 0)]
			switch {
			case string(name) == "." || string(name) == "..":
			case kind == unix.DT_DIR:
				w.folder(prefix, string(name), f)
			case kind == unix.DT_LNK || kind == unix.DT_UNKNOWN || IsMarkdown(string(name)):
				names = append(names, prefix+string(name))
			}
		}
		for len(names) >= 2*statSlice {
			t.dir.refs.Add(1)
			w.add(task{path: t.path, dir: t.dir, names: names[:statSlice:statSlice]})
			names = names[statSlice:]
		}
	}
	w.describe(task{path: t.path, dir: t.dir, names: names}, f)
	return nil
}

func (w *walker) folder(prefix, name string, f *found) {
	switch reason, silent := skipDir(name); {
	case silent:
	case reason != "":
		f.skips = append(f.skips, Skip{Name(prefix+name) + "/", reason})
	default:
		w.add(task{path: prefix + name})
	}
}

// describe stats files of a folder, by their names in it.
func (w *walker) describe(t task, f *found) {
	skip := len(t.path)
	if skip > 0 {
		skip++
	}
	var st unix.Stat_t
	for _, name := range t.names {
		err := unix.Fstatat(t.dir.fd, name[skip:], &st, unix.AT_SYMLINK_NOFOLLOW)
		switch kind := st.Mode & unix.S_IFMT; {
		case errors.Is(err, unix.ENOENT): // removed since it was listed
		case err != nil:
			if IsMarkdown(name) {
				f.skips = append(f.skips, skipFor(Name(name), err))
			}
		case kind == unix.S_IFLNK:
			if s, ok := w.v.link(name); ok {
				f.skips = append(f.skips, s)
			}
		case kind == unix.S_IFDIR:
			w.folder(name[:skip], name[skip:], f)
		case !IsMarkdown(name):
		case kind != unix.S_IFREG:
			f.skips = append(f.skips, Skip{Name(name), ReasonNotFile})
		default:
			e := Entry{Path: Name(name), OSPath: name, Size: st.Size, MTime: st.Mtim.Nano(), CTime: st.Ctim.Nano(), Inode: st.Ino}
			if s, ok := classify(e); ok {
				f.skips = append(f.skips, s)
			} else {
				f.entries = append(f.entries, e)
			}
		}
	}
}
