package llm_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/internal/llm/llmtest"
)

// A verdict is what the model is asked for here.
type verdict struct {
	Ranking []struct {
		N     int `json:"n"`
		Grade int `json:"grade"`
	} `json:"ranking"`
}

const goodVerdict = `{"ranking":[{"n":2,"grade":3},{"n":1,"grade":1}]}`

// TestMalformed has a server reply in every way that models have, whole and
// streamed: the answer is found, or asked for once more, and never a third time;
// the cost is what the server charged.
func TestMalformed(t *testing.T) {
	schema, err := llm.SchemaFor[verdict]()
	if err != nil {
		t.Fatal(err)
	}
	schemaText, err := schema.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, text string
		asked      int // times, when the second reply is good
	}{
		{"good", goodVerdict, 1},
		{"fence", "```json\n" + goodVerdict + "\n```", 1},
		{"bare fence", "```\n" + goodVerdict + "\n```", 1},
		{"thought", "<think>maybe {\"ranking\":[]} or not</think>\n" + goodVerdict, 1},
		{"unclosed thought", "<think>I rank them: " + goodVerdict, 1},
		{"prose", "Sure! Here is the ranking:\n" + goodVerdict + "\nLet me know.", 1},
		{"中文", "以下是排序結果：" + goodVerdict + "。", 1},
		{"trailing commas", `{"ranking":[{"n":2,"grade":3,},{"n":1,"grade":1},],}`, 1},
		{"single quotes", `{'ranking':[{'n':2,'grade':3},{'n':1,'grade':1}]}`, 1},
		{"comments", "{\"ranking\":[{\"n\":2,\"grade\":3}, // best\n{\"n\":1,\"grade\":1}]}", 1},
		{"byte order mark", "\ufeff" + goodVerdict, 1},
		{"encoded twice", `"{\"ranking\":[{\"n\":2,\"grade\":3},{\"n\":1,\"grade\":1}]}"`, 1},
		{"corrected", `{"ranking":[{"n":9,"grade":3}]} Wait, no: ` + goodVerdict, 1},
		{"lone surrogate", `{"ranking":[{"n":"\ud800","grade":3}]}`, 2},
		{"empty object", `{}`, 2},
		{"null", `null`, 2},
		{"echoed schema", string(schemaText), 2},
		{"empty", ``, 2},
		{"prose alone", `I think the second.`, 2},
		{"wrong types", `{"ranking":"2, 1"}`, 2},
		{"another field", `{"ranking":[],"violet":1}`, 2},
		{"unclosed thought alone", `<think>hm`, 2},
	} {
		for _, stream := range []bool{false, true} {
			srv := llmtest.New(t, llmtest.Text(tt.text), llmtest.Text(goodVerdict))
			ledger := llm.NewMemoryLedger()
			c := client(t, srv, func(p *llm.Profile, o *llm.Options) { p.Stream, o.Ledger = &stream, ledger })
			r := hello()
			r.Schema, r.SchemaName = schema, "verdict"
			v, reply, err := llm.Decode[verdict](t.Context(), c, r, nil)
			if err != nil || len(v.Ranking) != 2 || v.Ranking[0].N != 2 || v.Ranking[0].Grade != 3 || v.Ranking[1].N != 1 {
				t.Errorf("%s, stream %v: %+v, %v", tt.name, stream, v, err)
			}
			if srv.Count() != tt.asked {
				t.Errorf("%s, stream %v: asked %d times, want %d", tt.name, stream, srv.Count(), tt.asked)
			}
			u := srv.Charged()
			want := memsearch.Cost{Calls: srv.Count(), TokensIn: u.In, TokensOut: u.Out}
			if got := reply.Cost; got.Calls != want.Calls || got.TokensIn != want.TokensIn || got.TokensOut != want.TokensOut {
				t.Errorf("%s, stream %v: cost %+v, charged %+v", tt.name, stream, got, want)
			}
			rows, lerr := ledger.Costs(time.Time{})
			if lerr != nil || len(rows) != 1 || rows[0].Calls != want.Calls || rows[0].TokensIn != u.In || rows[0].TokensOut != u.Out {
				t.Errorf("%s, stream %v: ledger %+v, charged %+v", tt.name, stream, rows, want)
			}
			if tt.asked == 1 {
				continue
			}
			srv = llmtest.New(t, llmtest.Text(tt.text))
			_, reply, err = llm.Decode[verdict](t.Context(), client(t, srv, nil), r, nil)
			if !errors.Is(err, llm.ErrReply) || srv.Count() != 2 || reply.Cost.Calls != 2 {
				t.Errorf("%s for ever: asked %d times, cost %+v, error %v", tt.name, srv.Count(), reply.Cost, err)
			}
		}
	}
}

// Not asked again: what would come out the same, and what there is no call left for.
func TestNotAskedAgain(t *testing.T) {
	schema, err := llm.SchemaFor[verdict]()
	if err != nil {
		t.Fatal(err)
	}
	r := hello()
	r.Schema, r.SchemaName = schema, "verdict"
	for name, tt := range map[string]struct {
		step llmtest.Step
		err  error
	}{"refusal": {llmtest.Refusal("no"), llm.ErrRefused}, "length": {llmtest.Length(`{"ranking":[`), llm.ErrLength}} {
		srv := llmtest.New(t, tt.step)
		_, reply, err := llm.Decode[verdict](t.Context(), client(t, srv, nil), r, nil)
		if u := srv.Charged(); !errors.Is(err, tt.err) || srv.Count() != 1 || reply.Cost.TokensIn != u.In || reply.Cost.TokensOut != u.Out {
			t.Errorf("%s: asked %d times, cost %+v, error %v", name, srv.Count(), reply.Cost, err)
		}
	}
	srv := llmtest.New(t, llmtest.Text("{}"))
	c := client(t, srv, func(_ *llm.Profile, o *llm.Options) { o.Caps.RunCalls = 1 })
	_, reply, err := llm.Decode[verdict](t.Context(), c, r, nil)
	if !isCap(err, "run", "calls") || srv.Count() != 1 || reply.Cost.Calls != 1 {
		t.Errorf("asked %d times, cost %+v, error %v", srv.Count(), reply.Cost, err)
	}
}

// long are parts of replies that, repeated, are made to take long.
var long = map[string]string{"nested": `{"a":`, "brackets": `[`, "quotes": `{"{"`, "closed": `{}`, "mixed": `{"a":[{'b`, "words": `[1 1`,
	"names": `{a:'b' `, "list": `[{},`, "strings": `['a" `, "escapes": `{"\\`, "thoughts": `</think>`, "fences": "```{"}

// Very long replies are read in no time, with an answer or without.
func TestLongReplies(t *testing.T) {
	for name, part := range long {
		raw, err := llm.Object(strings.Repeat(part, 1<<18/len(part)))
		if err == nil && !json.Valid(raw) || err != nil && !errors.Is(err, llm.ErrReply) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// BenchmarkObject repairs replies as long as are repaired.
func BenchmarkObject(b *testing.B) {
	for name, part := range long {
		b.Run(name, func(b *testing.B) {
			text := part[:1] + strings.Repeat(strings.TrimPrefix(part, "["), 30_000/len(part))
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				llm.Object(text)
			}
		})
	}
}

// FuzzObject: what is found is JSON, an object or an array.
func FuzzObject(f *testing.F) {
	for _, s := range []string{goodVerdict, "```json\n{'a':1,}\n```", "<think>{</think>[1 2", `"{\"a\":1}"`, "{\"a\":\"\\ud800\"}", "{/*x*/}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		raw, err := llm.Object(text)
		if err != nil {
			if !errors.Is(err, llm.ErrReply) || raw != nil {
				t.Errorf("%q: %s, %v", text, raw, err)
			}
			return
		}
		if !json.Valid(raw) || raw[0] != '{' && raw[0] != '[' {
			t.Errorf("%q: %s", text, raw)
		}
	})
}
