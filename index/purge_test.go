package index_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/memsearch/memsearch/embed"
	"github.com/memsearch/memsearch/index"
)

// A costly embedder is worth a cache.
type costly struct{}

func (costly) Fingerprint() embed.Fingerprint { return embed.Fingerprint{Model: "costly", Dims: 2} }

func (costly) Embed(_ context.Context, texts []string, _ embed.Kind) ([][]float32, error) {
	rows := make([][]float32, len(texts))
	for i := range texts {
		rows[i] = []float32{1, 0}
	}
	return rows, nil
}

// TestForgetInterruptedCache dies after the file is gone: the next sync takes the
// vectors of its text out of the cache, too, and only those.
func TestForgetInterruptedCache(t *testing.T) {
	f := newFixture(t, map[string]string{"a.md": "The heron stands.\n", "secret.md": "The code is 8841.\n"}, nil)
	path := filepath.Join(f.dir, ".memsearch", "embeddings.db")
	c := embed.Wrap(costly{}, path, nil)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	ix := f.open(&index.Options{Embedder: c})
	spy := func(text string) bool {
		t.Helper()
		rows, err := c.Cache().Lookup(t.Context(), c.Fingerprint(), []embed.Key{embed.KeyOf(text)})
		if err != nil {
			t.Fatal(err)
		}
		return rows[0] != nil
	}
	sync := func() *index.SyncReport {
		t.Helper()
		r, err := ix.Sync(t.Context(), index.SyncOptions{})
		if err != nil || r.EmbedErr != nil {
			t.Fatal(err, r)
		}
		return r
	}
	sync()
	if !spy("The heron stands.") || !spy("The code is 8841.") {
		t.Fatal("the cache does not hold the texts as this test knows them")
	}
	f.write(".memsearch-journal/tombstones.jsonl", "{\"v\":1}\n")
	f.remove("secret.md")
	sync()
	if !spy("The heron stands.") || spy("The code is 8841.") {
		t.Errorf("after the sync the cache holds the text that stays: %v, the forgotten one: %v", spy("The heron stands."), spy("The code is 8841."))
	}
	if r := sync(); r.Published {
		t.Error("the index is made anew by every sync")
	}
}
