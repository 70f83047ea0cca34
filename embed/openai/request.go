package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	goopenai "github.com/sashabaranov/go-openai"
	"github.com/sony/gobreaker/v2"

	"github.com/memsearch/memsearch/embed"
	"github.com/memsearch/memsearch/internal/httpapi"
)

// A Call is one request, for the ledger.
type Call struct {
	Model     string
	Try       int // from 1; higher numbers repeat a request that failed
	Texts     int
	Truncated int  // texts that were cut
	Tokens    int  // 0 for a request that was refused or could not be sent
	Counted   bool // Tokens was counted here: the server did not say
	Status    int  // of an answer that is an error; 0 for none
	Err       error
	Duration  time.Duration
}

// errStopped marks an error that is the caller's own: cancelled, or out of time.
var errStopped = errors.New("stopped")

// errRefused marks what [Options].Reserve says.
var errRefused = errors.New("not asked")

const (
	firstPause = 500 * time.Millisecond
	lastPause  = 30 * time.Second
	growth     = 2
	jitter     = .1 // of a pause that the server asks for
)

// request embeds one batch, with repetitions.
func (c *Client) request(ctx context.Context, batch []input) ([][]float32, error) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	try, unanswered := 0, 0
	operation := func() ([][]float32, error) {
		try++
		rows, err := c.try(ctx, batch, try)
		if err == nil {
			return rows, nil
		}
		if timedOut(err) {
			if unanswered++; unanswered == maxUnanswered {
				c.leaveAlone(ctx)
				return nil, backoff.Permanent(err)
			}
		}
		return nil, c.judge(err)
	}
	pause := &backoff.ExponentialBackOff{InitialInterval: firstPause, RandomizationFactor: .5, Multiplier: growth, MaxInterval: lastPause}
	rows, err := backoff.Retry(ctx, operation, backoff.WithBackOff(pause),
		backoff.WithMaxTries(uint(c.opts.Tries)), backoff.WithMaxElapsedTime(0),
		backoff.WithNotify(func(err error, wait time.Duration) {
			c.opts.Logger.DebugContext(ctx, "embedding request failed, trying again", "model", c.opts.Model, "try", try, "wait", wait, "err", err)
		}))
	if later, ok := errors.AsType[*postponed](err); ok {
		err = later.error
	}
	if final, ok := errors.AsType[*backoff.PermanentError](err); ok { // the last try's is not unwrapped
		err = final.Err
	}
	return rows, err
}

// maxUnanswered is how often a request waits for an answer until its time is up.
// A server that takes requests and says nothing costs far more time than one that
// fails.
const maxUnanswered = 2

// timedOut reports whether the server did not answer in time.
func timedOut(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return !errors.Is(err, errStopped) && !errors.Is(err, errRefused) && (errors.Is(err, context.DeadlineExceeded) || ok && e.Timeout())
}

// leaveAlone makes no request for a while, so that others do not wait for the same
// silence.
func (c *Client) leaveAlone(ctx context.Context) {
	until := time.Now().Add(c.opts.BreakFor)
	c.silent.Store(&until)
	c.opts.Logger.WarnContext(ctx, "embedding server does not answer and is left alone", "model", c.opts.Model, "for", c.opts.BreakFor)
}

// postponed is an error after which the server wants a pause.
type postponed struct {
	error
	wait time.Duration
}

// Unwrap makes backoff see how long to wait.
func (p *postponed) Unwrap() []error {
	return []error{p.error, &backoff.RetryAfterError{Duration: p.wait}}
}

// judge marks err as final, or with the pause before the next try.
func (c *Client) judge(err error) error {
	if status, ok := errors.AsType[*StatusError](err); ok {
		switch {
		case !status.Temporary() || status.Wait > c.opts.MaxWait:
			return backoff.Permanent(err)
		case status.Wait > 0:
			spread := time.Duration(rand.Float64() * jitter * float64(status.Wait))
			return &postponed{err, status.Wait + spread}
		}
		return err
	}
	if isOutage(err) && !errors.Is(err, ErrUnavailable) {
		return err
	}
	return backoff.Permanent(err)
}

// try makes one request, if the breaker lets it.
func (c *Client) try(ctx context.Context, batch []input, n int) ([][]float32, error) {
	if c.limiter != nil {
		if err := c.limiter.Wait(ctx); err != nil {
			return nil, errors.Join(errStopped, err)
		}
	}
	if until := c.silent.Load(); until != nil && time.Now().Before(*until) {
		return nil, ErrUnavailable
	}
	rows, err := c.breaker.Execute(func() ([][]float32, error) { return c.ask(ctx, batch, n) })
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		return nil, ErrUnavailable
	}
	return rows, err
}

// ask makes one request within the budget, checks the reply and reports the call.
func (c *Client) ask(ctx context.Context, batch []input, n int) ([][]float32, error) {
	call := Call{Model: c.opts.Model, Try: n, Texts: len(batch)}
	texts := make([]string, len(batch))
	for i, in := range batch {
		texts[i] = in.text
		call.Tokens += in.tokens
		if in.cut {
			call.Truncated++
		}
	}
	reserved := call.Tokens
	if err := c.budget.reserve(reserved); err != nil {
		return nil, err
	}
	end := func(Call) {}
	if c.opts.Reserve != nil {
		var err error
		if end, err = c.opts.Reserve(ctx, reserved); err != nil {
			c.budget.release(reserved)
			return nil, fmt.Errorf("%w: %w", errRefused, err)
		}
	}
	start := time.Now()
	reply, err := c.send(ctx, texts)
	call.Duration = time.Since(start)
	var rows [][]float32
	if err == nil {
		rows, err = c.check(&reply, len(texts))
	}
	status, refused := errors.AsType[*StatusError](err)
	switch {
	case refused && !status.Lost() || httpapi.Undialled(err):
		call.Tokens = 0
	case reply.Usage.TotalTokens > 0 && reply.Usage.TotalTokens <= httpapi.MaxUsage:
		call.Tokens = reply.Usage.TotalTokens
	default:
		call.Counted = true // a lost answer may have been charged
	}
	if refused {
		call.Status = status.Status
	}
	call.Err = err
	c.budget.settle(reserved, call.Tokens)
	end(call)
	if c.opts.OnCall != nil {
		c.report.Lock()
		defer c.report.Unlock()
		c.opts.OnCall(call)
	}
	return rows, err
}

// send makes the HTTP request.
func (c *Client) send(ctx context.Context, texts []string) (goopenai.EmbeddingResponse, error) {
	body := goopenai.EmbeddingRequest{Input: texts, Model: goopenai.EmbeddingModel(c.opts.Model), EncodingFormat: goopenai.EmbeddingEncodingFormatFloat}
	if c.opts.RequestDims {
		body.Dimensions = c.opts.Dims
	}
	tctx, cancel := context.WithTimeout(ctx, c.opts.Timeout)
	defer cancel()
	reply, err := c.api.CreateEmbeddings(tctx, body)
	switch {
	case err == nil || aboutUsage(err):
		return reply, nil
	case ctx.Err() != nil:
		return reply, errors.Join(errStopped, context.Cause(ctx))
	}
	secret := append(slices.Clone(texts), c.key())
	if status := httpapi.Status(err, secret...); status != nil {
		status.Wait = httpapi.RetryAfter(reply.Header(), time.Now())
		return reply, status
	}
	if why := httpapi.Malformed(err); why != "" {
		return reply, fmt.Errorf("%w: %s", ErrReply, why)
	}
	return reply, httpapi.Quiet(err, secret...)
}

// aboutUsage reports whether all that keeps a reply from being read is what it says
// of its cost. The rest of it was read.
func aboutUsage(err error) bool {
	e, ok := errors.AsType[*json.UnmarshalTypeError](err)
	return ok && (e.Field == "usage" || strings.HasPrefix(e.Field, "usage."))
}

// check returns the rows of a reply in the order of the texts, as unit vectors.
func (c *Client) check(reply *goopenai.EmbeddingResponse, n int) ([][]float32, error) {
	if len(reply.Data) != n {
		return nil, fmt.Errorf("%w: %d rows for %d texts", ErrReply, len(reply.Data), n)
	}
	rows := make([][]float32, n)
	for _, d := range reply.Data {
		switch {
		case d.Index < 0 || d.Index >= n:
			return nil, fmt.Errorf("%w: row %d of %d", ErrReply, d.Index, n)
		case rows[d.Index] != nil:
			return nil, fmt.Errorf("%w: two rows %d", ErrReply, d.Index)
		case c.opts.Dims != 0 && len(d.Embedding) != c.opts.Dims:
			return nil, fmt.Errorf("%w: row of %d dimensions, want %d", ErrReply, len(d.Embedding), c.opts.Dims)
		case !embed.Normalize(d.Embedding):
			return nil, fmt.Errorf("%w: row %d is all zero, empty or not finite", ErrReply, d.Index)
		}
		rows[d.Index] = d.Embedding
	}
	return rows, nil
}
