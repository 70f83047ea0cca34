package llm

import (
	"errors"
	"fmt"

	"github.com/memsearch/memsearch/internal/httpapi"
)

// Errors that callers branch on.
var (
	// ErrNoKey: the environment variable that should hold the key is empty, or
	// holds what no header can.
	ErrNoKey = errors.New("no API key")

	// ErrUnavailable: the server failed and is left alone for a while.
	ErrUnavailable = errors.New("model server is left alone after a failure")

	// ErrReply: the model answered, but not what was asked for.
	ErrReply = errors.New("unusable reply")

	// ErrRefused: the model, or a filter before it, refused to answer.
	ErrRefused = errors.New("the model refused to answer")

	// ErrLength: the reply was cut off at the most tokens it may have.
	ErrLength = errors.New("the reply was cut off at its token limit")

	// ErrTooLong: prompt and output do not fit the context window.
	ErrTooLong = errors.New("prompt is too long for the model")

	// ErrLedger: the ledger cannot be kept, so nothing may be spent.
	ErrLedger = errors.New("costs cannot be recorded")
)

// A StatusError is a refusal by the server.
type StatusError = httpapi.StatusError

// A CapError says that a request was not made because of what it would spend.
type CapError struct {
	Per         string // "call", "run" or "day"
	What        string // "calls", "tokens" or "money"
	Limit, Used float64
	Want        float64 // what the request would have added at most
}

// Error implements error.
func (e *CapError) Error() string {
	return fmt.Sprintf("cap of %g %s per %s reached: %g used, up to %g more needed (setting llm.%s_%s)",
		e.Limit, e.What, e.Per, e.Used, e.Want, e.Per, e.What)
}
