package rerank_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/internal/llm/llmtest"
	"github.com/memsearch/memsearch/rerank"
)

// A recorded answer comes out the same, byte for byte, without a server; a prompt
// that was not recorded is an error that names it.
func TestCassette(t *testing.T) {
	file := filepath.Join(t.TempDir(), "answers.jsonl")
	srv := llmtest.New(t, llmtest.Text("no JSON"), llmtest.Text(goodReply))
	run := func(mode llm.CassetteMode, tk rerank.Task) (*rerank.Answer, error) {
		c, err := llm.OpenCassette(file, mode)
		if err != nil {
			t.Fatal(err)
		}
		client, err := llm.New(llm.Profile{Name: "rerank", BaseURL: srv.URL, Model: "m", PriceIn: new(2.0)}, &llm.Options{Cassette: c})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		return rerank.NewListwise(client, nil).Rerank(t.Context(), tk)
	}
	recorded, err := run(llm.CassetteRecord, task(3))
	if err != nil {
		t.Fatal(err)
	}
	want, err := json.Marshal(recorded)
	if err != nil {
		t.Fatal(err)
	}
	srv.Close()
	for range 3 {
		replayed, err := run(llm.CassetteReplay, task(3))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(replayed); err != nil || string(got) != string(want) {
			t.Errorf("replayed %s, recorded %s, %v", got, want, err)
		}
	}
	if srv.Count() != 2 {
		t.Errorf("%d requests", srv.Count())
	}
	_, err = run(llm.CassetteReplay, task(2))
	if _, ok := errors.AsType[*llm.MissingError](err); !ok || !strings.Contains(err.Error(), "rerank@1") {
		t.Errorf("error %v", err)
	}
}
