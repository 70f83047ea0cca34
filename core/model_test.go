package core_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/embed/openai"
)

// server speaks the embeddings protocol: a text's vector says whether it is about
// water or about air.
func server(t *testing.T, texts *atomic.Int64) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			t.Error(err)
		}
		type row struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		var rows []row
		for i, text := range req.Input {
			texts.Add(1)
			v := []float32{0, 0, 1}
			if strings.Contains(text, "weir") || strings.Contains(text, "river") {
				v = []float32{1, 0, 0}
			} else if strings.Contains(text, "air") {
				v = []float32{0, 1, 0}
			}
			rows = append(rows, row{i, v})
		}
		if err := json.NewEncoder(w).Encode(map[string]any{"object": "list", "model": "m", "data": rows, "usage": map[string]int{"prompt_tokens": 1, "total_tokens": 1}}); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// TestAPIModel guards against vectors that are asked for again, by another
// process or after a rebuild, and against a key that is needed where there is none.
func TestAPIModel(t *testing.T) {
	var texts atomic.Int64
	calls := 0
	dir := folder(t, birds)
	flags := map[string]string{"model": "m", "base_url": server(t, &texts), "dims": "3", "api_key_env": ""}
	asked := func() int64 {
		t.Helper()
		m := open(t, &core.Options{Settings: settings(t, flags), OnCall: func(openai.Call) { calls++ }}, core.Scope{Name: "user", Dir: dir})
		res := recall(t, m, "who stands in the river")
		if res.Model != "m" || len(res.Hits) == 0 || res.Hits[0].Path != "heron.md" || res.Hits[0].Signals.Vector == nil {
			t.Errorf("%s %v: %v by %s", res.Status, res.Reasons, hits(res), res.Model)
		}
		return texts.Swap(0)
	}
	if n := asked(); n < 3 || calls == 0 {
		t.Errorf("asked for %d vectors in %d calls, want two notes and the query", n, calls)
	}
	if n := asked(); n > 1 {
		t.Errorf("asked again for %d vectors", n)
	}
	if err := os.RemoveAll(filepath.Join(dir, ".memsearch", "CURRENT")); err != nil {
		t.Fatal(err)
	}
	if n := asked(); n > 1 {
		t.Errorf("asked for %d vectors after a rebuild", n)
	}
	flags["api_key_env"] = "NO_SUCH_KEY_IS_SET"
	m := open(t, &core.Options{Settings: settings(t, flags)}, core.Scope{Name: "user", Dir: dir})
	res := recall(t, m, "heron")
	if res.Status != memsearch.StateDegraded || len(res.Hits) == 0 || !strings.Contains(strings.Join(res.Reasons, " "), "NO_SUCH_KEY_IS_SET") {
		t.Errorf("without the key: %s %v %v, want an answer that names its variable", res.Status, res.Reasons, hits(res))
	}
}

// TestModelHangs guards against an agent that stands still because a server does,
// and against a lost answer because a key is missing.
func TestModelHangs(t *testing.T) {
	stop := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stop }))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(stop) })
	for name, flags := range map[string]map[string]string{
		"server": {"model": "m", "base_url": s.URL, "dims": "3", "api_key_env": ""},
		"key":    {"model": "m", "base_url": s.URL, "dims": "3", "api_key_env": "MEMSEARCH_TEST_NO_SUCH_KEY"},
		"dims":   {"model": "m", "base_url": s.URL, "api_key_env": ""},
		"both":   {"model": "m", "base_url": s.URL, "api_key_env": "MEMSEARCH_TEST_NO_SUCH_KEY"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := open(t, &core.Options{Settings: settings(t, flags)}, core.Scope{Name: "user", Dir: folder(t, birds)})
			began := time.Now()
			res := recall(t, m, "heron")
			if res.Status != memsearch.StateDegraded || len(res.Hits) == 0 || len(res.Reasons) == 0 {
				t.Errorf("%s %v: %v", res.Status, res.Reasons, hits(res))
			}
			if name == "dims" && !strings.Contains(strings.Join(res.Reasons, " "), "set dims in memsearch.yaml") {
				t.Errorf("reasons %v do not say what to do", res.Reasons)
			}
			if d := time.Since(began); d > 20*time.Second {
				t.Errorf("answered after %s", d)
			}
		})
	}
}
