package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/internal/atomicfile"
	"github.com/memsearch/memsearch/internal/memfile"
	"github.com/memsearch/memsearch/internal/vault"
)

// A State is the memory that one run reads: copies that are its own.
type State struct {
	Scopes []core.Scope // as the task orders them

	// The task's lists with paths replaced by memory ids. Every gold and stale
	// memory is there; a wrong one may be forgotten or out of reach, and a path
	// that leads nowhere stays as it is.
	Gold, Stale, Wrong []string
}

// Materialise copies the vaults that t reads into dir, which must be empty or
// not exist, and applies its edits. Journals are copied, indexes and git's
// folders are not. Copies carry the task's time as the time of their files, so
// that two of them are alike: a memory whose date matters must say it.
func Materialise(ctx context.Context, s *Set, t *Task, dir string) (*State, error) {
	st := &State{}
	for _, name := range t.Scopes {
		to := filepath.Join(dir, name)
		if err := copyTree(ctx, filepath.Join(s.Dir, name), to, t.Now.Time); err != nil {
			return nil, fmt.Errorf("copy vault %s for task %s: %w", name, t.ID, err)
		}
		st.Scopes = append(st.Scopes, core.Scope{Name: name, Dir: to})
	}
	if len(t.Edits) > 0 {
		if err := edit(ctx, t, st.Scopes); err != nil {
			return nil, fmt.Errorf("prepare task %s: %w", t.ID, err)
		}
	}
	ids, err := st.ids()
	if err == nil {
		err = st.resolve(t, ids)
	}
	if err != nil {
		return nil, fmt.Errorf("prepare task %s: %w", t.ID, err)
	}
	return st, nil
}

// ids returns the ids of the memories that are there, by id and by path.
func (st *State) ids() (map[string]string, error) {
	ids := map[string]string{}
	for _, sc := range st.Scopes {
		err := memories(sc.Dir, func(m *memsearch.Memory) {
			for _, key := range []string{m.ID, m.Path, sc.Name + "/" + m.Path} {
				if _, taken := ids[key]; !taken {
					ids[key] = m.ID
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// resolve fills the lists and makes sure that what must be there is.
func (st *State) resolve(t *Task, ids map[string]string) error {
	var missing []error
	list := func(what string, names []string, must bool) []string {
		out := make([]string, len(names))
		for i, name := range names {
			id, ok := ids[name]
			if !ok {
				id = name
				if must {
					missing = append(missing, fmt.Errorf("%s memory %s is not there", what, name))
				}
			}
			out[i] = id
		}
		return out
	}
	st.Gold, st.Stale, st.Wrong = list("gold", t.Gold, true), list("stale", t.Stale, true), list("wrong", t.Wrong, false)
	return errors.Join(missing...)
}

// resolve returns the id of the memory that name is the path of, else name.
func resolve(dir, name string) (string, error) {
	id := name
	err := memories(dir, func(m *memsearch.Memory) {
		if m.Path == name {
			id = m.ID
		}
	})
	return id, err
}

// memories calls fn with every memory file below dir.
func memories(dir string, fn func(*memsearch.Memory)) error {
	return walk(dir, func(rel string, d fs.DirEntry) error {
		if d.IsDir() || !vault.IsMarkdown(rel) || d.Name() == memfile.CatalogName {
			return nil
		}
		raw, err := atomicfile.ReadRegular(filepath.Join(dir, rel))
		if err != nil {
			return err
		}
		m := memfile.Parse(vault.Name(filepath.ToSlash(rel)), raw, nil).Memory
		fn(&m)
		return nil
	})
}

// walk calls fn for everything below dir that belongs to a vault: all but
// indexes, git's folders and temporary ones. The folder itself may be a link.
func walk(dir string, fn func(rel string, d fs.DirEntry) error) error {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		if d.IsDir() && rel != "." && strings.HasPrefix(d.Name(), ".") && d.Name() != vault.JournalDir {
			return filepath.SkipDir
		}
		return fn(rel, d)
	})
}

// copyTree copies a vault. Links are refused: a copy that shares files with
// something else is not a run's own.
func copyTree(ctx context.Context, from, to string, at time.Time) error {
	if left, err := os.ReadDir(to); err == nil && len(left) > 0 {
		return fmt.Errorf("%s is not empty", to)
	}
	if fi, err := os.Stat(from); err != nil {
		return err
	} else if !fi.IsDir() {
		return fmt.Errorf("%s is not a folder", from)
	}
	return walk(from, func(rel string, d fs.DirEntry) error {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		dst := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(dst, 0o755)
		case !d.Type().IsRegular():
			return fmt.Errorf("%s is no regular file", rel)
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		if err := copyFile(filepath.Join(from, rel), dst, fi.Mode().Perm()|0o600); err != nil {
			return err
		}
		return os.Chtimes(dst, at, at)
	})
}

func copyFile(from, to string, mode fs.FileMode) (err error) {
	src, err := atomicfile.OpenRegular(from)
	if err != nil {
		return err
	}
	defer src.Close() // read only
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dst.Close()) }()
	_, err = io.Copy(dst, src)
	return err
}
