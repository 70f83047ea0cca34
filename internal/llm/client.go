package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/httpapi"
	"github.com/memsearch/memsearch/internal/tokens"
)

// DefaultMaxReply is the most bytes of a reply, unpacked.
const DefaultMaxReply = 8 << 20

// Options configures a [Client]. The zero value works.
type Options struct {
	Caps Caps

	// Run is what the client's spending is counted with. If nil, the client has
	// one of its own.
	Run *Run

	// Ledger records the calls and keeps the caps of the day. If nil, it is one in
	// memory.
	Ledger *Ledger

	// StateDir is a folder in which clients of this and other processes leave
	// each other word of a server that does not work, and of what a server
	// supports. If empty, a client learns for itself alone.
	StateDir string

	// Cassette, if non-nil, answers or records.
	Cassette *Cassette

	// DebugDir, if not empty, is a folder that gets one file with request and
	// reply of each call, texts passed through Redact.
	DebugDir string
	Redact   func(string) string

	// HTTPClient, if non-nil, makes the requests.
	HTTPClient *http.Client

	// Logger, if non-nil, is told of retries (Debug) and of servers that are left
	// alone (Warn), never of texts.
	Logger *slog.Logger

	// Now is the clock. If nil, it is time.Now.
	Now func() time.Time
}

// A Client asks the model of one profile. It is safe for concurrent use.
type Client struct {
	profile Profile
	opts    Options
	key     func() string // a function does not print
	url     string
	http    *http.Client
	breaker *breaker
	server  *serverState
	calls   underway
}

var _ Asker = (*Client)(nil)

// New returns a client. It makes no request. A key that is missing is an error
// ([ErrNoKey]) unless a cassette is only replayed.
func New(p Profile, o *Options) (*Client, error) {
	c := &Client{profile: p.withDefaults()}
	if o != nil {
		c.opts = *o
	}
	if !p.Usable() {
		return nil, fmt.Errorf("set up profile %s: no model is named", cmp.Or(p.Name, ProfileMain))
	}
	if !slices.Contains(StructuredModes, c.profile.Structured) {
		return nil, fmt.Errorf("set up profile %s: structured is none of %s", c.profile.Name, strings.Join(StructuredModes, ", "))
	}
	u, err := url.Parse(c.profile.BaseURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("set up profile %s: base_url is not an http address without password, query and fragment", c.profile.Name)
	}
	c.url = u.JoinPath("/").String()
	key := ""
	if name := c.profile.APIKeyEnv; name != "" && !c.opts.Cassette.replays() {
		if key, err = httpapi.Key(name); err != nil {
			return nil, fmt.Errorf("set up profile %s: %w: %w", c.profile.Name, ErrNoKey, err)
		}
	}
	c.key = func() string { return key }
	c.opts.Caps = c.opts.Caps.withDefaults()
	if c.opts.Run == nil {
		c.opts.Run = new(Run)
	}
	if c.opts.Ledger == nil {
		c.opts.Ledger = NewMemoryLedger()
	}
	if c.opts.Now == nil {
		c.opts.Now = time.Now
	}
	if c.opts.Redact == nil {
		c.opts.Redact = func(s string) string { return s }
	}
	if c.opts.Logger == nil {
		c.opts.Logger = slog.New(slog.DiscardHandler)
	}
	if c.http = c.opts.HTTPClient; c.http == nil {
		c.http = &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}
	}
	c.server = openServerState(c.opts.StateDir, c.url, c.profile.Model)
	if c.breaker, err = newBreaker(c.server, c.profile.Model, c.opts.Logger); err != nil {
		return nil, fmt.Errorf("set up profile %s: %w", c.profile.Name, err)
	}
	return c, nil
}

// Profile returns the profile with its defaults.
func (c *Client) Profile() Profile { return c.profile }

// String names the model and where it is served.
func (c *Client) String() string { return c.profile.Model + " at " + c.profile.BaseURL }

// GoString is String: the fields behind it hold the key.
func (c *Client) GoString() string { return c.String() }

// closeWait bounds what Close waits for.
const closeWait = time.Second

// Close closes idle connections. Before that it waits a moment for calls that nobody
// waits for any more: what they cost, and that their server does not work, is for the
// next process to know.
func (c *Client) Close() error {
	select {
	case <-c.calls.over():
	case <-time.After(closeWait):
	}
	c.http.CloseIdleConnections()
	return c.server.close()
}

// underway counts calls. Unlike a wait group it may be waited for while one begins.
type underway struct {
	mu   sync.Mutex
	n    int
	none chan struct{} // closed at zero, if somebody waits
}

func (u *underway) add(n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.n += n; u.n == 0 && u.none != nil {
		close(u.none)
		u.none = nil
	}
}

// over returns a channel that is closed when there is no call.
func (u *underway) over() <-chan struct{} {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.none == nil {
		u.none = make(chan struct{})
	}
	none := u.none
	if u.n == 0 {
		close(none)
		u.none = nil
	}
	return none
}

// messageTokens is what a message costs besides its text, and replyTokens what
// primes the reply, in the chat format of OpenAI's models.
const (
	messageTokens = 4
	replyTokens   = 3
)

// PromptTokens bounds the tokens of messages.
func PromptTokens(messages []Message) int {
	n := replyTokens
	for _, m := range messages {
		n += messageTokens + tokens.Bound(m.Role) + tokens.Bound(m.Content)
	}
	return n
}

// A paid request is one call on its way through caps, breaker and ledger.
type paid struct {
	prompt  string // label for the ledger
	in, out int    // most tokens it may take
	calls   int    // most tries; zero: as the profile says
	do      func(ctx context.Context, e Entry) (usage, error)
}

// pay makes a call, again if it fails for a while, and returns what all tries
// cost.
func (c *Client) pay(ctx context.Context, p paid) (memsearch.Cost, error) {
	c.calls.add(1)
	defer c.calls.add(-1)
	var cost memsearch.Cost
	if n := p.in + p.out; n > c.profile.ContextWindow {
		return cost, fmt.Errorf("%w: %d tokens with its reply, the window has %d", ErrTooLong, n, c.profile.ContextWindow)
	} else if most := c.opts.Caps.CallTokens; n > most {
		return cost, &CapError{Per: "call", What: "tokens", Limit: float64(most), Want: float64(n)}
	}
	err := c.guarded(func() error {
		return c.retry(ctx, p.calls, func() error {
			e, err := c.try(ctx, p)
			cost.Add(memsearch.Cost{Calls: e.Calls, TokensIn: e.TokensIn, TokensOut: e.TokensOut, Money: e.Money})
			return err
		})
	})
	return cost, err
}

// try makes one call and enters it into the ledger.
func (c *Client) try(ctx context.Context, p paid) (Entry, error) {
	e := Entry{ID: newID(), Time: c.opts.Now().UTC(), Profile: c.profile.Name, Model: c.profile.Model, Prompt: p.prompt, State: StateOpen,
		Calls: 1, TokensIn: p.in, TokensOut: p.out, Money: c.profile.money(p.in, p.out), Counted: true}
	reserved := e.spent()
	if err := c.opts.Run.reserve(reserved, c.opts.Caps); err != nil {
		return Entry{}, err
	}
	err := c.opts.Ledger.reserve(ctx, e, func(day spent) error {
		return day.within("day", reserved, spent{c.opts.Caps.DayCalls, c.opts.Caps.DayTokens, c.opts.Caps.DayMoney})
	})
	if err != nil {
		c.opts.Run.settle(reserved, spent{})
		return Entry{}, err
	}
	tctx, cancel := context.WithTimeout(ctx, c.profile.Timeout)
	asked := time.Now()
	u, err := p.do(tctx, e)
	cancel()
	if err != nil && ctx.Err() != nil {
		why := ctx.Err()
		err = stopped{context.Cause(ctx), why, why == context.DeadlineExceeded && time.Since(asked) >= min(patience, c.profile.Timeout/2)}
	}
	c.charge(&e, u, err)
	c.opts.Run.settle(reserved, e.spent())
	if lerr := c.opts.Ledger.settle(e); lerr != nil {
		c.opts.Logger.WarnContext(ctx, "cost of a call not settled, it counts as reserved", "id", e.ID, "err", lerr)
	}
	return e, err
}

// charge writes into e what the call cost: what the server says, nothing for a
// call that was refused or did not reach a server, and all that was reserved where
// the answer was lost, on the way here or on the way to a gateway.
func (c *Client) charge(e *Entry, u usage, err error) {
	status, refused := errors.AsType[*StatusError](err)
	switch {
	case u.known:
		e.TokensIn, e.TokensOut, e.Counted = u.in, u.out, false
	case u.in+u.out > 0: // counted from what arrived
		e.TokensIn, e.TokensOut = u.in, u.out
	case refused && !status.Lost() || httpapi.Undialled(err):
		e.TokensIn, e.TokensOut, e.Counted = 0, 0, false
	}
	e.Money = c.profile.money(e.TokensIn, e.TokensOut)
	e.State = StateOK
	if err != nil {
		e.State, e.Reason = StateError, kind(err)
	}
}

// kind returns one word for an error, for the ledger.
func kind(err error) string {
	status, refused := errors.AsType[*StatusError](err)
	switch {
	case refused:
		return fmt.Sprintf("status %d", status.Status)
	case errors.Is(err, ErrReply):
		return "reply"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	case errors.Is(err, context.DeadlineExceeded) || timedOut(err):
		return "timeout"
	}
	return "connection"
}
