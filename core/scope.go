package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/memsearch/memsearch/embed"
	"github.com/memsearch/memsearch/index"
	"github.com/memsearch/memsearch/internal/english"
	"github.com/memsearch/memsearch/internal/vault"
)

// A scope is an opened directory with its index.
type scope struct {
	name     string
	readOnly bool
	vault    *vault.Vault
	folder   fs.FileInfo // of the vault when it was opened
	disk     *index.Index
	model    embed.Embedder // with the scope's own cache; nil for none
	watch    *watcher       // nil: every recall walks the vault
	core     *shared

	unread unread

	mu     sync.Mutex
	memory *index.Index // stands in when the index directory cannot be used
	tried  time.Time    // when the disk was last found unusable
}

// indexDir is where the derived indexes of s live.
func (s Scope) indexDir() string {
	if s.IndexDir != "" {
		return s.IndexDir
	}
	return filepath.Join(s.Dir, vault.IndexDir)
}

func openScope(sc Scope, core *shared, watch bool) (*scope, error) {
	v, err := vault.Open(sc.Dir, &vault.Options{ReadOnly: sc.ReadOnly, Logger: core.log, Wait: core.settings.LockWait, Now: core.now})
	if err != nil {
		return nil, err
	}
	folder, err := os.Stat(sc.Dir)
	if err != nil {
		return nil, errors.Join(err, v.Close())
	}
	s := &scope{name: sc.Name, readOnly: sc.ReadOnly, vault: v, folder: folder, core: core, model: cached(core.embedder, cmp.Or(core.vectors, sc.indexDir()), core.log)}
	if s.disk, err = index.Open(sc.indexDir(), source{v}, s.options(false)); err != nil {
		return nil, errors.Join(err, v.Close())
	}
	if watch {
		if s.watch, err = newWatcher(sc.Dir, s.disk.LetGo, core.log); err != nil {
			core.log.Warn("vault not watched, every recall looks at all files", "scope", sc.Name, "err", err)
		}
	}
	return s, nil
}

func (s *scope) options(inMemory bool) *index.Options {
	return &index.Options{Embedder: s.model, Zone: s.core.settings.Zone, Logger: s.core.log, InMemory: inMemory, Now: s.core.now}
}

func (s *scope) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	if s.memory != nil {
		err = s.memory.Close()
	}
	if c, ok := s.model.(io.Closer); ok {
		err = errors.Join(err, c.Close())
	}
	if s.watch != nil {
		err = errors.Join(err, s.watch.close())
	}
	return errors.Join(err, s.disk.Close(), s.vault.Close())
}

// A source is a vault whose walk may be given a time of its own.
type source struct{ *vault.Vault }

type walkBudget struct{}

// errWalk is the cause when a walk took longer than its budget.
var errWalk = errors.New("looking for changed files took too long")

func (s source) Walk(ctx context.Context) ([]vault.Entry, []vault.Skip, error) {
	if d, ok := ctx.Value(walkBudget{}).(time.Duration); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, d, errWalk)
		defer cancel()
	}
	return s.Vault.Walk(ctx)
}

// A view is a snapshot of one scope with what is not right about it.
type view struct {
	snap    *index.Snapshot
	reasons []string
	blind   []string // reasons why something that is there is not in it
}

// open returns a snapshot that can be searched now: the published generation,
// else one made on the spot, else one in memory.
func (s *scope) open(ctx context.Context) (*view, error) {
	if mem := s.standIn(); mem != nil && !s.backOnDisk(ctx) {
		v, err := s.openMemory(ctx, mem, nil)
		if !errors.Is(err, index.ErrClosed) { // by a call that found the disk usable again
			return v, err
		}
	}
	snap, err := s.disk.Snapshot(ctx)
	if err == nil {
		return &view{snap: snap}, nil
	}
	if ctx.Err() != nil {
		return nil, err
	}
	_, serr := s.disk.Sync(ctx, index.SyncOptions{Wait: s.core.settings.LockWait})
	if serr == nil {
		if snap, err = s.disk.Snapshot(ctx); err == nil {
			return &view{snap: snap}, nil
		}
		serr = err
	}
	if ctx.Err() != nil {
		return nil, serr
	}
	mem, err := s.standBy(ctx, serr)
	if err != nil {
		return nil, err
	}
	return s.openMemory(ctx, mem, serr)
}

// standBy makes an index in memory stand in for the one on the disk.
func (s *scope) standBy(ctx context.Context, why error) (*index.Index, error) {
	s.core.log.WarnContext(ctx, "index cannot be written, answering from memory", "scope", s.name, "err", why)
	mem, err := index.Open("", source{s.vault}, s.options(true))
	if err != nil {
		return nil, errors.Join(why, err)
	}
	return s.keep(mem), nil
}

// retryDisk is how often a disk that could not be used is tried again.
const retryDisk = 30 * time.Second

// backOnDisk reports whether the index on the disk can be used again; the one in
// memory is then dropped.
func (s *scope) backOnDisk(ctx context.Context) bool {
	now := s.core.now()
	s.mu.Lock()
	due := now.Sub(s.tried) >= retryDisk
	if due {
		s.tried = now
	}
	s.mu.Unlock()
	if !due {
		return false
	}
	if _, err := s.disk.Sync(ctx, index.SyncOptions{}); err != nil {
		return false
	}
	if err := s.dropStandIn(); err != nil {
		s.core.log.WarnContext(ctx, "index in memory not closed", "scope", s.name, "err", err)
	}
	return true
}

// cannotFollow reports whether the index on the disk stays behind the files
// however often a sync is tried.
func cannotFollow(err error) bool {
	return errors.Is(err, index.ErrReadOnly) || errors.Is(err, index.ErrFull)
}

func (s *scope) standIn() *index.Index {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.memory
}

// keep stores mem as the stand-in unless another call was first.
func (s *scope) keep(mem *index.Index) *index.Index {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.memory == nil {
		s.memory, s.tried = mem, s.core.now()
	}
	return s.memory
}

func (s *scope) openMemory(ctx context.Context, mem *index.Index, why error) (*view, error) {
	r, err := mem.Sync(ctx, index.SyncOptions{Wait: s.core.settings.LockWait})
	if err != nil {
		return nil, errors.Join(why, err)
	}
	snap, err := mem.Snapshot(ctx)
	if err != nil {
		return nil, errors.Join(why, err)
	}
	note := "the index directory cannot be used; the index was made in memory"
	if why != nil {
		note = fmt.Sprintf("%s (%v)", note, why)
	}
	return &view{snap: snap, reasons: []string{note}, blind: s.unread.note(r.Skips)}, nil
}

// A freshness says what a look at the files of a scope found.
type freshness struct {
	published bool // a new generation is there, or an index in memory
	stale     int
	blind     []string // reasons why something that is there is not in the index
}

// refresh brings the index up to its files when few differ. It never fails: what
// it could not do is in the reasons.
func (s *scope) refresh(ctx context.Context, w *index.Walk) freshness {
	if s.standIn() != nil {
		return freshness{}
	}
	if s.watch != nil && s.watch.quiet(s.core.now()) {
		return freshness{blind: s.unread.reasons()}
	}
	f, again := s.catchUp(ctx, w)
	if s.watch != nil && again {
		s.watch.changed()
	}
	return f
}

// beginWalk begins the walk of a refresh that will follow for certain; nil when
// there is none.
func (s *scope) beginWalk(ctx context.Context) *index.Walk {
	if s.standIn() != nil || s.watch != nil {
		return nil
	}
	return s.disk.BeginWalk(s.budgeted(ctx))
}

func (s *scope) budgeted(ctx context.Context) context.Context {
	return context.WithValue(ctx, walkBudget{}, s.core.settings.SyncBudget)
}

// catchUp syncs a few changed files. The next call must try again when something
// but unreadable files kept it from the end.
func (s *scope) catchUp(ctx context.Context, w *index.Walk) (_ freshness, again bool) {
	limited := s.budgeted(ctx)
	r, err := s.disk.Sync(limited, index.SyncOptions{MaxFiles: s.core.settings.SyncFiles, Walk: w})
	switch {
	case err == nil:
		f := freshness{published: r.Published, stale: r.Stale}
		if r.Stale > 0 {
			f.blind = append(f.blind, english.Count(r.Stale, "file")+" changed since indexing; run memsearch index")
		}
		if r.EmbedErr != nil {
			f.blind = append(f.blind, fmt.Sprintf("%s without a vector yet: %v", english.Count(r.Missing, "unit"), r.EmbedErr))
		}
		again = len(f.blind) > 0
		f.blind = append(f.blind, s.unread.note(r.Skips)...)
		return f, again
	case ctx.Err() != nil:
		return freshness{}, true
	case errors.Is(err, errWalk):
		return behind("%v (more than %s); some answers may be old", errWalk, s.core.settings.SyncBudget), true
	case errors.Is(err, index.ErrBusy):
		return behind("another process is indexing; changes since its last state are not in the answer"), true
	case cannotFollow(err):
		if _, merr := s.standBy(ctx, err); merr == nil {
			return freshness{published: true}, true
		}
	}
	s.core.log.WarnContext(ctx, "index not brought up to date", "scope", s.name, "err", err)
	return behind("the index could not be brought up to date: %v", err), true
}

// behind is the freshness of an index that could not follow the files.
func behind(format string, a ...any) freshness {
	return freshness{blind: []string{fmt.Sprintf(format, a...)}}
}
