package core

import (
	"log/slog"
	"path/filepath"

	"github.com/memsearch/memsearch/core/config"
	"github.com/memsearch/memsearch/embed"
	"github.com/memsearch/memsearch/embed/static"
)

// Names of the models that need no server.
const (
	ModelStatic = "static"
	ModelNone   = "none"
)

// cacheFile holds the vectors of an API model between runs.
const cacheFile = "embeddings.db"

// NewEmbedder returns the embedder that the settings name and its name; nil for
// none. It keeps nothing between runs.
func NewEmbedder(c *config.Config, log *slog.Logger) (embed.Embedder, string, error) {
	return newEmbedder(&Options{Settings: c, Logger: log})
}

// newEmbedder returns the embedder that the settings name and what a Result
// calls it; nil for none.
func newEmbedder(o *Options) (embed.Embedder, string, error) {
	c := o.Settings
	switch {
	case o.Embedder != nil:
		return o.Embedder, o.Embedder.Fingerprint().Model, nil
	case c.Model == ModelNone:
		return nil, ModelNone, nil
	case c.Model == ModelStatic:
		m, err := static.Shared()
		if err != nil {
			return nil, "", err
		}
		return m, static.Name, nil
	}
	e, err := newAPI(o)
	return e, c.Model, err
}

// cached gives e a cache in dir. That is the index directory of one scope, so that
// vectors stay where the text they were made of is, unless Options.Vectors names
// another. The built-in model needs no cache.
func cached(e embed.Embedder, dir string, log *slog.Logger) embed.Embedder {
	if cheap, ok := embed.As[embed.Cheap](e); e == nil || ok && cheap.Cheap() {
		return e
	}
	return embed.Wrap(e, filepath.Join(dir, cacheFile), &embed.CacheOptions{Logger: log})
}
