package recall

import "github.com/memsearch/memsearch"

// gateMargin is the lead of the first hit over the second, as a share of its score,
// from which on a model is not asked. It was raised as long as the queries that
// were let through by that gained at least as much as the average query from a
// perfect reranking of the dev sets; docs/ranking.md has the figures, and why the
// agreement of the retrievers, which stands in the trace, decides nothing.
const gateMargin = 0.15

// gate decides whether a model that reorders the candidates is worth its cost.
func (r *recalling) gate(hits []hit) *memsearch.Gate {
	g := &memsearch.Gate{}
	if len(hits) > 0 {
		g.Agree = hits[0].features.agree
	}
	if len(hits) > 1 && hits[0].score > 0 {
		g.Margin = (hits[0].score - hits[1].score) / hits[0].score
	}
	need := 0
	for i := range hits {
		need += hits[i].row.Tokens
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
	case need <= r.ask.Budget && !r.more():
		g.Reason = "all candidates fit the budget"
	case g.Margin >= gateMargin:
		g.Reason = "clear lead"
	default:
		g.Ask, g.Reason = true, "no clear lead"
	}
	return g
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
