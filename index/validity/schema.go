package validity

import (
	"fmt"
	"strings"

	"github.com/ncruces/go-sqlite3"
)

// Version is the format of the table.
//
//	1  first
const Version = 1

// applicationID marks the file as ours in SQLite's header ("msvt").
const applicationID = 0x6d737674

const schema = `
CREATE TABLE unit (
  key INTEGER PRIMARY KEY,
  unit_id TEXT NOT NULL,
  memory_id TEXT NOT NULL,
  path TEXT NOT NULL,
  hash TEXT NOT NULL,
  file_hash TEXT NOT NULL,
  line_first INTEGER NOT NULL,
  line_last INTEGER NOT NULL,
  byte_from INTEGER NOT NULL,
  byte_until INTEGER NOT NULL,
  category TEXT NOT NULL,
  kind TEXT NOT NULL,
  status TEXT NOT NULL,
  summary TEXT NOT NULL,
  title TEXT NOT NULL,
  canonical_key TEXT NOT NULL,
  tags TEXT NOT NULL,
  tools TEXT NOT NULL,
  trust TEXT NOT NULL,
  confidence REAL NOT NULL,
  session TEXT NOT NULL,
  turn TEXT NOT NULL,
  pinned INTEGER NOT NULL,
  packable INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  valid_from INTEGER,
  valid_from_day INTEGER,
  valid_until INTEGER,
  valid_until_day INTEGER,
  occurred_from INTEGER,
  occurred_until INTEGER,
  occurred_class INTEGER,
  granularity INTEGER NOT NULL,
  date_source TEXT NOT NULL,
  created_at INTEGER,
  updated_at INTEGER,
  confirmed_at INTEGER,
  zones TEXT NOT NULL,
  supersedes TEXT NOT NULL,
  superseded_by TEXT NOT NULL,
  cut INTEGER NOT NULL DEFAULT 0,
  cut_at INTEGER,
  cut_day INTEGER,
  special INTEGER NOT NULL
) STRICT`

// columns are the columns a row is written with, in the order of encode and
// decode. The cut columns follow when a row is read.
const columns = `key, unit_id, memory_id, path, hash, file_hash, line_first, line_last, byte_from, byte_until,
  category, kind, status, summary, title, canonical_key, tags, tools, trust, confidence, session, turn,
  pinned, packable, tokens, valid_from, valid_from_day, valid_until, valid_until_day,
  occurred_from, occurred_until, granularity, date_source, created_at, updated_at, confirmed_at, zones,
  supersedes, superseded_by`

const (
	selectRow = `SELECT ` + columns + `, cut, cut_at, cut_day FROM unit`

	// Values of the cut column: one of these, and cutBegins if the memory cuts
	// others.
	cutNone, cutDated, cutUndated = 0, 1, 2
	cutBegins                     = 4
)

// insertRow writes columns and the three that are derived from them.
func insertRow() string {
	names := columns + ", occurred_class, special"
	return "INSERT INTO unit (" + names + ") VALUES (?" + strings.Repeat(", ?", strings.Count(names, ",")) + ")"
}

// The indexes. Most memories are active and without bounds, so a filter by time
// reads only the special ones; category and dates cover the filters that look at
// every row.
const indexes = `
CREATE INDEX unit_memory ON unit (memory_id);
CREATE INDEX unit_recorded ON unit (created_at, path);
CREATE INDEX unit_pinned ON unit (created_at, path) WHERE pinned = 1;
CREATE INDEX unit_turn ON unit (turn) WHERE turn <> '';
CREATE INDEX unit_edges ON unit (memory_id) WHERE supersedes <> '' OR superseded_by <> '';
CREATE INDEX unit_cut ON unit (memory_id) WHERE cut <> 0;
CREATE INDEX unit_special ON unit (status, valid_from, valid_from_day, valid_until, valid_until_day, cut, cut_at, cut_day)
  WHERE special = 1;
CREATE INDEX unit_category ON unit (category);
CREATE INDEX unit_dates ON unit (created_at, occurred_from, occurred_until, date_source);
CREATE INDEX unit_occurred ON unit (occurred_class, occurred_from, occurred_until, granularity, date_source)
  WHERE occurred_class IS NOT NULL`

// checkVersion reports whether db is a table of this version.
func checkVersion(db *sqlite3.Conn) error {
	for pragma, want := range map[string]int{"application_id": applicationID, "user_version": Version} {
		s, _, err := db.Prepare("PRAGMA " + pragma)
		if err != nil {
			return err
		}
		got := 0
		if s.Step() {
			got = s.ColumnInt(0)
		}
		if err := s.Close(); err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("%w: %s is %d, want %d", ErrFormat, pragma, got, want)
		}
	}
	return nil
}
