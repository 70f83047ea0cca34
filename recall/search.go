package recall

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/index"
	"github.com/memsearch/memsearch/index/lexical"
)

// Arms says which retrievers take part in a ranking.
type Arms uint8

// The retrievers, and all of them together.
const (
	ArmBM25 Arms = 1 << iota
	ArmVector
	ArmTemporal

	ArmHybrid = ArmBM25 | ArmVector | ArmTemporal
)

// armNames pairs each arm with the name it has in options and reports.
var armNames = []struct {
	arm  Arms
	name string
}{{ArmHybrid, "hybrid"}, {ArmBM25, "bm25"}, {ArmVector, "vector"}, {ArmTemporal, "temporal"}}

// String returns the arm's name, as [ParseArms] reads it.
func (a Arms) String() string {
	for _, n := range armNames {
		if n.arm == a {
			return n.name
		}
	}
	return fmt.Sprintf("arms(%d)", uint8(a))
}

// ParseArms reads the name of an arm.
func ParseArms(name string) (Arms, error) {
	for _, n := range armNames {
		if n.name == name {
			return n.arm, nil
		}
	}
	return 0, fmt.Errorf("%w: no arm %q, want hybrid, bm25, vector or temporal", ErrQuery, name)
}

// A stage is one of the four questions asked of a scope at the same time.
type stage int

const (
	stageLexical stage = iota
	stageVector
	stageTemporal
	stageFilter
	numStages
)

var stageNames = [numStages]string{"lexical", "vector", "temporal", "filter"}

// An answer is what one stage found.
type answer struct {
	stage stage
	lex   *lexical.Result
	vec   *index.VectorResult
	times []index.TemporalHit
	mask  index.Mask
	err   error
}

// A search is what the retrievers say about one scope.
type search struct {
	scope  Scope
	n      int // units
	ask    *ask
	arms   Arms
	fusion fusion
	times  []index.TemporalHit
	errs   [numStages]error

	fused []float64 // by ordinal, pooled
	dates []float32 // by ordinal, pooled; nil: no date asked
}

// scratch holds the arrays of finished searches, so that a query allocates
// nothing that grows with the index.
var scratch = struct{ fused, dates sync.Pool }{}

func grab[T any](p *sync.Pool, n int) []T {
	if s, ok := p.Get().(*[]T); ok && cap(*s) >= n {
		return (*s)[:n]
	}
	return make([]T, n)
}

func (s *search) close() {
	// The pools keep the slices, not the fields, which are emptied here.
	if fused := s.fused; fused != nil {
		scratch.fused.Put(&fused)
	}
	if dates := s.dates; dates != nil {
		scratch.dates.Put(&dates)
	}
	s.fused, s.dates, s.fusion.date = nil, nil, nil
}

// errPanic is what a retriever that panicked is said to have returned.
var errPanic = errors.New("internal fault")

// searchScope asks the retrievers at the same time and fuses their answers. A
// retriever that fails, or is not done when ctx is, leaves its error in errs.
func (e *Engine) searchScope(ctx context.Context, sc Scope, a *ask, arms Arms) *search {
	s := &search{scope: sc, ask: a, arms: arms, n: sc.Snapshot.Len()}
	snap := sc.Snapshot
	answers := make(chan answer, numStages)
	waiting := [numStages]bool{}
	start := func(st stage, f func() answer) {
		waiting[st] = true
		e.running.Go(func() {
			r := answer{err: errPanic}
			defer func() {
				if p := recover(); p != nil {
					e.opts.Logger.Warn("retriever panicked", "stage", stageNames[st], "scope", sc.Name, "panic", p)
				}
				r.stage = st
				answers <- r
			}()
			r = f()
		})
	}
	start(stageFilter, func() (r answer) { r.mask, r.err = snap.Excluded(ctx, a.filter); return r })
	if arms&ArmBM25 != 0 {
		start(stageLexical, func() (r answer) { r.lex, r.err = snap.Lexical(ctx, a.text); return r })
	}
	if arms&ArmVector != 0 {
		start(stageVector, func() (r answer) { r.vec, r.err = snap.Vector(ctx, a.text); return r })
	}
	if arms&ArmTemporal != 0 && len(a.dates) > 0 {
		start(stageTemporal, func() (r answer) { r.times, r.err = snap.Temporal(ctx, a.spans(), 0); return r })
	}
	for slices.Contains(waiting[:], true) {
		select {
		case r := <-answers:
			waiting[r.stage] = false
			s.take(r)
		case <-ctx.Done():
			for st, w := range waiting {
				if w {
					s.errs[st] = context.Cause(ctx)
				}
			}
			waiting = [numStages]bool{}
		}
	}
	s.fuse()
	return s
}

func (s *search) take(r answer) {
	if r.err != nil {
		s.errs[r.stage] = r.err
		return
	}
	switch r.stage {
	case stageLexical:
		s.fusion.lex = r.lex
	case stageVector:
		s.fusion.vec = r.vec
	case stageTemporal:
		s.times = r.times
	case stageFilter:
		s.fusion.mask = r.mask
	}
}

// searched reports whether any retriever took part.
func (s *search) searched() bool {
	return s.fusion.lex != nil || s.fusion.vec != nil || s.timed()
}

// timed reports whether the temporal retriever was asked and answered.
func (s *search) timed() bool {
	return s.arms&ArmTemporal != 0 && len(s.ask.dates) > 0 && s.errs[stageTemporal] == nil
}

// fuse scores every unit.
func (s *search) fuse() {
	f := &s.fusion
	f.w = 1
	if f.lex != nil {
		f.w = vectorWeight(s.ask.cjk, countWords(f.lex.Terms))
	}
	if len(s.times) > 0 {
		s.dates = grab[float32](&scratch.dates, s.n)
		clear(s.dates)
		for _, h := range s.times {
			// When a file was last written says little about what is in it.
			if h.Source != memsearch.DateModTime && int(h.Ord) < s.n {
				match := dateMatch(h.Granularity)
				if !s.ask.meant(h.Span) {
					match *= aroundDay
				}
				s.dates[h.Ord] = max(s.dates[h.Ord], float32(match))
			}
		}
		f.date, f.pure = s.dates, s.ask.pure || s.arms == ArmTemporal
	}
	if s.arms == ArmHybrid && f.lex != nil && len(f.lex.Exact) > 0 {
		f.exact = make(map[uint32]bool, len(f.lex.Exact))
		for _, ord := range f.lex.Exact {
			f.exact[ord] = true
		}
	}
	s.fused = grab[float64](&scratch.fused, s.n)
	f.fuse(s.fused)
}

// best returns the n best units of the fused list.
func (s *search) best(n int) []scored {
	t := newTop(n, make([]scored, 0, min(n, s.n)))
	for i, v := range s.fused {
		t.offer(uint32(i), v)
	}
	return t.sorted()
}

// firsts returns the n best units of one retriever's own list.
func (s *search) firsts(n int, score func(ord uint32) float64) []scored {
	t := newTop(n, make([]scored, 0, n))
	for i := range uint32(s.n) {
		if v := score(i); t.takes(v) && !s.masked(i) {
			t.offer(i, v)
		}
	}
	return t.sorted()
}

func (s *search) masked(ord uint32) bool { return s.fusion.mask != nil && s.fusion.mask.Has(ord) }
