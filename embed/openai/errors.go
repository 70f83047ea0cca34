package openai

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
type StatusError = httpapi.StatusError
