package validity

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/ncruces/go-sqlite3"
)

// A conn is a connection with its prepared statements. Not safe for concurrent
// use.
type conn struct {
	db    *sqlite3.Conn
	stmts map[string]*sqlite3.Stmt
}

func openConn(uri string, flags sqlite3.OpenFlag) (*conn, error) {
	db, err := sqlite3.OpenFlags(uri, flags|sqlite3.OPEN_URI)
	if err != nil {
		return nil, err
	}
	return &conn{db: db, stmts: map[string]*sqlite3.Stmt{}}, nil
}

func (c *conn) close() error {
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, c.db.Close())...)
}

func (c *conn) prepare(sql string) (*sqlite3.Stmt, error) {
	if s := c.stmts[sql]; s != nil {
		return s, nil
	}
	s, _, err := c.db.PrepareFlags(sql, sqlite3.PREPARE_PERSISTENT)
	if err != nil {
		return nil, err
	}
	c.stmts[sql] = s
	return s, nil
}

// each runs sql and calls fn for each row. args are int64 or string.
func (c *conn) each(ctx context.Context, sql string, args []any, fn func(*scanner) error) (err error) {
	s, err := c.prepare(sql)
	if err != nil {
		return err
	}
	old := c.db.SetInterrupt(ctx)
	defer func() {
		c.db.SetInterrupt(old)
		if rerr := s.Reset(); err == nil {
			err = rerr
		}
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
	}()
	b := &binder{s: s}
	for _, a := range args {
		switch a := a.(type) {
		case int64:
			b.int(a)
		case string:
			b.text(a)
		default:
			return fmt.Errorf("bind %T", a)
		}
	}
	if b.err != nil {
		return b.err
	}
	row := &scanner{s: s}
	for s.Step() {
		row.n = 0
		if err := fn(row); err != nil {
			return err
		}
		if row.err != nil {
			return row.err
		}
	}
	return s.Err()
}

// exec runs sql without looking at its rows.
func (c *conn) exec(ctx context.Context, sql string, args ...any) error {
	return c.each(ctx, sql, args, func(*scanner) error { return nil })
}

// fileURI names an operating system file for SQLite, whatever its characters.
func fileURI(path string, query url.Values) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	abs = filepath.ToSlash(abs)
	if !strings.HasPrefix(abs, "/") {
		abs = "/" + abs // a drive letter
	}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: abs, RawQuery: query.Encode()}).String(), nil
}

// formatError tells damage and foreign files from other failures.
func formatError(err error) error {
	if errors.Is(err, sqlite3.NOTADB) || errors.Is(err, sqlite3.CORRUPT) {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return err
}
