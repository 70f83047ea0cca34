package core

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/memsearch/memsearch/index"
	"github.com/memsearch/memsearch/internal/memfile"
	"github.com/memsearch/memsearch/internal/vault"
)

// A Finding is something odd about a file or a scope, in words.
type Finding struct {
	Scope   string `json:"scope"`
	Path    string `json:"path,omitempty"`
	Line    int    `json:"line,omitempty"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Fixable bool   `json:"fixable"` // memsearch doctor --fix mends it
}

// CodeNoID is the code of a file whose id is derived from its path.
const CodeNoID = "no-id"

// Doctor reads every file and says what is odd, in order of path. It changes
// nothing.
func (m *Memory) Doctor(ctx context.Context) ([]Finding, error) {
	done, err := m.beginAll()
	if err != nil {
		return nil, err
	}
	defer done()
	out := []Finding{}
	for _, s := range m.scopes {
		part, err := s.examine(ctx)
		if err != nil {
			return nil, fmt.Errorf("examine scope %s: %w", s.name, err)
		}
		out = append(out, part...)
	}
	return out, nil
}

func (s *scope) examine(ctx context.Context) ([]Finding, error) {
	entries, skips, err := s.vault.Walk(ctx)
	if err != nil {
		return nil, err
	}
	var out []Finding
	add := func(path, code, message string, line int, fixable bool) {
		out = append(out, Finding{Scope: s.name, Path: path, Line: line, Code: code, Message: message, Fixable: fixable})
	}
	for _, k := range skips {
		add(k.Path, "not-read", "not read: "+k.Reason, 0, false)
	}
	for _, n := range vault.Notices(entries) {
		add(n.Path, "name", n.Message, 0, false)
	}
	ids := map[string]string{}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		f, err := s.parse(e, entries)
		if err != nil {
			add(e.Path, "not-read", "not read: "+err.Error(), 0, false)
			continue
		}
		for _, p := range f.Problems {
			add(e.Path, p.Code, p.Message, p.Line, p.Fixable)
		}
		if f.Skip != "" && path.Base(e.Path) == memfile.CatalogName {
			continue // a catalog is not meant to hold anything else
		}
		if f.Skip != "" {
			add(e.Path, "not-indexed", "nothing to index: "+f.Skip, 0, false)
			continue
		}
		if first, ok := ids[f.Memory.ID]; ok {
			add(e.Path, "duplicate-id", fmt.Sprintf("has the id %s of %s; it is known by its path instead", f.Memory.ID, first), 0, false)
		} else {
			ids[f.Memory.ID] = e.Path
		}
		if f.Memory.DerivedID {
			add(e.Path, CodeNoID, "has no id; it has one derived from its path, which a rename changes", 0, true)
		}
	}
	stale, err := s.vault.CatalogStale(ctx)
	if err != nil {
		return nil, err
	}
	if stale {
		add(memfile.CatalogName, "catalog", "the catalog block does not say what the files say", 0, true)
	}
	more, err := s.examineIndex(ctx)
	out = append(out, more...)
	slices.SortStableFunc(out, func(a, b Finding) int { return strings.Compare(a.Path, b.Path) })
	return out, err
}

// examineIndex reports what only the index as a whole can tell.
func (s *scope) examineIndex(ctx context.Context) ([]Finding, error) {
	state, reason, err := s.disk.State(ctx)
	if err != nil {
		return nil, err
	}
	out := []Finding{}
	if reason != "" {
		reason = ": " + reason
	}
	if name := state.String(); name != "equal" {
		what := "must be made anew (" + name + ")"
		if state == index.StateContent {
			what = "is behind"
		}
		out = append(out, Finding{Scope: s.name, Code: "index-" + name, Message: "the index " + what + reason + "; the next recall or memsearch index mends it"})
	}
	snap, err := s.disk.Snapshot(ctx)
	if err != nil {
		return out, nil // said above
	}
	cycles, err := snap.Validity().Cycles(ctx)
	for _, c := range cycles {
		out = append(out, Finding{Scope: s.name, Code: "supersede-cycle",
			Message: "supersede one another in a circle, so none of these counts as superseded: " + strings.Join(c, ", ")})
	}
	return out, errors.Join(err, snap.Close())
}

func (s *scope) parse(e vault.Entry, all []vault.Entry) (*memfile.File, error) {
	raw, err := s.vault.ReadEntry(e)
	if err != nil {
		return nil, err
	}
	return memfile.Parse(e.Path, raw, &memfile.Options{
		ModTime: time.Unix(0, e.MTime),
		Zone:    s.core.settings.Zone,
		InVault: func(p string) bool {
			_, ok := slices.BinarySearchFunc(all, p, func(e vault.Entry, p string) int { return strings.Compare(e.Path, p) })
			return ok
		},
	}), nil
}

// unstamped lists the files that have units and a derived id.
func (s *scope) unstamped(ctx context.Context) ([]string, error) {
	entries, _, err := s.vault.Walk(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if f, err := s.parse(e, entries); err == nil && f.Skip == "" && f.Memory.DerivedID {
			out = append(out, e.Path)
		}
	}
	return out, nil
}

// A FixReport says what [Memory.Fix] mended.
type FixReport struct {
	Scope   string            `json:"scope"`
	Stamped map[string]string `json:"stamped"` // path -> new id
	Refused []string          `json:"refused"` // files that could not be changed, and why
}

// Fix finishes interrupted writes, brings the catalog up to date and gives every
// memory whose id is derived from its path an id of its own.
func (m *Memory) Fix(ctx context.Context) ([]FixReport, error) {
	done, err := m.beginAll()
	if err != nil {
		return nil, err
	}
	defer done()
	if err := m.mayWrite(); err != nil {
		return nil, err
	}
	out := []FixReport{}
	for _, s := range m.scopes {
		r, err := s.fix(ctx)
		out = append(out, r)
		if err != nil {
			return out, fmt.Errorf("fix scope %s: %w", s.name, err)
		}
	}
	return out, nil
}

func (s *scope) fix(ctx context.Context) (FixReport, error) {
	r := FixReport{Scope: s.name, Stamped: map[string]string{}, Refused: []string{}}
	paths, err := s.unstamped(ctx)
	if err != nil {
		return r, err
	}
	w, err := s.vault.Writer()
	if err != nil {
		return r, err
	}
	if err := w.Repair(ctx); err != nil {
		return r, err
	}
	for _, p := range paths {
		id, err := w.StampID(ctx, p)
		if refused, ok := errors.AsType[*RefusedError](err); ok {
			r.Refused = append(r.Refused, p+": "+strings.TrimPrefix(refused.Error(), "refuse to "))
			continue
		}
		if err != nil {
			return r, err
		}
		r.Stamped[p] = id
	}
	_, err = s.disk.Sync(ctx, index.SyncOptions{Wait: s.core.settings.LockWait})
	return r, err
}
