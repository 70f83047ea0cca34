package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/core"
)

// The operations of an [Edit].
const (
	OpWrite     = "write"     // Text is the file at Path
	OpAppend    = "append"    // Text is added to the file at Path
	OpDelete    = "delete"    // the file at Path goes
	OpRemember  = "remember"  // Text becomes a memory with the id As
	OpSupersede = "supersede" // the same, and takes the place of the memory ID
	OpRetire    = "retire"    // the memory ID is no fact any more
	OpForget    = "forget"    // the memory ID is gone
	OpConfirm   = "confirm"   // the user says that the memory ID is true
)

// Ops lists every operation. The first three are what an editor does to files,
// the others go through the product.
var Ops = []string{OpWrite, OpAppend, OpDelete, OpRemember, OpSupersede, OpRetire, OpForget, OpConfirm}

// An Edit changes the copy of a vault before a run.
type Edit struct {
	At       Moment `yaml:"at"` // the clock while it is made
	Op       string `yaml:"op"`
	Scope    string `yaml:"scope"` // empty: the task's first
	Path     string `yaml:"path"`
	ID       string `yaml:"id"` // or path of the memory
	As       string `yaml:"as"`
	Category string `yaml:"category"` // of a new memory; empty: that of the superseded one, else project
	Text     string `yaml:"text"`
}

// UnmarshalYAML refuses unknown keys.
func (e *Edit) UnmarshalYAML(n *yaml.Node) error {
	type plain Edit
	return strict(n, "an edit", (*plain)(e))
}

// validate refuses an edit that lacks what its operation needs.
func (e *Edit) validate(t *Task) error {
	switch {
	case !slices.Contains(Ops, e.Op):
		return fmt.Errorf("op %q is none of %s", e.Op, strings.Join(Ops, ", "))
	case e.At.IsZero():
		return fmt.Errorf("%s: at is missing", e.Op)
	case e.At.After(t.Now.Time):
		return fmt.Errorf("%s: at lies after the task's now", e.Op)
	case e.Scope != "" && !slices.Contains(t.Scopes, e.Scope):
		return fmt.Errorf("%s: the task does not read the scope %q", e.Op, e.Scope)
	}
	needs := func(name, value string, want bool) error {
		switch {
		case want && strings.TrimSpace(value) == "":
			return fmt.Errorf("%s: %s is missing", e.Op, name)
		case !want && value != "":
			return fmt.Errorf("%s: %s means nothing here", e.Op, name)
		}
		return nil
	}
	file := e.Op == OpWrite || e.Op == OpAppend || e.Op == OpDelete
	made := e.Op == OpRemember || e.Op == OpSupersede
	err := errors.Join(
		needs("path", e.Path, file),
		needs("id", e.ID, !file && e.Op != OpRemember),
		needs("as", e.As, made),
		needs("text", e.Text, made || file && e.Op != OpDelete || e.Op == OpRetire && e.Text != ""))
	switch {
	case err != nil:
		return err
	case file && !local(e.Path):
		return fmt.Errorf("%s: path %q leads out of the vault", e.Op, e.Path)
	case e.Category != "" && !(made && memsearch.Category(e.Category).Valid()):
		return fmt.Errorf("%s: category %q means nothing here", e.Op, e.Category)
	}
	return nil
}

// local reports whether a slash-separated path stays in its folder.
func local(p string) bool {
	return p == path.Clean(p) && p != "." && filepath.IsLocal(filepath.FromSlash(p))
}

// edit applies the edits of t to the copies of its scopes.
func edit(ctx context.Context, t *Task, scopes []core.Scope) (err error) {
	var clock atomic.Pointer[time.Time]
	clock.Store(&t.Now.Time)
	m, err := core.Open(ctx, scopes, &core.Options{Caller: core.Caller{Role: memsearch.RoleJob}, Now: func() time.Time { return *clock.Load() }})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	for i := range t.Edits {
		e := &t.Edits[i]
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		clock.Store(&e.At.Time)
		scope := scopes[max(0, slices.IndexFunc(scopes, func(s core.Scope) bool { return s.Name == e.Scope }))]
		if err := e.apply(ctx, m, scope); err != nil {
			return fmt.Errorf("edit %d (%s): %w", i+1, e.Op, err)
		}
	}
	return nil
}

func (e *Edit) apply(ctx context.Context, all *core.Memory, scope core.Scope) error {
	switch e.Op {
	case OpWrite, OpAppend, OpDelete:
		return e.file(scope.Dir)
	}
	m, err := all.In(scope.Name)
	if err != nil {
		return err
	}
	if e.Op == OpRemember {
		_, err := m.Remember(ctx, scope.Name, e.memory("", ""))
		return err
	}
	id, err := resolve(scope.Dir, e.ID)
	if err != nil {
		return err
	}
	at := memsearch.Bound{Time: e.At.Time, Date: e.At.Day}
	switch e.Op {
	case OpSupersede:
		old, err := m.Show(ctx, id)
		if err != nil {
			return err
		}
		_, err = m.Supersede(ctx, id, e.memory(old.Category, old.Kind), at)
		return err
	case OpRetire:
		_, err = m.Retire(ctx, id, at, e.Text)
	case OpConfirm:
		_, err = m.Confirm(ctx, id)
	case OpForget:
		// A text that other files repeat stays there, as it does for any user: what
		// is left of it is for the run to find.
		if _, err = m.Forget(ctx, false, id); errors.Is(err, core.ErrForget) {
			err = nil
		}
	}
	return err
}

// memory is the new memory of a remember or supersede: the user's own words.
func (e *Edit) memory(c memsearch.Category, k memsearch.Kind) core.NewMemory {
	return core.NewMemory{Body: e.Text, Memory: memsearch.Memory{
		ID:       e.As,
		Category: cmp.Or(memsearch.Category(e.Category), c, memsearch.CategoryProject),
		Kind:     k,
		Summary:  core.Summarise(e.Text),
		Source:   memsearch.Source{Trust: memsearch.TrustUser},
	}}
}

// file does what an editor does, and leaves the file with the edit's time.
func (e *Edit) file(dir string) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	name := filepath.FromSlash(e.Path)
	text := []byte(e.Text)
	switch e.Op {
	case OpDelete:
		return root.Remove(name)
	case OpAppend:
		old, err := root.ReadFile(name)
		if err != nil {
			return err
		}
		if len(old) > 0 && old[len(old)-1] != '\n' {
			old = append(old, '\n')
		}
		text = append(old, text...)
	default:
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
	}
	if err := root.WriteFile(name, text, 0o644); err != nil {
		return err
	}
	return root.Chtimes(name, e.At.Time, e.At.Time)
}
