package llm

import (
	"context"
)

// recordedChat is chat behind the cassette.
func (c *Client) recordedChat(ctx context.Context, r Request) (*Reply, error) { return c.chat(ctx, r) }

// recordedRank is rank behind the cassette.
func (c *Client) recordedRank(ctx context.Context, r RankRequest) (*RankReply, error) {
	return c.rank(ctx, r)
}

type Cassette struct{}

func (c *Cassette) replays() bool { return false }
