package llm_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/internal/llm/llmtest"
)

// BenchmarkAsk measures what a call takes besides the model: two entries in a
// ledger that holds so many calls of today, and a month of as many a day before.
func BenchmarkAsk(b *testing.B) {
	for _, today := range []int{0, 100, 1000} {
		b.Run(fmt.Sprintf("today=%d", today), func(b *testing.B) {
			now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
			ledger := openLedger(b, b.TempDir())
			fill := func(at time.Time, calls int) {
				for range calls {
					if err := ledger.Add(llm.Entry{Time: at, Profile: "rerank", Model: "m", State: llm.StateOK, Calls: 1, TokensIn: 3000, TokensOut: 200}); err != nil {
						b.Fatal(err)
					}
				}
			}
			for day := 30; day > 0; day-- {
				fill(now.AddDate(0, 0, -day), max(today, 100))
			}
			fill(now, today)
			srv := llmtest.Start(llmtest.Text("fine"))
			defer srv.Close()
			c, err := llm.New(llm.Profile{Model: "m", BaseURL: srv.URL}, &llm.Options{Ledger: ledger, Now: func() time.Time { return now },
				HTTPClient: &http.Client{Transport: inProcess{srv}}, Caps: llm.Caps{RunCalls: 1 << 30, DayCalls: 1 << 30, RunTokens: 1 << 40, DayTokens: 1 << 40}})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := c.Ask(b.Context(), hello()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
