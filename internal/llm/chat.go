package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/tokens"
)

// Ask implements [Asker]. Its errors may wrap [ErrRefused] and [ErrLength], with
// what was said in the reply, [ErrReply], [ErrUnavailable], [ErrTooLong],
// [ErrLedger], a [*CapError], a [*StatusError] or a [*MissingError].
func (c *Client) Ask(ctx context.Context, r Request) (*Reply, error) {
	if len(r.Messages) == 0 {
		return nil, errors.New("ask a model: no message")
	}
	if r.MaxOutput == 0 {
		r.MaxOutput = c.profile.MaxOutput
	}
	reply, err := c.recordedChat(ctx, r)
	if err == nil {
		err = finishError(reply.Finish)
	}
	if err != nil {
		return reply, fmt.Errorf("ask %s: %w", c.profile.Model, err)
	}
	return reply, nil
}

func finishError(finish string) error {
	switch finish {
	case FinishRefusal:
		return ErrRefused
	case FinishLength:
		return ErrLength
	}
	return nil
}

// chat asks the server, in a weaker format where it does not take the strictest.
// The reply is never nil.
func (c *Client) chat(ctx context.Context, r Request) (*Reply, error) {
	format, auto := c.profile.Structured, false
	switch {
	case r.Schema == nil:
		format = StructuredNone
	case format == StructuredAuto:
		format, auto = c.server.format(), true
	}
	var sum memsearch.Cost
	for {
		reply, err := c.chatAs(ctx, r, format)
		made := reply.Cost.Calls
		sum.Add(reply.Cost)
		reply.Cost = sum
		next := map[string]string{StructuredSchema: StructuredObject, StructuredObject: StructuredNone}[format]
		if err == nil || !auto || next == "" || !aboutFormat(err) {
			return reply, err
		}
		c.server.lower(next)
		format = next
		if r.MaxCalls > 0 {
			if r.MaxCalls -= made; r.MaxCalls <= 0 {
				return reply, err
			}
		}
	}
}

// aboutFormat reports whether a server refused a request for the format that it
// should answer in.
func aboutFormat(err error) bool {
	e, ok := errors.AsType[*StatusError](err)
	if !ok || e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity && e.Status != http.StatusNotImplemented {
		return false
	}
	said := strings.ToLower(e.Code + " " + e.Type + " " + e.Message)
	return strings.Contains(said, "response_format") || strings.Contains(said, "json_schema") || strings.Contains(said, "json_object") ||
		strings.Contains(said, "structured output")
}

// A chatBody is what is sent.
type chatBody struct {
	Model               string                                 `json:"model"`
	Messages            []Message                              `json:"messages"`
	MaxTokens           int                                    `json:"max_tokens,omitempty"`
	MaxCompletionTokens int                                    `json:"max_completion_tokens,omitempty"`
	Temperature         *float64                               `json:"temperature,omitempty"` // a zero is sent
	ResponseFormat      *goopenai.ChatCompletionResponseFormat `json:"response_format,omitempty"`
	Stream              bool                                   `json:"stream,omitempty"`
	StreamOptions       *goopenai.StreamOptions                `json:"stream_options,omitempty"`
}

// body returns what is sent for r, and the most tokens that its prompt takes.
func (c *Client) body(r Request, format string) (*chatBody, int, error) {
	b := &chatBody{Model: c.profile.Model, Messages: r.Messages, Temperature: c.profile.Temperature}
	if reasons(c.profile.Model) {
		b.MaxCompletionTokens = r.MaxOutput
	} else {
		b.MaxTokens = r.MaxOutput
	}
	if *c.profile.Stream {
		b.Stream, b.StreamOptions = true, &goopenai.StreamOptions{IncludeUsage: true}
	}
	if r.Schema == nil {
		return b, PromptTokens(b.Messages), nil
	}
	schema, err := json.Marshal(r.Schema)
	if err != nil {
		return nil, 0, fmt.Errorf("encode schema %s: %w", r.SchemaName, err)
	}
	extra := 0
	switch format {
	case StructuredSchema:
		b.ResponseFormat = &goopenai.ChatCompletionResponseFormat{Type: goopenai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &goopenai.ChatCompletionResponseFormatJSONSchema{Name: r.SchemaName, Schema: json.RawMessage(schema), Strict: true}}
		extra = tokens.Bound(string(schema))
	case StructuredObject:
		b.ResponseFormat = &goopenai.ChatCompletionResponseFormat{Type: goopenai.ChatCompletionResponseFormatTypeJSONObject}
	}
	if format != StructuredSchema {
		b.Messages = append(b.Messages[:len(b.Messages):len(b.Messages)], Message{Role: RoleSystem,
			Content: "Answer with one JSON object, nothing before or after it, that satisfies this JSON Schema:\n" + string(schema)})
	}
	return b, PromptTokens(b.Messages) + extra, nil
}

// reasons reports whether a model of OpenAI thinks before it answers: these take
// another name for the limit of their output.
func reasons(model string) bool {
	name := model[strings.LastIndexByte(model, '/')+1:]
	for _, p := range []string{"o1", "o3", "o4", "gpt-5"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// chatAs asks the server in one format.
func (c *Client) chatAs(ctx context.Context, r Request, format string) (*Reply, error) {
	reply := &Reply{}
	body, in, err := c.body(r, format)
	if err != nil {
		return reply, err
	}
	reply.Cost, err = c.pay(ctx, paid{prompt: r.Prompt, in: in, out: r.MaxOutput, calls: r.MaxCalls, do: func(ctx context.Context, e Entry) (u usage, err error) {
		err = c.post(ctx, e, "chat/completions", body, texts(r.Messages), func(raw []byte) error {
			res, err := parseChat(raw)
			if res == nil {
				return err
			}
			u = chatUsage(res.Usage)
			if err != nil {
				if !u.known && len(res.Choices) > 0 { // how much more it said is not known
					u.in, u.out = in, r.MaxOutput
				}
				return err
			}
			if len(res.Choices) == 0 {
				return fmt.Errorf("%w: no choices", ErrReply)
			}
			reply.Text, reply.Finish = finished(&res.Choices[0])
			if said := min(tokens.Bound(reply.Text), r.MaxOutput); !u.known {
				u.in, u.out = in, said
			} else if u.out == 0 { // not told
				u.out = said
			}
			return nil
		})
		return u, err
	}})
	return reply, err
}

func texts(messages []Message) []string {
	var out []string
	for _, m := range messages {
		out = append(out, m.Content)
	}
	return out
}

// finished returns what a model said and why it stopped. What it thought before it
// answered is not part of that.
func finished(choice *chatChoice) (text, finish string) {
	m := choice.Message
	text = string(m.Content)
	switch {
	case m.Refusal != "" || choice.FinishReason == goopenai.FinishReasonContentFilter:
		return text, FinishRefusal
	case choice.FinishReason == goopenai.FinishReasonLength:
		return text, FinishLength
	}
	return text, FinishStop
}
