package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/memsearch/memsearch/internal/atomicfile"
)

// breakFor is how long a server that does not work is left alone. Then one call
// tries it.
const breakFor = 30 * time.Second

// A breaker keeps calls from a server that does not work. One call that failed
// with all its retries, or was not answered in time, opens it.
type breaker = gobreaker.DistributedCircuitBreaker[struct{}]

func newBreaker(s *serverState, model string, log *slog.Logger) (*breaker, error) {
	return gobreaker.NewDistributedCircuitBreaker[struct{}](s, gobreaker.Settings{
		Timeout:     breakFor,
		ReadyToTrip: func(n gobreaker.Counts) bool { return n.ConsecutiveFailures > 0 },
		IsExcluded:  func(err error) bool { return err != nil && !outage(err) },
		OnStateChange: func(_ string, _, to gobreaker.State) {
			if to == gobreaker.StateOpen {
				log.Warn("model server left alone", "model", model, "for", breakFor)
			}
		},
	})
}

// guarded runs call unless the server is left alone.
func (c *Client) guarded(call func() error) error {
	_, err := c.breaker.Execute(func() (struct{}, error) { return struct{}{}, call() })
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		return fmt.Errorf("%w (at most %s)", ErrUnavailable, breakFor)
	}
	return err
}

// A serverState is what is known of one model of one server. What stands in files
// is known to the next process, too. A file that cannot be read or written is as
// good as none.
type serverState struct {
	dir  *atomicfile.Dir // nil: this process alone
	name string          // start of the names of its files

	mu         sync.Mutex
	breaker    []byte
	structured string
}

func openServerState(dir, url, model string) *serverState {
	s := &serverState{}
	if dir == "" || os.MkdirAll(dir, 0o700) != nil {
		return s
	}
	d, err := atomicfile.OpenDir(dir, nil)
	if err != nil {
		return s
	}
	sum := sha256.Sum256([]byte(url + "\n" + model))
	s.dir, s.name = d, hex.EncodeToString(sum[:8])
	return s
}

func (s *serverState) close() error {
	if s.dir == nil {
		return nil
	}
	return s.dir.Close()
}

func (s *serverState) breakerFile() string    { return s.name + ".breaker.json" }
func (s *serverState) structuredFile() string { return s.name + ".format" }

// Lock implements gobreaker's SharedDataStore. The library would hold the lock
// during a call; without one, failures of two calls at once may count as one.
func (*serverState) Lock(string) error { return nil }

// Unlock implements gobreaker's SharedDataStore.
func (*serverState) Unlock(string) error { return nil }

// A brokenServer is the file about a server that does not work.
//
// History: 1 is the first.
type brokenServer struct {
	V     int       `json:"v"`
	Until time.Time `json:"until"` // it is left alone
}

// GetData implements gobreaker's SharedDataStore.
func (s *serverState) GetData(string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dir == nil || s.breaker == nil {
		return s.breaker, nil
	}
	var broken brokenServer
	b, err := s.dir.ReadFile(s.breakerFile())
	if err != nil || json.Unmarshal(b, &broken) != nil || broken.V != 1 || broken.Until.After(time.Now().Add(breakFor)) {
		return s.breaker, nil
	}
	var state gobreaker.SharedState
	if err := json.Unmarshal(s.breaker, &state); err != nil {
		return nil, err
	}
	state.State, state.Expiry = gobreaker.StateOpen, broken.Until
	return json.Marshal(state)
}

// SetData implements gobreaker's SharedDataStore. A server that works leaves no
// file. A call that says nothing about the server leaves the word of others.
func (s *serverState) SetData(_ string, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.breaker == nil
	s.breaker = data
	if s.dir == nil || first {
		return nil
	}
	var state gobreaker.SharedState
	if err := json.Unmarshal(data, &state); err != nil {
		return err
	}
	switch {
	case state.State == gobreaker.StateOpen:
		b, err := json.Marshal(brokenServer{1, state.Expiry})
		if err != nil {
			return err
		}
		_ = s.dir.Write(s.breakerFile(), append(b, '\n'), 0o600)
	case state.State == gobreaker.StateClosed && (state.Counts.ConsecutiveSuccesses > 0 || state.Counts.Requests == 0): // 0: just closed
		_ = s.dir.Remove(s.breakerFile())
	}
	return nil
}

// format returns the strictest way of asking for JSON that the server is known to
// take.
func (s *serverState) format() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.structured == "" && s.dir != nil {
		if b, err := s.dir.ReadFile(s.structuredFile()); err == nil {
			s.structured = strings.TrimSpace(string(b))
		}
	}
	switch s.structured {
	case StructuredObject, StructuredNone:
		return s.structured
	}
	return StructuredSchema
}

// lower notes that the server does not take the format.
func (s *serverState) lower(format string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.structured = format
	if s.dir != nil {
		_ = s.dir.Write(s.structuredFile(), []byte(format+"\n"), 0o600)
	}
}
