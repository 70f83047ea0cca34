package core_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/core"
)

// TestLostScope: one folder that is gone must not silence the others, and must
// not pass for an empty one either.
func TestLostScope(t *testing.T) {
	there := core.Scope{Name: "project", Dir: folder(t, map[string]string{"a.md": "Terns nest on the shingle.\n"})}
	gone := core.Scope{Name: "user", Dir: filepath.Join(t.TempDir(), "gone")}
	m := open(t, nil, gone, there)
	for query, hits := range map[string]int{"terns shingle": 1, "zzqxv": 0} {
		res, err := m.Recall(t.Context(), memsearch.Query{Text: query})
		if err != nil || res.Status != memsearch.StateDegraded || len(res.Hits) != hits {
			t.Fatalf("recall of %s: %+v, %v", query, res, err)
		}
		if !strings.Contains(strings.Join(res.Reasons, "\n"), "user: cannot be searched: ") {
			t.Errorf("recall of %s: reasons %q name no scope", query, res.Reasons)
		}
	}
	n := core.NewMemory{Body: "Skuas chase terns."}
	n.Memory.Category, n.Memory.Summary, n.Memory.Source.Trust = memsearch.CategoryProject, "Skuas", memsearch.TrustUser
	for _, scope := range []string{"", "user"} { // "" is the first, and not the first that is left
		if _, err := m.Remember(t.Context(), scope, n); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("remember in %q: %v", scope, err)
		}
	}
	if _, err := m.Remember(t.Context(), "project", n); err != nil {
		t.Error(err)
	}
	if _, err := m.List(t.Context(), core.ListOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("list: %v", err)
	}
	if _, err := core.Open(t.Context(), []core.Scope{gone}, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open of nothing else: %v", err)
	}
}
