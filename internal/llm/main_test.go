package llm_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/internal/llm/llmtest"
)

// With these set, the test binary is a program that asks until it may not.
const (
	childURL    = "MEMSEARCH_TEST_LLM_URL"
	childLedger = "MEMSEARCH_TEST_LLM_LEDGER"
	childCalls  = "MEMSEARCH_TEST_LLM_CALLS" // cap of the day
)

func TestMain(m *testing.M) {
	if url := os.Getenv(childURL); url != "" {
		if err := child(url, os.Getenv(childLedger), os.Getenv(childCalls)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func child(url, dir, calls string) error {
	ledger, err := llm.OpenLedger(dir, "journal")
	if err != nil {
		return err
	}
	most, err := strconv.Atoi(calls)
	if err != nil {
		return err
	}
	c, err := llm.New(llm.Profile{Name: "rerank", BaseURL: url, Model: "m"}, &llm.Options{Ledger: ledger, Caps: llm.Caps{DayCalls: most}})
	for err == nil {
		_, err = c.Ask(context.Background(), hello())
	}
	if isCap(err, "day", "calls") {
		return nil
	}
	return err
}

// command returns the program that asks.
func command(t *testing.T, url, ledger string, calls int) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), childURL+"="+url, childLedger+"="+ledger, childCalls+"="+strconv.Itoa(calls))
	cmd.Stderr = os.Stderr
	return cmd
}

// An inProcess transport hands requests to a server without a socket, so that a
// synctest bubble sees when all wait.
type inProcess struct{ srv *llmtest.Server }

func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	cut := make(chan bool, 1)
	go func() {
		defer func() { cut <- recover() != nil }()
		p.srv.ServeHTTP(rec, r)
	}()
	select {
	case c := <-cut:
		if c {
			return nil, io.ErrUnexpectedEOF
		}
		return rec.Result(), nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}
