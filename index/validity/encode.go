package validity

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/index/key"
)

// openFrom and openUntil stand for the open ends of an occurred span.
const openFrom, openUntil = math.MinInt64, math.MaxInt64

// A binder binds parameters one after another and keeps the first error.
type binder struct {
	s   *sqlite3.Stmt
	n   int
	err error
}

func (b *binder) bind(f func(n int) error) {
	b.n++
	if b.err == nil {
		b.err = f(b.n)
	}
}

func (b *binder) text(v string)  { b.bind(func(n int) error { return b.s.BindText(n, v) }) }
func (b *binder) int(v int64)    { b.bind(func(n int) error { return b.s.BindInt64(n, v) }) }
func (b *binder) null()          { b.bind(b.s.BindNull) }
func (b *binder) real(v float64) { b.bind(func(n int) error { return b.s.BindFloat(n, v) }) }

func (b *binder) bool(v bool) {
	if v {
		b.int(1)
	} else {
		b.int(0)
	}
}

func (b *binder) list(v []string) {
	if len(v) == 0 {
		b.text("")
		return
	}
	j, err := json.Marshal(v)
	if b.err == nil {
		b.err = err
	}
	b.text(string(j))
}

func (b *binder) time(t time.Time) {
	if t.IsZero() {
		b.null()
	} else {
		b.int(t.UnixMicro())
	}
}

// bound binds the instant and the day, of which at most one is not null.
func (b *binder) bound(v memsearch.Bound) {
	switch {
	case v.IsZero():
		b.null()
		b.null()
	case v.Date:
		b.null()
		b.int(memsearch.CivilDay(v.Time))
	default:
		b.int(v.Time.UnixMicro())
		b.null()
	}
}

func encode(s *sqlite3.Stmt, r *Row) error {
	b := &binder{s: s}
	b.int(int64(r.Key))
	for _, v := range []string{r.UnitID, r.MemoryID, r.Path, r.Hash, r.FileHash} {
		b.text(v)
	}
	for _, v := range []int{r.Lines[0], r.Lines[1], r.Bytes[0], r.Bytes[1]} {
		b.int(int64(v))
	}
	for _, v := range []string{string(r.Category), string(r.Kind), string(r.status()), r.Summary, r.Title, r.CanonicalKey} {
		b.text(v)
	}
	b.list(r.Tags)
	b.list(r.Tools)
	b.text(string(r.Trust))
	b.real(r.Confidence)
	b.text(r.Session)
	b.text(r.Turn)
	b.bool(r.Pinned)
	b.bool(r.Packable)
	b.int(int64(r.Tokens))
	b.bound(r.Valid.From)
	b.bound(r.Valid.Until)
	from, until, dated := occurredSpan(r.Occurred)
	if dated {
		b.int(from)
		b.int(until)
	} else {
		b.null()
		b.null()
	}
	b.int(int64(r.Occurred.Granularity))
	b.text(string(r.Occurred.Source))
	b.time(r.CreatedAt)
	b.time(r.UpdatedAt)
	b.time(r.ConfirmedAt)
	b.text(encodeZones(r))
	b.list(r.Supersedes)
	b.list(r.SupersededBy)
	if dated {
		b.int(int64(classOf(from, until, r.Occurred.Source)))
	} else {
		b.null()
	}
	b.bool(r.status() != memsearch.StatusActive || !r.Valid.From.IsZero() || !r.Valid.Until.IsZero())
	return b.err
}

// occurredSpan returns the span in microseconds, at least one long. It reports
// false when there is no date.
func occurredSpan(o memsearch.Occurred) (from, until int64, ok bool) {
	if o.Source == memsearch.DateNone || o.Span.From.IsZero() && o.Span.Until.IsZero() {
		return 0, 0, false
	}
	from, until = openFrom, openUntil
	if !o.Span.From.IsZero() {
		from = o.Span.From.UnixMicro()
	}
	if !o.Span.Until.IsZero() {
		until = o.Span.Until.UnixMicro()
	}
	if until <= from {
		until = from + 1
	}
	return from, until, true
}

func (r *Row) times() [7]*time.Time {
	return [...]*time.Time{&r.Valid.From.Time, &r.Valid.Until.Time, &r.Occurred.Span.From, &r.Occurred.Span.Until,
		&r.CreatedAt, &r.UpdatedAt, &r.ConfirmedAt}
}

// encodeZones returns the offsets of the row's times in seconds east of UTC, or
// "" when all are UTC.
func encodeZones(r *Row) string {
	var sb strings.Builder
	some := false
	for i, t := range r.times() {
		_, off := t.Zone()
		some = some || off != 0
		if i > 0 {
			sb.WriteByte(',')
		}
		sb.WriteString(strconv.Itoa(off))
	}
	if !some {
		return ""
	}
	return sb.String()
}

func decodeZones(r *Row, s string) error {
	if s == "" {
		return nil
	}
	part := strings.Split(s, ",")
	times := r.times()
	if len(part) != len(times) {
		return fmt.Errorf("%d zone offsets, want %d", len(part), len(times))
	}
	for i, t := range times {
		off, err := strconv.Atoi(part[i])
		if err != nil {
			return err
		}
		if off != 0 && !t.IsZero() {
			*t = t.In(time.FixedZone("", off))
		}
	}
	return nil
}

// A scanner reads columns one after another and keeps the first error.
type scanner struct {
	s   *sqlite3.Stmt
	n   int
	err error
}

func (c *scanner) next() int     { c.n++; return c.n - 1 }
func (c *scanner) text() string  { return c.s.ColumnText(c.next()) }
func (c *scanner) int() int64    { return c.s.ColumnInt64(c.next()) }
func (c *scanner) real() float64 { return c.s.ColumnFloat(c.next()) }
func (c *scanner) bool() bool    { return c.s.ColumnBool(c.next()) }

// word reads one of the known words without allocating it anew.
func word[T ~string](c *scanner, known []T) T {
	raw := c.s.ColumnRawText(c.next())
	for _, k := range known {
		if string(raw) == string(k) {
			return k
		}
	}
	return T(raw)
}

func dateSources() []memsearch.DateSource {
	return []memsearch.DateSource{memsearch.DateFrontMatter, memsearch.DateFileName, memsearch.DateText,
		memsearch.DateHeading, memsearch.DateModTime, memsearch.DateNone}
}

func (c *scanner) list() []string {
	s := c.text()
	if s == "" {
		return nil
	}
	var v []string
	if err := json.Unmarshal([]byte(s), &v); err != nil && c.err == nil {
		c.err = err
	}
	return v
}

func (c *scanner) maybe() (int64, bool) {
	n := c.next()
	return c.s.ColumnInt64(n), c.s.ColumnType(n) != sqlite3.NULL
}

func (c *scanner) time() time.Time {
	v, ok := c.maybe()
	if !ok {
		return time.Time{}
	}
	return time.UnixMicro(v).UTC()
}

func (c *scanner) bound() memsearch.Bound {
	at, isTime := c.maybe()
	day, isDay := c.maybe()
	switch {
	case isTime:
		return instant(at)
	case isDay:
		return date(day)
	}
	return memsearch.Bound{}
}

func instant(us int64) memsearch.Bound {
	return memsearch.Bound{Time: time.UnixMicro(us).UTC()}
}

func date(day int64) memsearch.Bound {
	return memsearch.Bound{Time: time.Unix(day*86400, 0).UTC(), Date: true}
}

// decode reads a row of selectRow.
func decode(s *sqlite3.Stmt) (Row, error) {
	c := &scanner{s: s}
	var r Row
	r.Key = key.Key(c.int())
	for _, p := range []*string{&r.UnitID, &r.MemoryID, &r.Path, &r.Hash, &r.FileHash} {
		*p = c.text()
	}
	for _, p := range []*int{&r.Lines[0], &r.Lines[1], &r.Bytes[0], &r.Bytes[1]} {
		*p = int(c.int())
	}
	r.Category = memsearch.Category(c.text())
	r.Kind = memsearch.Kind(c.text())
	r.Status = memsearch.Status(c.text())
	r.Summary, r.Title, r.CanonicalKey = c.text(), c.text(), c.text()
	r.Tags, r.Tools = c.list(), c.list()
	r.Trust = memsearch.Trust(c.text())
	r.Confidence = c.real()
	r.Session, r.Turn = c.text(), c.text()
	r.Pinned, r.Packable = c.bool(), c.bool()
	r.Tokens = int(c.int())
	r.Valid.From, r.Valid.Until = c.bound(), c.bound()
	r.Occurred.Span = c.span()
	r.Occurred.Granularity = memsearch.Granularity(c.int())
	r.Occurred.Source = memsearch.DateSource(c.text())
	r.CreatedAt, r.UpdatedAt, r.ConfirmedAt = c.time(), c.time(), c.time()
	zones := c.text()
	r.Supersedes, r.SupersededBy = c.list(), c.list()
	r.Cut = c.cut(&r)
	if c.err == nil {
		c.err = decodeZones(&r, zones)
	}
	if c.err != nil {
		return Row{}, fmt.Errorf("decode row %#x: %w", uint64(r.Key), c.err)
	}
	return r, nil
}

func (c *scanner) span() memsearch.Span {
	from, ok := c.maybe()
	until, _ := c.maybe()
	if !ok {
		return memsearch.Span{}
	}
	return spanOf(from, until)
}

func spanOf(from, until int64) (s memsearch.Span) {
	if from != openFrom {
		s.From = time.UnixMicro(from).UTC()
	}
	if until != openUntil {
		s.Until = time.UnixMicro(until).UTC()
	}
	return s
}

// cut reads the cut of r, whose validity and time of recording are read.
func (c *scanner) cut(r *Row) (cut Cut) {
	kind := c.int()
	if at, ok := c.maybe(); ok {
		cut.At = instant(at)
	}
	if day, ok := c.maybe(); ok {
		cut.On = date(day)
	}
	cut.Undated = kind&^cutBegins == cutUndated
	if kind&cutBegins != 0 && r.Valid.From.IsZero() && !r.CreatedAt.IsZero() {
		cut.Start = memsearch.Bound{Time: r.CreatedAt}
	}
	return cut
}
