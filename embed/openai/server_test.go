package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/memsearch/memsearch/embed/openai"
)

const dims = 4

// A script answers the n-th request, from 0, with its n-th step; the last step
// answers all that follow.
type script struct {
	steps []step
	keep  bool // let connections live

	mu       sync.Mutex
	requests []request
}

// A step writes one answer.
type step func(w http.ResponseWriter, r request)

// A request is what a client sent.
type request struct {
	Input      []string `json:"input"`
	Model      string   `json:"model"`
	Dimensions int      `json:"dimensions"`

	path, auth string
	ctx        context.Context
}

func (s *script) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	r := request{path: hr.URL.Path, auth: hr.Header.Get("Authorization"), ctx: hr.Context()}
	if err := json.NewDecoder(hr.Body).Decode(&r); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	n := len(s.requests)
	s.requests = append(s.requests, r)
	s.mu.Unlock()
	s.steps[min(n, len(s.steps)-1)](w, r)
}

func (s *script) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

// row is the answer to a text: its length and its first byte tell texts apart.
func row(text string) []float64 {
	v := make([]float64, dims)
	v[0], v[1] = float64(len(text)), float64(text[0])
	return v
}

// data is the good answer to texts.
func data(texts []string) (list []map[string]any) {
	for i, t := range texts {
		list = append(list, map[string]any{"object": "embedding", "index": i, "embedding": row(t)})
	}
	return list
}

func answer(w http.ResponseWriter, list []map[string]any, tokens int) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": list, "model": "m",
		"usage": map[string]any{"prompt_tokens": tokens, "total_tokens": tokens}})
}

func good(w http.ResponseWriter, r request) { answer(w, data(r.Input), 3*len(r.Input)) }

// edited answers with a good list that edit has changed.
func edited(edit func([]map[string]any) []map[string]any) step {
	return func(w http.ResponseWriter, r request) { answer(w, edit(data(r.Input)), 0) }
}

// status answers with an error object.
func status(code int, kind, message string, header ...string) step {
	return func(w http.ResponseWriter, _ request) {
		for _, h := range header {
			k, v, _ := strings.Cut(h, ": ")
			w.Header().Set(k, v)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"error": {"message": %q, "type": "t", "code": %q}}`, message, kind)
	}
}

func raw(code int, body string) step {
	return func(w http.ResponseWriter, _ request) {
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

// reset sends part of an answer and cuts the connection.
func reset(w http.ResponseWriter, _ request) {
	c, buf, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	buf.WriteString("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"data\": [")
	buf.Flush()
	c.Close()
}

// hang answers only when the client has gone.
func hang(_ http.ResponseWriter, r request) { <-r.ctx.Done() }

// A pipeListener connects clients and a server in memory, without sockets, so
// that a synctest bubble sees when all of them wait.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case l.conns <- there:
		return here, nil
	case <-l.closed:
		return nil, errors.New("connection refused")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// serve starts the script on memory pipes, to be used inside a synctest bubble,
// and returns a client of it. edit may change the options.
func serve(t *testing.T, s *script, edit func(*openai.Options)) *openai.Client {
	t.Helper()
	l := newPipeListener()
	srv := &httptest.Server{Listener: l, Config: &http.Server{Handler: s}}
	srv.Start()
	hc := &http.Client{Transport: &http.Transport{DialContext: l.dial, DisableKeepAlives: !s.keep}}
	o := &openai.Options{BaseURL: srv.URL + "/v1", Model: "m", Dims: dims, HTTPClient: hc}
	if edit != nil {
		edit(o)
	}
	c, err := openai.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		srv.Close()
	})
	return c
}
