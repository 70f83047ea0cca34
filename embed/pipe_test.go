//go:build unix

package embed_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/memsearch/memsearch/embed"
)

// TestPipeForCache guards against a cache that waits for the other end of a pipe.
func TestPipeForCache(t *testing.T) {
	path := filepath.Join(t.TempDir(), "embeddings.db")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	c := embed.OpenCache(path, nil)
	rows, err := c.Lookup(t.Context(), embed.Fingerprint{Model: "m", Dims: 2}, []embed.Key{embed.KeyOf("x")})
	if err != nil || rows[0] != nil || c.Err() == nil {
		t.Errorf("rows %v, %v; the cache says %v, want a cache that is out of use", rows, err, c.Err())
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
