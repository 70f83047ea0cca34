package embed

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/cespare/xxhash/v2"
	"github.com/ncruces/go-sqlite3"

	"github.com/memsearch/memsearch/internal/quant"
)

// Cache file, version 1: table vectors (below). A row whose scale is 0 is float32,
// little-endian; else it is int8, to be multiplied by scale. sum is the xxhash of
// the blob: SQLite itself does not notice a changed byte in one.
const (
	applicationID = 0x6d73766b // "msvk"
	schemaVersion = 1
	schema        = `
CREATE TABLE vectors (
	space INTEGER NOT NULL, -- Fingerprint.Hash
	text  BLOB    NOT NULL, -- Key
	scale REAL    NOT NULL,
	sum   INTEGER NOT NULL,
	row   BLOB    NOT NULL,
	PRIMARY KEY (space, text)
)`
)

var (
	errForeign = errors.New("the file is a database of another program, or no file")
	errVersion = errors.New("the file has another version")
)

// A database is an open cache file.
type database struct {
	conn   *sqlite3.Conn
	get    *sqlite3.Stmt
	put    *sqlite3.Stmt
	buffer []byte
}

func openDatabase(ctx context.Context, path string, opts *CacheOptions) (_ *database, err error) {
	flags := sqlite3.OPEN_READWRITE | sqlite3.OPEN_CREATE
	if opts.ReadOnly {
		flags = sqlite3.OPEN_READONLY
	}
	if fi, err := os.Stat(path); err == nil && !fi.Mode().IsRegular() { // a pipe would be waited for
		return nil, errForeign
	}
	d := &database{}
	if d.conn, err = sqlite3.OpenFlags(path, flags); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			d.conn.Close()
		}
	}()
	d.conn.SetInterrupt(ctx)
	if err := d.conn.BusyTimeout(opts.BusyTimeout); err != nil {
		return nil, err
	}
	if err := d.conn.Exec(`PRAGMA secure_delete = ON; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY`); err != nil {
		return nil, err
	}
	if err := d.prepareSchema(opts); err != nil {
		return nil, err
	}
	if d.get, _, err = d.conn.Prepare(`SELECT scale, sum, row FROM vectors WHERE space = ? AND text = ?`); err != nil {
		return nil, err
	}
	d.put, _, err = d.conn.Prepare(`INSERT OR REPLACE INTO vectors (space, text, scale, sum, row) VALUES (?, ?, ?, ?, ?)`)
	return d, err
}

// prepareSchema makes the table in an empty file, and refuses files that are not
// a cache of this version.
func (d *database) prepareSchema(opts *CacheOptions) error {
	ours, err := d.look()
	if err != nil {
		return err
	}
	if !ours {
		// Another process may be about to do the same.
		if err := d.transaction(func() error {
			if ours, err := d.checkSchema(); ours || err != nil {
				return err
			}
			return d.conn.Exec(fmt.Sprintf(`%s; PRAGMA application_id = %d; PRAGMA user_version = %d`,
				schema, applicationID, schemaVersion))
		}); err != nil {
			return err
		}
	}
	page, err := d.pragma("page_size")
	if err != nil || page <= 0 {
		return err
	}
	return d.conn.Exec(fmt.Sprintf(`PRAGMA max_page_count = %d`, max(1, opts.MaxBytes/page)))
}

// look is checkSchema in one read transaction: between two reads another process
// may have made the table.
func (d *database) look() (ours bool, err error) {
	if err := d.conn.Exec(`BEGIN`); err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, d.conn.Exec(`COMMIT`)) }()
	return d.checkSchema()
}

// checkSchema reports whether the file is a cache of this version; false without
// an error means that it is empty.
func (d *database) checkSchema() (bool, error) {
	id, err := d.pragma("application_id")
	if err != nil {
		return false, err
	}
	version, err := d.pragma("user_version")
	if err != nil {
		return false, err
	}
	tables, err := d.number(`SELECT count(*) FROM sqlite_schema`)
	switch {
	case err != nil:
		return false, err
	case id == applicationID && version == schemaVersion:
		return true, nil
	case id == applicationID:
		return false, fmt.Errorf("%w: %d, want %d", errVersion, version, schemaVersion)
	case tables > 0 || id != 0:
		return false, errForeign
	}
	return false, nil
}

func (d *database) pragma(name string) (int64, error) { return d.number("PRAGMA " + name) }

func (d *database) number(sql string) (n int64, err error) {
	s, _, err := d.conn.Prepare(sql)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if s.Step() {
		n = s.ColumnInt64(0)
	}
	return n, s.Err()
}

func (d *database) close() error {
	return errors.Join(d.get.Close(), d.put.Close(), d.conn.Close())
}

// transaction runs fn holding the write lock.
func (d *database) transaction(fn func() error) error {
	if err := d.conn.Exec(`BEGIN IMMEDIATE`); err != nil {
		return err
	}
	err := fn()
	if err == nil {
		err = d.conn.Exec(`COMMIT`)
	}
	if err != nil && !d.conn.GetAutocommit() {
		// The statement that undoes must not be interrupted itself.
		old := d.conn.SetInterrupt(context.Background())
		d.conn.Exec(`ROLLBACK`)
		d.conn.SetInterrupt(old)
	}
	return err
}

// lookup fills rows, leaving nil what is missing or was changed on disk.
func (d *database) lookup(f Fingerprint, keys []Key, rows [][]float32) error {
	space := int64(f.Hash())
	for i, key := range keys {
		err := errors.Join(d.get.BindInt64(1, space), d.get.BindBlob(2, key[:]))
		if err != nil {
			return err
		}
		if d.get.Step() {
			blob := d.get.ColumnRawBlob(2)
			if int64(xxhash.Sum64(blob)) == d.get.ColumnInt64(1) {
				rows[i] = decodeRow(blob, d.get.ColumnFloat(0), f.Dims)
			}
		}
		if err := errors.Join(d.get.Err(), d.get.Reset()); err != nil {
			return err
		}
	}
	return nil
}

func (d *database) store(f Fingerprint, keys []Key, rows [][]float32, quantise bool) error {
	space := int64(f.Hash())
	return d.transaction(func() error {
		for i, key := range keys {
			var scale float64
			d.buffer, scale = appendRow(d.buffer[:0], rows[i], quantise)
			if err := errors.Join(d.put.BindInt64(1, space), d.put.BindBlob(2, key[:]), d.put.BindFloat(3, scale),
				d.put.BindInt64(4, int64(xxhash.Sum64(d.buffer))), d.put.BindBlob(5, d.buffer)); err != nil {
				return err
			}
			if err := d.put.Exec(); err != nil {
				return err
			}
		}
		return nil
	})
}

// purge deletes what keep refuses and rewrites the file without it.
func (d *database) purge(keep func(Key) bool) error {
	if err := d.transaction(func() error { return d.deleteRefused(keep) }); err != nil {
		return err
	}
	// secure_delete has overwritten the rows; a reader that holds the file only
	// keeps it from shrinking.
	if err := d.conn.Exec(`VACUUM`); err != nil && !isBusy(err) {
		return err
	}
	return nil
}

func (d *database) deleteRefused(keep func(Key) bool) (err error) {
	if keep == nil {
		return d.conn.Exec(`DELETE FROM vectors`)
	}
	list, _, err := d.conn.Prepare(`SELECT rowid, text FROM vectors`)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, list.Close()) }()
	var refused []int64
	for list.Step() {
		key := list.ColumnRawBlob(1)
		if len(key) != len(Key{}) || !keep(Key(key)) {
			refused = append(refused, list.ColumnInt64(0))
		}
	}
	if err := list.Err(); err != nil {
		return err
	}
	del, _, err := d.conn.Prepare(`DELETE FROM vectors WHERE rowid = ?`)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, del.Close()) }()
	for _, id := range refused {
		if err := errors.Join(del.BindInt64(1, id), del.Exec()); err != nil {
			return err
		}
	}
	return nil
}

// appendRow appends the stored form of row and returns its scale, 0 for float32. A
// row of zeros has the scale 1 as int8.
func appendRow(dst []byte, row []float32, quantise bool) ([]byte, float64) {
	if quantise {
		dst, scale := quant.Append(dst, row, quant.Largest(row))
		return dst, cmp.Or(float64(scale), 1)
	}
	for _, x := range row {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
	}
	return dst, 0
}

// decodeRow is the reverse of appendRow; nil when blob is not a row of dims.
func decodeRow(blob []byte, scale float64, dims int) []float32 {
	size := dims
	if scale == 0 {
		size *= 4
	}
	if len(blob) != size || scale < 0 || math.IsNaN(scale) || scale > math.MaxFloat32 {
		return nil
	}
	row := make([]float32, dims)
	if scale != 0 {
		quant.Decode(row, blob, float32(scale))
		return row
	}
	for i := range row {
		row[i] = math.Float32frombits(binary.LittleEndian.Uint32(blob[4*i:]))
	}
	return row
}
