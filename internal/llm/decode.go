package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/memsearch/memsearch"
)

// SchemaFor returns the schema of T for structured output: every field of every
// object is required, and there are no others, as strict servers want it. A field's
// jsonschema tag describes it.
func SchemaFor[T any]() (*jsonschema.Schema, error) {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		return nil, fmt.Errorf("make schema: %w", err)
	}
	requireAll(s)
	return s, nil
}

// requireAll makes fields that may be left out required.
func requireAll(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Properties != nil {
		s.Required = slices.Sorted(maps.Keys(s.Properties))
	}
	for _, p := range s.Properties {
		requireAll(p)
	}
	requireAll(s.Items)
	requireAll(s.AdditionalProperties)
}

// What a model is shown of an unusable reply and of what was wrong with it, in
// bytes at most.
const (
	maxReasked = 4 << 10
	maxReason  = 512
)

// Decode asks for a value of r.Schema and returns it. check, if non-nil, may refuse
// it in words that the model is shown. A reply that is not such a value is asked
// for once more, with what was wrong; a refusal, and a reply that was cut off, are
// not: they would come out the same. The reply holds the cost of both calls and is
// non-nil whenever something was spent. Errors are those of [Client.Ask].
func Decode[T any](ctx context.Context, a Asker, r Request, check func(*T) error) (*T, *Reply, error) {
	if r.Schema == nil {
		return nil, nil, errors.New("decode reply: the request has no schema")
	}
	schema, err := r.Schema.Resolve(nil)
	if err != nil {
		return nil, nil, fmt.Errorf("resolve schema %s: %w", r.SchemaName, err)
	}
	var sum memsearch.Cost
	for again := false; ; again = true {
		reply, err := a.Ask(ctx, r)
		if reply == nil {
			reply = &Reply{}
		}
		sum.Add(reply.Cost)
		reply.Cost = sum
		if err != nil {
			return nil, reply, err
		}
		v, bad := decode(reply.Text, schema, check)
		if bad == nil {
			return v, reply, nil
		}
		if again {
			return nil, reply, fmt.Errorf("%w, asked for twice", bad.public)
		}
		r.Messages = append(slices.Clone(r.Messages), Message{Role: RoleAssistant, Content: start(reply.Text, maxReasked)},
			Message{Role: RoleUser, Content: "That cannot be used: " + start(bad.private, maxReason) + ". Answer again with the JSON object alone."})
	}
}

// start returns the first bytes of s, n at most, without half a character.
func start(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// A decodeError has a form for the model, which may quote what it said, and one
// for everybody else.
type decodeError struct {
	private string
	public  error
}

func decode[T any](text string, schema *jsonschema.Resolved, check func(*T) error) (*T, *decodeError) {
	raw, err := Object(text)
	if err != nil {
		return nil, &decodeError{err.Error(), err}
	}
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return nil, &decodeError{err.Error(), fmt.Errorf("%w: not JSON", ErrReply)}
	}
	value = wholeNumbers(schema.Schema(), value)
	if err := schema.Validate(value); err != nil {
		return nil, &decodeError{err.Error(), fmt.Errorf("%w: JSON that does not satisfy the schema", ErrReply)}
	}
	raw, _ = json.Marshal(value) // what was JSON can be that again
	v := new(T)
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return nil, &decodeError{err.Error(), fmt.Errorf("%w: JSON of another form", ErrReply)}
	}
	if check != nil {
		if err := check(v); err != nil {
			return nil, &decodeError{err.Error(), fmt.Errorf("%w: %w", ErrReply, err)}
		}
	}
	return v, nil
}

// numeral is a whole number as models write it where they quote what they were
// shown: 2, [2], #2.
var numeral = regexp.MustCompile(`^\s*(?:\[\s*(-?\d{1,9})\s*\]|#?(-?\d{1,9}))\s*$`)

// wholeNumbers returns value with the numbers that the schema wants whole as such
// where there is no doubt what they are: 2.0, "2", "[2]" and [2] are 2.
func wholeNumbers(s *jsonschema.Schema, value any) any {
	if s == nil {
		return value
	}
	switch v := value.(type) {
	case map[string]any:
		for name, p := range s.Properties {
			if x, ok := v[name]; ok {
				v[name] = wholeNumbers(p, x)
			}
		}
	case []any:
		if s.Type == "integer" && len(v) == 1 {
			return wholeNumbers(s, v[0])
		}
		for i := range v {
			v[i] = wholeNumbers(s.Items, v[i])
		}
	case string:
		if m := numeral.FindStringSubmatch(v); m != nil && s.Type == "integer" {
			n, _ := strconv.Atoi(m[1] + m[2]) // nine digits fit
			return float64(n)
		}
	}
	return value
}
