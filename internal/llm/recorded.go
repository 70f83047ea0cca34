package llm

import (
	"context"
	"encoding/json"

	"github.com/memsearch/memsearch"
)

// A recordedReply is the reply of a model in a cassette.
type recordedReply struct {
	Text      string      `json:"text,omitempty"`
	Finish    string      `json:"finish,omitempty"`
	Scores    []RankScore `json:"scores,omitempty"`
	Calls     int         `json:"calls"`
	TokensIn  int         `json:"tokens_in"`
	TokensOut int         `json:"tokens_out"`
}

// cost is what the reply took, at the prices of the profile.
func (c *Client) recordedCost(r recordedReply) memsearch.Cost {
	return memsearch.Cost{Calls: r.Calls, TokensIn: r.TokensIn, TokensOut: r.TokensOut, Money: c.profile.money(r.TokensIn, r.TokensOut)}
}

// A chatQuestion is what the reply of a model depends on.
type chatQuestion struct {
	Model       string          `json:"model"`
	Messages    []Message       `json:"messages"`
	Schema      json.RawMessage `json:"schema,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	MaxOutput   int             `json:"max_output"`
	Sample      int             `json:"sample,omitempty"`
}

// recordedChat is chat behind the cassette. A replayed reply has the cost that it
// had when it was recorded; nothing is spent.
func (c *Client) recordedChat(ctx context.Context, r Request) (*Reply, error) {
	if c.opts.Cassette == nil {
		return c.chat(ctx, r)
	}
	q := chatQuestion{Model: c.profile.Model, Messages: r.Messages, Temperature: c.profile.Temperature, MaxOutput: r.MaxOutput, Sample: r.Sample}
	if r.Schema != nil {
		var err error
		if q.Schema, err = json.Marshal(r.Schema); err != nil {
			return nil, err
		}
	}
	var kept recordedReply
	reply := &Reply{}
	replayed, err := c.opts.Cassette.do(ctx, question{"chat", r.Prompt, c.profile.Model, q}, &kept, func(ctx context.Context) (err error) {
		reply, err = c.chat(ctx, r)
		kept = recordedReply{Text: reply.Text, Finish: reply.Finish, Calls: reply.Cost.Calls, TokensIn: reply.Cost.TokensIn, TokensOut: reply.Cost.TokensOut}
		return err
	})
	if replayed {
		reply = &Reply{Text: kept.Text, Finish: kept.Finish, Cost: c.recordedCost(kept), Replayed: true}
	}
	return reply, err
}

// A rankQuestion is what the scores of a cross-encoder depend on.
type rankQuestion struct {
	Model     string   `json:"model"`
	Query     string   `json:"query"`
	Documents []string `json:"documents"`
	Sample    int      `json:"sample,omitempty"`
}

// recordedRank is rank behind the cassette.
func (c *Client) recordedRank(ctx context.Context, r RankRequest) (*RankReply, error) {
	if c.opts.Cassette == nil {
		return c.rank(ctx, r)
	}
	var kept recordedReply
	reply := &RankReply{}
	q := question{"rank", r.Prompt, c.profile.Model, rankQuestion{c.profile.Model, r.Query, r.Documents, r.Sample}}
	replayed, err := c.opts.Cassette.do(ctx, q, &kept, func(ctx context.Context) (err error) {
		reply, err = c.rank(ctx, r)
		kept = recordedReply{Scores: reply.Scores, Calls: reply.Cost.Calls, TokensIn: reply.Cost.TokensIn, TokensOut: reply.Cost.TokensOut}
		return err
	})
	if replayed {
		reply = &RankReply{Scores: kept.Scores, Cost: c.recordedCost(kept), Replayed: true}
	}
	return reply, err
}
