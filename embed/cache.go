package embed

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/ncruces/go-sqlite3"
)

// A Key names a text in a [Cache]: its SHA-256.
type Key [sha256.Size]byte

// KeyOf returns the key of a text.
func KeyOf(text string) Key { return sha256.Sum256([]byte(text)) }

// CacheOptions configures a [Cache]. Nil and the zero value work.
type CacheOptions struct {
	// BusyTimeout is how long to wait for another process that writes.
	//
	// If zero, it is [DefaultBusyTimeout].
	BusyTimeout time.Duration

	// MaxBytes bounds the file. A full cache is read, not written.
	//
	// If zero, it is [DefaultMaxBytes].
	MaxBytes int64

	// ReadOnly opens the file, if there is one, for reading alone.
	ReadOnly bool

	// Logger, if non-nil, is warned when the cache is damaged or turned off.
	Logger *slog.Logger
}

// Defaults of [CacheOptions].
const (
	DefaultBusyTimeout = 2 * time.Second
	DefaultMaxBytes    = 4 << 30
)

// BrokenSuffix is appended to the name of a damaged cache file.
const BrokenSuffix = ".broken"

// A Cache keeps vectors in one SQLite file. Several processes may use the file at
// once, and many goroutines the Cache. Looking up and storing never fail: what
// goes wrong is a miss, and [Cache.Err] says what turned the cache off.
type Cache struct {
	path string
	opts CacheOptions
	log  *slog.Logger

	mu      sync.Mutex
	db      *database
	file    fs.FileInfo // of the file when it was last opened; nil if unknown
	mended  bool        // a damaged file was moved aside once
	noRead  error       // why nothing is looked up any more
	noWrite error       // why nothing is stored any more
}

// OpenCache returns the cache in the file path, which is opened, or made, at its
// first use. The folder must exist by then.
func OpenCache(path string, opts *CacheOptions) *Cache {
	c := &Cache{path: path}
	if opts != nil {
		c.opts = *opts
	}
	c.opts.BusyTimeout = cmp.Or(c.opts.BusyTimeout, DefaultBusyTimeout)
	c.opts.MaxBytes = cmp.Or(c.opts.MaxBytes, DefaultMaxBytes)
	c.log = c.opts.Logger
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Err returns why the cache is no longer read, or no longer written; nil when it
// works.
func (c *Cache) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return cmp.Or(c.noRead, c.noWrite)
}

// Close closes the file. The next use opens it again.
func (c *Cache) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.close()
}

func (c *Cache) close() error {
	if c.db == nil {
		return nil
	}
	db := c.db
	c.db = nil
	if err := db.close(); err != nil {
		return fmt.Errorf("close vector cache: %w", err)
	}
	return nil
}

// Lookup returns one row for each key, nil where the cache has none of f. The
// only error is that of ctx.
func (c *Cache) Lookup(ctx context.Context, f Fingerprint, keys []Key) ([][]float32, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	rows := make([][]float32, len(keys))
	if c.noRead != nil {
		return rows, context.Cause(ctx)
	}
	err := c.do(ctx, func(db *database) error { return db.lookup(f, keys, rows) })
	if err != nil {
		clear(rows)
		if ctx.Err() == nil && !isBusy(err) && !(c.opts.ReadOnly && c.absent()) {
			c.disable("read", &c.noRead, err)
		}
	}
	return rows, context.Cause(ctx)
}

// Store keeps rows under keys, quantised to int8 with one scale if asked. It never fails;
// rows that could not be kept are embedded again another time.
func (c *Cache) Store(ctx context.Context, f Fingerprint, keys []Key, rows [][]float32, quantise bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.opts.ReadOnly || c.noRead != nil || c.noWrite != nil || len(keys) == 0 {
		return
	}
	err := c.do(ctx, func(db *database) error { return db.store(f, keys, rows, quantise) })
	if err != nil && ctx.Err() == nil && !isBusy(err) {
		c.disable("write", &c.noWrite, err)
	}
}

// Purge deletes the rows of every text whose key keep refuses, under every
// fingerprint, and a damaged file that was moved aside. A nil keep refuses all.
// What is deleted is overwritten. A file that cannot be rewritten is removed;
// Purge returns an error only if refused rows may still be there.
func (c *Cache) Purge(ctx context.Context, keep func(Key) bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.purge(ctx, keep); err != nil {
		return fmt.Errorf("purge vector cache: %w", err)
	}
	return nil
}

func (c *Cache) purge(ctx context.Context, keep func(Key) bool) error {
	aside := c.path + BrokenSuffix
	switch {
	case c.opts.ReadOnly:
		return errors.New("opened read-only")
	case c.absent():
		// A handle of a file that someone deleted is of no use.
		return errors.Join(c.close(), remove(aside))
	}
	err := c.do(ctx, func(db *database) error { return db.purge(keep) })
	switch {
	case err == nil:
		return remove(aside) // do may have put one there
	case errors.Is(err, errForeign): // never held a row of ours
		return remove(aside)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case isBusy(err):
		return err
	}
	c.log.Warn("vector cache cannot be rewritten, removing it", "path", c.path, "err", err)
	return errors.Join(c.close(), remove(c.path), remove(c.path+"-journal"), remove(aside))
}

func (c *Cache) absent() bool {
	_, err := os.Lstat(c.path)
	return errors.Is(err, fs.ErrNotExist)
}

// do runs fn with an open database. A damaged file is moved aside, once in the
// life of the cache, and fn runs again with a new one. So it does a few times after an
// I/O error, or when the file was moved: a process that still has a file that
// another moved aside takes the journal of the new one for its own, and plays it
// back.
func (c *Cache) do(ctx context.Context, fn func(*database) error) error {
	for left := 3; ; left-- {
		err := c.try(ctx, fn)
		if left > 0 && !c.opts.ReadOnly && (errors.Is(err, sqlite3.IOERR) || errors.Is(err, sqlite3.READONLY_DBMOVED)) {
			c.close() // the error is known
			continue
		}
		if err == nil || c.mended || c.opts.ReadOnly || !isDamage(err) {
			return err
		}
		c.mended = true
		c.log.Warn("vector cache is damaged, starting a new one", "path", c.path, "err", err)
		if err := c.setAside(); err != nil {
			return err
		}
	}
}

func (c *Cache) try(ctx context.Context, fn func(*database) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.db == nil {
		c.file, _ = os.Stat(c.path) // nil when there is none yet
		db, err := openDatabase(ctx, c.path, &c.opts)
		if err != nil {
			return err
		}
		c.db = db
		if c.file == nil {
			c.file, _ = os.Stat(c.path)
		}
	}
	c.db.conn.SetInterrupt(ctx)
	defer c.db.conn.SetInterrupt(context.Background())
	return fn(c.db)
}

// setAside renames the damaged file, unless another process has put a new one in
// its place since it was opened. A lock file keeps two from doing so at once.
func (c *Cache) setAside() (err error) {
	c.close() // the file is damaged: nothing to learn from an error
	lock := flock.New(c.path + ".lock")
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("lock damaged vector cache: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	now, err := os.Stat(c.path)
	if err != nil || c.file != nil && !os.SameFile(c.file, now) {
		return nil
	}
	// The journal goes first: once the name is free, one of that name may belong to
	// the new file of another process.
	if err := remove(c.path + "-journal"); err != nil {
		return fmt.Errorf("remove journal of damaged vector cache: %w", err)
	}
	if err := os.Rename(c.path, c.path+BrokenSuffix); err != nil {
		return fmt.Errorf("move damaged vector cache aside: %w", err)
	}
	return nil
}

// disable notes why the cache is not used for reading or for writing any more.
func (c *Cache) disable(what string, reason *error, err error) {
	*reason = fmt.Errorf("%s vector cache: %w", what, err)
	c.log.Warn("vector cache turned off", "use", what, "path", c.path, "err", err)
}

func isBusy(err error) bool {
	return errors.Is(err, sqlite3.BUSY) || errors.Is(err, sqlite3.LOCKED)
}

func isDamage(err error) bool {
	return errors.Is(err, sqlite3.CORRUPT) || errors.Is(err, sqlite3.NOTADB) || errors.Is(err, errVersion)
}

func remove(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
