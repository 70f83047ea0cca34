package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/memsearch/memsearch"
)

// SchemaFor returns the schema of T for structured output: every field that is not
// omitted when empty is required, and there are no others. A field's jsonschema
// tag describes it.
func SchemaFor[T any]() (*jsonschema.Schema, error) {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		return nil, fmt.Errorf("make schema: %w", err)
	}
	return s, nil
}

// maxReasked is how much of an unusable reply a model is shown again, in bytes.
const maxReasked = 4 << 10

// Decode asks for a value of r.Schema and returns it. check, if non-nil, may refuse
// it in words that the model is shown. A reply that is not such a value is asked
// for once more, with what was wrong; a refusal, and a reply that was cut off, are
// not: they would come out the same. The reply holds the cost of both calls and is
// non-nil whenever something was spent. Errors are those of [Client.Ask].
func Decode[T any](ctx context.Context, a Asker, r Request, check func(*T) error) (*T, *Reply, error) {
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
		said := reply.Text
		if len(said) > maxReasked {
			said = said[:maxReasked]
		}
		r.Messages = append(slices.Clip(slices.Clone(r.Messages)), Message{Role: RoleAssistant, Content: said},
			Message{Role: RoleUser, Content: "That cannot be used: " + bad.private + ". Answer again with the JSON object alone."})
	}
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
	if err := schema.Validate(value); err != nil {
		return nil, &decodeError{err.Error(), fmt.Errorf("%w: JSON that does not satisfy the schema", ErrReply)}
	}
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
