package llm

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/memsearch/memsearch/internal/httpapi"
)

// A number is one as servers write it: 100, 100.0 or "100". It is 0 when it is
// null, and NaN when it is anything else.
type number float64

// UnmarshalJSON implements [json.Unmarshaler]. It never fails.
func (n *number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(strings.Trim(string(b), `"`)), 64)
	if err != nil || math.IsInf(v, 0) {
		v = math.NaN()
	}
	*n = number(v)
	return nil
}

// whole returns n if it is a whole number from 0 to most.
func (n number) whole(most int) (int, bool) {
	v := float64(n)
	return int(v), v == math.Trunc(v) && v >= 0 && v <= float64(most)
}

// usage is what a server says it charged.
type usage struct {
	in, out int
	known   bool
}

// charged tells what a server says from what makes no sense: the caps rest on it.
func charged(in, out number) usage {
	i, ok := in.whole(httpapi.MaxUsage)
	o, ok2 := out.whole(httpapi.MaxUsage)
	if !ok || !ok2 || i == 0 {
		return usage{}
	}
	return usage{i, o, true}
}

// chatUsage returns the usage of a completion, or of an error that has one.
func chatUsage(raw json.RawMessage) usage {
	var u struct {
		In  number `json:"prompt_tokens"`
		Out number `json:"completion_tokens"`
	}
	if json.Unmarshal(raw, &u) != nil { // of another form
		return usage{}
	}
	return charged(u.In, u.Out)
}

// A chatReply is what is read of a completion, or of an event of a streamed one.
// Of fields that are not needed it does not matter what is in them.
type chatReply struct {
	Choices []chatChoice    `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
}

type chatChoice struct {
	Index        number                `json:"index"`
	Message      chatMessage           `json:"message"`
	Delta        chatMessage           `json:"delta"` // of an event
	FinishReason goopenai.FinishReason `json:"finish_reason"`
}

type chatMessage struct {
	Content content `json:"content"`
	Refusal string  `json:"refusal"`
}

// content is the text of a message, which may come in parts.
type content string

// UnmarshalJSON implements [json.Unmarshaler].
func (c *content) UnmarshalJSON(b []byte) error {
	var parts []struct {
		Text string `json:"text"`
	}
	if len(b) == 0 || b[0] != '[' {
		return json.Unmarshal(b, (*string)(c))
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		*c += content(p.Text)
	}
	return nil
}
