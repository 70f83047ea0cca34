package validity

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"os"
	"slices"

	"github.com/ncruces/go-sqlite3"

	"github.com/memsearch/memsearch/index/key"
)

// Write makes a new table at path from the one at base (none if empty), without
// the rows of the files in drop and with rows. It must not exist yet. The result
// answers every query as a table written from nothing with the same rows would.
//
// When Write returns nil the content of the file survives a power failure; its
// directory entry is the caller's. On an error no file is left.
func Write(ctx context.Context, path, base string, drop []uint32, rows iter.Seq[Row]) (err error) {
	if err := create(path, base); err != nil {
		return fmt.Errorf("create validity table: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("write validity table: %w", err), os.Remove(path))
		}
	}()
	uri, err := fileURI(path, nil)
	if err != nil {
		return err
	}
	if err := fill(ctx, uri, base == "", drop, rows); err != nil {
		return err
	}
	return syncFile(path)
}

// create makes the file at path, a copy of base if there is one.
func create(path, base string) (err error) {
	dst, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, dst.Close())
		if err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	if base == "" {
		return nil
	}
	src, err := os.Open(base)
	if err != nil {
		return err
	}
	defer src.Close()
	_, err = io.Copy(dst, src)
	return err
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// fill writes into the database at uri. Nobody else can see it and a crash
// throws it away, so it has neither journal nor locks.
func fill(ctx context.Context, uri string, fresh bool, drop []uint32, rows iter.Seq[Row]) (err error) {
	c, err := openConn(uri, sqlite3.OPEN_READWRITE|sqlite3.OPEN_CREATE)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if err := c.db.Exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
		PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8000`); err != nil {
		return formatError(err)
	}
	if fresh {
		err = c.db.Exec(fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d; %s",
			applicationID, Version, schema))
	} else {
		err = formatError(checkVersion(c.db))
	}
	if err != nil {
		return err
	}
	if err := c.db.Exec("BEGIN EXCLUSIVE"); err != nil {
		return err
	}
	if err := c.change(ctx, drop, rows); err != nil {
		return err
	}
	if fresh {
		if err := c.db.Exec(indexes); err != nil {
			return err
		}
	}
	if err := c.recut(ctx); err != nil {
		return err
	}
	return c.db.Exec("COMMIT")
}

// change deletes and inserts.
func (c *conn) change(ctx context.Context, drop []uint32, rows iter.Seq[Row]) error {
	for _, file := range drop {
		first := key.Make(file, 0, 0)
		last := key.Make(file, math.MaxUint16, math.MaxUint16)
		err := c.exec(ctx, "DELETE FROM unit WHERE key BETWEEN ? AND ?", int64(first), int64(last))
		if err != nil {
			return err
		}
	}
	insert, err := c.prepare(insertRow())
	if err != nil {
		return err
	}
	for r := range rows {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if r.Key != r.Key.UnitKey() {
			return fmt.Errorf("insert %s: %#x is not the key of a unit", r.UnitID, uint64(r.Key))
		}
		if err := encode(insert, &r); err != nil {
			return fmt.Errorf("encode %s: %w", r.UnitID, err)
		}
		if err := insert.Exec(); err != nil {
			return fmt.Errorf("insert %s: %w", r.UnitID, err)
		}
	}
	return nil
}

// recut brings the cuts up to date with the edges, touching only the memories
// whose cut changed.
func (c *conn) recut(ctx context.Context) error {
	edges, err := c.edges(ctx)
	if err != nil {
		return err
	}
	want := cutsOf(edges)
	stale := map[string]bool{}
	err = c.each(ctx, "SELECT DISTINCT memory_id FROM unit WHERE cut <> 0", nil, func(s *scanner) error {
		id := s.text()
		if _, ok := want[id]; !ok {
			stale[id] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	const set = `UPDATE unit SET cut = ?1, cut_at = iif(?2 = ?5, NULL, ?2), cut_day = iif(?3 = ?5, NULL, ?3),
		special = (?1 <> 0 OR status <> 'active' OR coalesce(valid_from, valid_from_day, valid_until, valid_until_day) IS NOT NULL)
		WHERE memory_id = ?4 AND (cut, coalesce(cut_at, ?5), coalesce(cut_day, ?5)) <> (?1, ?2, ?3)`
	none := int64(math.MaxInt64)
	for _, id := range slices.Sorted(maps.Keys(stale)) {
		if err := c.exec(ctx, set, int64(cutNone), none, none, id, none); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(want)) {
		w := want[id]
		if err := c.exec(ctx, set, w.column(), w.at, w.day, id, none); err != nil {
			return err
		}
	}
	return nil
}
