package llm_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/internal/llm/llmtest"
)

func structured() llm.Request {
	r := hello()
	r.Schema, r.SchemaName = &jsonschema.Schema{Type: "object", Required: []string{"greeting"}}, "greeting"
	return r
}

// format returns the response_format of a request, and whether its messages
// describe the schema.
func format(t *testing.T, r llmtest.Request) (kind string, described bool) {
	t.Helper()
	var f struct{ Type string }
	if r.ResponseFormat != nil {
		if err := json.Unmarshal(r.ResponseFormat, &f); err != nil {
			t.Fatal(err)
		}
	}
	return f.Type, strings.Contains(r.Prompt(), `"required":["greeting"]`)
}

// takes answers with a completion unless the request asks for a format that is not
// among the ones that the server takes. It quotes the field, as servers do.
func takes(formats ...string) llmtest.Step {
	ok := llmtest.Text(`{"greeting":"hi"}`)
	return func(w http.ResponseWriter, r *llmtest.Request) {
		var f struct{ Type string }
		if r.ResponseFormat != nil && json.Unmarshal(r.ResponseFormat, &f) == nil {
			found := false
			for _, have := range formats {
				found = found || have == f.Type
			}
			if !found {
				llmtest.Status(400, "", `unknown value: "response_format":{"type":"`+f.Type+`"`)(w, r)
				return
			}
		}
		ok(w, r)
	}
}

// TestFormats: a server is asked in the strictest way that it takes; what it does
// not take is asked once, also by the next process.
func TestFormats(t *testing.T) {
	type sent struct {
		Kind      string
		Described bool
	}
	for _, tt := range []struct {
		mode  string
		takes []string
		want  []sent // of two clients that ask one after the other
		fails bool
	}{
		{"auto", []string{"json_schema"}, []sent{{"json_schema", false}, {"json_schema", false}}, false},
		{"auto", []string{"json_object"}, []sent{{"json_schema", false}, {"json_object", true}, {"json_object", true}}, false},
		{"auto", nil, []sent{{"json_schema", false}, {"json_object", true}, {"", true}, {"", true}}, false},
		{"schema", nil, []sent{{"json_schema", false}, {"json_schema", false}}, true},
		{"object", []string{"json_object"}, []sent{{"json_object", true}, {"json_object", true}}, false},
		{"none", nil, []sent{{"", true}, {"", true}}, false},
	} {
		srv := llmtest.New(t, takes(tt.takes...))
		state := t.TempDir()
		for range 2 {
			c := client(t, srv, func(p *llm.Profile, o *llm.Options) { p.Structured, o.StateDir = tt.mode, state })
			before := srv.Count()
			reply, err := c.Ask(t.Context(), structured())
			if (err != nil) != tt.fails {
				t.Errorf("%s, takes %v: %v", tt.mode, tt.takes, err)
			}
			if reply.Cost.Calls != srv.Count()-before {
				t.Errorf("%s, takes %v: %d calls counted, %d made", tt.mode, tt.takes, reply.Cost.Calls, srv.Count()-before)
			}
		}
		var got []sent
		for _, r := range srv.Requests() {
			kind, described := format(t, r)
			got = append(got, sent{kind, described})
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s, takes %v (-want +got):\n%s", tt.mode, tt.takes, d)
		}
	}
}

// Another error is not about the format.
func TestFormatStaysAfterOtherErrors(t *testing.T) {
	srv := llmtest.New(t, llmtest.Status(400, "context_length_exceeded", "too long"))
	if _, err := client(t, srv, nil).Ask(t.Context(), structured()); err == nil || srv.Count() != 1 {
		t.Errorf("%d requests, error %v", srv.Count(), err)
	}
}

// TestWire checks what is sent, field by field.
func TestWire(t *testing.T) {
	zero, stream := 0.0, true
	for _, tt := range []struct {
		edit func(*llm.Profile, *llm.Options)
		r    llm.Request
		want string
	}{
		{nil, hello(), `{"model":"m","messages":[{"role":"user","content":"say hello to the violet heron"}],"max_tokens":100}`},
		{func(p *llm.Profile, _ *llm.Options) { p.Temperature, p.Model = &zero, "o3-mini" }, hello(),
			`{"model":"o3-mini","messages":[{"role":"user","content":"say hello to the violet heron"}],"max_completion_tokens":100,"temperature":0}`},
		{func(p *llm.Profile, _ *llm.Options) { p.Stream = &stream }, llm.Request{Messages: hello().Messages, MaxOutput: 7},
			`{"model":"m","messages":[{"role":"user","content":"say hello to the violet heron"}],"max_tokens":7,"stream":true,"stream_options":{"include_usage":true}}`},
		{nil, structured(), `{"model":"m","messages":[{"role":"user","content":"say hello to the violet heron"}],"max_tokens":100,` +
			`"response_format":{"type":"json_schema","json_schema":{"name":"greeting","schema":{"type":"object","required":["greeting"]},"strict":true}}}`},
	} {
		t.Setenv("MODEL_KEY", "sk-1")
		srv := llmtest.New(t, llmtest.Text("fine"))
		c := client(t, srv, func(p *llm.Profile, o *llm.Options) {
			p.APIKeyEnv = "MODEL_KEY"
			if tt.edit != nil {
				tt.edit(p, o)
			}
		})
		if _, err := c.Ask(t.Context(), tt.r); err != nil {
			t.Fatal(err)
		}
		got := srv.Requests()[0]
		if d := cmp.Diff(tt.want, string(got.Body)); d != "" || got.Auth != "Bearer sk-1" || got.Path != "/v1/chat/completions" {
			t.Errorf("%s %s (-want +got):\n%s", got.Path, got.Auth, d)
		}
	}
}

// Servers add fields, blanks and comments, end lines in either way, and leave out
// what they need not say.
func TestOddReplies(t *testing.T) {
	for name, body := range map[string]string{
		"blanks":       "\n\n {\"choices\":[{\"message\":{\"content\":\"fine\"}}],\"error\":null}\n",
		"parts":        `{"choices":[{"message":{"content":[{"type":"text","text":"fi"},{"type":"text","text":"ne"}]},"finish_reason":"stop"}]}`,
		"thoughts":     `{"choices":[{"message":{"content":"fine","reasoning_content":"hm"},"finish_reason":"stop"}]}`,
		"CRLF events":  "event: x\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"fine\"},\"finish_reason\":\"stop\"}]}\r\n\r\ndata: [DONE]\r\n\r\n",
		"no blank":     "data:{\"choices\":[{\"delta\":{\"content\":\"fine\"}}]}\n\ndata:[DONE]",
		"no DONE":      "data: {\"choices\":[{\"delta\":{\"content\":\"fi\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"ne\"},\"finish_reason\":\"stop\"}]}\n\n",
		"other choice": "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"not\"}},{\"index\":0,\"delta\":{\"content\":\"fine\"}}]}\n\ndata: [DONE]\n",
		"odd usage":    `{"choices":[{"message":{"content":"fine"}}],"usage":{"prompt_tokens":-5,"completion_tokens":3}}`,
	} {
		srv := llmtest.New(t, llmtest.Raw(200, body))
		reply, err := client(t, srv, nil).Ask(t.Context(), hello())
		if err != nil || reply.Text != "fine" || reply.Finish != llm.FinishStop {
			t.Errorf("%s: %+v, %v", name, reply, err)
			continue
		}
		// "fine" is bounded by its bytes or fewer tokens.
		if in := llm.PromptTokens(hello().Messages); reply.Cost.TokensIn != in || reply.Cost.TokensOut < 1 || reply.Cost.TokensOut > 4 {
			t.Errorf("%s: counted %+v", name, reply.Cost)
		}
	}
}

// TestUsage: what a server says of the tokens is taken where it is clear; what makes
// no sense neither counts nor costs the reply. So it is with fields that nobody reads.
func TestUsage(t *testing.T) {
	in := llm.PromptTokens(hello().Messages)
	for _, tt := range []struct {
		usage   string
		in, out int // out 0: counted, 1 to 4 of "fine"
	}{
		{`{"prompt_tokens":7,"completion_tokens":3}`, 7, 3},
		{`{"prompt_tokens":7.0,"completion_tokens":3e0}`, 7, 3},
		{`{"prompt_tokens":"7","completion_tokens":"3"}`, 7, 3},
		{`{"prompt_tokens":7,"completion_tokens":3,"prompt_tokens_details":"x","total_tokens":[]}`, 7, 3},
		{`{"prompt_tokens":7}`, 7, 0},
		{`{"prompt_tokens":7,"completion_tokens":null}`, 7, 0},
		{`{"prompt_tokens":null,"completion_tokens":3}`, in, 0},
		{`{"prompt_tokens":0,"completion_tokens":0}`, in, 0},
		{`{"prompt_tokens":7.5,"completion_tokens":3}`, in, 0},
		{`{"prompt_tokens":-7,"completion_tokens":3}`, in, 0},
		{`{"prompt_tokens":7,"completion_tokens":"many"}`, in, 0},
		{`{"prompt_tokens":1e300,"completion_tokens":3}`, in, 0},
		{`{"prompt_tokens":"inf","completion_tokens":3}`, in, 0},
		{`{"prompt_tokens":{"x":7},"completion_tokens":3}`, in, 0},
		{`{"prompt_tokens":true,"completion_tokens":[3]}`, in, 0},
		{`{}`, in, 0},
		{`[]`, in, 0},
		{`"many"`, in, 0},
		{`7`, in, 0},
		{`null`, in, 0},
	} {
		for name, body := range map[string]string{
			"whole": `{"id":5,"created":"x","choices":[{"index":"0","message":{"content":"fine"},"finish_reason":"stop","logprobs":7}],"usage":` + tt.usage + `}`,
			"streamed": `data: {"id":5,"choices":[{"index":0.0,"delta":{"content":"fine"},"finish_reason":"stop"}]}` + "\n\n" +
				`data: {"choices":[],"usage":` + tt.usage + "}\n\ndata: [DONE]\n\n",
		} {
			srv := llmtest.New(t, llmtest.Raw(200, body))
			reply, err := client(t, srv, nil).Ask(t.Context(), hello())
			if err != nil || reply.Text != "fine" {
				t.Errorf("%s, %s: %+v, %v", tt.usage, name, reply, err)
				continue
			}
			got := reply.Cost
			if got.TokensIn != tt.in || tt.out != 0 && got.TokensOut != tt.out || got.TokensOut < 1 || got.TokensOut > 4 {
				t.Errorf("%s, %s: counted %+v, want %d and %d", tt.usage, name, got, tt.in, tt.out)
			}
		}
	}
}

// FuzzReply: whatever a server answers with, there is a reply or an error, at a
// cost that is neither negative nor none.
func FuzzReply(f *testing.F) {
	f.Add(200, `{"choices":[{"message":{"content":"x"}}],"usage":{"prompt_tokens":1e300}}`)
	f.Add(200, "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\ndata: [DONE]")
	f.Add(200, `{"results":[{"index":0,"relevance_score":1},{"index":1,"relevance_score":1e999}]}`)
	f.Add(400, `{"error":{"message":"response_format"}}`)
	f.Add(200, `{"error":"x"}`)
	var code int
	var body string
	srv := llmtest.Start(func(w http.ResponseWriter, r *llmtest.Request) { llmtest.Raw(code, body)(w, r) })
	f.Cleanup(srv.Close)
	f.Fuzz(func(t *testing.T, n int, text string) {
		code, body = 200+max(n, -n)%400, text
		if code == 204 || code == 304 {
			return // have no body
		}
		none := 0
		c, err := llm.New(llm.Profile{BaseURL: "http://x/v1", Model: "m", MaxOutput: 50, Retries: &none},
			&llm.Options{HTTPClient: &http.Client{Transport: inProcess{srv}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		reply, err := c.Ask(t.Context(), structured())
		if reply.Cost.Calls < 1 || reply.Cost.TokensIn < 0 || reply.Cost.TokensOut < 0 || err == nil && reply.Cost.TokensIn+reply.Cost.TokensOut == 0 {
			t.Errorf("cost %+v, error %v", reply.Cost, err)
		}
		ranks, err := c.Rank(t.Context(), llm.RankRequest{Query: "q", Documents: []string{"a", "b"}})
		if err == nil && (len(ranks.Scores) != 2 || ranks.Scores[0].Score < ranks.Scores[1].Score || ranks.Scores[0].Index == ranks.Scores[1].Index) {
			t.Errorf("scores %+v", ranks.Scores)
		}
		if err != nil && len(err.Error()) > 1000 {
			t.Errorf("error of %d bytes", len(err.Error()))
		}
	})
}
