package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/embed"
	"github.com/memsearch/memsearch/index/analysis"
	"github.com/memsearch/memsearch/index/key"
	"github.com/memsearch/memsearch/index/lexical"
	"github.com/memsearch/memsearch/index/validity"
)

// A CheckReport says where index and files disagree.
type CheckReport struct {
	Generation  int
	State       State
	Files       int // read
	Units       int // in the index
	Documents   int // in the keyword index
	Vectors     int // rows
	Missing     int // units that wait for their vectors
	Terms       int // distinct terms of the files
	Differences []Difference
}

// Clean reports whether index and files agree.
func (r *CheckReport) Clean() bool { return len(r.Differences) == 0 }

// A Difference is one thing that the index has otherwise than the files. Path is
// empty when it is no single file's.
type Difference struct {
	Path, What string
}

// String returns the difference in one line.
func (d Difference) String() string {
	if d.Path == "" {
		return d.What
	}
	return d.Path + ": " + d.What
}

// Check reads every file again and compares the index with what comes out, by
// content: units, dates, validity, the statistics and terms of the keyword
// index, and the vectors. An error means that it could not look; what does not
// agree is in the report.
func (ix *Index) Check(ctx context.Context) (*CheckReport, error) {
	r := &CheckReport{}
	g, err := ix.acquire(ctx)
	if u, ok := errors.AsType[*Unusable](err); ok {
		r.State = u.State
		r.Differences = append(r.Differences, Difference{What: u.Error()})
		return r, nil
	}
	if err != nil {
		return nil, fmt.Errorf("check index: %w", err)
	}
	c := &checker{ix: ix, g: g, r: r, dict: map[string]bool{}}
	err = c.run(ctx)
	if err := errors.Join(err, g.unref()); err != nil {
		return nil, fmt.Errorf("check index: %w", err)
	}
	slices.SortFunc(r.Differences, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.What, b.What))
	})
	return r, nil
}

// A checker compares one generation with the files.
type checker struct {
	ix   *Index
	g    *generation
	r    *CheckReport
	plan *plan

	mu    sync.Mutex
	list  []source
	files []checkedFile
	stats lexical.Stats
	dict  map[string]bool // terms of the files
}

// A checkedFile is what a file should be in the index.
type checkedFile struct {
	src  source
	rows []validity.Row
	vecs []int // rows of vectors of each unit
}

func (c *checker) differ(path, format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.r.Differences = append(c.r.Differences, Difference{path, fmt.Sprintf(format, args...)})
}

func (c *checker) run(ctx context.Context) error {
	m := c.g.manifest
	c.r.Generation, c.r.Units, c.r.Missing, c.r.State = c.g.num, m.Units, m.Missing, StateEqual
	if m.Options != c.ix.optionsHash() {
		c.r.State = StateOptions
		c.differ("", "it was analysed with other settings")
		return nil
	}
	if m.Model != c.ix.model() {
		c.r.State = StateModel
		c.differ("", "vectors are of %s, want %s", modelName(m.Model), modelName(c.ix.model()))
	}
	if c.g.held != nil {
		if err := validity.Verify(ctx, filepath.Join(c.g.held.dir, validityName)); err != nil {
			c.differ("", "%v", err)
		}
	}
	old, err := c.g.sources()
	if err != nil {
		return err
	}
	if c.plan, err = c.ix.walk(ctx); err != nil {
		return err
	}
	c.files = make([]checkedFile, len(c.plan.entries))
	if err := parallel(ctx, len(c.plan.entries), func(i int) error { return c.read(ctx, i, old) }); err != nil {
		return err
	}
	c.identify(old)
	if err := c.compareRows(ctx); err != nil {
		return err
	}
	return c.compareTerms()
}

// read parses a file and counts its terms. The file keeps the number it has in
// the index, so that keys can be compared.
func (c *checker) read(ctx context.Context, i int, old []source) error {
	e := c.plan.entries[i]
	number := uint32(0)
	at := findSource(old, e.Path)
	if at >= 0 {
		number = old[at].File
	}
	p, ok := c.ix.parse(c.plan, e, number)
	switch {
	case !ok:
		return nil
	case at < 0:
		c.differ(e.Path, "is not indexed")
	case p.src.Hash != old[at].Hash || p.src.Skip != old[at].Skip:
		c.differ(e.Path, "changed since it was indexed")
	case p.src.Units != old[at].Units:
		c.differ(e.Path, "has %d units, the index has %d", p.src.Units, old[at].Units)
	}
	f := checkedFile{src: p.src}
	stats := lexical.Stats{}
	terms := map[string]bool{}
	for j := range p.units {
		u := &p.units[j]
		f.rows = append(f.rows, u.row)
		f.vecs = append(f.vecs, len(u.texts))
		for k := range u.docs {
			stats.Docs++
			for field, text := range u.docs[k].Fields {
				list := analysis.Terms(nil, text)
				stats.Len[field] += int64(len(list))
				stats.Has[field] += int64(min(len(list), 1))
				for _, t := range list {
					terms[t] = true
				}
			}
		}
		if err := c.compareVectors(ctx, u); err != nil {
			return err
		}
	}
	c.files[i] = f
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats.Docs += stats.Docs
	for field := range stats.Len {
		c.stats.Len[field] += stats.Len[field]
		c.stats.Has[field] += stats.Has[field]
	}
	for t := range terms {
		c.dict[t] = true
	}
	return nil
}

// identify gives the files their ids and reports indexed files that are gone.
func (c *checker) identify(old []source) {
	for i := range c.files {
		if c.files[i].src.Path != "" {
			c.list = append(c.list, c.files[i].src)
		}
	}
	c.r.Files = len(c.list)
	assignIDs(c.list, func(*source) {})
	for i := range c.files {
		if at := findSource(c.list, c.files[i].src.Path); at >= 0 {
			for j := range c.files[i].rows {
				rename(&c.files[i].rows[j], c.list[at].ID)
			}
		}
	}
	for i := range old {
		if findSource(c.list, old[i].Path) < 0 {
			c.differ(old[i].Path, "is gone and still indexed")
		}
	}
}

// compareRows compares the units with the validity table and the unit table.
func (c *checker) compareRows(ctx context.Context) error {
	rows, err := c.g.validity.List(ctx, validity.ListFilter{Units: true})
	if err != nil {
		return err
	}
	have := make(map[string]*validity.Row, len(rows))
	for i := range rows {
		have[rows[i].UnitID] = &rows[i]
		ord, ok := c.g.units.find(rows[i].UnitID)
		if !ok || c.g.units.keys[ord] != rows[i].Key {
			c.differ(rows[i].Path, "unit %s is not where the index looks for it", rows[i].UnitID)
		}
	}
	if len(rows) != c.g.units.len() {
		c.differ("", "%d units in the validity table, %d in the index", len(rows), c.g.units.len())
	}
	for i := range c.files {
		for j := range c.files[i].rows {
			want := &c.files[i].rows[j]
			got, ok := have[want.UnitID]
			if !ok {
				c.differ(want.Path, "unit %s is not indexed", want.UnitID)
				continue
			}
			delete(have, want.UnitID)
			if field := unlike(want, got); field != "" {
				c.differ(want.Path, "unit %s has another %s in the index", want.UnitID, field)
			}
		}
	}
	for _, row := range have {
		c.differ(row.Path, "unit %s is indexed and not in the file", row.UnitID)
	}
	return nil
}

// compareTerms compares the totals and the vocabulary of the keyword index.
func (c *checker) compareTerms() error {
	got := c.g.lexical.Stats()
	c.r.Documents, c.r.Terms = int(got.Docs), len(c.dict)
	if got != c.stats {
		c.differ("", "keyword index counts %+v, the files give %+v", got, c.stats)
	}
	if m := c.g.manifest.Lexical; m != got {
		c.differ("", "keyword index counts %+v, its manifest says %+v", got, m)
	}
	missing := 0
	seen := make(map[string]bool, len(c.dict))
	err := c.g.lexical.Dictionary(func(term string) bool {
		seen[term] = true
		return true
	})
	if err != nil {
		return err
	}
	for t := range c.dict {
		if !seen[t] {
			missing++
		}
	}
	if missing > 0 {
		c.differ("", "%d terms of the files are not in the keyword index", missing)
	}
	return nil
}

// sameVector is the cosine above which a stored row counts as the row it was
// made from. Rounding to int8 leaves .9999 of most rows, a little less of those
// of very short texts.
const sameVector = .998

// compareVectors compares the rows of a unit: their number, and where embedding
// costs nothing their direction.
func (c *checker) compareVectors(ctx context.Context, u *parsedUnit) error {
	e := c.ix.opts.Embedder
	if e == nil || c.g.vectors == nil || c.r.State == StateModel {
		return nil
	}
	ord, ok := c.g.units.ordinal(u.row.Key)
	if !ok {
		return nil // reported with the rows
	}
	have := c.g.vectors.UnitRows(ord)
	c.mu.Lock()
	c.r.Vectors += len(have)
	c.mu.Unlock()
	if len(have) != len(u.texts) {
		c.differ(u.row.Path, "unit %d has %d vectors, want %d", u.row.Key.Unit(), len(have), len(u.texts))
		return nil
	}
	if cheap, ok := embed.As[embed.Cheap](e); !ok || !cheap.Cheap() {
		return nil
	}
	want, err := e.Embed(ctx, u.texts, embed.Passage)
	if err != nil {
		return err
	}
	for i := range want {
		if near := dot(want[i], have[i]); near < sameVector && dot(want[i], want[i]) > 0 {
			c.differ(u.row.Path, "unit %d has another vector %d in the index: cosine %.4f", u.row.Key.Unit(), i, near)
		}
	}
	return nil
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// unlike returns the name of the first field in which two rows differ.
func unlike(want, got *validity.Row) string {
	type field struct {
		name string
		same bool
	}
	moment := func(a, b time.Time) bool { return a.Truncate(time.Microsecond).Equal(b.Truncate(time.Microsecond)) }
	bound := func(a, b memsearch.Bound) bool { return a.Date == b.Date && moment(a.Time, b.Time) }
	for _, f := range []field{
		{"key", want.Key == got.Key || want.Key == key.Make(0, want.Key.Unit(), 0)},
		{"memory", want.MemoryID == got.MemoryID},
		{"path", want.Path == got.Path},
		{"line range", want.Lines == got.Lines && want.Bytes == got.Bytes},
		{"hash", want.Hash == got.Hash && want.FileHash == got.FileHash},
		{"category", want.Category == got.Category && want.Kind == got.Kind},
		{"status", want.Status == got.Status},
		{"summary", want.Summary == got.Summary && want.Title == got.Title},
		{"canonical key", want.CanonicalKey == got.CanonicalKey},
		{"list of tags or tools", slices.Equal(want.Tags, got.Tags) && slices.Equal(want.Tools, got.Tools)},
		{"source", want.Trust == got.Trust && want.Session == got.Session && want.Turn == got.Turn},
		{"confidence", want.Confidence == got.Confidence},
		{"packing", want.Pinned == got.Pinned && want.Packable == got.Packable},
		{"token count", want.Tokens == got.Tokens},
		{"validity", bound(want.Valid.From, got.Valid.From) && bound(want.Valid.Until, got.Valid.Until)},
		{"date", moment(want.Occurred.Span.From, got.Occurred.Span.From) &&
			moment(want.Occurred.Span.Until, got.Occurred.Span.Until) &&
			want.Occurred.Granularity == got.Occurred.Granularity && want.Occurred.Source == got.Occurred.Source},
		{"recorded time", moment(want.CreatedAt, got.CreatedAt) && moment(want.UpdatedAt, got.UpdatedAt) &&
			moment(want.ConfirmedAt, got.ConfirmedAt)},
		{"list of superseded memories", slices.Equal(want.Supersedes, got.Supersedes) &&
			slices.Equal(want.SupersededBy, got.SupersededBy)},
	} {
		if !f.same {
			return f.name
		}
	}
	return ""
}
