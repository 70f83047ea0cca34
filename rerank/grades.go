package rerank

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/memsearch/memsearch/internal/llm"
)

// The grades a model gives.
const (
	gradeLeast = 1 // related
	gradeBest  = 3 // answers
)

// A ranking is a listwise model's reply.
type ranking struct {
	Ranking []struct {
		N     int `json:"n"`
		Grade int `json:"grade"`
	} `json:"ranking"`
}

func (r *ranking) picks() []entryPick {
	picks := make([]entryPick, 0, len(r.Ranking))
	for _, x := range r.Ranking {
		picks = append(picks, entryPick{N: x.N, Grade: float64(x.Grade)})
	}
	return picks
}

func rankingSchema() *jsonschema.Schema {
	return object("ranking", &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{
		Type:                 "object",
		Properties:           map[string]*jsonschema.Schema{"n": {Type: "integer"}, "grade": {Type: "integer", Enum: []any{1, 2, 3}}},
		Required:             []string{"n", "grade"},
		PropertyOrder:        []string{"n", "grade"},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
	}})
}

// object returns the schema of an object with one member.
func object(name string, s *jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{
		Type:                 "object",
		Properties:           map[string]*jsonschema.Schema{name: s},
		Required:             []string{name},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
	}
}

// grades has n lines graded. The best come first, in the model's order where it
// gave the same grade.
func (s *session) grades(ctx context.Context, messages []llm.Message, n, sample int) ([]entryPick, error) {
	r, key := s.request(messages, sample)
	r.Schema, r.SchemaName = rankingSchema(), "ranking"
	return s.verdict(n, key, func() (*entry, error) {
		out, reply, err := llm.Decode(ctx, &s.asker, r, func(out *ranking) error {
			for _, x := range out.Ranking {
				if x.Grade < gradeLeast || x.Grade > gradeBest {
					return fmt.Errorf("grade %d is not one of 1, 2 and 3", x.Grade)
				}
			}
			return checkNumbers(n, out.picks())
		})
		if reply != nil {
			s.answer.Cost.Add(reply.Cost)
		}
		if err != nil {
			return nil, err
		}
		e := collect(n, out.picks())
		slices.SortStableFunc(e.Picks, func(a, b entryPick) int { return cmp.Compare(b.Grade, a.Grade) })
		return e, nil
	})
}
