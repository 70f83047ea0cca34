package main

import (
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/memsearch/memsearch/internal/llm/llmtest"
)

// modelKey is where the environment of a script keeps its server.
type modelKey struct{}

func startModel(ts *testscript.TestScript, not bool, args []string) {
	if not || len(args) == 0 {
		ts.Fatalf("usage: model step...")
	}
	var steps []llmtest.Step
	for _, a := range args {
		s, err := modelStep(a)
		ts.Check(err)
		steps = append(steps, s)
	}
	srv := llmtest.Start(steps...)
	ts.Defer(srv.Close)
	*ts.Value(modelKey{}).(**llmtest.Server) = srv
	ts.Setenv("URL", strings.TrimSuffix(srv.URL, "/v1"))
}

// modelStep reads what the server does with one request, and the last of them with
// all that follow:
//
//	grades:2=3,1=1   a ranking of candidates by number and grade
//	picks:2,1        a selection from the catalog
//	text:WORDS       any text
//	status:500       an error
//	echo:401         an error that quotes key and prompt
//	hang, reset, refusal, length
func modelStep(s string) (llmtest.Step, error) {
	kind, arg, _ := strings.Cut(s, ":")
	switch kind {
	case "grades":
		var list []string
		for pair := range strings.SplitSeq(arg, ",") {
			if n, grade, ok := strings.Cut(pair, "="); ok {
				list = append(list, fmt.Sprintf(`{"n": %s, "grade": %s}`, n, grade))
			}
		}
		return llmtest.Text(`{"ranking": [` + strings.Join(list, ", ") + `]}`), nil
	case "picks":
		return llmtest.Text(`{"selected": [` + arg + `]}`), nil
	case "scores":
		return llmtest.Ranks(func(r *llmtest.Request) []float64 {
			out := make([]float64, len(r.Documents))
			for i := range out { // the last document is the best
				out[i] = float64(i)
			}
			return out
		}), nil
	case "text":
		return llmtest.Text(arg), nil
	case "status":
		code, err := strconv.Atoi(arg)
		return llmtest.Status(code, "x", http.StatusText(code)), err
	case "echo":
		code, err := strconv.Atoi(arg)
		return func(w http.ResponseWriter, r *llmtest.Request) {
			llmtest.Status(code, "x", "bad: "+r.Auth+" "+r.Prompt())(w, r)
		}, err
	case "hang":
		return llmtest.Hang(), nil
	case "reset":
		return llmtest.Reset(), nil
	case "refusal":
		return llmtest.Refusal("I will not"), nil
	case "length":
		return llmtest.Length(`{"ranking": [`), nil
	}
	return nil, fmt.Errorf("no model step %q", s)
}

func model(ts *testscript.TestScript) *llmtest.Server {
	srv := *ts.Value(modelKey{}).(**llmtest.Server)
	if srv == nil {
		ts.Fatalf("no model server was started")
	}
	return srv
}

// connectedKey is where the environment of a script counts connections to the
// listener of nomodel.
type connectedKey struct{}

func listenOnly(ts *testscript.TestScript, not bool, args []string) {
	if not || len(args) != 0 {
		ts.Fatalf("usage: nomodel")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { l.Close() })
	connected := ts.Value(connectedKey{}).(*atomic.Int64)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			connected.Add(1)
			c.Close()
		}
	}()
	ts.Setenv("URL", "http://"+l.Addr().String())
}

func wantConnected(ts *testscript.TestScript, not bool, args []string) {
	if !not || len(args) != 0 {
		ts.Fatalf("usage: ! connected")
	}
	if n := ts.Value(connectedKey{}).(*atomic.Int64).Load(); n > 0 {
		ts.Fatalf("%d connections to the model server", n)
	}
}

func wantAsked(ts *testscript.TestScript, not bool, args []string) {
	if not || len(args) != 1 {
		ts.Fatalf("usage: asked n")
	}
	if got := strconv.Itoa(model(ts).Count()); got != args[0] {
		ts.Fatalf("the server got %s requests, want %s", got, args[0])
	}
}

func wantCharged(ts *testscript.TestScript, not bool, args []string) {
	if not || len(args) != 2 {
		ts.Fatalf("usage: charged path path")
	}
	u := model(ts).Charged()
	for i, want := range []int{u.In, u.Out} {
		got, err := jsonValue(ts.ReadFile("stdout"), args[i])
		ts.Check(err)
		if got != strconv.Itoa(want) {
			ts.Fatalf("%s is %s, the server charged %d", args[i], got, want)
		}
	}
}
