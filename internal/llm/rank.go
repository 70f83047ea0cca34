package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/tokens"
)

// A RankRequest asks a cross-encoder how well documents answer a query.
type RankRequest struct {
	Query     string
	Documents []string
	MaxCalls  int    // see [Request]
	Prompt    string // names the request in the ledger
	Sample    int    // see [Request]
}

// A RankScore is the score of one document. Larger is better.
type RankScore struct {
	Index int     `json:"index"` // into the documents
	Score float64 `json:"score"`
}

// A RankReply holds a score for each document, best first, equal ones in the order
// of the documents.
type RankReply struct {
	Scores   []RankScore
	Cost     memsearch.Cost
	Replayed bool
}

// Rank asks the server's "/rerank", in the shape that Jina, Cohere, vLLM, TEI and
// others have for it. Errors are those of [Client.Ask].
func (c *Client) Rank(ctx context.Context, r RankRequest) (*RankReply, error) {
	if len(r.Documents) == 0 {
		return nil, errors.New("rank documents: there are none")
	}
	reply, err := c.recordedRank(ctx, r)
	if err != nil {
		return reply, fmt.Errorf("rank with %s: %w", c.profile.Model, err)
	}
	return reply, nil
}

// rank asks the server. The reply is never nil.
func (c *Client) rank(ctx context.Context, r RankRequest) (*RankReply, error) {
	in := len(r.Documents) * tokens.Bound(r.Query) // a cross-encoder reads the query with each document
	for _, d := range r.Documents {
		in += tokens.Bound(d) + messageTokens
	}
	body := map[string]any{"model": c.profile.Model, "query": r.Query, "documents": r.Documents,
		"top_n": len(r.Documents), "return_documents": false}
	reply := &RankReply{}
	var err error
	reply.Cost, err = c.pay(ctx, paid{prompt: r.Prompt, in: in, calls: r.MaxCalls, do: func(ctx context.Context, e Entry) (u usage, err error) {
		err = c.post(ctx, e, "rerank", body, append(slices.Clone(r.Documents), r.Query), func(raw []byte) (err error) {
			reply.Scores, u, err = parseRank(raw, len(r.Documents))
			if err == nil && !u.known {
				u.in = in
			}
			return err
		})
		return u, err
	}})
	return reply, err
}

// parseRank reads and checks a ranking of n documents.
func parseRank(raw []byte, n int) ([]RankScore, usage, error) {
	var res struct {
		Results []struct {
			Index *number `json:"index"`
			Score *number `json:"relevance_score"`
		} `json:"results"`
		Usage json.RawMessage `json:"usage"`
		Meta  json.RawMessage `json:"meta"`
	}
	if json.Unmarshal(raw, &res) != nil {
		return nil, usage{}, fmt.Errorf("%w: not a ranking in JSON", ErrReply)
	}
	u := rankUsage(res.Usage, res.Meta)
	scores := make([]RankScore, 0, n)
	seen := make([]bool, n)
	for _, x := range res.Results {
		if x.Index == nil || x.Score == nil || math.IsNaN(float64(*x.Score)) {
			return nil, u, fmt.Errorf("%w: a result without index or score", ErrReply)
		}
		i, ok := x.Index.whole(n - 1)
		switch {
		case !ok:
			return nil, u, fmt.Errorf("%w: result for document %g of %d", ErrReply, *x.Index, n)
		case seen[i]:
			return nil, u, fmt.Errorf("%w: two results for document %d", ErrReply, i)
		}
		seen[i] = true
		scores = append(scores, RankScore{i, float64(*x.Score)})
	}
	if len(scores) != n {
		return nil, u, fmt.Errorf("%w: %d results for %d documents", ErrReply, len(scores), n)
	}
	slices.SortFunc(scores, func(a, b RankScore) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Index, b.Index))
	})
	return scores, u, nil
}

// rankUsage returns the usage of a ranking in each of the ways that servers have.
func rankUsage(raw, meta json.RawMessage) usage {
	var u struct {
		Total  number `json:"total_tokens"`
		Prompt number `json:"prompt_tokens"`
	}
	if json.Unmarshal(raw, &u) == nil {
		if said := charged(cmp.Or(u.Total, u.Prompt), 0); said.known {
			return said
		}
	}
	type counted struct {
		In number `json:"input_tokens"`
	}
	var m struct {
		Billed counted `json:"billed_units"`
		Tokens counted `json:"tokens"`
	}
	if json.Unmarshal(meta, &m) != nil {
		return usage{}
	}
	return charged(cmp.Or(m.Billed.In, m.Tokens.In), 0)
}
