package rerank

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/memsearch/memsearch/internal/llm"
)

// decode asks once and reads the reply strictly.
func decode[T any](ctx context.Context, a llm.Asker, r llm.Request, check func(*T) error) (*T, *llm.Reply, error) {
	reply, err := a.Ask(ctx, r)
	if err != nil {
		return nil, reply, err
	}
	var out T
	d := json.NewDecoder(bytes.NewReader([]byte(reply.Text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&out); err != nil {
		return nil, reply, fmt.Errorf("read reply: %w", err)
	}
	return &out, reply, check(&out)
}
