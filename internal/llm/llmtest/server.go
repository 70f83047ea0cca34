// Package llmtest has a model server for tests. It speaks the chat and rerank
// protocols over real HTTP on loopback, answers as it is told, and counts what it
// charges.
//
//	srv := llmtest.New(t, llmtest.Text("hello"))
//	… BaseURL: srv.URL …
//	srv.Requests(), srv.Charged()
package llmtest

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// A Request is what a client sent.
type Request struct {
	Path, Auth string
	Body       []byte // as it came

	Model    string `json:"model"`
	Messages []struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	} `json:"messages"`
	MaxTokens           int             `json:"max_tokens"`
	MaxCompletionTokens int             `json:"max_completion_tokens"`
	Temperature         *float64        `json:"temperature"`
	ResponseFormat      json.RawMessage `json:"response_format"`
	Stream              bool            `json:"stream"`

	Query     string   `json:"query"`
	Documents []string `json:"documents"`

	http *http.Request
	srv  *Server
}

// Prompt returns the text of all messages, one after the other.
func (r *Request) Prompt() string {
	var b strings.Builder
	for _, m := range r.Messages {
		b.WriteString(m.Content)
		b.WriteByte('\n')
	}
	return b.String()
}

// Usage is what a server charges.
type Usage struct{ In, Out int }

// A Step writes the answer to one request.
type Step func(w http.ResponseWriter, r *Request)

// A Server answers the n-th request with its n-th step, and all that follow with
// its last. It charges for a completion the bytes of its messages, and of its
// text, divided by four; for a ranking the bytes of query and documents.
type Server struct {
	URL string // base address, "http://127.0.0.1:…/v1"

	steps []Step
	http  *httptest.Server

	mu       sync.Mutex
	requests []Request
	charged  Usage
}

// New starts a server that ends with the test. Without a step it answers all
// requests with an empty text.
func New(t testing.TB, steps ...Step) *Server {
	t.Helper()
	s := Start(steps...)
	t.Cleanup(s.Close)
	return s
}

// Start is New for a server that is closed by [Server.Close].
func Start(steps ...Step) *Server {
	if len(steps) == 0 {
		steps = []Step{Text("")}
	}
	s := &Server{steps: steps}
	s.http = httptest.NewServer(s)
	s.URL = s.http.URL + "/v1"
	return s
}

// Close ends the server and the requests that it leaves hanging.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	body, err := io.ReadAll(hr.Body)
	r := Request{Path: hr.URL.Path, Auth: hr.Header.Get("Authorization"), Body: body, http: hr, srv: s}
	if err == nil {
		err = json.Unmarshal(body, &r)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	n := len(s.requests)
	s.requests = append(s.requests, r)
	s.mu.Unlock()
	s.steps[min(n, len(s.steps)-1)](w, &r)
}

// Requests returns what was sent, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Count returns how many requests were made.
func (s *Server) Count() int { return len(s.Requests()) }

// Charged returns what the server charged.
func (s *Server) Charged() Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.charged
}

func (r *Request) charge(out string) Usage {
	u := Usage{In: 1, Out: (len(out) + 3) / 4}
	for _, m := range r.Messages {
		u.In += (len(m.Content) + 3) / 4
	}
	for _, d := range r.Documents {
		u.In += (len(r.Query) + len(d) + 3) / 4
	}
	r.srv.mu.Lock()
	defer r.srv.mu.Unlock()
	r.srv.charged.In += u.In
	r.srv.charged.Out += u.Out
	return u
}

func (u Usage) object() map[string]int {
	return map[string]int{"prompt_tokens": u.In, "completion_tokens": u.Out, "total_tokens": u.In + u.Out}
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}

func completion(text, finish string, u *Usage, edit func(message map[string]any)) map[string]any {
	m := map[string]any{"role": "assistant", "content": text}
	if edit != nil {
		edit(m)
	}
	out := map[string]any{"id": "c", "object": "chat.completion", "model": "m",
		"choices": []any{map[string]any{"index": 0, "message": m, "finish_reason": finish}}}
	if u != nil {
		out["usage"] = u.object()
	}
	return out
}

// Text answers with a completion, streamed when the request asks for that.
func Text(text string) Step { return Func(func(*Request) string { return text }) }

// Func answers with a completion that depends on the request.
func Func(answer func(r *Request) string) Step {
	return func(w http.ResponseWriter, r *Request) {
		text := answer(r)
		if r.Stream {
			streamed(w, r, text)
			return
		}
		u := r.charge(text)
		writeJSON(w, completion(text, "stop", &u, nil))
	}
}

// Observe tells see of a request before step answers it.
func Observe(see func(r *Request), step Step) Step {
	return func(w http.ResponseWriter, r *Request) {
		see(r)
		step(w, r)
	}
}

// Streamed answers with a stream of events whether asked to or not.
func Streamed(text string) Step {
	return func(w http.ResponseWriter, r *Request) { streamed(w, r, text) }
}

// Whole answers with a whole completion although a stream was asked for.
func Whole(text string) Step {
	return func(w http.ResponseWriter, r *Request) {
		u := r.charge(text)
		writeJSON(w, completion(text, "stop", &u, nil))
	}
}

func streamed(w http.ResponseWriter, r *Request, text string) {
	u := r.charge(text)
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, ": a comment\n\n")
	event := func(delta map[string]any, finish any) {
		b, _ := json.Marshal(map[string]any{"object": "chat.completion.chunk",
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
		fmt.Fprintf(w, "data: %s\n\n", b)
	}
	event(map[string]any{"role": "assistant"}, nil)
	for _, word := range strings.SplitAfter(text, " ") {
		event(map[string]any{"content": word}, nil)
	}
	event(map[string]any{}, "stop")
	b, _ := json.Marshal(map[string]any{"choices": []any{}, "usage": u.object()})
	fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", b)
}

// CutStream sends the start of a stream and ends it without its last event.
func CutStream(text string) Step {
	return func(w http.ResponseWriter, r *Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		b, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": map[string]any{"content": text}}}})
		fmt.Fprintf(w, "data: %s\n\n", b)
	}
}

// Length answers with a completion that was cut off.
func Length(text string) Step {
	return func(w http.ResponseWriter, r *Request) {
		u := r.charge(text)
		writeJSON(w, completion(text, "length", &u, nil))
	}
}

// Refusal answers with a refusal.
func Refusal(why string) Step {
	return func(w http.ResponseWriter, r *Request) {
		u := r.charge(why)
		writeJSON(w, completion("", "stop", &u, func(m map[string]any) { m["content"], m["refusal"] = nil, why }))
	}
}

// Filtered answers with a completion that a filter stopped.
func Filtered() Step {
	return func(w http.ResponseWriter, r *Request) {
		u := r.charge("")
		writeJSON(w, completion("", "content_filter", &u, nil))
	}
}

// NoUsage answers with a completion and does not say what it costs.
func NoUsage(text string) Step {
	return func(w http.ResponseWriter, r *Request) { writeJSON(w, completion(text, "stop", nil, nil)) }
}

// Gzip answers with a packed completion, asked for or not.
func Gzip(text string) Step {
	return func(w http.ResponseWriter, r *Request) {
		u := r.charge(text)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		json.NewEncoder(z).Encode(completion(text, "stop", &u, nil))
		z.Close()
	}
}

// Ranks answers a rerank request with the scores of the documents, in the order
// of the documents.
func Ranks(score func(r *Request) []float64) Step {
	return func(w http.ResponseWriter, r *Request) {
		u := r.charge("")
		results := []any{}
		for i, s := range score(r) {
			results = append(results, map[string]any{"index": i, "relevance_score": s})
		}
		writeJSON(w, map[string]any{"model": "m", "results": results, "usage": map[string]int{"total_tokens": u.In}})
	}
}

// Status answers with an error object. Headers are "Name: value".
func Status(code int, kind, message string, headers ...string) Step {
	return func(w http.ResponseWriter, _ *Request) {
		for _, h := range headers {
			k, v, _ := strings.Cut(h, ": ")
			w.Header().Set(k, v)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": message, "type": "t", "code": kind}})
	}
}

// Raw answers with any status and body.
func Raw(code int, body string) Step {
	return func(w http.ResponseWriter, _ *Request) {
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

// Huge answers with a completion of n bytes.
func Huge(n int) Step {
	return func(w http.ResponseWriter, _ *Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":"`)
		chunk := strings.Repeat("x", 1<<16)
		for ; n > 0; n -= len(chunk) {
			if _, err := io.WriteString(w, chunk[:min(n, len(chunk))]); err != nil {
				return
			}
		}
		io.WriteString(w, `"},"finish_reason":"stop"}]}`)
	}
}

// Reset cuts the connection without an answer.
func Reset() Step {
	return func(http.ResponseWriter, *Request) { panic(http.ErrAbortHandler) }
}

// ResetMidBody sends the start of an answer and cuts the connection.
func ResetMidBody() Step {
	return func(w http.ResponseWriter, _ *Request) {
		w.Header().Set("Content-Length", "10000")
		io.WriteString(w, `{"choices":[{"index":0,"message":{"role":"assi`)
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		panic(http.ErrAbortHandler)
	}
}

// Hang does not answer before the client has gone.
func Hang() Step {
	return func(_ http.ResponseWriter, r *Request) { <-r.http.Context().Done() }
}
