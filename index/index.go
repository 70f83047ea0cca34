// Package index holds the derived indexes of one vault: keywords, vectors and
// validity, in generations that never change once they are published.
//
//	vault -> walk, diff -> parse -> gen-N (lexical, vectors, validity) -> CURRENT -> Snapshot
//
// An [Index] is a directory, usually .memsearch in the vault. [Index.Sync]
// writes the next generation beside the current one and then renames CURRENT;
// one writer at a time holds the kernel's lock. Readers take a [Snapshot], which
// never waits for a writer and keeps its generation from being deleted. All of
// it can be thrown away: the next sync makes the same again.
//
// The package reads no clock and writes no file of the user. Scores do not
// depend on how a generation came about: after any edits it ranks as one built
// from nothing does.
package index

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/memsearch/memsearch/embed"
	"github.com/memsearch/memsearch/index/analysis"
	"github.com/memsearch/memsearch/index/lexical"
	"github.com/memsearch/memsearch/internal/atomicfile"
	"github.com/memsearch/memsearch/internal/memfile"
	"github.com/memsearch/memsearch/internal/vault"
)

// A Source lists and reads the files to index. [vault.Vault] is one.
type Source interface {
	// Walk returns the files sorted by path, and what is not read.
	Walk(ctx context.Context) ([]vault.Entry, []vault.Skip, error)
	// ReadEntry returns the bytes of a listed file. It is called concurrently.
	ReadEntry(e vault.Entry) ([]byte, error)
}

// A Forgetter is a [Source] from which texts can be forgotten. The number grows
// with each of them; an index made before the last one is made anew from nothing,
// so that a process that dies while it forgets leaves nothing behind for long.
type Forgetter interface {
	Forgets() int64
}

// Options configures an [Index]. The zero value works.
type Options struct {
	// Embedder makes the vectors. If nil, there are none.
	Embedder embed.Embedder

	// Zone is where dates and times without an offset are read.
	//
	// If nil, it is UTC.
	Zone *time.Location

	// Params weigh the keyword score.
	//
	// If nil, they are lexical's defaults.
	Params *lexical.Params

	// Logger, if nil, is silent.
	Logger *slog.Logger

	// Hook, if non-nil, sees every operation that changes the index directory.
	Hook atomicfile.Hook

	// InMemory keeps the index in memory and touches no directory.
	InMemory bool

	// Now is the clock that the times of the files come from. It serves only to
	// tell files that may change without a trace.
	//
	// If nil, the newest time of any file stands for it.
	Now func() time.Time
}

// An Index is safe for concurrent use, by several processes too.
type Index struct {
	dir  string
	src  Source
	opts Options
	log  *slog.Logger

	// file parses what was read; it is memfile.Parse for everything but the
	// documents of Memory.
	file func(path string, raw []byte, o *memfile.Options) *memfile.File

	mu     sync.Mutex
	cur    *generation // the last one opened; holds a reference
	closed bool

	writing chan struct{} // holds a token while nobody writes in memory
}

// Open returns the index in dir over the files of src. Nothing is read or
// written before it is asked for. A nil opts is the same as a zero Options.
func Open(dir string, src Source, opts *Options) (*Index, error) {
	ix := &Index{src: src, file: memfile.Parse, writing: make(chan struct{}, 1)}
	ix.writing <- struct{}{}
	if opts != nil {
		ix.opts = *opts
	}
	if ix.opts.Zone == nil {
		ix.opts.Zone = time.UTC
	}
	ix.log = ix.opts.Logger
	if ix.log == nil {
		ix.log = slog.New(slog.DiscardHandler)
	}
	if !ix.opts.InMemory {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, fmt.Errorf("open index: %w", err)
		}
		ix.dir = abs
	}
	return ix, nil
}

// Dir returns the directory of the index; empty for one in memory.
func (ix *Index) Dir() string { return ix.dir }

// Close releases the generation that the index keeps open. Snapshots stay usable
// until they are closed.
func (ix *Index) Close() error {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.closed = true
	g := ix.cur
	ix.cur = nil
	return g.unref()
}

// State says how the index stands to its files, and why. An error means that it
// could not find out.
func (ix *Index) State(ctx context.Context) (State, string, error) {
	g, err := ix.acquire(ctx)
	if u, ok := errors.AsType[*Unusable](err); ok {
		return u.State, u.Reason, nil
	}
	if err != nil {
		return StateMissing, "", err
	}
	defer g.unref()
	if want := ix.optionsHash(); g.manifest.Options != want {
		return StateOptions, "it was analysed with other settings", nil
	}
	if want := ix.model(); g.manifest.Model != want {
		return StateModel, fmt.Sprintf("vectors are of %s, want %s", modelName(g.manifest.Model), modelName(want)), nil
	}
	p, err := ix.walk(ctx)
	if err == nil {
		err = ix.compare(ctx, p, g)
	}
	if err != nil {
		return StateContent, "", err
	}
	if n := p.changes(); n > 0 {
		return StateContent, strconv.Itoa(n) + " files differ", nil
	}
	return StateEqual, "", nil
}

// compare diffs the walk of p with what g was made from.
func (ix *Index) compare(ctx context.Context, p *plan, g *generation) error {
	old, err := g.sources()
	if err != nil {
		return err
	}
	return ix.diff(ctx, p, old)
}

// optionsHash stands for everything but the model that decides what a file turns
// into.
func (ix *Index) optionsHash() string {
	return hexSum(xxhash.Sum64String(fmt.Sprintf("format %d, analysis %d, parsing %d, zone %s",
		FormatVersion, analysis.Version, parsing, ix.opts.Zone)))
}

// parsing changes whenever the same file gives other units, chunks or rows.
const parsing = 2

// model returns the fingerprint of the embedder; empty without one.
func (ix *Index) model() string {
	if ix.opts.Embedder == nil {
		return ""
	}
	return ix.opts.Embedder.Fingerprint().String()
}

func modelName(fingerprint string) string {
	if fingerprint == "" {
		return "no model"
	}
	return fingerprint
}
