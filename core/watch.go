package core

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"
)

// watchRest is how long a watched vault goes without a walk at most, whatever the
// system reported: file systems on a network report nothing.
const watchRest = 30 * time.Second

// watchIdle is how often a process that may be waiting lets go of what it need not
// hold.
const watchIdle = time.Second

// A watcher knows whether anything in a vault may have changed, so that a recall
// of a long-running process need not look at every file. Reports come a moment
// after the change.
type watcher struct {
	notify *fsnotify.Watcher
	log    *slog.Logger
	dirty  atomic.Bool
	looked atomic.Int64 // nanoseconds of the last walk
	blind  atomic.Bool  // dir itself was moved, of which nothing is reported from then on
	dir    string
	done   chan struct{}
}

// newWatcher watches every folder below dir that a walk would enter, and calls idle
// every now and then.
func newWatcher(dir string, idle func(), log *slog.Logger) (*watcher, error) {
	dir, err := filepath.EvalSymlinks(dir) // a walk does not follow a link it begins at
	if err != nil {
		return nil, err
	}
	n, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	w := &watcher{notify: n, log: log, dir: dir, done: make(chan struct{})}
	w.dirty.Store(true)
	if err := w.add(dir); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	go w.loop(idle)
	return w, nil
}

// add watches dir and what is below it.
func (w *watcher) add(dir string) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrNotExist):
			return nil // a walk skips it as well
		case err != nil:
			return err
		case !d.IsDir():
			return nil
		case name != dir && ignored(d.Name()):
			return filepath.SkipDir
		}
		return w.notify.Add(name)
	})
}

func ignored(base string) bool { return strings.HasPrefix(base, ".") || base == "node_modules" }

func (w *watcher) loop(idle func()) {
	defer close(w.done)
	tick := time.NewTicker(watchIdle)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			idle()
		case e, ok := <-w.notify.Events:
			if !ok {
				return
			}
			if e.Name == w.dir && (e.Has(fsnotify.Rename) || e.Has(fsnotify.Remove)) {
				w.blind.Store(true)
			}
			if ignored(filepath.Base(e.Name)) {
				continue
			}
			w.dirty.Store(true)
			if fi, err := os.Lstat(e.Name); e.Has(fsnotify.Create) && err == nil && fi.IsDir() {
				if err := w.add(e.Name); err != nil {
					w.log.Warn("folder not watched", "err", err)
				}
				w.dirty.Store(true) // for what came before the watch
			}
		case err, ok := <-w.notify.Errors:
			if !ok {
				return
			}
			w.dirty.Store(true) // events may be lost
			w.log.Warn("watching the vault", "err", err)
		}
	}
}

// quiet reports whether nothing can have changed since the last walk. If not, the
// caller walks, and calls again with changed when that failed.
func (w *watcher) quiet(now time.Time) bool {
	if !w.dirty.Swap(false) && !w.blind.Load() && now.UnixNano()-w.looked.Load() < int64(watchRest) {
		return true
	}
	w.looked.Store(now.UnixNano())
	return false
}

func (w *watcher) changed() { w.dirty.Store(true) }

func (w *watcher) close() error {
	err := w.notify.Close()
	<-w.done
	return err
}
