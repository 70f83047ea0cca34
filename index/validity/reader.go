package validity

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"sync"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs/memdb"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/index/key"
)

// maxIdle is how many connections a Reader keeps. Each takes about a megabyte.
const maxIdle = 4

// A Reader answers queries over one table. It is safe for concurrent use. The
// table must not change while the Reader is open.
type Reader struct {
	uri   string
	flags sqlite3.OpenFlag
	memDB string // name of the shared memory database, if it is one

	mu     sync.Mutex
	idle   []*conn
	closed bool

	special    lazy[[]specialRow]
	categories lazy[map[memsearch.Category][]key.Key]
	dated      lazy[[]datedRow]
}

// Open opens the table at path. It fails with [ErrFormat] when the file is not a
// table of this version; it does not look for damage further in, which is what
// [Verify] does.
func Open(path string) (*Reader, error) {
	uri, err := fileURI(path, url.Values{"immutable": {"1"}, "mode": {"ro"}})
	if err != nil {
		return nil, fmt.Errorf("open validity table: %w", err)
	}
	r := &Reader{uri: uri, flags: sqlite3.OPEN_READONLY}
	if err := r.use(context.Background(), func(c *conn) error { return checkVersion(c.db) }); err != nil {
		return nil, fmt.Errorf("open validity table: %w", formatError(err))
	}
	return r, nil
}

// Memory makes a table of rows in memory and opens it. Close frees it.
func Memory(ctx context.Context, rows iter.Seq[Row]) (*Reader, error) {
	name := "validity-" + rand.Text()
	memdb.Create(name, nil)
	uri := (&url.URL{Scheme: "file", OmitHost: true, Path: "/" + name, RawQuery: "vfs=memdb"}).String()
	if err := fill(ctx, uri, true, nil, rows); err != nil {
		memdb.Delete(name)
		return nil, fmt.Errorf("make validity table: %w", err)
	}
	return &Reader{uri: uri, flags: sqlite3.OPEN_READONLY, memDB: name}, nil
}

// Close closes the idle connections, and those in use when they are returned.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	var errs []error
	for _, c := range r.idle {
		errs = append(errs, c.close())
	}
	r.idle = nil
	if r.memDB != "" {
		memdb.Delete(r.memDB)
	}
	return errors.Join(errs...)
}

// use lends fn a connection.
func (r *Reader) use(ctx context.Context, fn func(*conn) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	c, err := r.take()
	if err != nil {
		return err
	}
	defer r.give(c)
	return fn(c)
}

func (r *Reader) take() (*conn, error) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil, ErrClosed
	}
	if n := len(r.idle); n > 0 {
		c := r.idle[n-1]
		r.idle = r.idle[:n-1]
		r.mu.Unlock()
		return c, nil
	}
	r.mu.Unlock()
	return openConn(r.uri, r.flags)
}

func (r *Reader) give(c *conn) {
	r.mu.Lock()
	keep := !r.closed && len(r.idle) < maxIdle
	if keep {
		r.idle = append(r.idle, c)
	}
	r.mu.Unlock()
	if !keep {
		c.close()
	}
}

// A lazy value is loaded at most once; a failed load is tried again.
type lazy[T any] struct {
	mu     sync.Mutex
	loaded bool
	value  T
}

func (l *lazy[T]) get(load func() (T, error)) (T, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.loaded {
		return l.value, nil
	}
	v, err := load()
	if err == nil {
		l.value, l.loaded = v, true
	}
	return v, err
}
