package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/atomicfile"
	"github.com/memsearch/memsearch/internal/journal"
	"github.com/memsearch/memsearch/internal/memfile"
)

// Files of the journal folder that are the writer's.
const (
	lockFile  = JournalDir + "/lock"
	dirtyFile = JournalDir + "/dirty" // stands while a write is under way
)

// lockPoll is how often a waiting writer looks again.
const lockPoll = 5 * time.Millisecond

// ErrBusy is returned when another writer holds the vault for longer than
// [Options.Wait].
var ErrBusy = errors.New("vault is busy: another writer holds it")

// A Writer changes the files of a vault. Its methods lock the vault, for this
// process and all others, while they run; they may be called concurrently.
type Writer struct {
	v *Vault
}

// Writer returns the writer of the vault. The error is [ErrReadOnly] when the
// vault was opened for reading or the system does not let it be written.
func (v *Vault) Writer() (*Writer, error) {
	if v.opts.ReadOnly {
		return nil, fmt.Errorf("write to vault %s: %w", v.path, ErrReadOnly)
	}
	const ignore = JournalDir + "/.gitignore"
	err := v.dir.MkdirAll(JournalDir, 0o700)
	if err == nil {
		if _, serr := v.dir.Lstat(ignore); errors.Is(serr, fs.ErrNotExist) {
			err = v.dir.Write(ignore, []byte("key\nlock\ndirty\n"), 0o600)
		}
	}
	if err == nil {
		err = v.dir.Create(lockFile)
	}
	if err != nil {
		return nil, fmt.Errorf("write to vault %s: %w", v.path, readOnly(err))
	}
	return &Writer{v: v}, nil
}

func readOnly(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	return err
}

// run does one write under the lock. A mark on the disk says that a write is
// under way; whoever finds it repairs what the write left. It is taken away
// after a success or a refusal, not after a failure.
func (w *Writer) run(ctx context.Context, op string, do func(ctx context.Context) error) error {
	unlock, err := w.lock(ctx)
	if err != nil {
		return fmt.Errorf("%s memory: %w", op, err)
	}
	defer unlock()
	if _, err := w.v.dir.Lstat(dirtyFile); err == nil {
		err := w.repair(ctx)
		if _, ok := errors.AsType[*unfinishedError](err); err != nil && !ok {
			return fmt.Errorf("finish interrupted write: %w", err)
		}
	} else if err := w.v.dir.Create(dirtyFile); err != nil {
		return fmt.Errorf("%s memory: %w", op, readOnly(err))
	}
	err = do(ctx)
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		refused.Op = op
		w.note(event{Event: "refused", Op: op, Rule: refused.Rule, Field: refused.Field})
		return errors.Join(refused, w.clean())
	}
	if unfinished, ok := errors.AsType[*unfinishedError](err); ok {
		w.v.opts.Logger.WarnContext(ctx, "write is done, the rest is left to the next writer", "op", op, "err", unfinished.err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s memory: %w", op, readOnly(err))
	}
	if err := w.clean(); err != nil {
		w.v.opts.Logger.WarnContext(ctx, "write is done, its mark stays", "err", err)
	}
	return nil
}

func (w *Writer) clean() error { return w.v.dir.Remove(dirtyFile) }

func (w *Writer) lock(ctx context.Context) (unlock func(), err error) {
	if fi, err := w.v.dir.Lstat(lockFile); err == nil && !fi.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "lock", Path: lockFile, Err: atomicfile.ErrNotRegular}
	}
	wait, cancel := context.WithTimeout(ctx, w.v.opts.Wait)
	defer cancel()
	l := flock.New(filepath.Join(w.v.path, filepath.FromSlash(lockFile)))
	if _, err := l.TryLockContext(wait, lockPoll); err != nil {
		l.Close() // holds nothing
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, context.DeadlineExceeded):
			return nil, ErrBusy
		}
		return nil, readOnly(err)
	}
	return func() {
		if err := l.Close(); err != nil {
			w.v.opts.Logger.Warn("unlock vault", "err", err)
		}
	}, nil
}

// An event is a line of the life-cycle journal. It has no text of a memory, and
// not the name of its file, which is text too.
type event struct {
	Time   time.Time `json:"time"`
	Event  string    `json:"event"`
	Op     string    `json:"op,omitempty"`
	ID     string    `json:"id,omitempty"`
	Path   string    `json:"path,omitempty"` // of a folder outside the vault
	Rule   Rule      `json:"rule,omitempty"`
	Field  string    `json:"field,omitempty"`
	Reason string    `json:"reason,omitempty"`
}

const eventExported = "exported"

// note journals what happened. The write itself is done, so that a journal that
// cannot be written is only warned of.
func (w *Writer) note(e event) {
	e.Time = w.v.opts.Now().UTC()
	if err := w.v.journal.Append(journal.Lifecycle, e); err != nil {
		w.v.opts.Logger.Warn("journal not written", "event", e.Event, "err", err)
	}
}

// editTries is how often a file is read again because someone else saved it
// while it was being rewritten.
const editTries = 10

// rewrite replaces a file with what change makes of its present content, which
// is asked again when the file changes meanwhile. A nil result leaves the file
// alone.
func (w *Writer) rewrite(ctx context.Context, e Entry, change func(raw []byte) ([]byte, error)) error {
	for range editTries {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		raw, err := w.v.ReadEntry(e)
		if err != nil {
			return err
		}
		out, err := change(raw)
		if err != nil || out == nil || slices.Equal(out, raw) {
			return err
		}
		perm := fs.FileMode(0o644)
		if fi, err := w.v.dir.Lstat(e.OSPath); err == nil {
			perm = fi.Mode().Perm()
		}
		err = w.v.dir.Swap(e.OSPath, out, perm, func(now []byte) bool { return slices.Equal(now, raw) })
		if !errors.Is(err, atomicfile.ErrChanged) {
			return err
		}
	}
	return fmt.Errorf("rewrite %s: %w", e.Path, atomicfile.ErrChanged)
}

// splice changes front matter keys of the memory at path. Changes are computed
// from what the file holds now; none leaves it alone.
func (w *Writer) splice(ctx context.Context, name string, change func(m memsearch.Memory) ([]memfile.Change, error)) error {
	e, err := w.v.locate(name)
	if err != nil {
		return err
	}
	return w.rewrite(ctx, e, func(raw []byte) ([]byte, error) {
		changes, err := change(memfile.Parse(e.Path, raw, nil).Memory)
		if err != nil || len(changes) == 0 {
			return nil, err
		}
		out, err := memfile.Splice(raw, changes)
		if err != nil {
			return nil, refuse(RuleFile, "", "its front matter cannot be changed without loss: %v", err)
		}
		return out, nil
	})
}

// locate is [Vault.find] for a path that a caller named.
func (v *Vault) locate(name string) (Entry, error) {
	e, err := v.find(name)
	switch se, skipped := errors.AsType[*SkipError](err); {
	case skipped:
		return e, refuse(RulePath, "path", "%s", se.Skip.Reason)
	case errors.Is(err, fs.ErrNotExist):
		return e, refuse(RuleMissing, "path", "there is no such memory")
	case err != nil:
		return e, refuse(RulePath, "path", "is not a Markdown file of the vault")
	}
	return e, nil
}

// removeTemps removes what an interrupted write left. The index has a writer and
// a lock of its own.
func (w *Writer) removeTemps(ctx context.Context) error {
	var errs []error
	err := fs.WalkDir(w.v.dir.Root().FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		base := path.Base(name)
		switch {
		case err != nil && (d == nil || d.IsDir()):
			return fs.SkipDir // unreadable: no writer was there either
		case err != nil || name == ".":
			return nil
		case d.IsDir():
			if reason, _ := skipDir(base); reason != "" && base != JournalDir {
				return fs.SkipDir
			}
			return nil
		}
		if ok, _ := path.Match(atomicfile.TempPattern, base); ok && d.Type().IsRegular() {
			if err := w.v.dir.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
				errs = append(errs, err)
			}
		}
		return nil
	})
	return errors.Join(append(errs, err)...)
}
