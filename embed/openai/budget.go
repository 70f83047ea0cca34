package openai

import "sync"

// A budget counts what a client has spent. Tokens are reserved before a request
// and corrected after it.
type budget struct {
	maxCalls, maxTokens int

	mu            sync.Mutex
	calls, tokens int
}

// reserve counts a call of about tokens, or returns a [CapError].
func (b *budget) reserve(tokens int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.maxCalls > 0 && b.calls+1 > b.maxCalls {
		return &CapError{What: "calls", Limit: b.maxCalls, Used: b.calls, Want: 1}
	}
	if b.maxTokens > 0 && b.tokens+tokens > b.maxTokens {
		return &CapError{What: "tokens", Limit: b.maxTokens, Used: b.tokens, Want: tokens}
	}
	b.calls++
	b.tokens += tokens
	return nil
}

// release takes back the reservation of a call that is not made.
func (b *budget) release(tokens int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls--
	b.tokens -= tokens
}

// settle replaces a reservation by what was charged.
func (b *budget) settle(reserved, charged int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tokens += charged - reserved
}

func (b *budget) spent() (calls, tokens int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.calls, b.tokens
}
