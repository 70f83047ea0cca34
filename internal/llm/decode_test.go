package llm_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/llm"
)

// A script is an Asker that says its lines, each for one call and ten tokens, and
// keeps what it was asked.
type script struct {
	lines []string
	asked []llm.Request
}

func (s *script) Ask(_ context.Context, r llm.Request) (*llm.Reply, error) {
	line := s.lines[min(len(s.asked), len(s.lines)-1)]
	s.asked = append(s.asked, r)
	return &llm.Reply{Text: line, Finish: llm.FinishStop, Cost: memsearch.Cost{Calls: 1, TokensIn: 10}}, nil
}

type pick struct {
	N    int    `json:"n" jsonschema:"number of the line"`
	Note string `json:"note,omitempty"`
}

type picks struct {
	Best  pick   `json:"best"`
	Picks []pick `json:"picks"`
}

// Every object of a schema asks for all its fields and takes no others, as strict
// servers want it.
func TestSchemaFor(t *testing.T) {
	s, err := llm.SchemaFor[picks]()
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]*jsonschema.Schema{"top": s, "field": s.Properties["best"], "element": s.Properties["picks"].Items} {
		required := slices.Sorted(slices.Values(o.Required))
		want := []string{"n", "note"}
		if name == "top" {
			want = []string{"best", "picks"}
		}
		if d := cmp.Diff(want, required); d != "" || o.AdditionalProperties == nil {
			t.Errorf("%s: additional properties %v, required:\n%s", name, o.AdditionalProperties, d)
		}
	}
	if got := s.Properties["best"].Properties["n"].Description; got != "number of the line" {
		t.Errorf("description %q", got)
	}
	if _, err := llm.SchemaFor[chan int](); err == nil {
		t.Error("a channel has a schema")
	}
}

// ask decodes a pick from a script. Line 9 is not to be picked.
func ask(t *testing.T, lines ...string) (*pick, *llm.Reply, []llm.Request, error) {
	t.Helper()
	s := &script{lines: lines}
	r := hello()
	var err error
	if r.Schema, err = llm.SchemaFor[pick](); err != nil {
		t.Fatal(err)
	}
	v, reply, err := llm.Decode(t.Context(), s, r, func(p *pick) error {
		if p.N == 9 {
			return errors.New("9 is no line")
		}
		return nil
	})
	return v, reply, s.asked, err
}

// The model is shown what it said and what was wrong with it, and the cost is that
// of both calls.
func TestDecodeAsksAgain(t *testing.T) {
	const good = `{"n":2,"note":""}`
	for said, why := range map[string]string{
		`{"n":9,"note":""}`:            "9 is no line",
		`{"n":2}`:                      "note",
		`{"n":"two","note":""}`:        "integer",
		`{"n":"2 or 3","note":""}`:     "integer",
		`{"n":"2.5","note":""}`:        "integer",
		`{"n":2.5,"note":""}`:          "integer",
		`{"n":[2,3],"note":""}`:        "integer",
		`{"n":null,"note":""}`:         "integer",
		`{"n":2,"note":2}`:             "string",
		`{"n":2,"note":"","heron":1}`:  "heron",
		"none":                         "no JSON object",
		`{"n":1e400,"note":""}`:        "1e400",
		strings.Repeat("violet", 5000): "no JSON object",
	} {
		v, reply, asked, err := ask(t, said, good)
		if err != nil || v.N != 2 || len(asked) != 2 {
			t.Errorf("%.40s: %+v, %v after %d calls", said, v, err, len(asked))
			continue
		}
		if d := cmp.Diff(memsearch.Cost{Calls: 2, TokensIn: 20}, reply.Cost); d != "" {
			t.Errorf("%.40s: cost %s", said, d)
		}
		first, second := asked[0].Messages, asked[1].Messages
		if len(second) != len(first)+2 || len(first) != 1 {
			t.Fatalf("%.40s: %d messages after %d", said, len(second), len(first))
		}
		if again := second[1]; again.Role != llm.RoleAssistant || !strings.HasPrefix(said, again.Content) || len(again.Content) > 4096 {
			t.Errorf("%.40s: shown %.40s", said, again.Content)
		}
		if what := second[2]; what.Role != llm.RoleUser || !strings.Contains(what.Content, why) {
			t.Errorf("%.40s: told %q, want %q", said, what.Content, why)
		}
	}
}

// What number is meant is told from how it is written: nobody is asked again.
func TestDecodeNumbers(t *testing.T) {
	for _, n := range []string{`2`, `2.0`, `2e0`, `0.2E1`, `"2"`, `" 2 "`, `"[2]"`, `"[ 2 ]"`, `"#2"`, `[2]`, `["2"]`, `[2.0]`} {
		v, _, asked, err := ask(t, `{"n":`+n+`,"note":"[3]"}`)
		if err != nil || len(asked) != 1 || v.N != 2 || v.Note != "[3]" {
			t.Errorf("%s: %+v, %v after %d calls", n, v, err, len(asked))
		}
	}
}

// The reason for a second try stays short, however much is wrong, so that it fits
// where the first did; a cut does not split a character.
func TestDecodeReasonIsBounded(t *testing.T) {
	long := `{"n":2,"note":"","` + strings.Repeat("鷺", 50_000) + `":1}`
	_, _, asked, err := ask(t, long)
	if !errors.Is(err, llm.ErrReply) || len(asked) != 2 {
		t.Fatalf("%d calls, %v", len(asked), err)
	}
	for _, m := range asked[1].Messages[1:] {
		if len(m.Content) > 4096 || strings.ToValidUTF8(m.Content, "") != m.Content {
			t.Errorf("%s: %d bytes", m.Role, len(m.Content))
		}
	}
}

// The second failure is the last, and the error quotes nothing that was said.
func TestDecodeGivesUp(t *testing.T) {
	for said, why := range map[string]string{
		`{"n":9,"note":"violet"}`:             "9 is no line",
		`{"n":"violet","note":""}`:            "schema",
		`{"n":2,"note":"","violet":"violet"}`: "schema",
		"violet":                              "no JSON object",
	} {
		v, reply, asked, err := ask(t, said)
		if v != nil || !errors.Is(err, llm.ErrReply) || len(asked) != 2 || reply.Cost.Calls != 2 {
			t.Errorf("%s: %+v, %v after %d calls", said, v, err, len(asked))
			continue
		}
		if !strings.Contains(err.Error(), why) || strings.Contains(err.Error(), "violet") {
			t.Errorf("%s: error %q, want %q", said, err, why)
		}
	}
}

func TestDecodeWithoutSchema(t *testing.T) {
	s := &script{lines: []string{`{"n":1}`}}
	if _, _, err := llm.Decode[pick](t.Context(), s, hello(), nil); err == nil || len(s.asked) > 0 {
		t.Errorf("%d calls, %v", len(s.asked), err)
	}
}
