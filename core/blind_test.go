package core_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gofrs/flock"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/core"
)

// TestBlind guards against an empty answer from an index that did not look at
// every file: what was asked for may stand in one of the others.
func TestBlind(t *testing.T) {
	tests := []struct {
		name   string
		flags  map[string]string
		hinder func(t *testing.T, index string)
		reason string
	}{
		{"busy", nil, func(t *testing.T, index string) {
			l := flock.New(filepath.Join(index, "lock"))
			if ok, err := l.TryLock(); err != nil || !ok {
				t.Fatal(ok, err)
			}
			t.Cleanup(func() { l.Unlock() })
		}, "another process is indexing"},
		{"more changes than allowed", map[string]string{"sync_files": "1"}, func(*testing.T, string) {}, "2 files changed since indexing"},
		{"nothing to lock", nil, func(t *testing.T, index string) {
			lock := filepath.Join(index, "lock")
			if err := errors.Join(os.Remove(lock), os.Mkdir(lock, 0o700)); err != nil {
				t.Fatal(err)
			}
		}, "could not be brought up to date"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, index := folder(t, birds), t.TempDir()
			m := open(t, &core.Options{Settings: settings(t, tt.flags)}, core.Scope{Name: "user", Dir: dir, IndexDir: index})
			if res := recall(t, m, "zzqqx"); res.Status != memsearch.StateEmpty || len(res.Reasons) > 1 {
				t.Fatalf("a word that stands nowhere: %s %v", res.Status, res.Reasons)
			}
			for _, name := range []string{"x.md", "y.md"} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte("zzqqx\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			tt.hinder(t, index)
			res := recall(t, m, "zzqqx")
			if res.Status != memsearch.StateDegraded || len(res.Hits) > 0 || !strings.Contains(strings.Join(res.Reasons, " "), tt.reason) {
				t.Errorf("%s %v, hits %v; want degraded because %s", res.Status, res.Reasons, hits(res), tt.reason)
			}
		})
	}
}

// TestSilentServer guards against recalls that each wait for an embedding server
// which does not answer.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		_, _ = io.Copy(io.Discard, r.Body) // the end of the client is seen when all is read
		<-r.Context().Done()
	}))
	defer srv.Close()
	m := open(t, &core.Options{Settings: settings(t, map[string]string{"model": "m", "base_url": srv.URL, "api_key_env": "", "dims": "8"})},
		core.Scope{Name: "user", Dir: folder(t, birds)})
	first := int64(0)
	for i := range 3 {
		res := recall(t, m, "heron weir")
		if res.Status != memsearch.StateDegraded || len(res.Hits) == 0 || !strings.Contains(strings.Join(res.Reasons, " "), "did not answer within 3s") {
			t.Errorf("%s %v", res.Status, res.Reasons)
		}
		if i == 0 {
			first = asked.Load()
		}
	}
	if n := asked.Load(); first == 0 || n != first {
		t.Errorf("asked %d times, then %d more", first, n-first)
	}
}
