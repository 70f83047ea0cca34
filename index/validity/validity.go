// Package validity answers when a memory holds, when something occurred and
// when it was recorded, from one SQLite table with a row per unit.
//
//	rows -> Write -> file -> Open -> Excluded, Overlapping, Fetch, List
//
// A file is written once and never changed afterwards, so readers open it as
// immutable, take no locks and may cache what they read. It holds no body text:
// of the words of a memory only summary, title, tags and ids are in it. Times
// are kept to the microsecond, in their own zone offset.
//
// # When a memory holds
//
// Its own bounds come from its front matter. They are cut short by any memory
// that was once accepted (active, superseded or retired) and names it in its
// supersedes, from that one's valid_from on, else from its created_at, else at
// all times. So a crash between the two files of a supersede leaves one current
// fact, and the chain stays closed when the successor is itself superseded.
// A memory cannot supersede itself, and edges within a cycle do not count;
// [Reader.Cycles] reports them.
package validity

import (
	"errors"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/index/key"
)

// Errors of a Reader.
var (
	// ErrNotFound is returned by [Reader.Fetch] for a key that has no row.
	ErrNotFound = errors.New("no such unit")
	// ErrFormat is returned by [Open] and [Verify] for a file that is not a
	// validity table of this version.
	ErrFormat = errors.New("not a validity table of this version")
	// ErrNoTime is returned by [Reader.Excluded] when neither Now nor AsOf is set.
	ErrNoTime = errors.New("no time to compare validity with")
	// ErrClosed is returned by a closed Reader.
	ErrClosed = errors.New("reader is closed")
)

// A Row is what the table knows of a unit and of the memory it belongs to.
type Row struct {
	Key      key.Key // of the whole unit
	UnitID   string
	MemoryID string
	Path     string
	Lines    [2]int
	Bytes    [2]int
	Hash     string // of the unit's text
	FileHash string // of the file's bytes

	Category     memsearch.Category
	Kind         memsearch.Kind
	Status       memsearch.Status // empty is written as active
	Summary      string
	Title        string
	CanonicalKey string
	Tags         []string
	Tools        []string
	Trust        memsearch.Trust
	Confidence   float64
	Session      string
	Turn         string
	Pinned       bool
	Packable     bool
	Tokens       int

	Valid        memsearch.Validity // the memory's own bounds
	Occurred     memsearch.Occurred
	CreatedAt    time.Time
	UpdatedAt    time.Time
	ConfirmedAt  time.Time
	Supersedes   []string // memory ids
	SupersededBy []string // memory ids

	// Cut is set on rows that are read: how other memories shorten this one.
	Cut Cut
}

// A Cut is the moment from which a memory counts as superseded. It has an
// instant and a date because the two compare only at a given moment; the memory
// must hold by both.
type Cut struct {
	At      memsearch.Bound // earliest instant; zero: none
	On      memsearch.Bound // earliest civil date; zero: none
	Undated bool            // a successor says no time at all: never holds

	// Start, if not zero, is when the memory itself replaced others: one that
	// does not say from when it holds holds from when it was recorded.
	Start memsearch.Bound
}

// IsZero reports whether nothing cuts.
func (c Cut) IsZero() bool { return c.At.IsZero() && c.On.IsZero() && !c.Undated }

// holds reports whether t lies before every cut, and not before the start.
func (c Cut) holds(t time.Time) bool {
	return !c.Undated && (c.Start.IsZero() || !c.Start.After(t)) && (c.At.IsZero() || c.At.After(t)) && (c.On.IsZero() || c.On.After(t))
}

// Superseded reports whether other memories have taken the row's place by now,
// whatever its own file says.
func (r *Row) Superseded(now time.Time) bool {
	over := func(b memsearch.Bound) bool { return !b.IsZero() && !b.After(now) }
	return r.Cut.Undated || over(r.Cut.At) || over(r.Cut.On)
}

// HoldsAt reports whether the row's effective span holds at t, whatever its
// status.
func (r *Row) HoldsAt(t time.Time) bool { return r.Valid.Holds(t) && r.Cut.holds(t) }

// CurrentAt reports whether the row is a current fact at now.
func (r *Row) CurrentAt(now time.Time) bool {
	return r.status() == memsearch.StatusActive && r.HoldsAt(now)
}

// ValidAt reports whether the row is an answer to what held at t. A superseded
// or retired memory is one only when its end is known.
func (r *Row) ValidAt(t time.Time) bool {
	switch r.status() {
	case memsearch.StatusActive:
	case memsearch.StatusSuperseded, memsearch.StatusRetired:
		if r.End().IsZero() {
			return false
		}
	default:
		return false
	}
	return r.HoldsAt(t)
}

// End returns the earliest known end of the row, its own or a cut, to show. It
// is zero when no end is known. A date counts from its midnight UTC.
func (r *Row) End() memsearch.Bound {
	end := r.Valid.Until
	for _, b := range []memsearch.Bound{r.Cut.At, r.Cut.On} {
		if !b.IsZero() && (end.IsZero() || b.Time.Before(end.Time)) {
			end = b
		}
	}
	return end
}

func (r *Row) status() memsearch.Status {
	if r.Status == "" {
		return memsearch.StatusActive
	}
	return r.Status
}

// accepted reports whether a memory of status s was ever a fact, so that what it
// supersedes stays superseded.
func accepted(s memsearch.Status) bool {
	return s == memsearch.StatusActive || s == memsearch.StatusSuperseded || s == memsearch.StatusRetired
}
