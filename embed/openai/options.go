package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/memsearch/memsearch/internal/httpapi"
)

// Options configures a [Client]. Model is required, and Dims for models that are
// not in [KnownDims].
type Options struct {
	// BaseURL is where "/embeddings" is appended. It may not carry credentials.
	//
	// If empty, it is [DefaultBaseURL].
	BaseURL string

	// Model is the model to ask for.
	Model string

	// Version, if not empty, goes into the fingerprint: change it when the
	// server changes the weights behind a name.
	Version string

	// KeyEnv is the name of the environment variable that holds the API key. If
	// empty, no key is sent, as for a local server.
	KeyEnv string

	// Dims is the number of dimensions a row must have.
	//
	// If zero, it is looked up in [KnownDims].
	Dims int

	// RequestDims asks the server to shorten its vectors to Dims. Models that
	// cannot do so refuse the request.
	RequestDims bool

	// Prefixes are put before a text, by [embed.Kind], for models that are
	// trained with them.
	Prefixes [2]string

	// Tokens returns the number of tokens of a text, or an upper bound. It cuts
	// texts, fills batches and counts towards MaxTokens before the server
	// reports what it charged.
	//
	// If nil, it is the number of bytes: no byte-level tokenizer makes more
	// tokens than that, and it cuts English at a quarter of what would fit.
	Tokens func(text string) int

	// TextTokens is the most tokens of a text; the rest is cut off.
	//
	// If zero, it is [DefaultTextTokens].
	TextTokens int

	// BatchTexts and BatchTokens bound one request.
	//
	// If zero, they are [DefaultBatchTexts] and [DefaultBatchTokens].
	BatchTexts, BatchTokens int

	// Concurrency is the most requests at a time.
	//
	// If zero, it is [DefaultConcurrency].
	Concurrency int

	// PerMinute, if positive, is the most requests a minute.
	PerMinute float64

	// Timeout bounds one request.
	//
	// If zero, it is [DefaultTimeout].
	Timeout time.Duration

	// Tries is how often a request is made at most.
	//
	// If zero, it is [DefaultTries].
	Tries int

	// MaxWait is the longest pause that a server may ask for; when it asks for
	// more, its answer is final.
	//
	// If zero, it is [DefaultMaxWait].
	MaxWait time.Duration

	// BreakAfter failures in a row, the server is left alone for BreakFor.
	//
	// If zero, they are [DefaultBreakAfter] and [DefaultBreakFor].
	BreakAfter int
	BreakFor   time.Duration

	// MaxCalls and MaxTokens, if positive, bound what the client may spend in
	// its life.
	MaxCalls, MaxTokens int

	// MaxReply is the most bytes of a reply, unpacked.
	//
	// If zero, it is [DefaultMaxReply].
	MaxReply int64

	// Reserve, if non-nil, is asked before every request whether it may take so
	// many tokens. Its error ends the request; else end is told once how it went.
	// Both may be called by several goroutines at once.
	Reserve func(ctx context.Context, tokens int) (end func(Call), err error)

	// OnCall, if non-nil, is told of every request, one at a time.
	OnCall func(Call)

	// HTTPClient, if non-nil, makes the requests.
	HTTPClient *http.Client

	// Logger, if non-nil, is told of retries (Debug) and of a server that is
	// left alone (Warn).
	Logger *slog.Logger
}

// Defaults of [Options].
const (
	DefaultBaseURL     = "https://api.openai.com/v1"
	DefaultTextTokens  = 8191
	DefaultBatchTexts  = 256
	DefaultBatchTokens = 100_000
	DefaultConcurrency = 4
	DefaultTimeout     = time.Minute
	DefaultTries       = 4
	DefaultMaxWait     = time.Minute
	DefaultBreakAfter  = 8
	DefaultBreakFor    = 30 * time.Second
	DefaultMaxReply    = 64 << 20
)

// KnownDims returns the dimensions of the vectors of well-known models, 0 for
// others.
func KnownDims(model string) int {
	switch model {
	case "text-embedding-3-small", "text-embedding-ada-002":
		return 1536
	case "text-embedding-3-large":
		return 3072
	case "nomic-embed-text", "nomic-embed-text-v1.5":
		return 768
	case "bge-m3", "mxbai-embed-large", "snowflake-arctic-embed2":
		return 1024
	case "all-minilm":
		return 384
	}
	return 0
}

// withDefaults returns a copy of o in which nothing is left to default.
func (o *Options) withDefaults() (Options, error) {
	var c Options
	if o != nil {
		c = *o
	}
	if c.Model == "" {
		return c, errors.New("no model named")
	}
	c.BaseURL = cmp.Or(c.BaseURL, DefaultBaseURL)
	u, err := url.Parse(c.BaseURL)
	switch {
	case err != nil:
		return c, errors.New("base URL cannot be parsed") // the error would quote it
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return c, errors.New("base URL is not http or https")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return c, errors.New("base URL has credentials, a query or a fragment: name an environment variable for the key instead")
	}
	for _, n := range []int{c.Dims, c.TextTokens, c.BatchTexts, c.BatchTokens, c.Concurrency, c.Tries, c.BreakAfter, c.MaxCalls, c.MaxTokens} {
		if n < 0 {
			return c, errors.New("negative option")
		}
	}
	c.Dims = cmp.Or(c.Dims, KnownDims(c.Model))
	if c.Tokens == nil {
		c.Tokens = func(text string) int { return len(text) }
	}
	c.TextTokens = cmp.Or(c.TextTokens, DefaultTextTokens)
	c.BatchTexts = cmp.Or(c.BatchTexts, DefaultBatchTexts)
	c.BatchTokens = cmp.Or(c.BatchTokens, DefaultBatchTokens)
	c.Concurrency = cmp.Or(c.Concurrency, DefaultConcurrency)
	c.Timeout = cmp.Or(c.Timeout, DefaultTimeout)
	c.Tries = cmp.Or(c.Tries, DefaultTries)
	c.MaxWait = cmp.Or(c.MaxWait, DefaultMaxWait)
	c.BreakAfter = cmp.Or(c.BreakAfter, DefaultBreakAfter)
	c.BreakFor = cmp.Or(c.BreakFor, DefaultBreakFor)
	c.MaxReply = cmp.Or(c.MaxReply, DefaultMaxReply)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// key reads the API key from the environment.
func (o *Options) key() (string, error) {
	if o.KeyEnv == "" {
		return "", nil
	}
	key, err := httpapi.Key(o.KeyEnv)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoKey, err)
	}
	return key, nil
}
