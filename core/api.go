package core

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/memsearch/memsearch/core/config"
	"github.com/memsearch/memsearch/embed"
	"github.com/memsearch/memsearch/embed/openai"
	"github.com/memsearch/memsearch/internal/tokens"
)

// newAPI returns a client of the server that the settings name. Its key is read
// from the environment and kept nowhere else.
func newAPI(o *Options) (embed.Embedder, error) {
	c := o.Settings
	opts := &openai.Options{
		BaseURL:     c.BaseURL,
		Model:       c.Model,
		KeyEnv:      c.APIKeyEnv,
		Dims:        c.Dims,
		RequestDims: c.RequestDims,
		Prefixes:    [2]string{embed.Passage: c.PassagePrefix, embed.Query: c.QueryPrefix},
		Tokens:      tokens.Bound,
		BatchTexts:  c.Batch,
		Timeout:     c.Timeout,
		MaxCalls:    c.MaxCalls,
		MaxTokens:   c.MaxTokens,
		Reserve:     o.reserve,
		Logger:      o.Logger,
	}
	e := impatient{heard: new(atomic.Int64), silent: new(atomic.Int64)}
	opts.OnCall = func(c openai.Call) {
		if c.Err == nil || c.Status != 0 {
			e.heard.Store(time.Now().UnixNano())
		}
		if o.OnCall != nil {
			o.OnCall(c)
		}
	}
	client, err := openai.New(opts)
	if err == nil {
		e.Embedder = client
		return e, nil
	}
	why := err
	if errors.Is(err, openai.ErrNoKey) {
		opts.KeyEnv = ""
		client, err = openai.New(opts)
	}
	if errors.Is(err, openai.ErrNoDims) {
		if why != err {
			why = fmt.Errorf("%w; %w", why, err)
		}
		why = fmt.Errorf("%w: set dims in %s to the length of its vectors", why, config.FileName)
		opts.Dims = 1 // of rows that nobody makes
		client, err = openai.New(opts)
	}
	if err != nil {
		return nil, err
	}
	return unusable{client.Fingerprint(), why}, nil
}

// unusable stands for a model whose key is missing, or whose dimensions are not
// known: words are searched, and vectors of times when the key was there stay.
type unusable struct {
	fingerprint embed.Fingerprint
	err         error
}

func (e unusable) Fingerprint() embed.Fingerprint { return e.fingerprint }

func (e unusable) Embed(context.Context, []string, embed.Kind) ([][]float32, error) {
	return nil, e.err
}

// modelWait is how long a recall, or the writing of a memory, waits for an API
// model: an agent must not stand still because a server does.
const modelWait = 3 * time.Second

// errModelWait is the cause when an API model took longer.
var errModelWait = fmt.Errorf("the model did not answer within %s", modelWait)

type patience struct{}

// withPatience bounds what all calls to an API model under ctx take together. The
// returned function must be called.
func withPatience(ctx context.Context) (context.Context, func()) {
	limit, cancel := context.WithTimeoutCause(context.Background(), modelWait, errModelWait)
	return context.WithValue(ctx, patience{}, limit), cancel
}

// impatient keeps to the patience of its caller. A server that was silent for all
// of it is then left alone by such callers: each of them would wait as long. One
// that answered another call meanwhile is only busy.
type impatient struct {
	embed.Embedder
	heard  *atomic.Int64 // when the server last answered, in nanoseconds
	silent *atomic.Int64 // until when it is left alone
}

func (e impatient) Unwrap() embed.Embedder { return e.Embedder }

func (e impatient) Embed(ctx context.Context, texts []string, kind embed.Kind) ([][]float32, error) {
	limit, ok := ctx.Value(patience{}).(context.Context)
	if !ok {
		return e.Embedder.Embed(ctx, texts, kind)
	}
	begun := time.Now().UnixNano()
	if begun < e.silent.Load() {
		return nil, errModelWait
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(limit, func() { cancel(errModelWait) })()
	rows, err := e.Embedder.Embed(ctx, texts, kind)
	if err != nil && limit.Err() != nil {
		if e.heard.Load() < begun {
			e.silent.Store(time.Now().Add(openai.DefaultBreakFor).UnixNano())
		}
		return nil, errModelWait
	}
	return rows, err
}
