// Package tokens counts tokens for budgets.
package tokens

import (
	"fmt"
	"sync"

	"github.com/tiktoken-go/tokenizer"
)

// Bound returns an upper bound of the number of o200k_base tokens of s.
func Bound(s string) int { return len(s) }

var exact = sync.OnceValues(func() (tokenizer.Codec, error) { return tokenizer.Get(tokenizer.O200kBase) })

// Count returns the number of o200k_base tokens of s. Its first call loads the
// vocabulary, which takes tens of milliseconds.
func Count(s string) (int, error) {
	codec, err := exact()
	if err != nil {
		return 0, fmt.Errorf("load o200k_base: %w", err)
	}
	n, err := codec.Count(s)
	if err != nil {
		return 0, fmt.Errorf("count tokens: %w", err)
	}
	return n, nil
}
