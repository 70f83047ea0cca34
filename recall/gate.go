package recall

import "github.com/memsearch/memsearch"

// DefaultGateMargin is the default of [Options.GateMargin]. It was raised as long
// as the queries that were let through by that gained at least as much as the
// average query from a perfect reranking of the dev sets; docs/ranking.md has the
// figures, and why the agreement of the retrievers, which stands in the trace,
// decides nothing.
const DefaultGateMargin = 0.15

// gate decides whether a model that judges the candidates is worth its cost. The
// numbers stand in the trace whatever the reason. No rule but the one on the
// budget depends on the budget, and that one holds only where the whole of the
// hits stands in the context, so that a larger budget loses nothing.
func (r *recalling) gate(hits []hit) *memsearch.Gate {
	g := &memsearch.Gate{}
	if len(hits) > 0 {
		g.Agree = hits[0].features.agree
	}
	if len(hits) > 1 && hits[0].scope == hits[1].scope && hits[0].own > 0 {
		g.Margin = (hits[0].own - hits[1].own) / hits[0].own
	}
	switch {
	case r.ask.Rerank == memsearch.RerankNever:
		g.Reason = "never asked for"
	case len(hits) == 0:
		g.Reason = "no candidate"
	case r.ask.Rerank == memsearch.RerankAlways:
		g.Ask, g.Reason = true, "always asked for"
	case len(hits) == 1:
		g.Reason = "single candidate"
	case hits[0].parts.exact > 0:
		g.Reason = "identifier query"
	case r.engine.opts.GateMargin > 0 && g.Margin >= r.engine.opts.GateMargin:
		g.Reason = "clear lead"
	case r.fits(hits):
		g.Reason = "all candidates fit the budget"
	case r.engine.opts.Reranker == nil:
		g.Reason = "no model is configured"
	default:
		g.Ask, g.Reason = true, "no clear lead"
	}
	return g
}

// fits reports whether the context holds all that was found: a model could then
// only take from it.
func (r *recalling) fits(hits []hit) bool {
	need := 0
	for i := range hits {
		if hits[i].confidence < r.engine.opts.InjectFloor {
			return false
		}
		need += hits[i].row.Tokens
	}
	if need > r.ask.Budget || r.more() {
		return false
	}
	pieces := r.content(hits)
	pieces = pieces[:len(pieces)-len(r.trailing)]
	return len(Pack(pieces, r.ask.Budget).Used) == len(Pack(pieces, MaxBudget).Used)
}

// more reports whether there are candidates that the hits do not show.
func (r *recalling) more() bool {
	memories := 0
	for _, c := range r.lists {
		if c.full {
			return true
		}
		memories += len(c.memories)
	}
	return memories > r.ask.K
}
