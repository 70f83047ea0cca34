package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/memsearch/memsearch/internal/llm/llmtest"
)

// TestCommandScripts runs testdata/script. Beside the commands of testscript there
// are:
//
//	code N PROGRAM ARG...  run; it must end with this exit code
//	json PATH VALUE        standard output is one JSON document with this value
//	capture NAME PATH      a value of that document becomes $NAME
//	append FILE TEXT       a line at the end of a file
//	model STEP...          start a model server at $URL/v1, which answers so; see modelStep
//	asked N                the server got N requests in all
//	charged PATH PATH      standard output is a JSON document with what it charged, in and out
//	nomodel                set $URL to a listener that counts connections
//	! connected            there was none
func TestCommandScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Values[modelKey{}] = new(*llmtest.Server)
			e.Values[connectedKey{}] = new(atomic.Int64)
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, "config"))
			if e.Getenv("GOCOVERDIR") == "" {
				e.Setenv("GOCOVERDIR", filepath.Join(e.WorkDir, ".tmp"))
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code":    wantCode,
			"json":    wantJSON,
			"capture": capture,
			"append":  appendLine,
			"model":   startModel,
			"asked":   wantAsked,
			"charged": wantCharged,

			"nomodel":   listenOnly,
			"connected": wantConnected,
		},
	})
}

func wantCode(ts *testscript.TestScript, not bool, args []string) {
	if not || len(args) < 2 {
		ts.Fatalf("usage: code N program [args...]")
	}
	code := 0
	err := ts.Exec(args[1], args[2:]...)
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		code = ended.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strings.Contains(ts.ReadFile("stderr"), "goroutine ") {
		ts.Fatalf("it crashed")
	}
	if got := strconv.Itoa(code); got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}

func wantJSON(ts *testscript.TestScript, not bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] json path value")
	}
	got, err := jsonValue(ts.ReadFile("stdout"), args[0])
	ts.Check(err)
	if (got == args[1]) == not {
		ts.Fatalf("%s is %q", args[0], got)
	}
}

func capture(ts *testscript.TestScript, not bool, args []string) {
	if not || len(args) != 2 {
		ts.Fatalf("usage: capture name path")
	}
	got, err := jsonValue(ts.ReadFile("stdout"), args[1])
	ts.Check(err)
	ts.Setenv(args[0], got)
}

func appendLine(ts *testscript.TestScript, not bool, args []string) {
	if not || len(args) != 2 {
		ts.Fatalf("usage: append file text")
	}
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_WRONLY|os.O_APPEND, 0)
	ts.Check(err)
	_, err = fmt.Fprintln(f, args[1])
	ts.Check(errors.Join(err, f.Close()))
}

// jsonValue returns what stands at a dotted path of text, which must be one JSON
// document: a number indexes a list, # counts one.
func jsonValue(text, path string) (string, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	var v any
	if err := dec.Decode(&v); err != nil || dec.More() {
		return "", fmt.Errorf("standard output is not one JSON document: %v", err)
	}
	for key := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			var ok bool
			if v, ok = x[key]; !ok {
				return "", fmt.Errorf("no %s in %v", key, x)
			}
		case []any:
			if key == "#" {
				v = len(x)
				continue
			}
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(x) {
				return "", fmt.Errorf("no %s in a list of %d", key, len(x))
			}
			v = x[i]
		}
	}
	return fmt.Sprint(v), nil
}
