package openai_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/memsearch/memsearch/embed"
	"github.com/memsearch/memsearch/embed/openai"
)

const (
	key   = "sk-test-0123456789abcdef"
	plain = "the launch code of the rocket is in the blue drawer"
)

// TestNothingLeaks makes a server quote the key and the text in every way and
// looks for them in errors, logs, reports and printed clients.
func TestNothingLeaks(t *testing.T) {
	t.Setenv("TEST_EMBED_KEY", key)
	quotes := []string{key, plain, "you sent: " + plain + "!", "Incorrect API key provided: " + key[:20], plain[5:25], "fine"}
	for _, quote := range quotes {
		for _, code := range []int{400, 401, 500, 200} {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				s := &script{steps: []step{status(code, quote, quote), raw(code, `{"error": "`+quote+`"}`), raw(code, quote)}}
				c := serve(t, s, func(o *openai.Options) {
					o.KeyEnv = "TEST_EMBED_KEY"
					o.Logger = slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
					o.OnCall = func(call openai.Call) { fmt.Fprintf(&out, "%+v\n", call) }
				})
				for range 3 {
					_, err := c.Embed(t.Context(), []string{plain}, embed.Query)
					if err == nil {
						t.Fatal("no error")
					}
					fmt.Fprintf(&out, "%v %+v\n", err, err)
				}
				fmt.Fprintf(&out, "%v %+v %#v %s\n", c, c, c, c)
				for _, secret := range []string{key, key[:20], plain, plain[5:25]} {
					if strings.Contains(out.String(), secret) {
						t.Errorf("%d %q: %q in\n%s", code, quote, secret, out.String())
					}
				}
				if quote == "fine" && !strings.Contains(out.String(), "fine") {
					t.Error("a harmless message is not shown")
				}
				if got := s.requests[0].auth; got != "Bearer "+key {
					t.Errorf("authorization %q", got)
				}
			})
		}
	}
}

func TestOptions(t *testing.T) {
	t.Setenv("TEST_EMBED_KEY", "")
	for _, tt := range []struct {
		name string
		o    *openai.Options
		err  error // nil: any
	}{
		{"nil", nil, nil},
		{"no model", &openai.Options{Dims: 3}, nil},
		{"no key", &openai.Options{Model: "m", Dims: 3, KeyEnv: "TEST_EMBED_KEY"}, openai.ErrNoKey},
		{"no dims", &openai.Options{Model: "m"}, openai.ErrNoDims},
		{"password", &openai.Options{Model: "m", Dims: 3, BaseURL: "http://u:hunter2@host/v1"}, nil},
		{"query", &openai.Options{Model: "m", Dims: 3, BaseURL: "http://host/v1?key=hunter2"}, nil},
		{"scheme", &openai.Options{Model: "m", Dims: 3, BaseURL: "file:///hunter2"}, nil},
		{"no URL", &openai.Options{Model: "m", Dims: 3, BaseURL: "http://hunter2 host:x"}, nil},
		{"negative", &openai.Options{Model: "m", Dims: -3}, nil},
	} {
		_, err := openai.New(tt.o)
		if err == nil || tt.err != nil && !errors.Is(err, tt.err) {
			t.Errorf("%s: error %v, want %v", tt.name, err, tt.err)
			continue
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	c, err := openai.New(&openai.Options{Model: "text-embedding-3-small"})
	if err != nil || c.Fingerprint().Dims != 1536 {
		t.Errorf("known model: %v", err)
	}
}

func TestDiscover(t *testing.T) {
	srv := httptest.NewServer(&script{steps: []step{good}})
	defer srv.Close()
	n, err := openai.Discover(t.Context(), &openai.Options{Model: "m", BaseURL: srv.URL, RequestDims: true})
	if n != dims || err != nil {
		t.Errorf("Discover = %d, %v, want %d", n, err, dims)
	}
	if _, err := openai.Discover(t.Context(), &openai.Options{}); err == nil {
		t.Error("no error without a model")
	}
}

// TestOverSockets repeats over real connections what memory pipes cannot show: a
// packed reply, and a connection that is reset in the middle of one.
func TestOverSockets(t *testing.T) {
	packed := func(w http.ResponseWriter, r request) {
		rec := httptest.NewRecorder()
		good(rec, r)
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		z.Write(rec.Body.Bytes())
		z.Close()
	}
	bomb := func(w http.ResponseWriter, _ request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		z.Write(bytes.Repeat([]byte(" "), 8<<20))
		z.Close()
	}
	for _, tt := range []struct {
		name  string
		first step
		good  bool
	}{{"gzip", packed, true}, {"bomb", bomb, false}, {"reset", reset, false}} {
		srv := httptest.NewServer(&script{steps: []step{tt.first}})
		c, err := openai.New(&openai.Options{Model: "m", Dims: dims, BaseURL: srv.URL, Tries: 1, MaxReply: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := c.Embed(t.Context(), []string{"hello"}, embed.Passage)
		if (err == nil) != tt.good {
			t.Errorf("%s: %v", tt.name, err)
		}
		if tt.good {
			checkRows(t, rows, "hello")
		}
		c.Close()
		srv.Close()
	}
}

// TestTruncationKeepsCharacters cuts in the middle of characters of three bytes.
func TestTruncationKeepsCharacters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{steps: []step{good}}
		for n := 1; n < 12; n++ {
			c := serve(t, s, func(o *openai.Options) { o.TextTokens = 2 + n })
			if _, err := c.Embed(t.Context(), []string{"ab我們今天"}, embed.Passage); err != nil {
				t.Fatal(err)
			}
			got := s.requests[len(s.requests)-1].Input[0]
			if want := "ab" + "我們今天"[:n/3*3]; got != want || !utf8.ValidString(got) {
				t.Errorf("%d bytes: sent %q, want %q", 2+n, got, want)
			}
		}
	})
}

// FuzzReply feeds replies to a client: whatever a server says, there is an error
// or one finite unit row for each text.
func FuzzReply(f *testing.F) {
	for _, s := range []string{`{"data":[{"index":0,"embedding":[1,2,3,4]},{"index":1,"embedding":[0,0,0,1]}]}`,
		`{"error":{"message":["a"],"code":1.5}}`, `{"data":null,"error":null}`, `{"error":""}`, `[]`, "\xff", `{"data":[{"index":-1}]}`} {
		f.Add(s, 200, "3")
	}
	f.Add("x", 503, "Mon, 99")
	var body, after string
	var code int
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", strings.Map(func(r rune) rune {
			if r < ' ' || r > '~' {
				return -1
			}
			return r
		}, after))
		w.WriteHeader(200 + max(code, -code)%400)
		fmt.Fprint(w, body)
	}))
	f.Cleanup(srv.Close)
	f.Fuzz(func(t *testing.T, b string, n int, a string) {
		body, code, after = b, n%400, a
		c, err := openai.New(&openai.Options{Model: "m", Dims: dims, BaseURL: srv.URL, Tries: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		rows, err := c.Embed(t.Context(), []string{"one", "two"}, embed.Passage)
		if err != nil {
			return
		}
		for _, r := range rows {
			if len(r) != dims || !embed.Normalize(r) {
				t.Errorf("row %v", r)
			}
		}
	})
}
