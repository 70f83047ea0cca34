package lexical

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	segment "github.com/blevesearch/scorch_segment_api/v2"
	zap "github.com/blevesearch/zapx/v17"

	"github.com/memsearch/memsearch/index/analysis"
)

// errUnbound is a mistake of the caller.
var errUnbound = errors.New("keyword index is searched before its documents are bound to units")

// A cursor is the state of one search. Its arrays are by document number and
// all zero between searches.
type cursor struct {
	r      *Reader
	p      *Params
	dicts  [][analysis.NumFields]segment.TermDictionary // by segment; nil: not looked up yet
	list   segment.PostingsList
	it     segment.PostingsIterator
	prior  float64
	norm   [analysis.NumFields]float64 // prior + average length
	long   [analysis.NumFields]float64 // the most that a length counts
	tf     []float32                   // of the term at hand
	seen   []uint32                    // documents that hold it
	score  []float64
	mass   []float64
	groups map[int]bool // identifiers that were found
	exact  []uint32
}

// A variant is a term of the index that stands for a term of the query.
type variant struct {
	text   string
	weight float32
}

// Search scores every unit for text. A nil p is [DefaultParams].
func (r *Reader) Search(ctx context.Context, text string, p *Params) (res *Result, err error) {
	defer guard(&err)
	if r.units == nil && r.docs > 0 {
		return nil, errUnbound
	}
	if p == nil {
		p = &DefaultParams
	}
	res = &Result{Score: make([]float32, r.n), Mass: make([]float32, r.n)}
	q := analysis.Parse(text)
	c := r.cursor(p, slices.ContainsFunc(q.Terms, func(t analysis.Term) bool {
		return t.Kind == analysis.KindHan || t.Kind == analysis.KindBigram
	}))
	total, err := c.terms(ctx, q.Terms, res)
	if err != nil {
		return nil, err
	}
	res.Ideal = 1e-6 + total*(p.K1+1)
	c.collect(res, total)
	if len(c.exact) > 0 {
		slices.Sort(c.exact)
		res.Exact = slices.Compact(slices.Clone(c.exact))
	}
	r.pool.Put(c)
	return res, nil
}

// terms scores the terms and returns the idf mass of the query. Stop words come
// last and count only in documents that hold something else as well: alone they
// are no match.
func (c *cursor) terms(ctx context.Context, terms []analysis.Term, res *Result) (total float64, err error) {
	res.Terms = make([]TermStat, len(terms))
	isStop := func(t analysis.Term) bool { return t.Kind == analysis.KindStop }
	onlyStop := !slices.ContainsFunc(terms, func(t analysis.Term) bool { return !isStop(t) })
	for _, stop := range []bool{false, true} {
		for i, t := range terms {
			if isStop(t) != stop {
				continue
			}
			if ctx.Err() != nil {
				return 0, context.Cause(ctx)
			}
			if stop && !onlyStop {
				res.Terms[i], err = c.stopWord(t)
			} else {
				res.Terms[i], err = c.term(t)
			}
			if err != nil {
				return 0, err
			}
			if st := res.Terms[i]; !(stop && !onlyStop) && (st.DF > 0 || !t.Optional) {
				total += repeated(t) * st.IDF
			}
		}
	}
	return total, nil
}

// repeated returns what the occurrences of t in the query count: the first in
// full, all together no more than queryK+1 times as much. It is BM25's saturation
// of query terms (Robertson et al. 1995, k3): filler repeated a hundred times must
// not drown the one word that is asked for.
func repeated(t analysis.Term) float64 {
	n := float64(t.Count)
	return float64(t.Weight) * (queryK + 1) * n / (queryK + n)
}

// maxLength is how many times the average a text counts as long at most. Without it
// the one fact in a page among thousands of short notes weighs less than the noise
// of vectors. No text of the development sets is as long.
const maxLength = 10

// queryK is k3 of BM25.
const queryK = 2

// cursor returns a clean cursor. One that a failed search left dirty is not put
// back.
func (r *Reader) cursor(p *Params, han bool) *cursor {
	c, _ := r.pool.Get().(*cursor)
	if c == nil {
		c = &cursor{r: r, dicts: make([][analysis.NumFields]segment.TermDictionary, len(r.segs)),
			tf: make([]float32, r.docs), score: make([]float64, r.docs), mass: make([]float64, r.docs), groups: map[int]bool{}}
	}
	c.p = p
	clear(c.groups)
	c.exact = c.exact[:0]
	c.prior = p.Prior
	if han {
		c.prior = p.HanPrior
	}
	st := &r.list.Stats
	for f := range fieldNames {
		avg := mean(st.Len[f], st.Has[f])
		c.norm[f], c.long[f] = c.prior+avg, maxLength*avg
	}
	return c
}

// mean returns sum / n, 0 for nothing.
func mean(sum, n int64) float64 {
	if n == 0 {
		return 0
	}
	return float64(sum) / float64(n)
}

// term adds the scores of one query term.
func (c *cursor) term(t analysis.Term) (TermStat, error) {
	st := TermStat{Text: t.Text, Kind: t.Kind}
	variants := []variant{{t.Text, 1}}
	if t.Kind == analysis.KindHex {
		more, err := c.hex(t.Text)
		if err != nil {
			return st, err
		}
		variants = append(variants, more...)
	}
	c.seen = c.seen[:0]
	if err := c.postings(variants); err != nil {
		return st, err
	}
	if len(c.seen) == 0 && isWord(t) {
		fuzzy, err := c.fuzzy(t.Text)
		if err != nil {
			return st, err
		}
		if err := c.postings(fuzzy); err != nil {
			return st, err
		}
		for _, v := range fuzzy {
			st.Fuzzy = append(st.Fuzzy, v.text)
		}
	}
	st.DF = len(c.seen)
	st.IDF = idf(c.r.list.Stats.Docs, st.DF)
	gain := repeated(t) * st.IDF
	for _, d := range c.seen {
		tf := float64(c.tf[d])
		c.score[d] += gain * tf * (c.p.K1 + 1) / (c.p.K1 + tf)
		c.mass[d] += gain
		c.tf[d] = 0
	}
	if t.Group > 0 && st.DF > 0 && !c.groups[t.Group] && st.Fuzzy == nil {
		c.groups[t.Group] = true
		c.identify()
	}
	return st, nil
}

// stopWord adds what a stop word counts in documents that already have a score.
// One that stands in a large share of all documents tells too little for the
// time that reading its postings takes.
func (c *cursor) stopWord(t analysis.Term) (TermStat, error) {
	st := TermStat{Text: t.Text, Kind: t.Kind}
	n, err := c.count(t.Text)
	if err != nil || c.p.Stop == 0 || float64(n) > maxStopShare*float64(c.r.list.Stats.Docs) {
		return st, err
	}
	c.seen = c.seen[:0]
	if err := c.postings([]variant{{t.Text, 1}}); err != nil {
		return st, err
	}
	st.DF = len(c.seen)
	gain := c.p.Stop * repeated(t) * idf(c.r.list.Stats.Docs, st.DF)
	for _, d := range c.seen {
		if tf := float64(c.tf[d]); c.score[d] > 0 {
			c.score[d] += gain * tf * (c.p.K1 + 1) / (c.p.K1 + tf)
		}
		c.tf[d] = 0
	}
	return st, nil
}

// count returns in how many fields of live documents a term stands.
func (c *cursor) count(term string) (n uint64, err error) {
	for i, s := range c.r.segs {
		for f := range fieldNames {
			d, err := c.dict(i, f)
			if err != nil {
				return 0, err
			}
			if c.list, err = d.PostingsList([]byte(term), s.deleted, c.list); err != nil {
				return 0, fmt.Errorf("read postings: %w", err)
			}
			n += c.list.Count()
		}
	}
	return n, nil
}

// identify notes the units of the term at hand when they are few.
func (c *cursor) identify() {
	n := len(c.exact)
	for _, d := range c.seen {
		if u := c.r.units[d]; !slices.Contains(c.exact[n:], u) {
			if len(c.exact)-n == MaxExact {
				c.exact = c.exact[:n]
				return
			}
			c.exact = append(c.exact, u)
		}
	}
}

// idf is Lucene's: never negative.
func idf(docs int64, df int) float64 {
	return math.Log(1 + (float64(docs)-float64(df)+.5)/(float64(df)+.5))
}

// postings adds up tf over the fields of every live document that holds one of
// variants.
func (c *cursor) postings(variants []variant) error {
	for i, s := range c.r.segs {
		for _, v := range variants {
			for f := range fieldNames {
				if c.p.Weight[f] == 0 {
					continue
				}
				if err := c.field(i, s, f, v); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (c *cursor) field(i int, s *readSegment, f int, v variant) error {
	d, err := c.dict(i, f)
	if err != nil {
		return err
	}
	c.list, err = d.PostingsList([]byte(v.text), s.deleted, c.list)
	if err != nil {
		return fmt.Errorf("read postings: %w", err)
	}
	if c.list.Count() == 0 {
		return nil // an empty list that was used before has no iterator
	}
	c.it = c.list.Iterator(true, true, false, c.it)
	w := c.p.Weight[f] * float64(v.weight)
	for {
		p, err := c.it.Next()
		if err != nil {
			return fmt.Errorf("read postings: %w", err)
		}
		if p == nil {
			return nil
		}
		z := p.(*zap.Posting)
		n := s.base + uint32(z.Number())
		if c.tf[n] == 0 {
			c.seen = append(c.seen, n)
		}
		c.tf[n] += float32(w * float64(z.Frequency()) * c.norm[f] / (c.prior + min(float64(z.NormUint64()), c.long[f])))
	}
}

func (c *cursor) dict(i, f int) (segment.TermDictionary, error) {
	d := c.dicts[i][f]
	if d == nil {
		var err error
		if d, err = c.r.segs[i].Segment.Dictionary(fieldNames[f]); err != nil {
			return nil, fmt.Errorf("read dictionary: %w", err)
		}
		c.dicts[i][f] = d
	}
	return d, nil
}

// collect keeps the best document of every unit and cleans the arrays.
func (c *cursor) collect(res *Result, total float64) {
	for d, s := range c.score {
		if s == 0 {
			continue
		}
		u := c.r.units[d]
		score, mass := float32(s), float32(c.mass[d]/total)
		if score > res.Score[u] || score == res.Score[u] && mass > res.Mass[u] {
			res.Score[u], res.Mass[u] = score, mass
		}
		c.score[d], c.mass[d] = 0, 0
	}
}
