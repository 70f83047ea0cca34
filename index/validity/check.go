package validity

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// Verify reports whether the file at path is an undamaged table of this version,
// by SQLite's integrity check. Damage is an [ErrFormat].
func Verify(ctx context.Context, path string) (err error) {
	r, err := Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	err = r.use(ctx, func(c *conn) error {
		return c.each(ctx, "PRAGMA integrity_check(1)", nil, func(s *scanner) error {
			if got := s.text(); got != "ok" {
				return fmt.Errorf("%w: %s", ErrFormat, got)
			}
			return nil
		})
	})
	if err != nil {
		return fmt.Errorf("verify validity table: %w", formatError(err))
	}
	return nil
}

// Contains reports whether text stands in the file at path, in any column of a
// row or anywhere in its raw pages, free ones too. It is how forgetting is
// checked.
func Contains(ctx context.Context, path, text string) (bool, error) {
	raw, err := rawContains(path, []byte(text))
	if raw || err != nil {
		return raw, err
	}
	// A long value may lie in pieces on several pages.
	r, err := Open(path)
	if err != nil {
		return false, err
	}
	found := false
	err = r.use(ctx, func(c *conn) error {
		return c.each(ctx, `SELECT 1 FROM unit WHERE instr(unit_id || char(10) || memory_id || char(10) || path || char(10) ||
			summary || char(10) || title || char(10) || canonical_key || char(10) || session || char(10) || turn, ?1)
			OR EXISTS (SELECT 1 FROM json_each(nullif(tags, '')) WHERE instr(value, ?1))
			OR EXISTS (SELECT 1 FROM json_each(nullif(tools, '')) WHERE instr(value, ?1)) LIMIT 1`,
			[]any{text}, func(*scanner) error {
				found = true
				return nil
			})
	})
	return found, errors.Join(err, r.Close())
}

func rawContains(path string, text []byte) (found bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	buf := make([]byte, 0, len(text)+1<<16)
	for {
		n, err := io.ReadFull(f, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if bytes.Contains(buf, text) {
			return true, nil
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return false, nil
		case err != nil:
			return false, err
		}
		// Keep what may be the beginning of text.
		keep := max(0, min(len(text)-1, len(buf)))
		copy(buf, buf[len(buf)-keep:])
		buf = buf[:keep]
	}
}
