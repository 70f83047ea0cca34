package httpapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/memsearch/memsearch/internal/httpapi"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name, value string
		want        time.Duration
	}{
		{"Retry-After", "", 0},
		{"Retry-After", "7", 7 * time.Second},
		{"Retry-After", "0.5", 500 * time.Millisecond},
		{"Retry-After", "-3", 0},
		{"Retry-After", "NaN", 0},
		{"Retry-After", "Inf", 24 * time.Hour},
		{"Retry-After", "99999999999", 24 * time.Hour},
		{"Retry-After", "Sat, 01 Jan 2000 00:00:20 GMT", 20 * time.Second},
		{"Retry-After", "Fri, 31 Dec 1999 23:59:00 GMT", 0},
		{"Retry-After", "soon", 0},
		{"Retry-After-Ms", "1500", 1500 * time.Millisecond},
		{"Retry-After-Ms", "x", 0},
	} {
		if got := httpapi.RetryAfter(http.Header{tt.name: {tt.value}}, now); got != tt.want {
			t.Errorf("%s: %q = %v, want %v", tt.name, tt.value, got, tt.want)
		}
	}
}

func TestErrorObject(t *testing.T) {
	for _, tt := range []struct {
		body, message string
		status        int // 0: no error
	}{
		{`{"error":{"message":"slow down","code":429}}`, "slow down", 429},
		{`{"error":{"message":"no","code":"x"}}`, "no", 200},
		{`{"error":{"message":"no","code":12}}`, "no", 200},
		{`{"error":"in words"}`, "in words", 200},
		{`{"error":[1]}`, "", 200},
		{`{"error":{"message":7}}`, "", 200},
		{`{"error":null}`, "", 0},
		{`{"data":"error"}`, "", 0},
		{`{"error"`, "", 0},
		{``, "", 0},
	} {
		api := httpapi.ErrorObject([]byte(tt.body))
		if (api != nil) != (tt.status != 0) {
			t.Errorf("%s: error %v", tt.body, api)
		} else if api != nil && (api.HTTPStatusCode != tt.status || api.Message != tt.message) {
			t.Errorf("%s: %d %q", tt.body, api.HTTPStatusCode, api.Message)
		}
	}
}

func TestScrub(t *testing.T) {
	const secret = "the launch code is in\nthe blue drawer"
	for _, tt := range []struct{ message, want string }{
		{"model  not\nfound", "model not found"},
		{"you said: the launch code is in the blue drawer", ""},
		{"you said: code is in the blue", ""},               // 16 bytes and more in a row
		{"the blue drawer", "the blue drawer"},              // 15
		{"the key sk-1 is wrong", ""},                       // all of a short one
		{"ab", "ab"},                                        // too short to mean something
		{strings.Repeat("語", 100), strings.Repeat("語", 66)}, // 200 bytes, whole characters
	} {
		if got := httpapi.Scrub(tt.message, secret, "sk-1", "ab", ""); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.message, got, tt.want)
		}
	}
}

func TestStatus(t *testing.T) {
	odd := &goopenai.RequestError{HTTPStatusCode: 404, Err: errors.New("x"), Body: []byte(`{"error":"model not found"}`)}
	html := &goopenai.RequestError{HTTPStatusCode: 502, Err: errors.New("x"), Body: []byte(`<html>`)}
	api := &goopenai.APIError{HTTPStatusCode: 429, Code: "insufficient_quota", Type: "t", Message: "pay"}
	for _, tt := range []struct {
		err       error
		said      string
		temporary bool
	}{
		{odd, "server answers 404: model not found", false},
		{html, "server answers 502", true},
		{api, "server answers 429: insufficient_quota: t: pay", false},
		{&goopenai.APIError{HTTPStatusCode: 429}, "server answers 429", true},
		{&goopenai.APIError{HTTPStatusCode: 501}, "server answers 501", false},
		{fmt.Errorf("wrapped: %w", &goopenai.APIError{HTTPStatusCode: 408}), "server answers 408", true},
		{&goopenai.APIError{HTTPStatusCode: 401}, "server answers 401", false},
	} {
		got := httpapi.Status(tt.err)
		if got == nil || got.Error() != tt.said || got.Temporary() != tt.temporary {
			t.Errorf("%v: %v, want %q", tt.err, got, tt.said)
		}
	}
	if got := httpapi.Status(io.ErrUnexpectedEOF); got != nil {
		t.Errorf("a connection that ends is no status: %v", got)
	}
}

// A Doer tells a reply that is too large, or an error in spite of its status, from
// a good one, and gives a good one whole.
func TestDoer(t *testing.T) {
	body := ""
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) }))
	defer srv.Close()
	do := func(s string) (string, error) {
		body = s
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := httpapi.Doer{Client: srv.Client(), Max: 50}.Do(req)
		if err != nil {
			return "", err
		}
		got, err := io.ReadAll(res.Body)
		return string(got), err
	}
	for _, s := range []string{"", "{}", strings.Repeat("x", 50)} {
		if got, err := do(s); got != s || err != nil {
			t.Errorf("%q: %q, %v", s, got, err)
		}
	}
	if _, err := do(strings.Repeat("x", 51)); !errors.Is(err, httpapi.ErrTooLarge) || httpapi.Malformed(err) == "" {
		t.Errorf("51 bytes: %v", err)
	}
	if _, err := do(`{"error":{"message":"no"}}`); httpapi.Status(err) == nil {
		t.Errorf("an error object: %v", err)
	}
}

func TestMalformed(t *testing.T) {
	var v struct{ N int }
	for _, tt := range []struct {
		err  error
		want string
	}{
		{json.Unmarshal([]byte(`{"N":"violet"}`), &v), "field N has the wrong type"},
		{json.Unmarshal([]byte(`{violet`), &v), "not JSON"},
		{io.EOF, "not JSON"},
		{fmt.Errorf("read reply: %w", io.ErrUnexpectedEOF), ""}, // the connection
		{errors.New("x"), ""},
	} {
		if got := httpapi.Malformed(tt.err); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.err, got, tt.want)
		}
	}
}

// FuzzStatus: whatever a server says, what is shown is short, in one line, and
// quotes no secret.
func FuzzStatus(f *testing.F) {
	f.Add(`{"error":{"message":"you said: a secret of the heron","code":["x"],"type":"t"}}`, "a secret of the heron")
	f.Add(`{"error":"no"}`, "")
	f.Fuzz(func(t *testing.T, body, secret string) {
		got := httpapi.Status(&goopenai.RequestError{HTTPStatusCode: 400, Body: []byte(body)}, secret)
		for _, s := range []string{got.Message, got.Type, got.Code} {
			if len(s) > 200 || strings.ContainsAny(s, "\r\n") || len(strings.TrimSpace(secret)) >= 16 && strings.Contains(s, secret) ||
				utf8.ValidString(body) && !utf8.ValidString(s) {
				t.Errorf("%q shows %q", body, s)
			}
		}
	})
}

// Where a server points elsewhere, neither key nor text goes there.
func TestRedirects(t *testing.T) {
	elsewhere := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	defer other.Close()
	for _, code := range []int{300, 301, 302, 303, 307, 308} {
		asked := 0
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked++
			w.Header().Set("Location", other.URL)
			w.WriteHeader(code)
		}))
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL, strings.NewReader("text"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = httpapi.Doer{Client: srv.Client(), Max: 50}.Do(req)
		srv.Close()
		if got := httpapi.Status(err); got == nil || got.Status != code || got.Message == "" || got.Temporary() {
			t.Errorf("%d: %+v, %v", code, got, err)
		}
		if asked != 1 || elsewhere != 0 {
			t.Errorf("%d: asked %d times, %d elsewhere", code, asked, elsewhere)
		}
	}
}

// The status of an error says enough when its text is too long.
func TestLargeError(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, strings.Repeat("x", 51))
	}))
	defer srv.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := httpapi.Doer{Client: srv.Client(), Max: 50}.Do(req)
	if err != nil || res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("%v, %v", res, err)
	}
}

func TestQuiet(t *testing.T) {
	const secret = "the launch code is in\nthe blue drawer"
	if err := httpapi.Quiet(nil, secret); err != nil {
		t.Errorf("no error: %v", err)
	}
	for said, shown := range map[string]bool{
		"connection refused": true,
		`malformed HTTP response "the launch code is in the blue drawer"`: false,
		`malformed HTTP response "it is in the blue drawer"`:              false,
		strings.Repeat("x", 2000):                                         false,
	} {
		err := fmt.Errorf("%s: %w", said, io.ErrUnexpectedEOF)
		got := httpapi.Quiet(err, secret)
		if (got.Error() == err.Error()) != shown || !errors.Is(got, io.ErrUnexpectedEOF) || !shown && strings.Contains(got.Error(), "blue") {
			t.Errorf("%.60s: %v", said, got)
		}
	}
}

func TestKey(t *testing.T) {
	for _, tt := range []struct{ value, want string }{
		{"sk-1", "sk-1"}, {" sk-1\r\n", "sk-1"}, {"", ""}, {"\n", ""}, {"sk-1\nsk-2", ""}, {"sk\x01", ""},
	} {
		t.Setenv("TEST_KEY", tt.value)
		got, err := httpapi.Key("TEST_KEY")
		if got != tt.want || (err == nil) != (tt.want != "") || err != nil && strings.Contains(err.Error(), "sk") {
			t.Errorf("%q: %q, %v", tt.value, got, err)
		}
	}
}
