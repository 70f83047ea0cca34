package index

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/memsearch/memsearch/index/lexical"
	"github.com/memsearch/memsearch/index/validity"
	"github.com/memsearch/memsearch/index/vector"
	"github.com/memsearch/memsearch/internal/atomicfile"
)

// A generation is open for reading and shared: it closes with its last
// reference.
type generation struct {
	held     *held // nil for one in memory
	num      int
	manifest *manifest
	units    *unitTable
	lexical  *lexical.Reader
	validity *validity.Reader
	vectors  *vector.File // nil: no model
	stats    []fileStat   // of manifest.Derived, when they were verified

	loadSources func() ([]source, error)

	refs atomic.Int32
}

func (g *generation) ref() *generation {
	g.refs.Add(1)
	return g
}

func (g *generation) unref() error {
	if g == nil || g.refs.Add(-1) > 0 {
		return nil
	}
	return g.close()
}

func (g *generation) close() error {
	var errs []error
	if g.lexical != nil {
		errs = append(errs, g.lexical.Close())
	}
	if g.validity != nil {
		errs = append(errs, g.validity.Close())
	}
	if g.vectors != nil {
		errs = append(errs, g.vectors.Close())
	}
	return errors.Join(append(errs, g.held.release())...)
}

// sources returns what the generation was made from. Searching does not need it,
// so it is read when it is asked for.
func (g *generation) sources() ([]source, error) { return g.loadSources() }

// acquire returns the current generation with a reference for the caller. Its
// files are as they were written. An [*Unusable] error says why there is none.
func (ix *Index) acquire(ctx context.Context) (*generation, error) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.closed {
		return nil, ErrClosed
	}
	if ix.opts.InMemory {
		if ix.cur == nil {
			return nil, &Unusable{State: StateMissing, Reason: "nothing was indexed yet"}
		}
		return ix.cur.ref(), nil
	}
	if p, err := readPointer(ix.dir); err == nil && ix.cur != nil && ix.cur.held.pointer == p && ix.cur.untouched() {
		return ix.cur.ref(), nil
	}
	h, err := hold(ctx, ix.dir)
	if err != nil {
		return nil, err
	}
	g, err := openGeneration(ctx, h)
	if err != nil {
		return nil, errors.Join(err, h.release())
	}
	ix.replace(g)
	return g.ref(), nil
}

// replace makes g, whose first reference it takes over, the one to share. The
// caller holds mu.
func (ix *Index) replace(g *generation) {
	if err := ix.cur.unref(); err != nil {
		ix.log.Warn("close generation", "generation", ix.cur.num, "err", err)
	}
	ix.cur = g
}

// LetGo closes the generation that searches share if it is not the current one any
// more. The next search opens that one anyway; a process that waits for it would
// meanwhile keep the old one, and what was forgotten in it, from being deleted.
func (ix *Index) LetGo() {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.cur == nil || ix.cur.held == nil {
		return
	}
	if p, err := readPointer(ix.dir); err != nil || p != ix.cur.held.pointer {
		ix.replace(nil)
	}
}

// openGeneration opens h after reading all of its files once. On an error h is
// still the caller's.
func openGeneration(ctx context.Context, h *held) (*generation, error) {
	m := h.manifest
	if m.Format != FormatVersion {
		return nil, &Unusable{State: StateVersion, Reason: fmt.Sprintf("format is %d, want %d", m.Format, FormatVersion)}
	}
	stats, err := describe(h.dir, m.Derived)
	if err == nil {
		err = m.verify(ctx, h.dir)
	}
	if err != nil {
		if context.Cause(ctx) != nil {
			return nil, context.Cause(ctx)
		}
		return nil, &Unusable{State: StateCorrupt, Reason: err.Error()}
	}
	g := &generation{held: h, num: h.gen, manifest: m, stats: stats}
	g.loadSources = sync.OnceValues(func() ([]source, error) {
		b, err := os.ReadFile(filepath.Join(h.dir, sourcesName))
		if err != nil {
			return nil, err
		}
		return decodeSources(b)
	})
	g.refs.Store(1)
	if err := g.open(ctx); err != nil {
		g.held = nil
		if cerr := g.close(); cerr != nil {
			err = errors.Join(err, cerr)
		}
		return nil, &Unusable{State: unopened(err), Reason: err.Error()}
	}
	return g, nil
}

// unopened is the state of a generation whose files are as they were written and
// yet cannot be opened.
func unopened(err error) State {
	for _, other := range []error{errVersion, lexical.ErrVersion, vector.ErrFormat, validity.ErrFormat} {
		if errors.Is(err, other) {
			return StateVersion
		}
	}
	return StateCorrupt
}

// open opens the parts, side by side.
func (g *generation) open(ctx context.Context) error {
	dir := g.held.dir
	parts := []func() error{
		func() (err error) {
			if g.lexical, err = lexical.Open(filepath.Join(dir, lexicalName)); err != nil {
				return fmt.Errorf("open keywords: %w", err)
			}
			b, err := os.ReadFile(filepath.Join(dir, unitsName))
			if err != nil {
				return err
			}
			if g.units, err = decodeUnits(b); err != nil {
				return err
			}
			return g.lexical.Bind(g.units.docs, g.units.len())
		},
		func() (err error) {
			if g.validity, err = validity.Open(filepath.Join(dir, validityName)); err != nil {
				return fmt.Errorf("open validity: %w", err)
			}
			if g.manifest.has(vectorsName) {
				if g.vectors, err = vector.Open(filepath.Join(dir, vectorsName)); err != nil {
					return fmt.Errorf("open vectors: %w", err)
				}
			}
			return nil
		},
	}
	return parallel(ctx, len(parts), func(i int) error { return parts[i]() })
}

// A fileStat tells whether a file was written to.
type fileStat struct {
	size, mtime, ctime int64
}

func statOf(name string) (fileStat, error) {
	fi, err := os.Lstat(name)
	if err == nil && !fi.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", filepath.Base(name), atomicfile.ErrNotRegular)
	}
	if err != nil {
		return fileStat{}, err
	}
	return fileStat{fi.Size(), fi.ModTime().UnixNano(), changeTime(fi)}, nil
}

func describe(dir string, list []derived) ([]fileStat, error) {
	stats := make([]fileStat, len(list))
	for i, d := range list {
		var err error
		if stats[i], err = statOf(filepath.Join(dir, filepath.FromSlash(d.Name))); err != nil {
			return nil, err
		}
	}
	return stats, nil
}

// untouched reports whether the derived files look as they did when they were
// verified. A hard link to a segment, which the next generation makes, moves its
// change time, so a difference means only that they must be read again.
func (g *generation) untouched() bool {
	stats, err := describe(g.held.dir, g.manifest.Derived)
	return err == nil && slices.Equal(stats, g.stats)
}
