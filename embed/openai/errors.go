package openai

import (
	"errors"
	"fmt"
	"strings"
	"time"

	goopenai "github.com/sashabaranov/go-openai"
)

// Errors that callers branch on.
var (
	// ErrNoKey: the environment variable that should hold the key is empty.
	ErrNoKey = errors.New("no API key")

	// ErrNoDims: the dimensions of the model are neither given nor known. Ask
	// [Discover].
	ErrNoDims = errors.New("dimensions of the model are not known")

	// ErrReply: the server answered, but not with one good row for each text.
	ErrReply = errors.New("unusable reply")

	// ErrUnavailable: the server failed several times in a row and is left
	// alone for a while.
	ErrUnavailable = errors.New("embedding server is left alone after repeated failures")
)

// A CapError says that a request was not made because the client has spent what
// it may.
type CapError struct {
	What        string // "calls" or "tokens"
	Limit, Used int
	Want        int // what the request would have added
}

// Error implements error.
func (e *CapError) Error() string {
	return fmt.Sprintf("cap of %d embedding %s reached: %d used, %d more needed", e.Limit, e.What, e.Used, e.Want)
}

// A StatusError is a refusal by the server.
type StatusError struct {
	Status  int    // HTTP status; of the error object, when that came with status 200
	Code    string // as the server has it, for example "insufficient_quota"
	Type    string
	Message string // empty when it quotes a text or the key
	Wait    time.Duration
}

// Error implements error.
func (e *StatusError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "embedding server answers %d", e.Status)
	for _, s := range []string{e.Code, e.Type, e.Message} {
		if s != "" {
			b.WriteString(": " + s)
		}
	}
	return b.String()
}

// Temporary reports whether the same request may succeed later.
func (e *StatusError) Temporary() bool {
	switch {
	case e.Code == "insufficient_quota" || e.Code == "billing_hard_limit_reached":
		return false
	case e.Status == 408 || e.Status == 425 || e.Status == 429:
		return true
	}
	return e.Status >= 500 && e.Status != 501 && e.Status != 505
}

// longest is how much of a server's message is kept.
const longest = 200

// statusError makes a StatusError of what go-openai returns; nil when err is
// none.
func (c *Client) statusError(err error, texts []string) *StatusError {
	e := &StatusError{}
	api, ok := errors.AsType[*goopenai.APIError](err)
	// First: a RequestError may wrap an APIError that could not be read.
	if req, odd := errors.AsType[*goopenai.RequestError](err); odd {
		e.Status = req.HTTPStatusCode
		if api = errorObject(req.Body); api == nil { // the body may be anything
			return e
		}
	} else if !ok {
		return nil
	} else {
		e.Status = api.HTTPStatusCode
	}
	e.Type, e.Message = c.scrub(api.Type, texts), c.scrub(api.Message, texts)
	if api.Code != nil {
		e.Code = c.scrub(fmt.Sprint(api.Code), texts)
	}
	return e
}

// quoteLen is how many bytes of a text must stand in a message to count as a
// quotation.
const quoteLen = 16

// scrub returns the start of message in one line, or nothing if it quotes the
// key or a text.
func (c *Client) scrub(message string, texts []string) string {
	message = strings.Join(strings.Fields(message), " ")
	if len(message) > longest {
		message = strings.ToValidUTF8(message[:longest], "")
	}
	if quotes(message, c.key()) {
		return ""
	}
	for _, t := range texts {
		if quotes(message, strings.Join(strings.Fields(t), " ")) {
			return ""
		}
	}
	return message
}

// quotes reports whether message holds quoteLen bytes of text in a row, or all of
// a shorter one that is long enough to mean something.
func quotes(message, text string) bool {
	const least = 4
	if len(text) < quoteLen {
		return len(text) >= least && strings.Contains(message, text)
	}
	for i := 0; i+quoteLen <= len(message); i++ {
		if strings.Contains(text, message[i:i+quoteLen]) {
			return true
		}
	}
	return false
}
