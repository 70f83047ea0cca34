package core

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/index"
	"github.com/memsearch/memsearch/index/validity"
	"github.com/memsearch/memsearch/internal/memfile"
)

// SyncOptions says how far [Memory.Sync] goes.
type SyncOptions struct {
	Rebuild  bool                  // make everything from nothing
	Progress func(done, total int) // may be nil
}

// A Skip is a file, or a folder when Path ends in a slash, that is not indexed.
type Skip struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// A SyncReport says what a sync of one scope did. Indexed and Skipped add up to
// the Markdown files that are there.
type SyncReport struct {
	Scope      string `json:"scope"`
	State      string `json:"state"` // in which the sync found the index
	Reason     string `json:"reason,omitempty"`
	Generation int    `json:"generation"`
	Published  bool   `json:"published"`
	Files      int    `json:"files"`
	Indexed    int    `json:"indexed"`
	Skipped    int    `json:"skipped"`
	Units      int    `json:"units"`
	Added      int    `json:"added"`
	Changed    int    `json:"changed"`
	Removed    int    `json:"removed"`
	Skips      []Skip `json:"skips"`
	Missing    int    `json:"missing_vectors"`
	EmbedError string `json:"embed_error,omitempty"`
}

// Sync brings the derived indexes of every scope up to its files. The error is
// [index.ErrBusy] when another process held one for the whole wait.
func (m *Memory) Sync(ctx context.Context, o SyncOptions) ([]SyncReport, error) {
	done, err := m.begin()
	if err != nil {
		return nil, err
	}
	defer done()
	var out []SyncReport
	var errs []error
	for _, s := range m.scopes {
		r, err := s.disk.Sync(ctx, index.SyncOptions{Rebuild: o.Rebuild, Wait: m.settings.LockWait, Progress: o.Progress})
		if err != nil {
			errs = append(errs, fmt.Errorf("scope %s: %w", s.name, err))
			continue
		}
		out = append(out, syncReport(s.name, r))
	}
	return out, errors.Join(append(errs, m.missing())...)
}

func syncReport(scope string, r *index.SyncReport) SyncReport {
	out := SyncReport{Scope: scope, State: r.State.String(), Reason: r.Reason, Generation: r.Generation, Published: r.Published,
		Files: r.Files, Indexed: r.Indexed, Skipped: r.Skipped, Units: r.Units, Added: r.Added, Changed: r.Changed, Removed: r.Removed,
		Skips: make([]Skip, len(r.Skips)), Missing: r.Missing}
	for i, k := range r.Skips {
		out.Skips[i] = Skip(k)
	}
	if r.EmbedErr != nil {
		out.EmbedError = r.EmbedErr.Error()
	}
	return out
}

// A CheckReport says whether index and files of one scope agree: then it is clean.
// A catalog that was left behind, by a writer that was killed or by an edit, is
// reported beside that; nothing is searched in it.
type CheckReport struct {
	Scope        string   `json:"scope"`
	Clean        bool     `json:"clean"`
	State        string   `json:"state"`
	Files        int      `json:"files"`
	Units        int      `json:"units"`
	Vectors      int      `json:"vectors"`
	Missing      int      `json:"missing_vectors"` // units that wait for theirs
	Differences  []string `json:"differences"`
	CatalogStale bool     `json:"catalog_stale"`
}

// Check reads every file again and compares, by content. It changes nothing.
func (m *Memory) Check(ctx context.Context) ([]CheckReport, error) {
	done, err := m.beginAll()
	if err != nil {
		return nil, err
	}
	defer done()
	var out []CheckReport
	for _, s := range m.scopes {
		r, err := s.disk.Check(ctx)
		if err != nil {
			return nil, fmt.Errorf("check scope %s: %w", s.name, err)
		}
		c := CheckReport{Scope: s.name, State: r.State.String(), Files: r.Files, Units: r.Units, Vectors: r.Vectors, Missing: r.Missing, Differences: []string{}}
		for _, d := range r.Differences {
			c.Differences = append(c.Differences, d.String())
		}
		if c.CatalogStale, err = s.vault.CatalogStale(ctx); err != nil {
			return nil, fmt.Errorf("check catalog of %s: %w", s.name, err)
		}
		c.Clean = r.Clean()
		out = append(out, c)
	}
	return out, nil
}

// A Status says what a scope holds and how its index stands to it.
type Status struct {
	Scope      string                     `json:"scope"`
	Dir        string                     `json:"dir"`
	IndexDir   string                     `json:"index_dir"`
	State      string                     `json:"state"`
	Reason     string                     `json:"reason,omitempty"`
	Generation int                        `json:"generation"`
	Memories   int                        `json:"memories"`
	Units      int                        `json:"units"`
	Missing    int                        `json:"missing_vectors"` // units that wait for theirs
	Statuses   map[memsearch.Status]int   `json:"statuses"`
	Categories map[memsearch.Category]int `json:"categories"`
	Model      string                     `json:"model"`
	Mode       Mode                       `json:"mode"`
	Zone       string                     `json:"zone"`
}

// Status describes every scope without changing anything.
func (m *Memory) Status(ctx context.Context) ([]Status, error) {
	done, err := m.beginAll()
	if err != nil {
		return nil, err
	}
	defer done()
	var out []Status
	for _, s := range m.scopes {
		st := Status{Scope: s.name, Dir: s.vault.Dir(), IndexDir: s.disk.Dir(), Model: m.model, Mode: m.mode, Zone: m.settings.Zone.String(),
			Statuses: map[memsearch.Status]int{}, Categories: map[memsearch.Category]int{}}
		state, reason, err := s.disk.State(ctx)
		if err != nil {
			return nil, fmt.Errorf("status of scope %s: %w", s.name, err)
		}
		st.State, st.Reason = state.String(), reason
		if snap, err := s.disk.Snapshot(ctx); err == nil {
			st.Generation, st.Units, st.Missing = snap.Generation(), snap.Len(), snap.Missing()
			stats, err := snap.Validity().Stats(ctx)
			if err := errors.Join(err, snap.Close()); err != nil {
				return nil, fmt.Errorf("status of scope %s: %w", s.name, err)
			}
			st.Memories, st.Statuses, st.Categories = stats.Memories, stats.Statuses, stats.Categories
		}
		out = append(out, st)
	}
	return out, nil
}

// An Item is a memory as lists show it.
type Item struct {
	ID           string             `json:"id"`
	Scope        string             `json:"scope"`
	Path         string             `json:"path"`
	Category     memsearch.Category `json:"category"`
	Kind         memsearch.Kind     `json:"kind"`
	Status       memsearch.Status   `json:"status"`  // superseded also where only a successor says so
	Current      bool               `json:"current"` // a fact that holds now
	Pinned       bool               `json:"pinned"`
	Summary      string             `json:"summary"`
	Tags         []string           `json:"tags"`
	CreatedAt    string             `json:"created_at"`
	ConfirmedAt  string             `json:"last_confirmed_at"`
	ValidFrom    string             `json:"valid_from"`
	ValidTo      string             `json:"valid_to"` // also where a successor ends it
	Supersedes   []string           `json:"supersedes"`
	SupersededBy []string           `json:"superseded_by"`
	Text         string             `json:"text,omitempty"` // of the whole file, for show
}

// ListOptions says which memories [Memory.List] returns. The zero value lists
// all.
type ListOptions struct {
	Statuses   []memsearch.Status
	Categories []memsearch.Category
	Kinds      []memsearch.Kind
	Tag        string
	Pinned     bool
	Current    bool
	Limit      int
}

func (o ListOptions) filter(now time.Time) validity.ListFilter {
	f := validity.ListFilter{Statuses: o.Statuses, Categories: o.Categories, Kinds: o.Kinds, Tag: o.Tag, Pinned: o.Pinned, Limit: o.Limit}
	if o.Current {
		f.CurrentAt = now
	}
	if len(o.Statuses) > 0 { // of which the table knows what the files say
		f.Limit = 0
		if slices.Contains(o.Statuses, memsearch.StatusSuperseded) {
			f.Statuses = append(slices.Clone(o.Statuses), memsearch.StatusActive)
		}
	}
	return f
}

// cut leaves the items that have one of the statuses, up to the limit.
func (o ListOptions) cut(items []Item) []Item {
	if len(o.Statuses) > 0 {
		items = slices.DeleteFunc(items, func(it Item) bool { return !slices.Contains(o.Statuses, it.Status) })
	}
	if o.Limit > 0 {
		items = items[:min(len(items), o.Limit)]
	}
	return items
}

// List returns memories, newest first in each scope.
func (m *Memory) List(ctx context.Context, o ListOptions) ([]Item, error) {
	now := m.now().In(m.settings.Zone)
	f := o.filter(now)
	out := []Item{}
	err := m.each(ctx, func(s *scope, snap *index.Snapshot) error {
		rows, err := snap.Validity().List(ctx, f)
		out = append(out, o.cut(items(s.name, rows, now))...)
		return err
	})
	return out, err
}

// History returns the memories that supersede or are superseded by the one called
// id, oldest first.
func (m *Memory) History(ctx context.Context, id string) ([]Item, error) {
	now := m.now().In(m.settings.Zone)
	var out []Item
	err := m.each(ctx, func(s *scope, snap *index.Snapshot) error {
		rows, err := snap.Validity().Chain(ctx, id)
		out = append(out, linked(items(s.name, rows, now))...)
		return err
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("history of %s: %w", id, ErrNotFound)
	}
	return out, err
}

// Show returns a memory with the text of its file.
func (m *Memory) Show(ctx context.Context, id string) (*Item, error) {
	found, err := m.find(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("show %s: %w", id, err)
	}
	raw, err := found.scope.vault.Read(found.row.Path)
	if err != nil {
		return nil, fmt.Errorf("show %s: %w", id, err)
	}
	it := item(found.scope.name, found.row, m.now().In(m.settings.Zone))
	it.Text, _ = memfile.Decode(raw)
	return &it, nil
}

// each runs fn over a current snapshot of every scope.
func (m *Memory) each(ctx context.Context, fn func(*scope, *index.Snapshot) error) error {
	done, err := m.beginRead()
	if err != nil {
		return err
	}
	defer done()
	if m.only == nil {
		if err := m.missing(); err != nil {
			return err
		}
	}
	for _, s := range m.scopes {
		v, err := s.current(ctx)
		if err != nil {
			return fmt.Errorf("open scope %s: %w", s.name, err)
		}
		if err := errors.Join(fn(s, v.snap), v.snap.Close()); err != nil {
			return fmt.Errorf("scope %s: %w", s.name, err)
		}
	}
	return nil
}

// current returns a view that is up to the files as far as they can be indexed.
func (s *scope) current(ctx context.Context) (*view, error) {
	if s.standIn() == nil {
		_, err := s.disk.Sync(ctx, index.SyncOptions{Wait: s.core.settings.LockWait})
		if err != nil && ctx.Err() != nil {
			return nil, err
		}
		if cannotFollow(err) {
			if _, err := s.standBy(ctx, err); err != nil {
				return nil, err
			}
		}
	}
	return s.open(ctx)
}

func items(scope string, rows []validity.Row, now time.Time) []Item {
	out := make([]Item, len(rows))
	for i := range rows {
		out[i] = item(scope, rows[i], now)
	}
	return out
}

// linked lets the members of a chain name their successors, also where only these
// say so.
func linked(chain []Item) []Item {
	for i := range chain {
		for _, newer := range chain {
			named := slices.Contains(newer.Supersedes, chain[i].ID) && newer.ID != chain[i].ID
			if named && newer.Status != memsearch.StatusCandidate && newer.Status != memsearch.StatusRejected && !slices.Contains(chain[i].SupersededBy, newer.ID) {
				chain[i].SupersededBy = append(slices.Clip(chain[i].SupersededBy), newer.ID)
			}
		}
	}
	return chain
}

func item(scope string, r validity.Row, now time.Time) Item {
	it := Item{ID: r.MemoryID, Scope: scope, Path: r.Path, Category: r.Category, Kind: r.Kind, Status: r.Status, Current: r.CurrentAt(now),
		Pinned: r.Pinned, Summary: firstText(r.Summary, r.Title), Tags: list(r.Tags), ValidFrom: r.Valid.From.String(), ValidTo: r.End().String(),
		Supersedes: list(r.Supersedes), SupersededBy: list(r.SupersededBy)}
	if it.Status == memsearch.StatusActive && r.Superseded(now) {
		it.Status = memsearch.StatusSuperseded
	}
	it.CreatedAt, it.ConfirmedAt = stamp(r.CreatedAt), stamp(r.ConfirmedAt)
	return it
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}

func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// A found memory is one row of it and where it is.
type found struct {
	scope *scope
	row   validity.Row
}

// find returns the memory with an id. A unit's id finds its memory. An id that
// stands in several scopes is an [*AmbiguousError]: whoever changes or forgets
// something must know which.
func (m *Memory) find(ctx context.Context, id string) (*found, error) {
	var f *found
	ambiguous := &AmbiguousError{ID: id}
	err := m.each(ctx, func(s *scope, snap *index.Snapshot) error {
		if m.only != nil && s != m.only {
			return nil
		}
		rows, err := snap.Validity().Memory(ctx, id)
		if err == nil && len(rows) == 0 {
			if ord, ok := snap.Ordinal(id); ok {
				rows, err = snap.Records(ctx, []uint32{ord})
			}
		}
		if err == nil && len(rows) > 0 {
			f = &found{s, rows[0]}
			ambiguous.Scopes = append(ambiguous.Scopes, s.name)
		}
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case f == nil:
		return nil, ErrNotFound
	case len(ambiguous.Scopes) > 1:
		return nil, ambiguous
	}
	return f, nil
}

// An AmbiguousError says that several scopes have a memory of the same id.
// [Memory.In] picks one.
type AmbiguousError struct {
	ID     string
	Scopes []string
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%s is ambiguous: it stands in the scopes %s", e.ID, strings.Join(e.Scopes, ", "))
}
