package llm_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/internal/llm/llmtest"
)

// through returns a client of srv with the cassette at path.
func through(t *testing.T, srv *llmtest.Server, path string, mode llm.CassetteMode) *llm.Client {
	t.Helper()
	tape, err := llm.OpenCassette(path, mode)
	if err != nil {
		t.Fatal(err)
	}
	return client(t, srv, func(_ *llm.Profile, o *llm.Options) { o.Cassette = tape })
}

func say(words string) llm.Request {
	r := hello()
	r.Messages[0].Content = words
	return r
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tape.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func echo(r *llmtest.Request) string { return strings.TrimSuffix(r.Prompt(), "\n") }

// tape returns a recorded cassette that answers each of the words with itself.
func tape(t *testing.T, words ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tape.jsonl")
	c := through(t, llmtest.New(t, llmtest.Func(echo)), path, llm.CassetteRecord)
	for _, w := range words {
		if _, err := c.Ask(t.Context(), say(w)); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// replay asks the cassette at path alone; its server fails what reaches it.
func replay(t *testing.T, path, words string) (*llm.Reply, error) {
	t.Helper()
	srv := llmtest.New(t, llmtest.Text("not from the cassette"))
	reply, err := through(t, srv, path, llm.CassetteReplay).Ask(t.Context(), say(words))
	if srv.Count() > 0 {
		t.Errorf("a replay made %d requests", srv.Count())
	}
	return reply, err
}

// Every kind of reply that was finished comes back as it was, with its cost and
// without the key that the server wanted.
func TestCassetteReplays(t *testing.T) {
	for name, step := range map[string]llmtest.Step{
		"text": llmtest.Text("你好 <b>\u2028"), "refusal": llmtest.Refusal("no"), "length": llmtest.Length("half of"),
		"empty": llmtest.Text(""),
	} {
		path := filepath.Join(t.TempDir(), "tape.jsonl")
		want, wantErr := through(t, llmtest.New(t, step), path, llm.CassetteRecord).Ask(t.Context(), hello())
		dead := llmtest.New(t, llmtest.Text("x"))
		dead.Close()
		played, err := llm.OpenCassette(path, llm.CassetteReplay)
		if err != nil {
			t.Fatal(err)
		}
		c := client(t, dead, func(p *llm.Profile, o *llm.Options) { o.Cassette, p.APIKeyEnv = played, "MEMSEARCH_TEST_NO_SUCH_KEY" })
		got, err := c.Ask(t.Context(), hello())
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || !got.Replayed || want.Replayed {
			t.Errorf("%s: replayed %v, error %v, recorded %v", name, got.Replayed, err, wantErr)
		}
		want.Replayed = true
		if d := cmp.Diff(want, got); d != "" || got.Cost.Calls != 1 {
			t.Errorf("%s (-recorded +replayed):\n%s", name, d)
		}
	}
}

func TestCassetteReplaysRanks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tape.jsonl")
	srv := llmtest.New(t, llmtest.Ranks(func(*llmtest.Request) []float64 { return []float64{.1, .9} }))
	r := llm.RankRequest{Query: "q", Documents: []string{"a", "b"}, Prompt: "cross"}
	want, err := through(t, srv, path, llm.CassetteRecord).Rank(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := through(t, srv, path, llm.CassetteReplay).Rank(t.Context(), r)
	want.Replayed = true
	if d := cmp.Diff(want, got); d != "" || err != nil || srv.Count() != 1 {
		t.Errorf("%d requests, %v (-recorded +replayed):\n%s", srv.Count(), err, d)
	}
	r.Documents = []string{"b", "a"}
	if _, err = through(t, srv, path, llm.CassetteReplay).Rank(t.Context(), r); !missing(err, "cross") {
		t.Errorf("other documents: %v", err)
	}
}

func missing(err error, prompt string) bool {
	e, ok := errors.AsType[*llm.MissingError](err)
	return ok && e.Prompt == prompt
}

// What a reply depends on makes another key; where it comes from does not.
func TestCassetteKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tape.jsonl")
	srv := llmtest.New(t, llmtest.Text("fine"))
	hot := 1.0
	for name, tt := range map[string]struct {
		profile func(*llm.Profile)
		request func(*llm.Request)
		same    bool
	}{
		"nothing":     {same: true},
		"address":     {profile: func(p *llm.Profile) { p.BaseURL = "http://elsewhere.invalid/v1" }, same: true},
		"timeout":     {profile: func(p *llm.Profile) { p.Timeout++ }, same: true},
		"price":       {profile: func(p *llm.Profile) { p.PriceIn = new(3.0) }, same: true},
		"prompt name": {request: func(r *llm.Request) { r.Prompt = "other@7" }, same: true},
		"model":       {profile: func(p *llm.Profile) { p.Model = "m2" }},
		"temperature": {profile: func(p *llm.Profile) { p.Temperature = &hot }},
		"words":       {request: func(r *llm.Request) { r.Messages[0].Content += " " }},
		"role":        {request: func(r *llm.Request) { r.Messages[0].Role = llm.RoleSystem }},
		"output":      {request: func(r *llm.Request) { r.MaxOutput = 7 }},
		"sample":      {request: func(r *llm.Request) { r.Sample = 1 }},
		"schema":      {request: func(r *llm.Request) { r.Schema, r.SchemaName = &jsonschema.Schema{Type: "object"}, "s" }},
	} {
		if _, err := through(t, srv, path, llm.CassetteAuto).Ask(t.Context(), hello()); err != nil {
			t.Fatal(err)
		}
		played, err := llm.OpenCassette(path, llm.CassetteReplay)
		if err != nil {
			t.Fatal(err)
		}
		r := hello()
		if tt.request != nil {
			tt.request(&r)
		}
		_, err = client(t, srv, func(p *llm.Profile, o *llm.Options) {
			o.Cassette = played
			if tt.profile != nil {
				tt.profile(p)
			}
		}).Ask(t.Context(), r)
		if (err == nil) != tt.same || !tt.same && !missing(err, r.Prompt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if srv.Count() != 1 {
		t.Errorf("auto asked %d times for one request", srv.Count())
	}
}

// The order in which a schema was put together makes no other key, and the same
// run writes the same bytes.
func TestCassetteDeterministic(t *testing.T) {
	files := map[string]bool{}
	for range 8 {
		path := filepath.Join(t.TempDir(), "tape.jsonl")
		r := hello()
		r.SchemaName, r.Schema = "s", &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
		for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
			r.Schema.Properties[name] = &jsonschema.Schema{Type: "string"}
		}
		if _, err := through(t, llmtest.New(t, llmtest.Text("{}")), path, llm.CassetteRecord).Ask(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		files[read(t, path)] = true
	}
	if len(files) != 1 {
		t.Errorf("%d different files", len(files))
	}
}

// Record mode asks again, and what came last counts. What failed is not kept.
func TestCassetteRecordsAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tape.jsonl")
	srv := llmtest.New(t, llmtest.Text("first"), llmtest.Text("second"), llmtest.Status(400, "", "bad"), llmtest.Raw(200, "<html>"))
	c := through(t, srv, path, llm.CassetteRecord)
	for i := range 4 {
		if _, err := c.Ask(t.Context(), hello()); (err == nil) != (i < 2) {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if reply, err := replay(t, path, hello().Messages[0].Content); err != nil || reply.Text != "second" {
		t.Errorf("%+v, %v", reply, err)
	}
	if n := strings.Count(read(t, path), `"key"`); n != 2 {
		t.Errorf("%d records, want 2", n)
	}
}

// Files as editors, transfers and crashes leave them.
func TestCassetteFiles(t *testing.T) {
	long := strings.Repeat("long ", 20_000)
	text := read(t, tape(t, "one", "two", long))
	lines := strings.Split(strings.ReplaceAll(strings.TrimSpace(text), "\n\n", "\n"), "\n")
	one, two := lines[0], lines[1]
	for name, tt := range map[string]struct {
		text string
		has  string // words that are answered; empty: none are
		err  string // of opening; empty: it opens
	}{
		"as written":            {text, "one", ""},
		"very long line":        {text, long, ""},
		"CRLF":                  {one + "\r\n" + two + "\r\n", "two", ""},
		"byte order mark":       {"\ufeff" + one + "\n" + two + "\n", "one", ""},
		"no last line feed":     {one + "\n" + two, "two", ""},
		"blank lines":           {"\n\n" + one + "\n \t\n" + two + "\n\n", "two", ""},
		"empty":                 {"", "", ""},
		"torn at the end":       {one + "\n" + two[:len(two)-9], "one", ""},
		"torn, then continued":  {one[:40] + "\n" + two + "\n", "two", ""},
		"damaged in the middle": {one + "\n" + strings.Replace(two, `"key":`, `"key"`, 1) + "\n" + one + "\n", "", "line 2 is damaged"},
		"damaged, blank before": {"\n\n" + one + "\nnot JSON\n", "", "line 4 is damaged"},
		"two on a line":         {one + two + "\n", "", "line 1 is damaged"},
		"another object":        {`{"a":1}` + "\n", "", "line 1 is damaged"},
		"zeros":                 {one + "\n\x00\x00\x00\n", "", "line 2 is damaged"},
		"newer":                 {strings.Replace(one, `"v":1`, `"v":2`, 1) + "\n", "", "newer version"},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, tt.text)
			_, err := llm.OpenCassette(path, llm.CassetteReplay)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) || !strings.Contains(err.Error(), path) {
					t.Errorf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if tt.has == "" {
				return
			}
			if reply, err := replay(t, path, tt.has); err != nil || reply.Text != tt.has {
				t.Errorf("%v", err)
			}
		})
	}
}

// What follows a torn line is a line of its own, and a reply that the torn line
// might have held is missed in words that say so.
func TestCassetteAfterTornLine(t *testing.T) {
	text := read(t, tape(t, "one"))
	path := write(t, text[:len(text)-9])
	srv := llmtest.New(t, llmtest.Text("fine"))
	if _, err := through(t, srv, path, llm.CassetteAuto).Ask(t.Context(), say("two")); err != nil {
		t.Fatal(err)
	}
	if reply, err := replay(t, path, "two"); err != nil || reply.Text != "fine" {
		t.Errorf("%v", err)
	}
	_, err := replay(t, path, "one")
	if !missing(err, "test@1") {
		t.Fatalf("error %v", err)
	}
	for _, want := range []string{path, "test@1", " m ", "key ", "torn lines passed over: 1", "--cassette-mode record"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q lacks %q", err, want)
		}
	}
	if strings.Contains(err.Error(), "one") {
		t.Errorf("%q quotes the prompt", err)
	}
}

// What cannot be recorded is known before anything is paid for.
func TestCassetteUnusable(t *testing.T) {
	dir := t.TempDir()
	file := write(t, "")
	sealed := write(t, "")
	if err := os.Chmod(sealed, 0o400); err != nil {
		t.Fatal(err)
	}
	for _, mode := range llm.CassetteModes {
		for name, path := range map[string]string{"directory": dir, "below a file": filepath.Join(file, "x"), "read only": sealed,
			"no folder": filepath.Join(dir, "none", "x")} {
			if name == "read only" && (mode == llm.CassetteReplay || os.Geteuid() == 0) {
				continue
			}
			if _, err := llm.OpenCassette(path, mode); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("%s, %s: %v", mode, name, err)
			}
		}
	}
	gone := filepath.Join(dir, "gone.jsonl")
	if _, err := llm.OpenCassette(gone, llm.CassetteReplay); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := llm.OpenCassette(gone, "rewind"); err == nil || !strings.Contains(err.Error(), "rewind") {
		t.Errorf("no mode: %v", err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

// Secrets are not recorded, wherever they stand in what is sent or said, and one
// in a prompt is found before it is sent.
func TestCassetteSecrets(t *testing.T) {
	key := "AKIA" + "QYLPMN5HHHFPZAM2"
	quoted, err := json.Marshal(map[string]string{"text": "deploy with\n" + key})
	if err != nil {
		t.Fatal(err)
	}
	marked, err := json.Marshal("deploy with <" + key + "> or else")
	if err != nil {
		t.Fatal(err)
	}
	for name, words := range map[string]string{"plain": "use " + key, "after a line end": "use\n" + key, "after a tab": "\t" + key, "in JSON": string(quoted),
		"in brackets in JSON": string(marked)} {
		for _, in := range []string{"request", "reply"} {
			path := filepath.Join(t.TempDir(), "tape.jsonl")
			request, reply, asked := words, "fine", 0
			if in == "reply" {
				request, reply, asked = "which key?", words, 1
			}
			srv := llmtest.New(t, llmtest.Text(reply))
			_, err := through(t, srv, path, llm.CassetteRecord).Ask(t.Context(), say(request))
			if err == nil || !strings.Contains(err.Error(), "aws-access") || strings.Contains(err.Error(), key) || srv.Count() != asked {
				t.Errorf("%s in a %s: %d requests, error %v", name, in, srv.Count(), err)
			}
			if text := read(t, path); text != "" {
				t.Errorf("%s in a %s: recorded", name, in)
			}
		}
	}
}

const childTape = "MEMSEARCH_TEST_TAPE"

// TestRecordChild is what the processes of TestCassetteProcesses run.
func TestRecordChild(t *testing.T) {
	path := os.Getenv(childTape)
	if path == "" {
		t.Skip("run by TestCassetteProcesses")
	}
	c := through(t, llmtest.New(t, llmtest.Func(echo)), path, llm.CassetteRecord)
	for i := range 20 {
		words := fmt.Sprintf("%s %d %s", os.Getenv("MEMSEARCH_TEST_TAPE_NAME"), i, strings.Repeat("x", 10_000))
		if _, err := c.Ask(t.Context(), say(words)); err != nil {
			t.Fatal(err)
		}
	}
}

// Several processes may record at once: each line is whole.
func TestCassetteProcesses(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "tape.jsonl")
	var running []*exec.Cmd
	for _, name := range []string{"a", "b", "c"} {
		cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestRecordChild$")
		cmd.Env = append(os.Environ(), childTape+"="+path, "MEMSEARCH_TEST_TAPE_NAME="+name)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, cmd)
	}
	for _, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]bool{}
	for line := range strings.Lines(read(t, path)) {
		var r struct{ Key string }
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		seen[r.Key] = true
	}
	if len(seen) != 60 {
		t.Errorf("%d records, want 60", len(seen))
	}
}
