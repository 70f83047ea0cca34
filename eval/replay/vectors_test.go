package replay_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/memsearch/memsearch/eval/replay"
)

// TestVectorsAreShared: every run indexes a copy of its own, but a text is sent to
// an embedding server once: thirteen notes, and the question of each of nine runs.
func TestVectorsAreShared(t *testing.T) {
	t.Parallel()
	var texts atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			t.Error(err)
		}
		texts.Add(int64(len(req.Input)))
		rows := []map[string]any{}
		for i, text := range req.Input {
			rows = append(rows, map[string]any{"index": i, "embedding": []int{1, len(text), 1}})
		}
		if err := json.NewEncoder(w).Encode(map[string]any{"object": "list", "model": "m", "data": rows, "usage": map[string]int{"prompt_tokens": 1, "total_tokens": 1}}); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(srv.Close)
	c := settings(t, map[string]string{"model": "m", "base_url": srv.URL + "/v1", "dims": "3", "api_key_env": ""})
	o := &replay.Options{Out: t.TempDir(), Settings: c, Repetitions: 3, Parallel: 1}
	if err := replay.Run(t.Context(), some(t, ship(t), "h1", "h2", "h3"), arms(t, replay.ArmMemory), replay.Scripted(scripted), o); err != nil {
		t.Fatal(err)
	}
	if n := texts.Load(); n < 13 || n > 13+9 {
		t.Errorf("%d texts were embedded", n)
	}
	if r := analyse(t, o.Out); r.Arms[0].Passed != 9 {
		t.Errorf("%+v", r.Arms[0])
	}
}
