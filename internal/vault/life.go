package vault

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/memfile"
)

// Retire ends the memory at path: from at on it is no fact any more. The reason
// goes to the journal.
func (w *Writer) Retire(ctx context.Context, name string, at memsearch.Bound, reason string) error {
	return w.run(ctx, "retire", func(ctx context.Context) error {
		if err := w.v.checkSecrets([]field{{"reason", reason}}); err != nil {
			return err
		}
		var id string
		err := w.splice(ctx, name, func(m memsearch.Memory) ([]memfile.Change, error) {
			id = m.ID
			if m.Status != memsearch.StatusActive && m.Status != memsearch.StatusCandidate {
				return nil, refuse(RuleStatus, "status", "the memory is %s", m.Status)
			}
			if err := checkEnd(m.Valid, at); err != nil {
				return nil, err
			}
			changes := []memfile.Change{{Key: "status", Value: memsearch.StatusRetired}}
			return w.stamped(append(changes, endChange(m.Valid, at)...)), nil
		})
		if err != nil {
			return err
		}
		w.note(event{Event: "retired", ID: id, Reason: reason})
		return w.afterwards(ctx)
	})
}

// Confirm says that the user holds the memory at path for true at the time at. A
// candidate becomes active, and what it names as superseded is marked.
func (w *Writer) Confirm(ctx context.Context, name string, at time.Time) error {
	return w.run(ctx, "confirm", func(ctx context.Context) error {
		var confirmed memsearch.Memory
		err := w.splice(ctx, name, func(m memsearch.Memory) ([]memfile.Change, error) {
			confirmed = m
			changes := []memfile.Change{{Key: "last_confirmed_at", Value: at.UTC().Truncate(time.Second)}}
			switch m.Status {
			case memsearch.StatusActive:
			case memsearch.StatusCandidate:
				changes = append(changes, memfile.Change{Key: "status", Value: memsearch.StatusActive})
			default:
				return nil, refuse(RuleStatus, "status", "the memory is %s", m.Status)
			}
			if s := m.Source; s.Trust != "" && s.Trust != memsearch.TrustUser && s.ConfirmedBy == "" {
				s.ConfirmedBy = string(memsearch.TrustUser)
				changes = append(changes, memfile.Change{Key: "source", Value: s})
			}
			return w.stamped(changes), nil
		})
		if err != nil {
			return err
		}
		w.note(event{Event: "confirmed", ID: confirmed.ID})
		if confirmed.Status == memsearch.StatusCandidate && len(confirmed.Supersedes) > 0 {
			if err := w.finish(ctx); err != nil {
				return err
			}
		}
		return w.afterwards(ctx)
	})
}

// StampID gives the memory at path an id of its own instead of the one that is
// derived from its path, and returns it. Memories that name the old id name the
// new one too.
func (w *Writer) StampID(ctx context.Context, name string) (string, error) {
	var id string
	err := w.run(ctx, "stamp", func(ctx context.Context) error {
		c, h, err := w.v.head(ctx, name)
		if err != nil {
			return err
		}
		if h.id != memfile.PathID(h.path) {
			id = h.id
			return nil
		}
		now := w.v.opts.Now()
		if !h.created.IsZero() {
			now = h.created
		}
		if id, err = NewID(now, w.v.opts.Rand); err != nil {
			return err
		}
		if err := w.renameID(ctx, c, h.id, id); err != nil {
			return err
		}
		err = w.splice(ctx, h.path, func(memsearch.Memory) ([]memfile.Change, error) {
			return []memfile.Change{{Key: "id", Value: id}}, nil
		})
		if err == nil {
			w.note(event{Event: "stamped", ID: id})
		}
		return err
	})
	return id, err
}

// renameID adds id wherever the lists of a memory name old.
func (w *Writer) renameID(ctx context.Context, c *census, old, id string) error {
	for _, h := range c.heads {
		if !slices.Contains(h.supersedes, old) && !slices.Contains(h.supersededBy, old) {
			continue
		}
		err := w.splice(ctx, h.path, func(m memsearch.Memory) (changes []memfile.Change, _ error) {
			add := func(key string, list []string) {
				if slices.Contains(list, old) && !slices.Contains(list, id) {
					changes = append(changes, memfile.Change{Key: key, Value: append(slices.Clone(list), id)})
				}
			}
			add("supersedes", m.Supersedes)
			add("superseded_by", m.SupersededBy)
			return changes, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Repair finishes a supersede that was cut in half, removes what interrupted
// writes left behind and refreshes the catalog. The next write does so by
// itself when the last one did not end.
func (w *Writer) Repair(ctx context.Context) error {
	return w.run(ctx, "repair", w.repair)
}

func (w *Writer) repair(ctx context.Context) error {
	if err := errors.Join(w.removeTemps(ctx), w.finish(ctx)); err != nil {
		return err
	}
	return w.afterwards(ctx)
}

// finish marks every active memory that another active one supersedes.
func (w *Writer) finish(ctx context.Context) error {
	c, err := w.v.census(ctx)
	if err != nil {
		return err
	}
	by := c.superseded()
	for _, old := range c.heads {
		newer, ok := by[old.id]
		if !ok || old.status != memsearch.StatusActive {
			continue
		}
		err := w.markSuperseded(ctx, old, newer.id, newer.from())
		if refused, ok := errors.AsType[*RefusedError](err); ok {
			// A file that cannot be rewritten must not stop every other write;
			// readers take it for superseded all the same.
			w.v.opts.Logger.WarnContext(ctx, "superseded memory not marked", "path", old.path, "reason", refused.Reason)
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// afterwards brings the catalog up to date. The write that was asked for is
// done by then: a catalog that cannot be written is warned of and left to the
// next writer, or, when that would fare no better, to a check.
func (w *Writer) afterwards(ctx context.Context) error {
	err := w.refreshCatalog(ctx)
	if _, skipped := errors.AsType[*SkipError](err); skipped || errors.Is(err, errCatalogEncoding) {
		w.v.opts.Logger.WarnContext(ctx, "catalog cannot be refreshed", "err", err)
		return nil
	}
	if err != nil {
		return &unfinishedError{err}
	}
	return nil
}

// An unfinishedError says that a write is done but for what follows from it.
type unfinishedError struct{ err error }

func (e *unfinishedError) Error() string { return "catalog not refreshed: " + e.err.Error() }
func (e *unfinishedError) Unwrap() error { return e.err }
