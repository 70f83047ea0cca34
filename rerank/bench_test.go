package rerank_test

import (
	"strings"
	"testing"

	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/rerank"
)

// BenchmarkListwise is what a task of twenty candidates takes besides the model.
func BenchmarkListwise(b *testing.B) {
	tk := task(20)
	for i := range tk.Candidates {
		tk.Candidates[i].Text += strings.Repeat(" Anna told Ben that the boat leaves at seven. 安娜告诉本，船七点开。", 20)
	}
	f := &fake{reply: func(llm.Request) (string, error) { return goodReply, nil }}
	for _, c := range []struct {
		name  string
		cache *rerank.Cache
	}{{"asked", nil}, {"cached", rerank.OpenCache(b.TempDir())}} {
		b.Run(c.name, func(b *testing.B) {
			l := rerank.NewListwise(f, &rerank.ListwiseOptions{Cache: c.cache})
			for b.Loop() {
				if _, err := l.Rerank(b.Context(), tk); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
