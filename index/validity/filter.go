package validity

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/index/key"
)

// A Filter says which units may answer. Conditions are joined by and.
type Filter struct {
	// Now is the moment at which current facts must hold. Dates are compared
	// with its civil date in its own zone.
	Now time.Time

	// AsOf, if not zero, asks what held at that moment instead, superseded and
	// retired memories with a known end included.
	AsOf time.Time

	// Since and Until, if not zero, want units that occurred in [Since, Until).
	// A unit without a date, or dated only by its file's modification time,
	// counts by when it was recorded, and not at all without that.
	Since, Until time.Time

	// Categories, if any, are the only ones wanted.
	Categories []memsearch.Category

	// Turn, if not empty, leaves out what was recorded in that turn; of
	// Session only, when both the filter and the row have one.
	Turn, Session string
}

// Excluded returns the keys of the units that f leaves out, ascending. Without
// categories and a time range it looks only at units that are not active, have
// bounds or are superseded.
func (r *Reader) Excluded(ctx context.Context, f Filter) ([]key.Key, error) {
	if f.Now.IsZero() && f.AsOf.IsZero() {
		return nil, fmt.Errorf("exclude units: %w", ErrNoTime)
	}
	var out []key.Key
	err := r.use(ctx, func(c *conn) error {
		special, err := r.special.get(func() ([]specialRow, error) { return c.special(ctx) })
		if err != nil {
			return err
		}
		out = excludeInvalid(out, special, f)
		if f.Turn != "" {
			if out, err = c.turn(ctx, out, f); err != nil {
				return err
			}
		}
		out, err = r.excludeFacets(ctx, c, out, f)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("exclude units: %w", err)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// excludeFacets applies the conditions for which every row must be looked at.
func (r *Reader) excludeFacets(ctx context.Context, c *conn, out []key.Key, f Filter) ([]key.Key, error) {
	if len(f.Categories) > 0 {
		byCategory, err := r.categories.get(func() (map[memsearch.Category][]key.Key, error) { return c.categories(ctx) })
		if err != nil {
			return nil, err
		}
		for category, keys := range byCategory {
			if !slices.Contains(f.Categories, category) {
				out = append(out, keys...)
			}
		}
	}
	if f.Since.IsZero() && f.Until.IsZero() {
		return out, nil
	}
	rows, err := r.dated.get(func() ([]datedRow, error) { return c.dated(ctx) })
	return excludeUndated(out, rows, f), err
}

// A specialRow is what decides about a unit that is not simply an active one.
type specialRow struct {
	key    key.Key
	status memsearch.Status
	valid  memsearch.Validity
	cut    Cut
}

func (c *conn) special(ctx context.Context) ([]specialRow, error) {
	var out []specialRow
	err := c.each(ctx, `SELECT key, status, valid_from, valid_from_day, valid_until, valid_until_day, created_at, cut, cut_at, cut_day
		FROM unit WHERE special = 1`, nil, func(s *scanner) error {
		r := specialRow{key: key.Key(s.int()), status: word(s, memsearch.Statuses)}
		r.valid.From, r.valid.Until = s.bound(), s.bound()
		r.cut = s.cut(&Row{CreatedAt: s.time(), Valid: r.valid})
		out = append(out, r)
		return nil
	})
	return out, err
}

func excludeInvalid(out []key.Key, rows []specialRow, f Filter) []key.Key {
	for i := range rows {
		s := &rows[i]
		r := Row{Status: s.status, Valid: s.valid, Cut: s.cut}
		if f.AsOf.IsZero() && !r.CurrentAt(f.Now) || !f.AsOf.IsZero() && !r.ValidAt(f.AsOf) {
			out = append(out, s.key)
		}
	}
	return out
}

func (c *conn) turn(ctx context.Context, out []key.Key, f Filter) ([]key.Key, error) {
	err := c.each(ctx, `SELECT key, session FROM unit WHERE turn = ?1 AND turn <> ''`, []any{f.Turn}, func(s *scanner) error {
		k, session := key.Key(s.int()), s.text()
		if f.Session == "" || session == "" || session == f.Session {
			out = append(out, k)
		}
		return nil
	})
	return out, err
}

// categories reads the keys of every category.
func (c *conn) categories(ctx context.Context) (map[memsearch.Category][]key.Key, error) {
	out := map[memsearch.Category][]key.Key{}
	err := c.each(ctx, "SELECT category, key FROM unit", nil, func(s *scanner) error {
		category := word(s, memsearch.Categories)
		out[category] = append(out[category], key.Key(s.int()))
		return nil
	})
	return out, err
}

// A datedRow is a unit with the span that Since and Until look at.
type datedRow struct {
	key         key.Key
	from, until int64 // from > until: none
}

func (c *conn) dated(ctx context.Context) ([]datedRow, error) {
	var out []datedRow
	sources := dateSources()
	err := c.each(ctx, "SELECT key, date_source, occurred_from, occurred_until, created_at FROM unit", nil, func(s *scanner) error {
		r := datedRow{key: key.Key(s.int()), from: 1}
		source := word(s, sources)
		from, dated := s.maybe()
		until, _ := s.maybe()
		created, recorded := s.maybe()
		switch {
		case dated && source != memsearch.DateModTime:
			r.from, r.until = from, until
		case recorded:
			r.from, r.until = created, created+1
		}
		out = append(out, r)
		return nil
	})
	return out, err
}

func excludeUndated(out []key.Key, rows []datedRow, f Filter) []key.Key {
	since, until := bounds(memsearch.Span{From: f.Since, Until: f.Until})
	for i := range rows {
		r := &rows[i]
		if r.from > r.until || r.from >= until || r.until <= since {
			out = append(out, r.key)
		}
	}
	return out
}

// bounds returns the microseconds of s.
func bounds(s memsearch.Span) (from, until int64) {
	from, until = openFrom, openUntil
	if !s.From.IsZero() {
		from = s.From.UnixMicro()
	}
	if !s.Until.IsZero() {
		until = s.Until.UnixMicro()
	}
	return from, until
}
