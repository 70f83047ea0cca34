package core

import (
	"fmt"
	"strings"
	"sync"

	"github.com/memsearch/memsearch/internal/vault"
)

// unread remembers what the last look at the files could not read, for calls that
// do not look.
type unread struct {
	mu   sync.Mutex
	last []string
}

func (u *unread) reasons() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.last
}

// note keeps and returns what skips say of files that may not be read. Links,
// hidden folders and the like are not meant to be.
func (u *unread) note(skips []vault.Skip) []string {
	files, folders := 0, 0
	for _, s := range skips {
		switch {
		case s.Reason != vault.ReasonPermission:
		case strings.HasSuffix(s.Path, "/"):
			folders++
		default:
			files++
		}
	}
	var parts []string
	for _, p := range []struct {
		n    int
		name string
	}{{files, "file"}, {folders, "folder"}} {
		switch {
		case p.n == 1:
			parts = append(parts, "1 "+p.name)
		case p.n > 1:
			parts = append(parts, fmt.Sprintf("%d %ss", p.n, p.name))
		}
	}
	var out []string
	if parts != nil {
		out = []string{strings.Join(parts, " and ") + " could not be read (" + vault.ReasonPermission + "); memsearch doctor names them"}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.last = out
	return out
}
