package llm_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/internal/llm/llmtest"
	"github.com/memsearch/memsearch/internal/secrets"
)

// TestDebugFiles has a secret stand where JSON hides its start, and where a stream
// cuts it, and a server that quotes the key.
func TestDebugFiles(t *testing.T) {
	const key = "sk-very-secret-0123456789"
	const secret = "AKIA" + "QYLPMN5HFIQR7XYA"
	t.Setenv("MODEL_KEY", key)
	scan := secrets.New()
	redact := func(s string) string { return secrets.Redact(s, scan.Scan(s)) }
	text := "the token is\n" + secret + " of the heron"
	cut := `data: {"choices":[{"delta":{"content":"the token is\n` + secret[:12] + `"}}]}` + "\n\n" +
		`data: {"choices":[{"delta":{"content":"` + secret[12:] + ` of the heron"}}]}` + "\n\ndata: [DONE]\n\n"
	for name, step := range map[string]llmtest.Step{
		"whole": llmtest.Text(text), "streamed": llmtest.Streamed(text), "cut": llmtest.Raw(200, cut),
		"cut short": llmtest.Raw(200, strings.TrimSuffix(cut, "data: [DONE]\n\n")), "html": llmtest.Raw(200, "<p> "+text+" "+key),
		"quoting": llmtest.Status(400, "", "you said "+text+" with "+key),
	} {
		srv := llmtest.New(t, step)
		dir := filepath.Join(t.TempDir(), "debug")
		none := 0
		c := client(t, srv, func(p *llm.Profile, o *llm.Options) {
			p.APIKeyEnv, p.Retries, o.DebugDir, o.Redact = "MODEL_KEY", &none, dir, redact
		})
		r := hello()
		r.Messages[0].Content = text
		c.Ask(t.Context(), r) // the file counts
		files, err := os.ReadDir(dir)
		if err != nil || len(files) != 1 {
			t.Fatalf("%s: files %v, %v", name, files, err)
		}
		raw, err := os.ReadFile(filepath.Join(dir, files[0].Name()))
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			V              int
			Prompt         string
			Request, Reply any
		}
		if err := json.Unmarshal(raw, &got); err != nil || got.V != 1 || got.Prompt != "test@1" {
			t.Fatalf("%s: %s: %v", name, raw, err)
		}
		for _, bad := range []string{secret, secret[:12], secret[12:], key} {
			if bytes.Contains(raw, []byte(bad)) {
				t.Errorf("%s: %q in\n%s", name, bad, raw)
			}
		}
		for side, v := range map[string]any{"request": got.Request, "reply": got.Reply} {
			if s := fmt.Sprint(v); !strings.Contains(s, "of the heron") || !strings.Contains(s, "redacted") {
				t.Errorf("%s: %s %s", name, side, s)
			}
		}
	}
}

// TestDebugFilesOfJSON has a secret stand in JSON in a prompt, where its quoting hides
// its start.
func TestDebugFilesOfJSON(t *testing.T) {
	const secret = "AKIA" + "QYLPMN5HFIQR7XYA"
	scan := secrets.New()
	for _, before := range []string{"\n", "\r", "\t", `"`, "<", ">", "&", "\u2028"} {
		dir := t.TempDir()
		c := client(t, llmtest.New(t, llmtest.Text("fine")), func(_ *llm.Profile, o *llm.Options) {
			o.DebugDir, o.Redact = dir, func(s string) string { return secrets.Redact(s, scan.Scan(s)) }
		})
		line, err := json.Marshal(map[string]string{"text": "the token is" + before + secret + " of the heron"})
		if err != nil {
			t.Fatal(err)
		}
		r := hello()
		r.Messages[0].Content = "[1] " + string(line)
		if _, err := c.Ask(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
		if len(files) != 1 {
			t.Fatalf("files %v", files)
		}
		raw, err := os.ReadFile(files[0])
		if err != nil || bytes.Contains(raw, []byte(secret)) || !bytes.Contains(raw, []byte("of the heron")) {
			t.Errorf("after %q: %s, %v", before, raw, err)
		}
	}
}

// Debug files are bounded in number: the oldest go, files of others stay.
func TestDebugFilesBounded(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-time.Hour)
	for i := range llm.DebugFiles + 20 {
		name := filepath.Join(dir, fmt.Sprintf("20200101T000000-a%03d.json", i))
		if i == 0 {
			name = filepath.Join(dir, "notes.json")
		}
		if err := errors.Join(os.WriteFile(name, []byte("{}"), 0o600), os.Chtimes(name, old, old.Add(time.Duration(i)*time.Second))); err != nil {
			t.Fatal(err)
		}
	}
	srv := llmtest.New(t, llmtest.Text("fine"))
	c := client(t, srv, func(_ *llm.Profile, o *llm.Options) { o.DebugDir = dir })
	if _, err := c.Ask(t.Context(), hello()); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) > llm.DebugFiles+1 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	mine, others, oldest := 0, 0, 0
	for _, f := range files {
		switch name := f.Name(); {
		case name == "notes.json":
			others++
		case name == "20200101T000000-a001.json":
			oldest++
		case !strings.HasPrefix(name, "20200101T000000-a"):
			mine++
		}
	}
	if mine != 1 || others != 1 || oldest != 0 {
		t.Errorf("%d new, %d of others, %d of the oldest", mine, others, oldest)
	}
}

// Nobody asked for debug files; a client and its log show no key and no text, nor
// does a client that is printed in any way.
func TestNothingLeaks(t *testing.T) {
	const key = "sk-very-secret-0123456789"
	t.Setenv("MODEL_KEY", key)
	t.Chdir(t.TempDir())
	state := t.TempDir()
	var out bytes.Buffer
	for _, quote := range []string{"violet heron says hello", "say hello to the violet heron", "Incorrect API key provided: " + key, key[:20]} {
		for _, code := range []int{200, 400, 401, 429, 500} {
			for _, body := range []string{quote, `{"error":"` + quote + `"}`, `{"error":{"message":"` + quote + `","code":"` + quote + `"}}`} {
				srv := llmtest.New(t, llmtest.Raw(code, body))
				none := 0
				c := client(t, srv, func(p *llm.Profile, o *llm.Options) {
					p.APIKeyEnv, p.Retries, o.StateDir = "MODEL_KEY", &none, state
					o.Logger = slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
				})
				_, err := c.Ask(t.Context(), hello())
				if err == nil {
					t.Fatalf("%d %s: no error", code, body)
				}
				fmt.Fprintf(&out, "%v %+v %v %+v %#v %s\n", err, err, c, c, c, c)
			}
		}
	}
	for _, secret := range []string{key, key[:20], "say hello to the violet", "to the violet heron"} {
		if strings.Contains(out.String(), secret) {
			t.Errorf("%q in\n%s", secret, out.String())
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("files %v, %v", left, err)
	}
	files, err := filepath.Glob(filepath.Join(state, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no word of the servers that fail: %v", err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil || bytes.Contains(b, []byte("127.0.0.1")) || bytes.Contains(b, []byte("sk-")) {
			t.Errorf("%s holds %s, %v", f, b, err)
		}
	}
}
