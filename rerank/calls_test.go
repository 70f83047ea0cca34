package rerank_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/internal/llm/llmtest"
	"github.com/memsearch/memsearch/rerank"
)

// TestCallsOfATask: however a server fails, a task takes no more calls than it may,
// those made again and those in another format among them.
func TestCallsOfATask(t *testing.T) {
	catalog := []rerank.Line{{Path: "a.md", Summary: "a"}, {Path: "b.md", Summary: "b"}}
	kinds := map[string]func(ctx context.Context, c *llm.Client, most int) (*rerank.Answer, error){
		"listwise": func(ctx context.Context, c *llm.Client, most int) (*rerank.Answer, error) {
			return rerank.NewListwise(c, &rerank.ListwiseOptions{Budget: narrow, MaxCalls: most}).Rerank(ctx, task(80))
		},
		"selector": func(ctx context.Context, c *llm.Client, most int) (*rerank.Answer, error) {
			return rerank.NewSelector(c, &rerank.SelectorOptions{MaxCalls: most}).Select(ctx, task(2), catalog)
		},
		"cross-encoder": func(ctx context.Context, c *llm.Client, most int) (*rerank.Answer, error) {
			return rerank.NewCrossEncoder(c, &rerank.CrossEncoderOptions{MaxCalls: most}).Rerank(ctx, task(5))
		},
	}
	slow := llmtest.Status(429, "rate", "slow", "Retry-After-Ms: 1")
	odd := llmtest.Status(400, "", "response_format is not supported")
	for name, steps := range map[string][]llmtest.Step{
		"busy":                     {slow},
		"no format":                {odd},
		"useless":                  {llmtest.Text("no")},
		"busy, then useless":       {slow, slow, llmtest.Text("no")},
		"no format, then busy":     {odd, slow},
		"no format, then useless":  {odd, odd, llmtest.Text("no")},
		"busy with a later window": {llmtest.Text(`{"ranking":[]}`), slow},
	} {
		for kind, ask := range kinds {
			for most := 1; most <= 5; most++ {
				t.Run(fmt.Sprintf("%s/%s/%d", name, kind, most), func(t *testing.T) {
					retries := 9
					srv := llmtest.New(t, steps...)
					c, err := llm.New(llm.Profile{BaseURL: srv.URL, Model: "m", Retries: &retries}, nil)
					if err != nil {
						t.Fatal(err)
					}
					defer c.Close()
					a, err := ask(t.Context(), c, most)
					if n := srv.Count(); n < 1 || n > most {
						t.Errorf("%d calls, at most %d allowed", n, most)
					}
					if a == nil || a.Cost.Calls != srv.Count() {
						t.Errorf("%d calls, told of %+v, %v", srv.Count(), a, err)
					}
				})
			}
		}
	}
}
