package core

import (
	"context"
	"fmt"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/index"
	"github.com/memsearch/memsearch/internal/vault"
)

// A NewMemory is what [Memory.Remember] makes a file of. Its fields are
//
//	Memory           memsearch.Memory // front matter; id, status and times are filled in
//	Name             string           // opens the file name; if empty, the kind, else "note"
//	Body             string
//	Pinned, Packable *bool            // if non-nil, override what the kind implies
//	Again            bool             // lets a text come back that was forgotten, or stand beside a memory that says the same
//
// The guard wants a category, a summary ([Summarise] makes one of the body) and
// Source.Trust. What the user did not say (any trust but [memsearch.TrustUser])
// becomes active only with Source.ConfirmedBy; without it, make it a candidate.
type NewMemory = vault.NewMemory

// A RefusedError says that the guard stopped a write and that the disk is as it
// was.
type RefusedError = vault.RefusedError

// A Written memory is on the disk. When the index could not follow, IndexErr says
// why; the next recall tries again.
type Written struct {
	Memory   memsearch.Memory
	Scope    string
	IndexErr error
}

// Remember writes a new memory into the named scope (the first for ""), marks what
// it supersedes, refreshes the catalog and indexes it. The error is a
// [*RefusedError] when the guard stopped it, and ErrRole for any caller but a job.
func (m *Memory) Remember(ctx context.Context, scope string, n NewMemory) (*Written, error) {
	return m.write(ctx, scope, func(w *vault.Writer) (memsearch.Memory, error) { return w.Create(ctx, n) })
}

// Supersede writes a new memory that takes the place of the one called id from the
// moment at on (zero: now).
func (m *Memory) Supersede(ctx context.Context, id string, n NewMemory, at memsearch.Bound) (*Written, error) {
	return m.change(ctx, id, func(w *vault.Writer, f *found) (memsearch.Memory, error) {
		return w.Supersede(ctx, f.row.Path, n, m.bound(at))
	})
}

// Retire ends the memory called id: from at on (zero: now) it is no fact any
// more.
func (m *Memory) Retire(ctx context.Context, id string, at memsearch.Bound, reason string) (*Written, error) {
	return m.change(ctx, id, func(w *vault.Writer, f *found) (memsearch.Memory, error) {
		return memsearch.Memory{ID: f.row.MemoryID, Path: f.row.Path, Status: memsearch.StatusRetired},
			w.Retire(ctx, f.row.Path, m.bound(at), reason)
	})
}

// Confirm says that the user holds the memory called id for true now. A candidate
// becomes active.
func (m *Memory) Confirm(ctx context.Context, id string) (*Written, error) {
	return m.change(ctx, id, func(w *vault.Writer, f *found) (memsearch.Memory, error) {
		return memsearch.Memory{ID: f.row.MemoryID, Path: f.row.Path, Status: memsearch.StatusActive},
			w.Confirm(ctx, f.row.Path, m.now())
	})
}

// bound is at, or this moment.
func (m *Memory) bound(at memsearch.Bound) memsearch.Bound {
	if at.IsZero() {
		at.Time = m.now().In(m.settings.Zone).Truncate(time.Second)
	}
	return at
}

// change writes to the memory called id, in the scope that has it.
func (m *Memory) change(ctx context.Context, id string, fn func(*vault.Writer, *found) (memsearch.Memory, error)) (*Written, error) {
	if err := m.mayWrite(); err != nil {
		return nil, err
	}
	f, err := m.find(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", id, err)
	}
	return m.write(ctx, f.scope.name, func(w *vault.Writer) (memsearch.Memory, error) { return fn(w, f) })
}

// beginWrite is begin for a call that changes memories of the scope called name.
func (m *Memory) beginWrite(name string) (*scope, *vault.Writer, func(), error) {
	if err := m.mayWrite(); err != nil {
		return nil, nil, nil, err
	}
	done, err := m.begin()
	if err != nil {
		return nil, nil, nil, err
	}
	s, err := m.scope(name)
	if err == nil {
		var w *vault.Writer
		if w, err = s.vault.Writer(); err == nil {
			return s, w, done, nil
		}
	}
	done()
	return nil, nil, nil, err
}

// write runs fn with the writer of a scope, then lets catalog and index follow.
func (m *Memory) write(ctx context.Context, scope string, fn func(*vault.Writer) (memsearch.Memory, error)) (*Written, error) {
	s, w, done, err := m.beginWrite(scope)
	if err != nil {
		return nil, err
	}
	defer done()
	mem, err := fn(w)
	if err != nil {
		return nil, err
	}
	out := &Written{Memory: mem, Scope: s.name}
	// The memory is safe: whatever the index does, the write has succeeded.
	ctx, enough := withPatience(context.WithoutCancel(ctx))
	defer enough()
	_, out.IndexErr = s.disk.Sync(ctx, index.SyncOptions{Wait: m.settings.LockWait})
	return out, nil
}
