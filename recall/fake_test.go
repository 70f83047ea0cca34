package recall_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/index"
	"github.com/memsearch/memsearch/index/analysis"
	"github.com/memsearch/memsearch/index/lexical"
	"github.com/memsearch/memsearch/index/validity"
	"github.com/memsearch/memsearch/recall"
)

// now is the moment of every test's query.
var now = time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)

// A note is a unit of a fake index.
type note struct {
	id   string // unit id; the memory id is what stands before '#'
	text string
	cos  float32 // cosine to any query
	row  validity.Row
	file error // what reading the text returns
}

// A fake is an index whose retrievers are simple enough to work out by hand: the
// lexical score of a unit is the number of query words in its text, of an ideal
// equal to the number of words asked, and the cosine is the note's own.
type fake struct {
	notes []note
	known bool // the model knows the query
	model bool // there is one

	fail  map[string]error         // by method
	block map[string]chan struct{} // by method: wait for it, or for ctx
	panic map[string]bool
	exact []string // unit ids
}

func newFake(notes ...note) *fake {
	slices.SortFunc(notes, func(a, b note) int { return cmp.Compare(a.id, b.id) })
	f := &fake{notes: notes, known: true, model: true, fail: map[string]error{}, block: map[string]chan struct{}{}, panic: map[string]bool{}}
	for i := range f.notes {
		n := &f.notes[i]
		n.row.UnitID = n.id
		n.row.MemoryID, _, _ = strings.Cut(n.id, "#")
		n.row.Path = cmp.Or(n.row.Path, n.row.MemoryID+".md")
		n.row.Status = cmp.Or(n.row.Status, memsearch.StatusActive)
		n.row.Hash = cmp.Or(n.row.Hash, fmt.Sprintf("h-%s-%d", n.id, len(n.text)))
		n.row.Lines = [2]int{1, 1 + strings.Count(n.text, "\n")}
		n.row.Tokens = len(n.text)
	}
	return f
}

func (f *fake) enter(ctx context.Context, method string) error {
	if f.panic[method] {
		panic("fake " + method)
	}
	if c := f.block[method]; c != nil {
		select {
		case <-c:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return f.fail[method]
}

func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return strings.ContainsRune(" \t\r\n.,;:?!#<>/", r) })
}

func (f *fake) Len() int { return len(f.notes) }

func (f *fake) Lexical(ctx context.Context, text string) (*lexical.Result, error) {
	if err := f.enter(ctx, "lexical"); err != nil {
		return nil, err
	}
	asked := map[string]bool{}
	for _, w := range words(text) {
		asked[w] = true
	}
	r := &lexical.Result{Score: make([]float32, len(f.notes)), Mass: make([]float32, len(f.notes)), Ideal: float64(len(asked))}
	df := map[string]int{}
	for i, n := range f.notes {
		has := map[string]bool{}
		for _, w := range words(n.text) {
			if asked[w] && !has[w] {
				has[w] = true
				df[w]++
			}
		}
		r.Score[i] = float32(len(has))
		r.Mass[i] = float32(len(has)) / float32(max(len(asked), 1))
	}
	for _, w := range slices.Sorted(maps.Keys(asked)) {
		r.Terms = append(r.Terms, lexical.TermStat{Text: w, IDF: 1, DF: df[w], Kind: analysis.KindWord})
	}
	for i, n := range f.notes {
		if slices.Contains(f.exact, n.id) {
			r.Exact = append(r.Exact, uint32(i))
		}
	}
	return r, nil
}

func (f *fake) Vector(ctx context.Context, text string) (*index.VectorResult, error) {
	if err := f.enter(ctx, "vector"); err != nil {
		return nil, err
	}
	if !f.model {
		return nil, nil
	}
	r := &index.VectorResult{Cos: make([]float32, len(f.notes)), Known: f.known, Model: "fake"}
	for i, n := range f.notes {
		r.Cos[i] = n.cos
	}
	return r, nil
}

func (f *fake) Temporal(ctx context.Context, spans []memsearch.Span, limit int) ([]index.TemporalHit, error) {
	if err := f.enter(ctx, "temporal"); err != nil {
		return nil, err
	}
	var out []index.TemporalHit
	for i, n := range f.notes {
		o := n.row.Occurred
		if o.Source != memsearch.DateNone && slices.ContainsFunc(spans, o.Span.Overlaps) {
			out = append(out, index.TemporalHit{Ord: uint32(i), Span: o.Span, Granularity: o.Granularity, Source: o.Source})
		}
	}
	return out, nil
}

func (f *fake) Excluded(ctx context.Context, q validity.Filter) (index.Mask, error) {
	if err := f.enter(ctx, "filter"); err != nil {
		return nil, err
	}
	m := index.NewMask(len(f.notes))
	for i := range f.notes {
		r := &f.notes[i].row
		out := q.AsOf.IsZero() && !r.CurrentAt(q.Now) || !q.AsOf.IsZero() && !r.ValidAt(q.AsOf) ||
			len(q.Categories) > 0 && !slices.Contains(q.Categories, r.Category) || q.Turn != "" && r.Turn == q.Turn
		if out {
			m.Set(uint32(i))
		}
	}
	return m, nil
}

func (f *fake) Records(ctx context.Context, ords []uint32) ([]validity.Row, error) {
	if err := f.enter(ctx, "records"); err != nil {
		return nil, err
	}
	out := make([]validity.Row, len(ords))
	for i, o := range ords {
		out[i] = f.notes[o].row
	}
	return out, nil
}

func (f *fake) Text(ctx context.Context, row validity.Row) (string, error) {
	if err := f.enter(ctx, "text"); err != nil {
		return "", err
	}
	i := slices.IndexFunc(f.notes, func(n note) bool { return n.id == row.UnitID })
	return f.notes[i].text, f.notes[i].file
}

func (f *fake) List(ctx context.Context, q validity.ListFilter) ([]validity.Row, error) {
	if err := f.enter(ctx, "list"); err != nil {
		return nil, err
	}
	var out []validity.Row
	for i := range f.notes {
		r := f.notes[i].row
		first := i == 0 || f.notes[i-1].row.MemoryID != r.MemoryID
		if (!q.Pinned || r.Pinned) && (len(q.Kinds) == 0 || slices.Contains(q.Kinds, r.Kind)) && (q.CurrentAt.IsZero() || r.CurrentAt(q.CurrentAt)) &&
			(q.Under == "" || r.Path == q.Under) && (len(q.Categories) == 0 || slices.Contains(q.Categories, r.Category)) && (q.Units || first) {
			out = append(out, r)
		}
	}
	return out, nil
}

func engine(o *recall.Options, fakes ...*fake) *recall.Engine {
	var scopes []recall.Scope
	for i, f := range fakes {
		scopes = append(scopes, recall.Scope{Name: []string{"user", "project", "agent"}[i], Snapshot: f})
	}
	return recall.New(scopes, o)
}

func ask(t *testing.T, e *recall.Engine, q memsearch.Query) *memsearch.Result {
	t.Helper()
	if q.Now.IsZero() {
		q.Now = now
	}
	res, err := e.Recall(t.Context(), q)
	if err != nil {
		t.Fatalf("Recall(%q): %v", q.Text, err)
	}
	return res
}

func ids(res *memsearch.Result) []string {
	out := []string{}
	for _, h := range res.Hits {
		out = append(out, h.ID)
	}
	return out
}

func day(y int, m time.Month, d int) memsearch.Occurred {
	from := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	return memsearch.Occurred{Span: memsearch.Span{From: from, Until: from.AddDate(0, 0, 1)},
		Granularity: memsearch.GranularityDay, Source: memsearch.DateFileName}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-6 }
