package llm

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/memsearch/memsearch/internal/httpapi"
)

// post sends body to a path below the base address and has the reply parsed. An
// answer that is an error is a [*StatusError]; it quotes neither the key nor one of
// texts.
func (c *Client) post(ctx context.Context, e Entry, path string, body any, texts []string, parse func([]byte) error) error {
	sent, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+path, bytes.NewReader(sent))
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if key := c.key(); key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := httpapi.Doer{Client: c.http, Max: DefaultMaxReply}.Do(req)
	var got []byte
	if err == nil {
		got, err = io.ReadAll(res.Body)
	}
	if err == nil && res.StatusCode >= http.StatusMultipleChoices {
		err = &goopenai.RequestError{HTTPStatusCode: res.StatusCode, HTTPStatus: res.Status, Err: errors.New(res.Status), Body: got}
	}
	if err == nil {
		err = parse(got)
	}
	secret := append(texts, c.key())
	if status := httpapi.Status(err, secret...); status != nil {
		if res != nil {
			status.Wait = httpapi.RetryAfter(res.Header, c.opts.Now())
		}
		err = status
	} else if why := httpapi.Malformed(err); why != "" {
		err = fmt.Errorf("%w: %s", ErrReply, why)
	} else {
		err = httpapi.Quiet(err, secret...)
	}
	c.debug(e, sent, got, err) // as it is returned: before that, it may quote the body
	return err
}

// parseChat reads a completion, whole or as a stream of events: some servers
// stream unasked, others do not although they are asked to.
func parseChat(raw []byte) (*chatReply, error) {
	if start := bytes.TrimLeft(raw, " \t\r\n"); !bytes.HasPrefix(start, []byte("{")) && hasEvents(raw) {
		return parseEvents(raw)
	}
	res := &chatReply{}
	if err := json.Unmarshal(raw, res); err != nil {
		return nil, fmt.Errorf("%w: %s", ErrReply, cmp.Or(httpapi.Malformed(err), "not JSON"))
	}
	return res, nil
}

func hasEvents(raw []byte) bool {
	return bytes.HasPrefix(raw, []byte("data:")) || bytes.Contains(raw, []byte("\ndata:"))
}

// errCut is what a stream is that ends before its last event.
var errCut = fmt.Errorf("stream of events: %w", io.ErrUnexpectedEOF)

// parseEvents puts the pieces of a streamed completion together. Of one that was
// cut short, or ends in an error of the server, it returns what there is.
func parseEvents(raw []byte) (*chatReply, error) {
	res := &chatReply{}
	choice := chatChoice{}
	var text, refusal strings.Builder
	some, done := false, false
	var failed error
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, DefaultMaxReply+1)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
		if data = bytes.TrimSpace(data); !ok || len(data) == 0 {
			continue
		}
		if string(data) == "[DONE]" {
			done = true
			break
		}
		if api := httpapi.ErrorObject(data); api != nil {
			failed = api
			break
		}
		var chunk chatReply
		if json.Unmarshal(data, &chunk) != nil {
			return nil, fmt.Errorf("%w: an event is not JSON", ErrReply)
		}
		if len(chunk.Usage) > 0 && string(chunk.Usage) != "null" {
			res.Usage = chunk.Usage
		}
		for _, ch := range chunk.Choices {
			if ch.Index != 0 {
				continue
			}
			some = true
			text.WriteString(string(ch.Delta.Content))
			refusal.WriteString(ch.Delta.Refusal)
			if ch.FinishReason != "" {
				choice.FinishReason = ch.FinishReason
			}
		}
	}
	choice.Message = chatMessage{content(text.String()), refusal.String()}
	if some {
		res.Choices = []chatChoice{choice}
	}
	if failed == nil && !done && choice.FinishReason == "" {
		failed = errCut
	}
	return res, failed
}
