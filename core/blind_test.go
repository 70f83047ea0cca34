package core_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
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
