package core

import (
	"github.com/memsearch/memsearch/embed"
	"github.com/memsearch/memsearch/embed/openai"
	"github.com/memsearch/memsearch/internal/tokens"
)

// newAPI returns a client of the server that the settings name. Its key is read
// from the environment and kept nowhere else.
func newAPI(o *Options) (embed.Embedder, error) {
	c := o.Settings
	return openai.New(&openai.Options{
		BaseURL:     c.BaseURL,
		Model:       c.Model,
		KeyEnv:      c.APIKeyEnv,
		Dims:        c.Dims,
		RequestDims: c.RequestDims,
		Prefixes:    [2]string{embed.Passage: c.PassagePrefix, embed.Query: c.QueryPrefix},
		Tokens:      tokens.Bound,
		BatchTexts:  c.Batch,
		Timeout:     c.Timeout,
		MaxCalls:    c.MaxCalls,
		MaxTokens:   c.MaxTokens,
		OnCall:      o.OnCall,
		Logger:      o.Logger,
	})
}
