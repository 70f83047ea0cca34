package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/index/lexical"
	"github.com/memsearch/memsearch/index/validity"
	"github.com/memsearch/memsearch/index/vector"
	"github.com/memsearch/memsearch/internal/memfile"
	"github.com/memsearch/memsearch/internal/vault"
)

// syncMemory builds the whole index in memory when a file differs.
func (ix *Index) syncMemory(ctx context.Context, o SyncOptions) (_ *SyncReport, err error) {
	if err := ix.enter(ctx, o.Wait); err != nil {
		return nil, err
	}
	defer func() { ix.writing <- struct{}{} }()
	j, err := ix.look(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, j.close()) }()
	if r := j.enough(o); r != nil {
		return r, nil
	}
	all := *j.plan
	all.fresh, all.keep, all.redo, all.dropped = all.entries, nil, nil, nil
	b := &build{ix: ix, plan: &all, next: 1, progress: o.Progress}
	g, err := b.memory(ctx)
	if err != nil {
		return nil, err
	}
	if j.cur != nil {
		g.num = j.cur.num
	}
	g.num++
	ix.mu.Lock()
	closed := ix.closed
	if !closed {
		ix.replace(g)
	}
	ix.mu.Unlock()
	if closed {
		return nil, errors.Join(ErrClosed, g.unref())
	}
	r := j.report(g, true)
	if p := b.embedErr.Load(); p != nil {
		r.EmbedErr = *p
	}
	return r, nil
}

// enter makes the caller the only one who builds in memory.
func (ix *Index) enter(ctx context.Context, wait time.Duration) error {
	select {
	case <-ix.writing:
		return nil
	default:
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ix.writing:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return ErrBusy
	}
}

// memory builds a generation that no directory holds.
func (b *build) memory(ctx context.Context) (_ *generation, err error) {
	g := &generation{}
	g.refs.Store(1)
	defer func() {
		if err != nil {
			err = errors.Join(err, g.close())
		}
	}()
	b.spool = newSpool(b.ix.opts.Embedder, "")
	rest := b.stream(func(rows iter.Seq[validity.Row]) (err error) {
		g.validity, err = validity.Memory(ctx, rows)
		return err
	})
	g.lexical, err = lexical.Memory(ctx, b.docs(ctx))
	if err = errors.Join(b.err, err, rest()); err != nil {
		return nil, err
	}
	if g.units, _, err = b.finish(); err != nil {
		return nil, err
	}
	keys, err := g.lexical.Keys()
	if err != nil {
		return nil, err
	}
	if err = g.units.mapDocs(keys, lexical.Dead); err != nil {
		return nil, err
	}
	if err = g.lexical.Bind(g.units.docs, g.units.len()); err != nil {
		return nil, err
	}
	if b.spool != nil {
		if g.vectors, err = vector.Memory(ctx, vectorOptions(b.ix.opts.Embedder), b.vectors(g.units)); err != nil {
			return nil, err
		}
	}
	g.manifest = b.manifest(g.units)
	g.manifest.Lexical = g.lexical.Stats()
	list := b.list
	g.loadSources = func() ([]source, error) { return list, nil }
	return g, nil
}

// A Document is indexed by [Memory].
type Document struct {
	// Raw, if not nil, is a Markdown file at Path. The other fields then come
	// from it.
	Path string
	Raw  []byte

	// Otherwise the document is one unit with the id ID.
	ID        string
	Title     string
	Text      string
	CreatedAt time.Time
}

// Memory returns an index in memory over docs, ready to be read. Of documents
// with the same id the first keeps it.
func Memory(ctx context.Context, docs []Document, opts *Options) (*Index, error) {
	o := Options{}
	if opts != nil {
		o = *opts
	}
	o.InMemory = true
	src := newDocSource(docs)
	ix, err := Open("", src, &o)
	if err != nil {
		return nil, err
	}
	src.zone = ix.opts.Zone
	ix.file = src.file
	if _, err := ix.Sync(ctx, SyncOptions{}); err != nil {
		return nil, errors.Join(err, ix.Close())
	}
	return ix, nil
}

// A docSource makes documents look like files.
type docSource struct {
	entries []vault.Entry
	docs    map[string]Document
	zone    *time.Location
}

func newDocSource(docs []Document) *docSource {
	s := &docSource{docs: make(map[string]Document, len(docs))}
	for i, d := range docs {
		name := d.Path
		if _, taken := s.docs[name]; taken || d.Raw == nil || name == "" {
			// The names sort as the documents do.
			name = fmt.Sprintf("document/%09d", i)
		}
		s.docs[name] = d
		e := vault.Entry{Path: name, OSPath: name, Inode: uint64(i), Size: int64(len(d.Text))}
		if d.Raw != nil {
			e.Size = int64(len(d.Raw))
		}
		s.entries = append(s.entries, e)
	}
	slices.SortFunc(s.entries, byEntryPath)
	return s
}

// Walk implements [Source].
func (s *docSource) Walk(context.Context) ([]vault.Entry, []vault.Skip, error) {
	return s.entries, nil, nil
}

// ReadEntry implements [Source].
func (s *docSource) ReadEntry(e vault.Entry) ([]byte, error) {
	d, ok := s.docs[e.Path]
	switch {
	case !ok:
		return nil, &fs.PathError{Op: "read", Path: e.Path, Err: fs.ErrNotExist}
	case d.Raw != nil:
		return d.Raw, nil
	}
	return []byte(d.Text), nil
}

// file reads Markdown as memfile does, without a modification time, and makes a
// document that is not Markdown one unit.
func (s *docSource) file(path string, raw []byte, o *memfile.Options) *memfile.File {
	d := s.docs[path]
	if d.Raw != nil {
		o.ModTime = time.Time{}
		return memfile.Parse(path, raw, o)
	}
	f := &memfile.File{Text: d.Text, Body: [2]int{0, len(d.Text)}}
	f.Memory = memsearch.Memory{
		ID: d.ID, Title: d.Title, Status: memsearch.StatusActive, Packable: true, CreatedAt: d.CreatedAt,
	}
	u := memsearch.Unit{
		ID: d.ID, MemoryID: d.ID, Lines: [2]int{1, 1 + bytes.Count(raw, []byte("\n"))}, Bytes: f.Body,
		Text: d.Text, Hash: strconv.FormatUint(xxhash.Sum64(raw), 16), Occurred: noted(d.CreatedAt.In(s.zone)),
	}
	if d.CreatedAt.IsZero() {
		u.Occurred = memsearch.Occurred{}
	}
	f.Units = []memsearch.Unit{u}
	return f
}

// noted dates what was written down at t: a midnight stands for its day.
func noted(t time.Time) memsearch.Occurred {
	o := memsearch.Occurred{
		Span:        memsearch.Span{From: t, Until: t.Add(time.Second)},
		Granularity: memsearch.GranularityInstant,
		Source:      memsearch.DateFrontMatter,
	}
	if h, m, s := t.Clock(); h == 0 && m == 0 && s == 0 && t.Nanosecond() == 0 {
		o.Span.Until, o.Granularity = t.AddDate(0, 0, 1), memsearch.GranularityDay
	}
	return o
}
