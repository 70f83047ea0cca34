package index

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/gofrs/flock"

	"github.com/memsearch/memsearch/embed"
	"github.com/memsearch/memsearch/index/lexical"
	"github.com/memsearch/memsearch/index/validity"
	"github.com/memsearch/memsearch/internal/atomicfile"
)

// Derived files hold words of the user, so nobody else may read them.
const (
	dirPerm  = 0o700
	filePerm = 0o600
)

// lock makes the directory and takes the writer's lock. waited says that another
// writer held it, and may have published meanwhile.
func (ix *Index) lock(ctx context.Context, wait time.Duration) (_ *flock.Flock, waited bool, err error) {
	if err := ix.makeDir(); err != nil {
		return nil, false, err
	}
	l, err := lockWriter(ctx, ix.dir, 0)
	if errors.Is(err, ErrBusy) && wait > 0 {
		l, err = lockWriter(ctx, ix.dir, wait)
		return l, true, err
	}
	return l, false, err
}

func (ix *Index) makeDir() error {
	if fi, err := os.Stat(ix.dir); err == nil && fi.IsDir() {
		if _, err := os.Lstat(filepath.Join(ix.dir, ignoreName)); err == nil {
			return nil
		}
	}
	if err := ix.before("mkdir", "."); err != nil {
		return err
	}
	if err := os.MkdirAll(ix.dir, dirPerm); err != nil {
		return fmt.Errorf("make index directory: %w", err)
	}
	d, err := atomicfile.OpenDir(ix.dir, ix.opts.Hook)
	if err != nil {
		return err
	}
	return errors.Join(d.Write(ignoreName, []byte("*\n"), filePerm), d.Close())
}

func (ix *Index) before(op, name string) error {
	if ix.opts.Hook == nil {
		return nil
	}
	return ix.opts.Hook(op, name)
}

// publish writes the next generation and makes it current. The caller holds the
// writer's lock.
func (ix *Index) publish(ctx context.Context, j *job, o SyncOptions) (_ *SyncReport, err error) {
	d, err := atomicfile.OpenDir(ix.dir, ix.opts.Hook)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()

	last, err := ix.last()
	if err != nil {
		return nil, err
	}
	w := &writer{ix: ix, d: d, n: last + 1, j: j}
	w.dir = filepath.Join(ix.dir, genName(w.n))
	b := &build{ix: ix, plan: j.plan, old: j.base, next: 1, progress: o.Progress}
	if j.base != nil {
		b.next = j.base.manifest.NextFile
	}
	if j.forgotten() {
		b.keep = &keySet{keys: map[embed.Key]bool{}}
	}
	m, err := w.write(ctx, b)
	if err == nil {
		if perr := ix.purge(ctx, b.keep); perr != nil {
			ix.log.WarnContext(ctx, "cache of vectors not purged, the next sync tries again", "err", perr)
			m.Forgets = unpurged
		}
		err = w.commit(m)
	}
	if err != nil {
		if rerr := d.RemoveAll(genName(w.n)); rerr != nil {
			ix.log.WarnContext(ctx, "unfinished generation stays", "err", rerr)
		}
		return nil, err
	}
	ix.log.DebugContext(ctx, "published", "generation", w.n, "units", m.Units, "state", j.state.String())
	return ix.settle(ctx, j, d, b)
}

// last returns the highest number that any generation has or had.
func (ix *Index) last() (int, error) {
	list, err := generations(ix.dir)
	if err != nil {
		return 0, err
	}
	p, err := readPointer(ix.dir)
	if err != nil && !errors.Is(err, errPointer) {
		return 0, err
	}
	return slices.Max(append(list, p.gen)), nil
}

// settle opens the new generation, lets go of the old one and deletes it if
// nobody else reads it.
func (ix *Index) settle(ctx context.Context, j *job, d *atomicfile.Dir, b *build) (*SyncReport, error) {
	g, err := ix.acquire(ctx)
	if err != nil {
		return nil, err
	}
	r := j.report(g, true)
	if p := b.embedErr.Load(); p != nil {
		r.EmbedErr = *p
	}
	keep := g.num
	if err := errors.Join(g.unref(), j.close()); err != nil {
		ix.log.WarnContext(ctx, "close generation", "err", err)
	}
	j.cur, j.base = nil, nil
	busy, err := sweep(d, ix.dir, keep)
	if err != nil {
		// The new generation is in place; the next writer sweeps again.
		ix.log.WarnContext(ctx, "old generations stay", "err", err)
	}
	if len(busy) > 0 {
		ix.log.DebugContext(ctx, "old generations are still read", "generations", busy)
	}
	return r, nil
}

// A writer writes one generation.
type writer struct {
	ix  *Index
	d   *atomicfile.Dir
	n   int
	dir string
	j   *job
}

func (w *writer) name(part string) string { return path.Join(genName(w.n), part) }

// write makes the files of the generation and returns what its manifest must
// say.
func (w *writer) write(ctx context.Context, b *build) (*manifest, error) {
	if err := w.d.MkdirAll(genName(w.n), dirPerm); err != nil {
		return nil, err
	}
	if err := w.d.Write(w.name(lockName), nil, filePerm); err != nil {
		return nil, err
	}
	b.spool = newSpool(w.ix.opts.Embedder, filepath.Join(w.dir, spoolName))
	defer b.spool.close()

	base := ""
	if b.old != nil {
		base = filepath.Join(b.old.held.dir, lexicalName)
	}
	if err := w.ix.before("write", w.name(lexicalName)); err != nil {
		return nil, err
	}
	drop := func(file uint32) bool { return b.plan.dropped[file] }
	rest := func() error { return nil }
	if b.old == nil {
		rest = b.stream(func(rows iter.Seq[validity.Row]) error { return w.validity(ctx, "", nil, rows) })
	}
	stats, err := lexical.Write(ctx, filepath.Join(w.dir, lexicalName), base, drop, b.docs(ctx))
	if err = errors.Join(b.err, err, rest()); err != nil {
		return nil, err
	}
	units, dropped, err := b.finish()
	if err != nil {
		return nil, err
	}
	parts := []func() error{
		func() error { return w.vectors(ctx, b, units) },
		func() error { return w.units(units) },
		func() error { return w.d.Write(w.name(sourcesName), encodeSources(b.list), filePerm) },
	}
	if b.old != nil {
		old := filepath.Join(b.old.held.dir, validityName)
		parts = append(parts, func() error { return w.validity(ctx, old, dropped, slices.Values(b.rows)) })
	}
	if err := parallel(ctx, len(parts), func(i int) error { return parts[i]() }); err != nil {
		return nil, err
	}
	if err := b.spool.close(); err != nil {
		return nil, err
	}
	m := b.manifest(units)
	m.Lexical = stats
	if m.Derived, err = scan(ctx, w.dir); err != nil {
		return nil, err
	}
	return m, w.persist(m.Derived)
}

func (w *writer) validity(ctx context.Context, base string, dropped []uint32, rows iter.Seq[validity.Row]) error {
	if err := w.ix.before("write", w.name(validityName)); err != nil {
		return err
	}
	return validity.Write(ctx, filepath.Join(w.dir, validityName), base, dropped, rows)
}

func (w *writer) vectors(ctx context.Context, b *build, units *unitTable) error {
	if b.spool == nil {
		return nil
	}
	if err := w.ix.before("write", w.name(vectorsName)); err != nil {
		return err
	}
	return b.writeVectors(ctx, filepath.Join(w.dir, vectorsName), units)
}

// units writes the table of the units with the document numbers that the keyword
// index gave.
func (w *writer) units(t *unitTable) error {
	r, err := lexical.Open(filepath.Join(w.dir, lexicalName))
	if err != nil {
		return err
	}
	keys, err := r.Keys()
	if err == nil {
		err = t.mapDocs(keys, lexical.Dead)
	}
	if err := errors.Join(err, r.Close()); err != nil {
		return err
	}
	return w.d.Write(w.name(unitsName), t.encode(), filePerm)
}

// persist makes the derived files and their names survive a power failure.
func (w *writer) persist(list []derived) error {
	dirs := map[string]bool{".": true}
	for _, d := range list {
		if err := w.ix.before("sync", w.name(d.Name)); err != nil {
			return err
		}
		f, err := os.Open(filepath.Join(w.dir, filepath.FromSlash(d.Name)))
		if err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return fmt.Errorf("sync %s: %w", d.Name, err)
		}
		dirs[path.Dir(d.Name)] = true
	}
	for dir := range dirs {
		if err := w.d.SyncDir(w.name(dir)); err != nil {
			return err
		}
	}
	return nil
}

// commit writes the manifest and lets CURRENT name the generation.
func (w *writer) commit(m *manifest) error {
	b, err := m.encode()
	if err != nil {
		return err
	}
	if err := w.d.Write(w.name(manifestName), b, filePerm); err != nil {
		return err
	}
	if err := w.d.SyncDir("."); err != nil {
		return err
	}
	p := pointer{gen: w.n, sum: xxhash.Sum64(b)}
	if fi, err := w.d.Lstat(currentName); err == nil && !fi.Mode().IsRegular() {
		if err := w.d.RemoveAll(currentName); err != nil {
			return err
		}
	}
	err = w.d.Write(currentName, p.encode(), filePerm)
	if err != nil {
		// The rename may have happened although something after it failed. Then
		// the generation is current and must not be deleted.
		if q, rerr := readPointer(w.ix.dir); rerr == nil && q == p {
			return nil
		}
	}
	return err
}

// manifest describes what b built.
func (b *build) manifest(units *unitTable) *manifest {
	m := &manifest{
		Format: FormatVersion, Options: b.ix.optionsHash(), Model: b.ix.model(), Zone: b.ix.opts.Zone.String(),
		NextFile: b.next + uint32(len(b.plan.fresh)), Units: units.len(), Missing: b.missing, Forgets: b.plan.forgets,
	}
	for i := range b.list {
		if b.list[i].Skip == "" {
			m.Indexed++
		} else {
			m.Skipped++
		}
	}
	return m
}
