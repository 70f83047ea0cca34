package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/server/mcp"
)

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// serve returns what a client is answered that sends lines and closes its end.
func serve(t *testing.T, m *core.Memory, asked string) string {
	t.Helper()
	var out strings.Builder
	if err := mcp.Serve(t.Context(), mcp.New(m, nil), strings.NewReader(hello+asked), &out); err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(strings.Lines(out.String()))
	i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, `"id":0,"result"`) })
	if i < 0 {
		t.Fatalf("not initialized: %s", out.String())
	}
	return strings.Join(slices.Delete(lines, i, i+1), "")
}

// TestServe guards against answers that are lost when the client closes its end
// at once.
func TestServe(t *testing.T) {
	got := serve(t, memory(t, &core.Options{}), `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"recall","arguments":{"query":"heron"}}}
{"jsonrpc":"2.0","id":3,"method":"nothing"}`)
	for _, want := range []string{"in the weir", `"id":3,"error"`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}

// TestMalformed guards against a session that one bad line ends, or that gives it
// no answer.
func TestMalformed(t *testing.T) {
	m := memory(t, &core.Options{})
	type answer struct {
		ID   any
		Code int
	}
	alive := answer{"alive", 0}
	for name, tt := range map[string]struct {
		line string
		want []answer
	}{
		"words":                 {"no JSON", []answer{{nil, -32700}}},
		"half a message":        {`{"jsonrpc":"2.0","id":5,`, []answer{{nil, -32700}}},
		"no text":               {"\xff\xfe\x00", []answer{{nil, -32700}}},
		"two messages":          {`{"jsonrpc":"2.0","id":1,"method":"ping"} {"jsonrpc":"2.0","id":2,"method":"ping"}`, []answer{{nil, -32700}}},
		"too deep":              {strings.Repeat("[", 20000), []answer{{nil, -32700}}},
		"too long":              {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", 4<<20) + `"}}`, []answer{{nil, -32600}}},
		"no message":            {`{}`, []answer{{nil, -32600}}},
		"null":                  {`null`, []answer{{nil, -32600}}},
		"another version":       {`{"jsonrpc":"1.0","id":7,"method":"ping"}`, []answer{{7.0, -32600}}},
		"method that is none":   {`{"jsonrpc":"2.0","id":"a","method":5}`, []answer{{"a", -32600}}},
		"id that is none":       {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, []answer{{nil, -32600}}},
		"empty batch":           {`[]`, []answer{{nil, -32600}}},
		"batch":                 {`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"},5,{"jsonrpc":"2.0","method":"x"}]`, []answer{{1.0, 0}, {nil, -32600}}},
		"empty line":            {"\r\n \n", nil},
		"answer to nothing":     {`{"jsonrpc":"2.0","id":9,"result":{}}`, nil},
		"text that is no UTF-8": {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"x\":\"\xff\"}}", []answer{{1.0, 0}}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []answer
			for l := range strings.Lines(serve(t, m, tt.line+"\n"+`{"jsonrpc":"2.0","id":"alive","method":"ping"}`+"\n")) {
				var a struct {
					ID    any
					Error struct{ Code int }
				}
				if err := json.Unmarshal([]byte(l), &a); err != nil {
					t.Fatal(err)
				}
				got = append(got, answer{a.ID, a.Error.Code})
			}
			less := func(a, b answer) bool { return fmt.Sprint(a) < fmt.Sprint(b) }
			if diff := cmp.Diff(append(tt.want, alive), got, cmpopts.SortSlices(less)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestSameID guards against a server that waits for ever, once its input has ended,
// for the answer to a request that repeats the id of another, or to a subscription.
func TestSameID(t *testing.T) {
	const ask = `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"recall","arguments":{"query":"heron"}}}` + "\n"
	got := serve(t, memory(t, &core.Options{}), strings.Repeat(ask, 50)+
		`{"jsonrpc":"2.0","id":6,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`+"\n")
	if n := strings.Count(got, "in the weir") + strings.Count(got, `the id 5 is that of a request under way`); n != 50 {
		t.Errorf("%d answers: %s", n, got)
	}
}

// TestServeEnds guards against a server that outlives its context since its client
// neither sends nor reads.
func TestServeEnds(t *testing.T) {
	m := memory(t, &core.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	silent, open := io.Pipe()
	defer open.Close()
	if err := mcp.Serve(ctx, mcp.New(m, nil), silent, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("nothing sent: %v", err)
	}

	ctx, cancel = context.WithCancel(t.Context())
	in, client := io.Pipe()
	unread, out := io.Pipe()
	defer unread.Close()
	ended := make(chan error)
	go func() { ended <- mcp.Serve(ctx, mcp.New(m, nil), in, out) }()
	if _, err := io.WriteString(client, hello+`{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReaderSize(unread, 16).ReadByte(); err != nil { // the first answer is on its way, and stays there
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("nothing read: %v", err)
	}
}
