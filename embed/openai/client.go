package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	goopenai "github.com/sashabaranov/go-openai"
	"github.com/sony/gobreaker/v2"
	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"

	"github.com/memsearch/memsearch/embed"
	"github.com/memsearch/memsearch/internal/httpapi"
)

// A Client embeds texts with one model of one server. It is safe for concurrent
// use.
type Client struct {
	opts    Options
	key     func() string // a function does not print
	api     *goopenai.Client
	http    *http.Client
	slots   chan struct{} // one for each request under way
	limiter *rate.Limiter
	breaker *gobreaker.CircuitBreaker[[][]float32]
	silent  atomic.Pointer[time.Time] // until when a server that does not answer is left alone
	budget  budget

	report sync.Mutex // held while OnCall runs
}

var _ embed.Embedder = (*Client)(nil)

// New returns a Client. It makes no request. Its errors may wrap [ErrNoKey] and
// [ErrNoDims].
func New(opts *Options) (*Client, error) {
	c, err := newClient(opts)
	if err == nil && c.opts.Dims == 0 {
		err = fmt.Errorf("%w: %s", ErrNoDims, c.opts.Model)
	}
	if err != nil {
		return nil, fmt.Errorf("set up embedding client: %w", err)
	}
	return c, nil
}

// Discover asks the server for one vector and returns its dimensions.
func Discover(ctx context.Context, opts *Options) (int, error) {
	c, err := newClient(opts)
	if err != nil {
		return 0, fmt.Errorf("set up embedding client: %w", err)
	}
	defer c.Close()
	c.opts.Dims, c.opts.RequestDims = 0, false
	rows, err := c.Embed(ctx, []string{"dimensions"}, embed.Passage)
	if err != nil {
		return 0, err
	}
	return len(rows[0]), nil
}

func newClient(opts *Options) (*Client, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	key, err := o.key()
	if err != nil {
		return nil, err
	}
	c := &Client{opts: o, key: func() string { return key }, http: o.HTTPClient, slots: make(chan struct{}, o.Concurrency),
		budget: budget{maxCalls: o.MaxCalls, maxTokens: o.MaxTokens}}
	if c.http == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.MaxIdleConnsPerHost = o.Concurrency
		c.http = &http.Client{Transport: t}
	}
	config := goopenai.DefaultConfig(key)
	config.BaseURL = o.BaseURL
	config.HTTPClient = httpapi.Doer{Client: c.http, Max: o.MaxReply}
	c.api = goopenai.NewClientWithConfig(config)
	if o.PerMinute > 0 {
		c.limiter = rate.NewLimiter(rate.Limit(o.PerMinute/60), 1)
	}
	c.breaker = gobreaker.NewCircuitBreaker[[][]float32](gobreaker.Settings{
		Timeout:     o.BreakFor,
		ReadyToTrip: func(n gobreaker.Counts) bool { return int(n.ConsecutiveFailures) >= o.BreakAfter },
		IsExcluded:  func(err error) bool { return err != nil && !isOutage(err) },
		OnStateChange: func(_ string, _, to gobreaker.State) {
			if to == gobreaker.StateOpen {
				o.Logger.Warn("embedding server left alone", "model", o.Model, "for", o.BreakFor)
			}
		},
	})
	return c, nil
}

// String returns the model and where it is served.
func (c *Client) String() string { return c.opts.Model + " at " + c.opts.BaseURL }

// GoString is String: the fields behind it hold the key.
func (c *Client) GoString() string { return c.String() }

// Close closes idle connections.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// Fingerprint implements [embed.Embedder]. It does not name the server: a model
// is the same wherever it runs.
func (c *Client) Fingerprint() embed.Fingerprint {
	return embed.Fingerprint{Model: c.opts.Model, Version: c.opts.Version, Dims: c.opts.Dims, Prefixes: c.opts.Prefixes}
}

// Spent returns how many requests were made and how many tokens they took: as
// charged, or as counted beforehand where the server did not say.
func (c *Client) Spent() (calls, tokens int) { return c.budget.spent() }

// An input is a text as it is sent.
type input struct {
	text   string
	tokens int
	cut    bool
	at     int // its place among the texts of Embed
}

// Embed implements [embed.Embedder]. Blank texts have zero rows and are not sent.
// The first error ends all requests of the call.
func (c *Client) Embed(ctx context.Context, texts []string, kind embed.Kind) ([][]float32, error) {
	if kind != embed.Passage && kind != embed.Query {
		return nil, fmt.Errorf("embed with %s: unknown kind %v", c.opts.Model, kind)
	}
	rows := make([][]float32, len(texts))
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(c.opts.Concurrency)
	send := func(batch []input) {
		if len(batch) == 0 || gctx.Err() != nil {
			return
		}
		group.Go(func() error {
			made, err := c.request(gctx, batch)
			if err != nil {
				return err
			}
			for i, in := range batch {
				rows[in.at] = made[i]
			}
			return nil
		})
	}
	var batch []input
	tokens := 0
	for i, text := range texts {
		if strings.TrimSpace(text) == "" {
			rows[i] = make([]float32, c.opts.Dims)
			continue
		}
		in := c.prepare(text, kind)
		in.at = i
		if len(batch) == c.opts.BatchTexts || len(batch) > 0 && tokens+in.tokens > c.opts.BatchTokens {
			send(batch)
			batch, tokens = nil, 0
		}
		batch = append(batch, in)
		tokens += in.tokens
	}
	send(batch)
	err := group.Wait()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("embed with %s: %w", c.opts.Model, err)
	}
	return rows, nil
}

// prepare puts the prefix before a text and cuts what is over the limit.
func (c *Client) prepare(text string, kind embed.Kind) input {
	text = c.opts.Prefixes[kind] + text
	n := c.opts.Tokens(text)
	if n <= c.opts.TextTokens {
		return input{text: text, tokens: n}
	}
	text = cut(text, c.opts.TextTokens, c.opts.Tokens)
	return input{text: text, tokens: c.opts.Tokens(text), cut: true}
}

// cut returns a long start of text of at most limit tokens, whole characters. The
// count of a start may be a little larger than that of a longer one.
func cut(text string, limit int, tokens func(string) int) string {
	start := func(n int) string {
		for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
			n--
		}
		return text[:n]
	}
	lo, hi := 0, len(text) // start(lo) fits, start(hi) does not
	for lo+1 < hi {
		if mid := lo + (hi-lo)/2; tokens(start(mid)) <= limit {
			lo = mid
		} else {
			hi = mid
		}
	}
	return start(lo)
}

// isOutage reports whether err says that the server does not work, as opposed to
// refusing one request.
func isOutage(err error) bool {
	if status, ok := errors.AsType[*StatusError](err); ok {
		return status.Status >= 500 && status.Temporary()
	}
	if _, ok := errors.AsType[*CapError](err); ok {
		return false
	}
	return !errors.Is(err, ErrReply) && !errors.Is(err, errStopped) && !errors.Is(err, errRefused)
}
