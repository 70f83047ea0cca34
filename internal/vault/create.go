package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/memfile"
)

// A NewMemory is what a writer is asked to make a file of.
type NewMemory struct {
	// Memory is the front matter. ID, Status (active), CreatedAt and UpdatedAt
	// are filled in when they are zero. Path, DerivedID, Pinned and Packable
	// are ignored.
	Memory memsearch.Memory

	// Name opens the file name. If empty, it is the kind, else "note".
	Name string

	Body string

	// Pinned and Packable, if non-nil, override what the kind implies.
	Pinned, Packable *bool

	// Again lets a text come back that was forgotten, and one stand beside a
	// memory that says the same.
	Again bool
}

// Create writes a new memory and marks those that it supersedes. It returns the
// memory as it stands on the disk. The error is a [*RefusedError] when the guard
// stopped it.
func (w *Writer) Create(ctx context.Context, n NewMemory) (memsearch.Memory, error) {
	var made memsearch.Memory
	err := w.run(ctx, "create", func(ctx context.Context) (err error) {
		made, err = w.create(ctx, n, memsearch.Bound{})
		return err
	})
	return made, err
}

// Supersede writes a new memory that takes the place of the one at path from the
// moment at on, which becomes its valid_from unless it has one. The new file is
// written first; if the old one then cannot be marked, the next writer does it,
// and readers take it for superseded all the same.
func (w *Writer) Supersede(ctx context.Context, name string, n NewMemory, at memsearch.Bound) (memsearch.Memory, error) {
	var made memsearch.Memory
	err := w.run(ctx, "supersede", func(ctx context.Context) error {
		_, old, err := w.v.head(ctx, name)
		if err != nil {
			return err
		}
		n.Memory.Supersedes = append(slices.Clone(n.Memory.Supersedes), old.id)
		slices.Sort(n.Memory.Supersedes)
		n.Memory.Supersedes = slices.Compact(n.Memory.Supersedes)
		made, err = w.create(ctx, n, at)
		return err
	})
	return made, err
}

// create is what Create and Supersede do under the lock.
func (w *Writer) create(ctx context.Context, n NewMemory, at memsearch.Bound) (memsearch.Memory, error) {
	none := memsearch.Memory{}
	m, err := w.complete(n, at)
	if err != nil {
		return none, err
	}
	name, err := cleanName(cmp.Or(n.Name, string(m.Kind), "note"))
	if err != nil {
		return none, err
	}
	if err := w.check(&m, name, n); err != nil {
		return none, err
	}
	m.Path = memoryPath(&m, name)
	if err := w.checkFolder(path.Dir(m.Path)); err != nil {
		return none, err
	}
	olds, err := w.checkVault(ctx, &m, n)
	if err != nil {
		return none, err
	}
	data := memfile.Format(m, n.Body)
	if len(data) > MaxMemory {
		return none, refuse(RuleSize, "", "the file would have %d bytes, more than %d", len(data), MaxMemory)
	}
	back := memfile.Parse(m.Path, data, nil).Memory
	if back.ID != m.ID || back.Status != m.Status || back.Summary != m.Summary || !slices.Equal(back.Supersedes, m.Supersedes) {
		return none, refuse(RuleSchema, "", "the file would not read back as it was meant")
	}

	if err := w.v.dir.MkdirAll(path.Dir(m.Path), 0o755); err != nil {
		return none, err
	}
	switch err := w.v.dir.WriteNew(m.Path, data, 0o644); {
	case errors.Is(err, fs.ErrExist):
		return none, refuse(RuleExists, "path", "there is a file of that name")
	case err != nil:
		return none, err
	}
	w.note(event{Event: "created", ID: m.ID})
	if m.Status == memsearch.StatusActive {
		for _, old := range olds {
			err := w.markSuperseded(ctx, old, m.ID, headOf(memfile.Parse(m.Path, data, nil)).from())
			if refused, ok := errors.AsType[*RefusedError](err); ok { // too late to refuse
				err = fmt.Errorf("mark memory %s as superseded: %s", old.id, refused.Reason)
			}
			if err != nil {
				return back, err
			}
		}
	}
	return back, w.afterwards(ctx)
}

// complete fills in what a new memory does not say.
func (w *Writer) complete(n NewMemory, at memsearch.Bound) (memsearch.Memory, error) {
	m := n.Memory
	now := w.v.opts.Now().UTC().Truncate(time.Second)
	m.CreatedAt = cmp.Or(m.CreatedAt, now).Truncate(time.Second)
	m.UpdatedAt = cmp.Or(m.UpdatedAt, m.CreatedAt).Truncate(time.Second)
	m.Status = cmp.Or(m.Status, memsearch.StatusActive)
	if m.Valid.From.IsZero() {
		m.Valid.From = at
	}
	m.Path, m.DerivedID = "", false
	m.Pinned, m.Packable = memfile.Defaults(m.Kind)
	if n.Pinned != nil {
		m.Pinned = *n.Pinned
	}
	if n.Packable != nil {
		m.Packable = *n.Packable
	}
	if m.ID == "" {
		var err error
		if m.ID, err = NewID(m.CreatedAt, w.v.opts.Rand); err != nil {
			return m, err
		}
	}
	return m, nil
}

// check refuses what can be refused without looking at the vault.
func (w *Writer) check(m *memsearch.Memory, name string, n NewMemory) error {
	if len(n.Body) > MaxMemory { // before anything looks at it closely
		return refuse(RuleSize, "body", "has %d bytes, more than %d", len(n.Body), MaxMemory)
	}
	if err := w.v.checkSecrets(append(fields(m), field{"name", name}, field{"body", n.Body})); err != nil {
		return err
	}
	if err := checkSchema(m, n.Body); err != nil {
		return err
	}
	if err := checkProvenance(m); err != nil {
		return err
	}
	if n.Again {
		return nil
	}
	entombed, err := w.v.journal.Entombed(n.Body, events(m))
	if err != nil {
		return err
	}
	if !entombed {
		entombed, err = w.v.journal.Entombed(m.Summary, nil)
	}
	if entombed {
		return refuse(RuleTombstone, "body", "this was forgotten and must not come back unasked")
	}
	return err
}

// events returns what a memory was made from, for its tombstone.
func events(m *memsearch.Memory) []string {
	out := slices.Clone(m.SourceEvents)
	for _, n := range m.Source.NodeIDs {
		out = append(out, m.Source.SessionID+"/"+n)
	}
	return out
}

// checkFolder refuses a folder that a link stands for.
func (w *Writer) checkFolder(dir string) error {
	switch fi, err := w.v.dir.Lstat(dir); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case fi.Mode()&fs.ModeSymlink != 0:
		return refuse(RulePath, "path", "the folder %s is a link", dir)
	case !fi.IsDir():
		return refuse(RulePath, "path", "%s is not a folder", dir)
	}
	return nil
}

// checkVault refuses what does not fit the memories that are there, and returns
// those that the new one supersedes.
func (w *Writer) checkVault(ctx context.Context, m *memsearch.Memory, n NewMemory) ([]head, error) {
	c, err := w.v.census(ctx)
	if err != nil {
		return nil, err
	}
	if _, ok := c.get(m.ID); ok {
		return nil, refuse(RuleExists, "id", "there is a memory with this id")
	}
	if slices.ContainsFunc(c.heads, func(h head) bool { return strings.EqualFold(h.path, m.Path) }) {
		return nil, refuse(RuleExists, "path", "there is a file of that name")
	}
	if h, ok := c.double(m, n.Body, w.v.opts.Now()); ok && !n.Again {
		return nil, refuse(RuleExists, "body", "memory %s says this already", h.id)
	}
	var olds []head
	for _, id := range m.Supersedes {
		if id == m.ID || c.reaches(id, m.ID) {
			return nil, refuse(RuleCycle, "supersedes", "the memory would supersede itself")
		}
		old, ok := c.get(id)
		if !ok {
			return nil, refuse(RuleMissing, "supersedes", "there is no memory with the id %s", id)
		}
		if err := w.checkOld(m, old); err != nil {
			return nil, err
		}
		olds = append(olds, old)
	}
	return olds, nil
}

// checkOld refuses to supersede what is over, or what began later, and makes
// sure that the old file can be marked before the new one is written.
func (w *Writer) checkOld(m *memsearch.Memory, old head) error {
	if old.status != memsearch.StatusActive && old.status != memsearch.StatusCandidate {
		return refuse(RuleStatus, "supersedes", "memory %s is %s", old.id, old.status)
	}
	at := m.Valid.From
	if at.IsZero() {
		at.Time = m.CreatedAt
	}
	if err := checkEnd(old.valid, at); err != nil {
		return err
	}
	if m.Status != memsearch.StatusActive {
		return nil
	}
	raw, err := w.v.Read(old.path)
	if err != nil {
		return err
	}
	if _, err := memfile.Splice(raw, []memfile.Change{{Key: "status", Value: memsearch.StatusSuperseded}}); err != nil {
		return refuse(RuleFile, "supersedes", "memory %s cannot be changed without loss: %v", old.id, err)
	}
	return nil
}

// markSuperseded is the second half of a supersede. Doing it again is harmless.
func (w *Writer) markSuperseded(ctx context.Context, old head, by string, at memsearch.Bound) error {
	err := w.splice(ctx, old.path, func(m memsearch.Memory) ([]memfile.Change, error) {
		if m.Status != memsearch.StatusActive && m.Status != memsearch.StatusCandidate {
			return nil, nil
		}
		changes := []memfile.Change{{Key: "status", Value: memsearch.StatusSuperseded}}
		if !slices.Contains(m.SupersededBy, by) {
			changes = append(changes, memfile.Change{Key: "superseded_by", Value: append(slices.Clone(m.SupersededBy), by)})
		}
		return w.stamped(append(changes, endChange(m.Valid, at)...)), nil
	})
	if err == nil {
		w.note(event{Event: "superseded", ID: old.id})
	}
	return err
}

// checkEnd refuses an end before the beginning.
func checkEnd(v memsearch.Validity, at memsearch.Bound) error {
	if !v.From.IsZero() && !at.IsZero() && at.Time.Before(v.From.Time) && memsearch.CivilDay(at.Time) < memsearch.CivilDay(v.From.Time) {
		return refuse(RuleValidity, "valid_to", "%s lies before valid_from %s", at, v.From)
	}
	return nil
}

// endChange sets valid_to unless the memory ends earlier anyway, or would end on
// the day it began: readers take such an end for a mistake.
func endChange(v memsearch.Validity, at memsearch.Bound) []memfile.Change {
	if at.IsZero() || !v.Until.IsZero() && !at.Time.Before(v.Until.Time) || !v.From.IsZero() && !v.From.Time.Before(at.Time) {
		return nil
	}
	return []memfile.Change{{Key: "valid_to", Value: at}}
}

// stamped adds the time of a change to it.
func (w *Writer) stamped(changes []memfile.Change) []memfile.Change {
	return append(changes, memfile.Change{Key: "updated_at", Value: w.v.opts.Now().UTC().Truncate(time.Second)})
}
