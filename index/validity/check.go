package validity

import (
	"context"
	"errors"
	"fmt"
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
