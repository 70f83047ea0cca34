package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/memsearch/memsearch/core/config"
	"github.com/memsearch/memsearch/embed/openai"
	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/internal/prompt"
	"github.com/memsearch/memsearch/internal/secrets"
	"github.com/memsearch/memsearch/internal/vault"
	"github.com/memsearch/memsearch/recall"
	"github.com/memsearch/memsearch/rerank"
)

// Folders in an index directory that hold what language models leave behind. All
// of it may be deleted at any time.
const (
	verdictDir = "rerank" // verdicts on candidates, without their texts
	serverDir  = "llm"    // which server does not work
	debugDir   = "debug"  // requests and replies, when settings ask for them
)

// models makes what asks language models, the first time it is needed: a recall
// that needs none pays nothing.
type models struct {
	core *shared

	cassette func() (*llm.Cassette, error)
	ledger   func() (*llm.Ledger, error)
	client   func() (*llm.Client, error) // of the profile of reranking
	rerank   func() (rerank.Reranker, error)
	selector func() (recall.Selector, error)
	run      *llm.Run
	redact   func(string) string
	within   time.Duration // most that a call may take; zero: what the profile says
	judging  bool          // of an evaluation: every question is asked, and a prompt is for the kind that it fits
	unkept   sync.Once

	mu     sync.Mutex
	opened []interface{ Close() error }
}

func newModels(s *shared) *models {
	m := &models{core: s, run: cmp.Or(s.run, new(llm.Run))}
	m.cassette = lazily(m.openCassette)
	m.ledger = lazily(m.openLedger)
	m.client = lazily(func() (*llm.Client, error) { return m.newClient(s.settings.RecallProfile) })
	m.rerank = lazily(m.newReranker)
	m.selector = lazily(m.newSelector)
	scan := secrets.New()
	m.redact = func(text string) string { return secrets.Redact(text, scan.Scan(text)) }
	return m
}

// lazily returns a function that calls get until it succeeds and then keeps to what
// it got: a disk that was full once does not end reranking for good.
func lazily[T any](get func() (T, error)) func() (T, error) {
	var mu sync.Mutex
	var done bool
	var got T
	return func() (T, error) {
		mu.Lock()
		defer mu.Unlock()
		if done {
			return got, nil
		}
		v, err := get()
		if err == nil {
			got, done = v, true
		}
		return v, err
	}
}

func (m *models) close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var errs []error
	for _, c := range slices.Backward(m.opened) { // a client writes into the ledger until it is closed
		errs = append(errs, c.Close())
	}
	m.opened = nil
	return errors.Join(errs...)
}

func (m *models) keep(c interface{ Close() error }) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.opened = append(m.opened, c)
}

// dir returns a folder of the first scope's index directory.
func (m *models) dir(name string) string { return filepath.Join(m.core.indexDirs[0], name) }

func (m *models) openCassette() (*llm.Cassette, error) {
	c := m.core.settings
	switch {
	case c.Cassette != "":
	case c.CassetteMode == llm.CassetteRecord || c.CassetteMode == llm.CassetteAuto:
		return nil, fmt.Errorf("cassette_mode is %s and no cassette is named: set cassette, or give --cassette FILE", c.CassetteMode)
	default:
		return nil, nil
	}
	return llm.OpenCassette(c.Cassette, c.CassetteMode)
}

func (m *models) openLedger() (*llm.Ledger, error) {
	l, err := openLedger(m.core)
	if err == nil {
		m.keep(l)
	}
	return l, err
}

// openLedger opens the ledger that the settings name, else the one in the journal
// of the first scope that is written to.
func openLedger(s *shared) (*llm.Ledger, error) {
	if dir := s.settings.LedgerDir; dir != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		return llm.OpenLedger(dir, ".")
	}
	if s.ledgerDir == "" {
		return nil, fmt.Errorf("%w: every vault is read-only; set llm.ledger_dir", llm.ErrLedger)
	}
	return llm.OpenLedger(s.ledgerDir, vault.JournalDir)
}

func (m *models) newClient(profile string) (*llm.Client, error) {
	c := m.core.settings
	p, err := c.Profile(profile)
	if err != nil {
		return nil, err
	}
	if m.within > 0 {
		p.Timeout = min(cmp.Or(p.Timeout, llm.DefaultTimeout), m.within)
	}
	o := &llm.Options{Caps: c.Caps, Run: m.run, StateDir: m.dir(serverDir), Redact: m.redact, Logger: m.core.log, Now: m.core.now}
	if o.Cassette, err = m.cassette(); err != nil {
		return nil, err
	}
	if c.Cassette == "" || c.CassetteMode != llm.CassetteReplay { // what is replayed costs nothing
		if o.Ledger, err = m.ledger(); err != nil {
			return nil, err
		}
	}
	if c.Debug {
		o.DebugDir = m.dir(debugDir)
	}
	client, err := llm.New(p, o)
	if err == nil {
		m.keep(client)
	}
	return client, err
}

// hasModel reports whether the profile of reranking names a model.
func (m *models) hasModel() bool {
	p, err := m.core.settings.Profile(m.core.settings.RecallProfile)
	return err == nil && p.Usable()
}

func (m *models) newReranker() (rerank.Reranker, error) {
	client, err := m.client()
	if err != nil {
		return nil, err
	}
	if m.core.settings.Rerank.Kind == config.RerankCrossEncoder {
		return m.crossEncoder(client), nil
	}
	return m.listwise(client)
}

func (m *models) newSelector() (recall.Selector, error) {
	client, err := m.client()
	if err != nil {
		return nil, err
	}
	return m.selection(client)
}

func (m *models) crossEncoder(client *llm.Client) rerank.Reranker {
	return rerank.NewCrossEncoder(client, &rerank.CrossEncoderOptions{Model: client.Profile().Model, Budget: m.core.settings.Rerank.Budget,
		MaxCalls: m.core.settings.Rerank.MaxCalls, Cache: m.verdicts()})
}

func (m *models) listwise(client *llm.Client) (rerank.Reranker, error) {
	c := m.core.settings.Rerank
	prompt, err := m.prompt(rerank.DefaultPrompt)
	if err != nil {
		return nil, err
	}
	return rerank.NewListwise(client, &rerank.ListwiseOptions{Model: client.Profile().Model, Prompt: prompt, Budget: c.Budget,
		MaxCalls: c.MaxCalls, Cache: m.verdicts(), Logger: m.core.log}), nil
}

func (m *models) selection(client *llm.Client) (recall.Selector, error) {
	c := m.core.settings.Rerank
	prompt, err := m.prompt(rerank.DefaultSelectPrompt)
	if err != nil {
		return nil, err
	}
	return rerank.NewSelector(client, &rerank.SelectorOptions{Model: client.Profile().Model, Prompt: prompt, MaxCalls: c.MaxCalls, Cache: m.verdicts()}), nil
}

// fits reports whether ref is no prompt of ours, or one called name.
func fits(ref, name string) bool {
	its, _, ours := strings.Cut(ref, "@")
	return !ours || its == name || len(rerank.Prompts(its)) == 0
}

// CheckPrompt returns why the prompt that the settings name is not for their kind of
// reranking, nil if it may be. What stands in a file of the user's is not looked at.
func CheckPrompt(c *config.Config) error {
	name := map[string]string{config.RerankListwise: "rerank", config.RerankSelection: "select"}[c.Rerank.Kind]
	if fits(c.Rerank.Prompt, name) {
		return nil
	}
	takes := "none"
	if name != "" {
		takes = strings.Join(rerank.Prompts(name), ", ") + " or the path of a .md file"
	}
	return fmt.Errorf("prompt %s is not for rerank.kind %s, which takes %s", c.Rerank.Prompt, c.Rerank.Kind, takes)
}

// prompt returns the prompt that the settings name, else the usual one of its name. One
// of ours that is for another kind is an error, so that none is taken silently; an
// evaluation has arms of both kinds, and one prompt for those that it fits.
func (m *models) prompt(usual string) (*prompt.Prompt, error) {
	c := m.core.settings
	name, _, _ := strings.Cut(usual, "@")
	switch {
	case fits(c.Rerank.Prompt, name):
		return rerank.LoadPrompt(cmp.Or(c.Rerank.Prompt, usual))
	case m.judging:
		return rerank.LoadPrompt(usual)
	}
	return nil, CheckPrompt(c)
}

// verdicts returns the cache of verdicts; none while a cassette decides what is
// asked, so that all that was asked is in it.
func (m *models) verdicts() *rerank.Cache {
	if m.judging || m.core.settings.Cassette != "" {
		return nil
	}
	return rerank.OpenCache(m.dir(verdictDir))
}

// Rerank implements [rerank.Reranker].
func (m *models) Rerank(ctx context.Context, t rerank.Task) (*rerank.Answer, error) {
	r, err := m.rerank()
	if err != nil {
		return nil, err
	}
	return r.Rerank(ctx, t)
}

// Select implements [recall.Selector].
func (m *models) Select(ctx context.Context, t rerank.Task, catalog []rerank.Line) (*rerank.Answer, error) {
	s, err := m.selector()
	if err != nil {
		return nil, err
	}
	return s.Select(ctx, t, catalog)
}

// use sets the options of a recall that may ask a model.
func (m *models) use(o *recall.Options) {
	c := m.core.settings
	o.Candidates, o.RerankTimeout = c.Rerank.Candidates, c.Rerank.Timeout
	switch {
	case m.core.reranker != nil:
		o.Reranker = m.core.reranker
	case !m.hasModel():
	case c.Rerank.Kind == config.RerankSelection:
		o.Selector = m
	default:
		o.Reranker = m
	}
}

// reserveEmbedding makes room for a call to an embedding server and returns what
// enters it into the ledger. Only one that has a price may be refused.
func (m *models) reserveEmbedding(ctx context.Context, tokens int) (func(openai.Call), error) {
	price := m.core.settings.Price / 1e6
	e := llm.Entry{Time: m.core.now().UTC(), Profile: "embed", Model: m.core.settings.Model, Calls: 1, TokensIn: tokens, Money: price * float64(tokens), Counted: true}
	ledger, err := m.ledger()
	enter := func(e llm.Entry) error {
		if err != nil {
			return err
		}
		return ledger.Add(e)
	}
	if price > 0 {
		if err != nil {
			return nil, err
		}
		if enter, err = (llm.Purse{Run: m.run, Ledger: ledger, Caps: m.core.settings.Caps}).Reserve(ctx, e); err != nil {
			return nil, err
		}
	}
	return func(call openai.Call) {
		e.TokensIn, e.Money, e.Counted, e.State = call.Tokens, price*float64(call.Tokens), call.Counted, llm.StateOK
		if call.Err != nil {
			e.State, e.Reason = llm.StateError, "embedding"
		}
		if err := enter(e); err != nil {
			m.unkept.Do(func() { m.core.log.Warn("cost of embeddings not recorded", "err", err) })
		}
	}, nil
}

// A CostRow adds up the calls of one day, profile and model.
type CostRow = llm.CostRow

// Costs returns what calls to models cost since the given time (zero: ever), by day, profile and model.
func (m *Memory) Costs(from time.Time) ([]CostRow, error) {
	done, err := m.begin()
	if err != nil {
		return nil, err
	}
	defer done()
	l, err := m.models.ledger()
	if err != nil {
		return nil, err
	}
	return l.Costs(from)
}
