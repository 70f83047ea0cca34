package index

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/memsearch/memsearch/embed"
	"github.com/memsearch/memsearch/internal/atomicfile"
	"github.com/memsearch/memsearch/internal/vault"
)

// SyncOptions says how far [Index.Sync] goes. The zero value brings the index up
// to its files and does not wait for another writer.
type SyncOptions struct {
	// Rebuild makes everything from nothing.
	Rebuild bool

	// Wait is how long another writer is waited for.
	Wait time.Duration

	// MaxFiles, if positive, is how many differing files are worth a sync: with
	// more of them and an index that can be read, nothing is done and
	// [SyncReport].Stale says how many there are.
	MaxFiles int

	// Walk, if non-nil, was begun by [Index.BeginWalk] for this sync alone.
	Walk *Walk

	// Progress, if non-nil, is told how many of the files to index are done.
	Progress func(done, total int)
}

// A SyncReport says what an index holds and what a sync did.
type SyncReport struct {
	State      State  // in which the sync found the index
	Reason     string // more about State; may be empty
	Generation int    // number of the current generation
	Published  bool   // the generation is new

	Files   int // Markdown files that are there; Indexed + Skipped, unless Stale is not 0
	Indexed int
	Skipped int // files that hold nothing to index, could not be read, or lead out of the vault
	Units   int
	Added   int
	Changed int
	Removed int
	Stale   int // files that differ from the index because MaxFiles was reached

	Skips []vault.Skip // why files and folders are not indexed; Skipped of them are files

	Missing  int   // units without vectors
	EmbedErr error // why; the next sync tries again
}

// maxAttempts is how often a sync starts over because files changed under it.
const maxAttempts = 5

// Sync brings the index up to its files. When nothing differs it writes nothing
// and takes no lock. The error is [ErrBusy], [ErrReadOnly] or [ErrFull] when the
// index could not be written for that reason; the last generation is then as it
// was. A failing embedder is no error: see [SyncReport].EmbedErr.
func (ix *Index) Sync(ctx context.Context, o SyncOptions) (*SyncReport, error) {
	sync := ix.syncDisk
	if ix.opts.InMemory {
		sync = ix.syncMemory
	}
	for attempt := 1; ; attempt++ {
		r, err := sync(ctx, o)
		o.Walk = nil
		if errors.Is(err, errMoved) && attempt < maxAttempts {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("sync index: %w", err)
		}
		return r, nil
	}
}

// A job is a plan and what it starts from.
type job struct {
	plan   *plan
	cur    *generation // the current generation; nil when it cannot be read
	base   *generation // cur, when the plan builds on it
	state  State
	reason string
	embed  error // of an embedder that was tried for missing vectors and still fails
}

func (j *job) close() error { return j.cur.unref() }

// idle reports whether there is nothing to do.
func (j *job) idle() bool { return j.base != nil && j.plan.idle() }

// look walks the files and compares them with the current generation.
func (ix *Index) look(ctx context.Context, o SyncOptions) (_ *job, err error) {
	j := &job{}
	w := o.Walk
	if w == nil || ix.opts.InMemory {
		w = ix.BeginWalk(ctx)
	}
	defer w.Wait()
	j.cur, err = ix.acquire(ctx)
	u, unusable := errors.AsType[*Unusable](err)
	if err != nil && !unusable {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, j.close())
		}
	}()
	if j.plan, err = ix.walked(ctx, w, j.cur); err != nil {
		return nil, err
	}
	switch {
	case unusable:
		j.state, j.reason = u.State, u.Reason
	case j.cur.manifest.Options != ix.optionsHash():
		j.state = StateOptions
	case j.cur.manifest.Model != ix.model():
		j.state = StateModel
	case j.cur.manifest.Forgets != j.plan.forgets:
		j.state, j.reason = StateContent, "something was forgotten since; nothing of it may stay"
	default:
		if err = ix.compare(ctx, j.plan, j.cur); err != nil {
			return nil, err
		}
		j.state = StateEqual
		if j.plan.changes() > 0 {
			j.state = StateContent
		}
		j.base = j.cur
	}
	if j.base != nil && !o.Rebuild && j.base.manifest.NextFile < maxFile {
		err = ix.retryVectors(ctx, j)
		return j, err
	}
	j.base = nil
	j.plan = &plan{entries: j.plan.entries, skips: j.plan.skips, stamp: j.plan.stamp, forgets: j.plan.forgets, fresh: j.plan.entries, added: len(j.plan.entries)}
	return j, nil
}

// maxFile is where file numbers start over with a rebuild.
const maxFile = 1 << 31

// retryVectors adds the files whose vectors are missing to the plan, if the
// embedder works again.
func (ix *Index) retryVectors(ctx context.Context, j *job) error {
	if j.base.manifest.Missing == 0 || ix.opts.Embedder == nil {
		return nil
	}
	waiting := j.base.waiting()
	for _, e := range j.plan.keep {
		if !waiting[e.File] {
			continue
		}
		p, ok := ix.parse(j.plan, e.entry(), e.File)
		if !ok || len(p.units) == 0 {
			return nil
		}
		if _, err := ix.opts.Embedder.Embed(ctx, p.units[0].texts, embed.Passage); err != nil {
			j.embed = err
			return context.Cause(ctx)
		}
		break
	}
	j.plan.again(func(s *source) bool { return waiting[s.File] })
	j.plan.sort()
	return nil
}

func (ix *Index) syncDisk(ctx context.Context, o SyncOptions) (_ *SyncReport, err error) {
	j, err := ix.look(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, j.close()) }()
	if r := j.enough(o); r != nil {
		switch {
		case o.MaxFiles > 0: // somebody waits for an answer
		case j.idle() && j.plan.settled >= settleMany:
			if done, err := ix.refresh(ctx, j, o); err == nil {
				return done, nil
			}
		default:
			ix.tidy(ctx, r.Generation)
		}
		return r, nil
	}
	lock, waited, err := ix.lock(ctx, o.Wait)
	if err != nil {
		return nil, unwritable(err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	// What was looked at may be history by now.
	if waited || j.overtaken(ix.dir) {
		o.Walk = nil
		again, err := ix.look(ctx, o)
		if err != nil {
			return nil, err
		}
		if err := j.close(); err != nil {
			ix.log.WarnContext(ctx, "close generation", "err", err)
		}
		j = again
		if r := j.enough(o); r != nil {
			return r, nil
		}
	}
	r, err := ix.publish(ctx, j, o)
	return r, unwritable(err)
}

// refresh writes a generation that differs only in which files have to be read
// again. Whatever keeps it from that, the index is as it should be.
func (ix *Index) refresh(ctx context.Context, j *job, o SyncOptions) (_ *SyncReport, err error) {
	lock, _, err := ix.lock(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if j.overtaken(ix.dir) {
		return nil, errMoved
	}
	return ix.publish(ctx, j, o)
}

// tidy deletes generations that somebody read when they were replaced. Whoever
// writes now does that himself.
func (ix *Index) tidy(ctx context.Context, keep int) {
	list, err := generations(ix.dir)
	if err != nil || len(list) < 2 {
		return
	}
	l, err := lockWriter(ctx, ix.dir, 0)
	if err != nil {
		return
	}
	defer l.Unlock() // the process ends or writes again
	p, err := readPointer(ix.dir)
	if err != nil || p.gen != keep {
		return
	}
	d, err := atomicfile.OpenDir(ix.dir, ix.opts.Hook)
	if err != nil {
		return
	}
	if _, err = sweep(d, ix.dir, keep); err == nil {
		err = d.Close()
	}
	if err != nil {
		ix.log.DebugContext(ctx, "old generations stay", "err", err)
	}
}

// overtaken reports whether another generation than the one that was looked at
// is current.
func (j *job) overtaken(dir string) bool {
	p, err := readPointer(dir)
	if err != nil {
		return false // nothing readable has come
	}
	if j.cur == nil {
		return j.state == StateMissing && p.gen != 0
	}
	return p != j.cur.held.pointer
}

// enough returns the report of a sync that has nothing to write.
func (j *job) enough(o SyncOptions) *SyncReport {
	switch {
	case j.idle() && !o.Rebuild:
		return j.report(j.cur, false)
	case o.MaxFiles > 0 && j.cur != nil && !o.Rebuild && j.plan.changes() > o.MaxFiles:
		r := j.report(j.cur, false)
		r.Stale = j.plan.changes()
		return r
	}
	return nil
}

// report describes g, which j led to or found.
func (j *job) report(g *generation, published bool) *SyncReport {
	m := g.manifest
	r := &SyncReport{
		State: j.state, Reason: j.reason, Generation: g.num, Published: published,
		Files: len(j.plan.entries), Indexed: m.Indexed, Skipped: m.Skipped, Units: m.Units, Missing: m.Missing, EmbedErr: j.embed,
		Skips: append([]vault.Skip(nil), j.plan.skips...),
	}
	if published {
		r.Added, r.Changed, r.Removed = j.plan.added, j.plan.changed+len(j.plan.redo), j.plan.removed
	}
	for _, s := range j.plan.skips {
		if !strings.HasSuffix(s.Path, "/") {
			r.Files++
			r.Skipped++
		}
	}
	// Sources were read for the comparison, or written a moment ago.
	list, err := g.sources()
	if err != nil {
		list = nil
	}
	for i := range list {
		if s := &list[i]; s.Skip != "" {
			r.Skips = append(r.Skips, vault.Skip{Path: s.Path, Reason: s.Skip})
		}
	}
	return r
}
