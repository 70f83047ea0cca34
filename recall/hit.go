package recall

import (
	"fmt"
	"strings"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/memfile"
)

// steps returns the arithmetic behind h's score; the deltas sum to it.
func (h *hit) explain() []memsearch.Step {
	if len(h.steps) > 0 {
		// Fused with other scopes by rank: the parts are those of the score there.
		last := h.steps[len(h.steps)-1]
		last.Note += fmt.Sprintf(": bm25 %.4f, vector %.4f, date %.4f, exact %.4f",
			h.parts.lexical, h.parts.vector, h.parts.date, h.parts.exact)
		return []memsearch.Step{last}
	}
	var out []memsearch.Step
	add := func(stage string, sig *memsearch.Signal, delta float64, note string) {
		if delta == 0 {
			return
		}
		s := memsearch.Step{Stage: stage, Delta: delta, Note: note}
		if sig != nil {
			s.Rank = sig.Rank
		}
		out = append(out, s)
	}
	add("bm25", h.signals.BM25, h.parts.lexical, fmt.Sprintf("share of a perfect match; %.0f%% of the query's idf mass", 100*h.features.mass))
	add("vector", h.signals.Vector, h.parts.vector, fmt.Sprintf("weighted cosine %.4f", h.features.cos))
	add("temporal", h.signals.Temporal, h.parts.date, "of the asked time")
	add("exact", nil, h.parts.exact, "holds a whole identifier of the query")
	return out
}

// public returns h as a caller sees it.
func (h *hit) public(scope string, explain bool) memsearch.Hit {
	r := &h.row
	out := memsearch.Hit{
		ID: r.UnitID, MemoryID: r.MemoryID, Path: r.Path, Lines: r.Lines, Score: h.score, Hash: r.Hash, Scope: scope,
		Category: r.Category, Kind: r.Kind, Status: r.Status, Summary: h.summary(),
		Date: dateText(r.Occurred), DateSource: r.Occurred.Source,
		ValidFrom: boundPointer(r.Valid.From), ValidTo: boundPointer(r.End()),
		Signals: h.signals, Text: h.text,
	}
	if out.Status == "" {
		out.Status = memsearch.StatusActive
	}
	if explain {
		out.Trace = h.explain()
		if h.verdict.Stage != "" {
			out.Trace = append(out.Trace, h.verdict)
		}
	}
	return out
}

// summary returns the memory's summary, its title, or the first line of text.
func (h *hit) summary() string {
	for _, s := range []string{h.row.Summary, h.row.Title} {
		if s != "" {
			return s
		}
	}
	for l := range strings.SplitSeq(h.text, "\n") {
		if l = memfile.TrimCallout(strings.Trim(l, "#-*> \t\r")); l != "" {
			return shorten(l, 120)
		}
	}
	return ""
}

// shorten cuts s to n runes.
func shorten(s string, n int) string {
	for i := range s {
		if n == 0 {
			return strings.TrimSpace(s[:i]) + "…"
		}
		n--
	}
	return s
}

// piece returns h as it goes into a context, with the name of its scope unless
// that is empty.
func (h *hit) piece(scope string) Piece {
	r := &h.row
	p := Piece{Section: SectionMemories, Scope: scope, ID: r.UnitID, Category: r.Category, Date: dateText(r.Occurred),
		Source: fmt.Sprintf("%s:%d-%d", r.Path, r.Lines[0], r.Lines[1]), Summary: r.Summary, Text: h.text}
	if r.Occurred.Source == memsearch.DateModTime && p.Date != "" {
		p.Date = "file of " + p.Date
	}
	if end := r.End(); !end.IsZero() {
		p.Date = strings.TrimSpace(p.Date + " until " + end.String())
	}
	if scope != "" {
		p.Source = scope + ":" + p.Source
	}
	if p.Summary == "" {
		p.Summary = r.Title
	}
	switch {
	case r.Kind == memsearch.KindTimelineConstraint:
		p.Section = SectionTimeline
	case r.Pinned:
		p.Section = SectionPinned
	}
	return p
}

// dateText writes when something occurred as exactly as it is known.
func dateText(o memsearch.Occurred) string {
	from, until := o.Span.From, o.Span.Until
	switch {
	case from.IsZero() && until.IsZero():
		return ""
	case from.IsZero():
		return "until " + until.Format(time.DateOnly)
	}
	switch o.Granularity {
	case memsearch.GranularityInstant, memsearch.GranularityDay:
		return from.Format(time.DateOnly)
	case memsearch.GranularityMonth:
		return from.Format("2006-01")
	case memsearch.GranularityQuarter:
		return fmt.Sprintf("%d-Q%d", from.Year(), (int(from.Month())+2)/3)
	case memsearch.GranularityYear:
		return from.Format("2006")
	}
	if until.IsZero() {
		return "from " + from.Format(time.DateOnly)
	}
	return from.Format(time.DateOnly) + "/" + until.Add(-time.Nanosecond).Format(time.DateOnly)
}

func boundPointer(b memsearch.Bound) *string {
	if b.IsZero() {
		return nil
	}
	s := b.String()
	return &s
}

// signals fills in the place of every hit in each retriever's own list: one more
// than the number of units there that are better.
func (s *search) signals(hits []hit) {
	lex := func(ord uint32) float64 {
		if s.fusion.lex == nil {
			return 0
		}
		return at(s.fusion.lex.Score, ord)
	}
	date := func(ord uint32) float64 { return at(s.dates, ord) }
	for _, l := range []struct {
		score func(uint32) float64
		place func(*hit) **memsearch.Signal
		on    bool
	}{
		{lex, func(h *hit) **memsearch.Signal { return &h.signals.BM25 }, s.fusion.lex != nil},
		{s.fusion.cos, func(h *hit) **memsearch.Signal { return &h.signals.Vector }, s.fusion.vec != nil},
		{date, func(h *hit) **memsearch.Signal { return &h.signals.Temporal }, s.dates != nil},
	} {
		if l.on {
			s.places(hits, l.score, l.place)
		}
	}
}

func (s *search) places(hits []hit, score func(uint32) float64, place func(*hit) **memsearch.Signal) {
	var listed []scored // with a place in this list
	where := map[uint32]*memsearch.Signal{}
	for i := range hits {
		if v := score(hits[i].ord); v > 0 {
			sig := &memsearch.Signal{Score: v}
			*place(&hits[i]) = sig
			where[hits[i].ord] = sig
			listed = append(listed, scored{hits[i].ord, v})
		}
	}
	if len(listed) == 0 {
		return
	}
	ranks := rankAmong(s.n, listed, func(ord uint32) float64 {
		if s.masked(ord) {
			return 0
		}
		return score(ord)
	})
	for i, l := range listed {
		where[l.ord].Rank = ranks[i]
	}
}
