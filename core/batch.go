package core

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/embed"
	"github.com/memsearch/memsearch/index"
	"github.com/memsearch/memsearch/index/validity"
)

// An Outcome is what became of one memory of [Memory.RememberAll].
type Outcome struct {
	Memory  memsearch.Memory
	Refused *RefusedError // nil when it was written
}

// RememberAll writes many new memories into the named scope (the first for "")
// and indexes them together. A memory that the guard refuses does not stop the
// others; any other error does, and the outcomes before it are returned.
func (m *Memory) RememberAll(ctx context.Context, scope string, list []NewMemory) ([]Outcome, error) {
	s, w, done, err := m.beginWrite(scope)
	if err != nil {
		return nil, err
	}
	defer done()
	var out []Outcome
	for _, n := range list {
		var mem memsearch.Memory
		if mem, err = w.Create(ctx, n); err == nil {
			out = append(out, Outcome{Memory: mem})
			continue
		}
		refused, ok := errors.AsType[*RefusedError](err)
		if !ok {
			break
		}
		err = nil
		out = append(out, Outcome{Refused: refused})
	}
	// Files that were written are indexed whatever stopped the others.
	_, serr := s.disk.Sync(context.WithoutCancel(ctx), index.SyncOptions{Wait: m.settings.LockWait})
	if serr != nil {
		m.log.WarnContext(ctx, "memories are written, the index did not follow", "scope", s.name, "err", serr)
	}
	return out, err
}

// A Passage is a unit with its text, as an export has it.
type Passage struct {
	Item   // of its memory; Text is the unit's
	UnitID string
	Lines  [2]int
	Date   string // first day of when it occurred; empty when only the file's time tells
}

// Passages calls fn for every unit of the memories that o wants, newest memory
// first in each scope. A unit whose file changes meanwhile is left out.
func (m *Memory) Passages(ctx context.Context, o ListOptions, fn func(Passage) error) error {
	now := m.now().In(m.settings.Zone)
	f := o.filter(now)
	f.Units = true
	return m.each(ctx, func(s *scope, snap *index.Snapshot) error {
		rows, err := snap.Validity().List(ctx, f)
		if err != nil {
			return err
		}
		for _, r := range rows {
			text, err := snap.Text(ctx, r)
			if errors.Is(err, index.ErrStale) {
				m.log.WarnContext(ctx, "unit left out: its file changed", "id", r.UnitID)
				continue
			}
			if err != nil {
				return err
			}
			p := Passage{Item: item(s.name, r, now), UnitID: r.UnitID, Lines: r.Lines, Date: occurredDay(r)}
			p.Text = text
			if err := fn(p); err != nil {
				return err
			}
		}
		return nil
	})
}

func occurredDay(r validity.Row) string {
	if r.Occurred.Span.From.IsZero() || r.Occurred.Source == memsearch.DateModTime {
		return ""
	}
	return r.Occurred.Span.From.Format(time.DateOnly)
}

// ErrNoModel is returned by [Memory.Embed] when the settings say model: none.
var ErrNoModel = errors.New("no embedding model is configured")

// Embed returns one unit-length row for each text, made as passages are, and the
// fingerprint of the model.
func (m *Memory) Embed(ctx context.Context, texts []string) ([][]float32, string, error) {
	done, err := m.begin()
	if err != nil {
		return nil, "", err
	}
	defer done()
	if m.embedder == nil {
		return nil, "", fmt.Errorf("embed texts: %w", ErrNoModel)
	}
	rows, err := m.embedder.Embed(ctx, texts, embed.Passage)
	return rows, m.embedder.Fingerprint().String(), err
}

// ExportSkill writes the current memories of the named scope (the first for "") as
// an Agent Skills folder and returns how many there are.
func (m *Memory) ExportSkill(ctx context.Context, scope, dir string) (int, error) {
	done, err := m.beginRead()
	if err != nil {
		return 0, err
	}
	defer done()
	s, err := m.scope(scope)
	if err != nil {
		return 0, err
	}
	return s.vault.ExportSkill(ctx, dir)
}
