package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/core/config"
	"github.com/memsearch/memsearch/embed"
	"github.com/memsearch/memsearch/embed/openai"
	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/rerank"
)

// Errors of calls that the caller may not make.
var (
	// ErrRole is wrapped when the caller's role does not allow the call:
	// sub-agents neither write nor recall, a compaction sees no new recall, and
	// only jobs write.
	ErrRole = errors.New("the caller's role does not allow this")

	// ErrNotFound is wrapped when no memory has the id.
	ErrNotFound = errors.New("no such memory")

	// ErrNoScope is wrapped when no scope was opened under the name.
	ErrNoScope = errors.New("no such scope")

	// ErrClosed is returned after Close.
	ErrClosed = errors.New("memory is closed")
)

// A Mode decides what an agent gets. It is fixed at Open.
type Mode string

// The modes.
const (
	ModeOff        Mode = "off"         // nothing
	ModePolicyOnly Mode = "policy-only" // rules for when to search, no content
	ModeCatalog    Mode = "catalog"     // instructions, pinned memories and the catalog
	ModeRecall     Mode = "recall"      // what a query finds
)

// A Scope names a directory that the caller may read.
type Scope struct {
	Name     string
	Dir      string
	IndexDir string // empty: .memsearch in Dir
	ReadOnly bool   // nothing is written to Dir
}

// A Caller says who calls. The zero Caller is the main agent, which reads; to write,
// set Options.Caller or use [Memory.As] with the role [memsearch.RoleJob].
type Caller struct {
	Role memsearch.Role
}

// Options configures [Open]. The zero value works.
type Options struct {
	// Settings, if nil, are the defaults of package config; no file is read.
	Settings *config.Config

	// Mode overrides the mode of Settings.
	Mode Mode

	// Caller is who calls; [Memory.As] changes it for single calls.
	Caller Caller

	// Embedder overrides the model of Settings.
	Embedder embed.Embedder

	// Watch lets the system report changed files, for a process that lives long:
	// a recall then walks the vault only after a report, which comes a moment
	// after the change, and every half minute. An index that another process
	// replaced is let go of within a second, so that the other can delete it.
	Watch bool

	// Reranker overrides the model that the settings name for reranking.
	Reranker rerank.Reranker

	// Run, if non-nil, counts what models are asked, against the caps of a run in
	// Settings: several that share it spend no more than one.
	Run *llm.Run

	// Vectors is a folder for the vectors of an API model, which several may share.
	// If empty, they lie in the index directory of the scope that they are of.
	Vectors string

	// OnCall, if non-nil, is told of every call to an embedding server.
	OnCall func(openai.Call)

	reserve func(ctx context.Context, tokens int) (func(openai.Call), error) // see [openai.Options]; it keeps the caps and the ledger

	// Now is the clock. If nil, it is time.Now.
	Now func() time.Time

	// Logger, if nil, is silent. It never sees memory text, keys or tokens.
	Logger *slog.Logger
}

// A Memory is an opened list of scopes. It is safe for concurrent use.
type Memory struct {
	*shared
	caller Caller
	only   *scope // where ids are looked for; nil: everywhere
}

// shared is what the views of one opened list have in common.
type shared struct {
	scopes   []*scope
	lost     []lostScope
	first    string // name of the scope that is written to
	settings *config.Config
	mode     Mode
	builder  builder
	now      func() time.Time
	log      *slog.Logger
	embedder embed.Embedder
	model    string

	reranker  rerank.Reranker // the caller's own
	run       *llm.Run        // likewise; nil: there is none
	vectors   string          // folder; empty: the index directories
	models    *models
	indexDirs []string // of the scopes
	ledgerDir string   // of the first scope that is written to; empty: none is

	mu      sync.Mutex
	closed  bool
	reading sync.WaitGroup
}

// A lostScope could not be opened.
type lostScope struct {
	name string
	err  error
}

// Open opens scopes, the most important first; writes go to the first unless a
// call names another. The directories must exist. One of several that cannot be
// opened does not keep the others from answering: every recall then is degraded
// and says why, and all other calls that would need the scope fail. Nothing is
// indexed before it is needed. A nil opts is the same as a zero Options.
func Open(ctx context.Context, scopes []Scope, opts *Options) (_ *Memory, err error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Settings == nil {
		if o.Settings, err = config.Load(config.Options{}); err != nil {
			return nil, err
		}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Mode = cmp.Or(o.Mode, Mode(o.Settings.Mode))
	s := &shared{settings: o.Settings, mode: o.Mode, now: o.Now, log: o.Logger, reranker: o.Reranker, run: o.Run, vectors: o.Vectors}
	s.models = newModels(s)
	s.models.within = o.Settings.Rerank.Timeout
	if s.builder, err = newBuilder(o.Mode); err != nil {
		return nil, err
	}
	if len(scopes) == 0 {
		return nil, errors.New("open memory: no scope given")
	}
	s.first = scopes[0].Name
	o.reserve = s.models.reserveEmbedding
	if s.embedder, s.model, err = newEmbedder(&o); err != nil {
		return nil, fmt.Errorf("open memory: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	for i, sc := range scopes {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		if sc.Name == "" || slices.ContainsFunc(scopes[:i], func(x Scope) bool { return x.Name == sc.Name }) {
			return nil, fmt.Errorf("open memory: scope %q in %s needs a name of its own", sc.Name, sc.Dir)
		}
		opened, err := openScope(sc, s, o.Watch)
		if err != nil {
			s.lost = append(s.lost, lostScope{sc.Name, fmt.Errorf("open scope %s: %w", sc.Name, err)})
			s.log.WarnContext(ctx, "scope cannot be opened", "scope", sc.Name, "err", err)
			continue
		}
		s.scopes = append(s.scopes, opened)
		s.indexDirs = append(s.indexDirs, sc.indexDir())
		if s.ledgerDir == "" && !sc.ReadOnly {
			s.ledgerDir = sc.Dir
		}
	}
	if len(s.scopes) == 0 {
		return nil, s.missing()
	}
	return &Memory{shared: s, caller: o.Caller}, nil
}

// As returns a view of m for another caller. Closing either closes both.
func (m *Memory) As(c Caller) *Memory { return &Memory{shared: m.shared, caller: c, only: m.only} }

// Mode returns the mode that m was opened in.
func (m *Memory) Mode() Mode { return m.mode }

// Moved reports whether the folder of a scope is not the one that was opened any
// more: m goes on with that one, wherever it is, until somebody opens the scopes
// again.
func (m *Memory) Moved() bool {
	return slices.ContainsFunc(m.scopes, func(s *scope) bool {
		fi, err := os.Stat(s.vault.Dir())
		return err != nil || !os.SameFile(fi, s.folder)
	})
}

// In returns a view of m that looks for the ids it is given in the scope called
// name alone. Searches and lists go over all scopes as before. Closing either
// closes both.
func (m *Memory) In(name string) (*Memory, error) {
	s, err := m.scope(name)
	if err != nil {
		return nil, err
	}
	return &Memory{shared: m.shared, caller: m.caller, only: s}, nil
}

// Close waits for running calls and releases everything.
func (m *Memory) Close() error {
	m.mu.Lock()
	closed := m.closed
	m.closed = true
	m.mu.Unlock()
	if closed {
		return nil
	}
	m.reading.Wait()
	return m.close()
}

func (s *shared) close() error {
	var errs []error
	for _, sc := range s.scopes {
		errs = append(errs, sc.close())
	}
	// Last: until then an index may still be calling its embedding server.
	return errors.Join(append(errs, s.models.close())...)
}

// begin registers a call; the returned function ends it.
func (s *shared) begin() (func(), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	s.reading.Add(1)
	return s.reading.Done, nil
}

// beginRead is begin for a call that returns memories.
func (m *Memory) beginRead() (func(), error) {
	done, err := m.begin()
	if err != nil {
		return nil, err
	}
	if err := m.mayRead(); err != nil {
		done()
		return nil, err
	}
	return done, nil
}

// missing returns why scopes could not be opened, nil when all are there.
func (s *shared) missing() error {
	errs := make([]error, len(s.lost))
	for i, l := range s.lost {
		errs[i] = l.err
	}
	return errors.Join(errs...)
}

// beginAll is begin for a call that is about every scope.
func (s *shared) beginAll() (func(), error) {
	if err := s.missing(); err != nil {
		return nil, err
	}
	return s.begin()
}

// scope returns the scope called name, the first for "".
func (s *shared) scope(name string) (*scope, error) {
	if name == "" {
		name = s.first
	}
	for _, sc := range s.scopes {
		if sc.name == name {
			return sc, nil
		}
	}
	for _, l := range s.lost {
		if l.name == name {
			return nil, l.err
		}
	}
	return nil, fmt.Errorf("scope %q: %w", name, ErrNoScope)
}

// mayRead refuses callers that must not see memories.
func (m *Memory) mayRead() error {
	switch m.caller.Role {
	case "", memsearch.RoleMain, memsearch.RoleJob:
		return nil
	}
	return fmt.Errorf("recall as %s: %w", m.caller.Role, ErrRole)
}

// mayWrite refuses everyone but jobs.
func (m *Memory) mayWrite() error {
	if m.caller.Role != memsearch.RoleJob {
		role := m.caller.Role
		if role == "" {
			role = memsearch.RoleMain
		}
		return fmt.Errorf("write as %s, not as %s: %w", role, memsearch.RoleJob, ErrRole)
	}
	return nil
}
