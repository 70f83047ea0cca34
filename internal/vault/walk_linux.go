package vault

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"path"
	"runtime"
	"slices"
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
	path  string   // of the folder, in the file system's spelling; "" for the vault
	dir   *handle  // the folder above it; with names, the folder itself
	names []string // whole paths
}

// A handle is a folder's descriptor, shared by the tasks that describe its files
// and those that list its subfolders. It is a bare number: nobody waits for a
// folder, and to register each with the runtime's poller would cost more than to
// read it.
type handle struct {
	fd   int
	refs atomic.Int32
}

// openFolder opens a folder by its name in the one at fd. It follows no link, so
// it cannot lead out of there.
func openFolder(fd int, name string) (*handle, error) {
	for {
		n, err := unix.Openat(fd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, err
		}
		h := &handle{fd: n}
		h.refs.Store(1)
		return h, nil
	}
}

func (h *handle) share() *handle {
	h.refs.Add(1)
	return h
}

func (h *handle) release() {
	if h.refs.Add(-1) == 0 {
		unix.Close(h.fd) // nothing was written through it
	}
}

// A found is what one worker collected.
type found struct {
	runs  [][]Entry // each sorted
	skips []Skip

	buf   []byte   // for the system's list of names
	names []string // for those of one folder
}

func (v *Vault) gather(ctx context.Context) ([]Entry, []Skip, error) {
	top, err := v.dir.Open(".")
	if err != nil {
		return nil, nil, err
	}
	defer top.Close() // read only
	root, err := openFolder(int(top.Fd()), ".")
	if err != nil {
		return nil, nil, err
	}
	w := &walker{v: v, ctx: ctx, tasks: []task{{dir: root}}, pending: 1}
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
	entries, skips := merge(results)
	return entries, skips, nil
}

// merge joins what the workers collected. Entries come out as a rule in the
// order of their paths, so that sorting them takes one look at each.
func merge(results []found) ([]Entry, []Skip) {
	var runs [][]Entry
	var skips []Skip
	for _, f := range results {
		runs = append(runs, f.runs...)
		skips = append(skips, f.skips...)
	}
	slices.SortFunc(runs, func(a, b []Entry) int { return cmp.Compare(a[0].Path, b[0].Path) })
	return slices.Concat(runs...), skips
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
	defer t.dir.release()
	if err := context.Cause(w.ctx); err != nil {
		return err
	}
	if t.names != nil {
		w.describe(t, f)
		return nil
	}
	dir, err := openFolder(t.dir.fd, path.Base(t.path))
	if err == nil {
		defer dir.release()
		t.dir = dir
		err = w.list(t, f)
	}
	if err != nil {
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
	names := f.names[:0]
	defer func() { f.names = names }()
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
				w.folder(t.dir, prefix, string(name), f)
			case kind == unix.DT_LNK || kind == unix.DT_UNKNOWN || IsMarkdown(string(name)):
				names = append(names, prefix+string(name))
			}
		}
		for len(names) >= 2*statSlice {
			w.add(task{path: t.path, dir: t.dir.share(), names: slices.Clone(names[:statSlice])})
			names = slices.Delete(names, 0, statSlice)
		}
	}
	w.describe(task{path: t.path, dir: t.dir, names: names}, f)
	return nil
}

func (w *walker) folder(in *handle, prefix, name string, f *found) {
	switch reason, silent := skipDir(name); {
	case silent:
	case reason != "":
		f.skips = append(f.skips, Skip{Name(prefix+name) + "/", reason})
	default:
		w.add(task{path: prefix + name, dir: in.share()})
	}
}

// describe stats files of a folder, by their names in it.
func (w *walker) describe(t task, f *found) {
	skip := len(t.path)
	if skip > 0 {
		skip++
	}
	slices.Sort(t.names)
	run := make([]Entry, 0, len(t.names))
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
			w.folder(t.dir, name[:skip], name[skip:], f)
		case !IsMarkdown(name):
		case kind != unix.S_IFREG:
			f.skips = append(f.skips, Skip{Name(name), ReasonNotFile})
		default:
			e := Entry{Path: Name(name), OSPath: name, Size: st.Size, MTime: st.Mtim.Nano(), CTime: st.Ctim.Nano(), Inode: st.Ino}
			if s, ok := classify(e); ok {
				f.skips = append(f.skips, s)
			} else {
				run = append(run, e)
			}
		}
	}
	if len(run) > 0 {
		f.runs = append(f.runs, run)
	}
}
