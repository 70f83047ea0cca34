package recall_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/index"
	"github.com/memsearch/memsearch/recall"
)

// corpus makes n notes of forty words, common ones more often, as prose has.
func corpus(n int) []index.Document {
	r := rand.New(rand.NewPCG(1, 2))
	common := strings.Fields(`the team cluster database deploy region budget meeting importer report backup policy client server
		release password coffee holiday review search index vector memory queue cache token limit error login account`)
	zipf := rand.NewZipf(r, 1.1, 4, 20000)
	docs := make([]index.Document, n)
	for i := range docs {
		var b strings.Builder
		fmt.Fprintf(&b, "# Note %d\n\n", i)
		for range 40 {
			if w := zipf.Uint64(); w < uint64(len(common)) {
				b.WriteString(common[w])
			} else {
				fmt.Fprintf(&b, "w%dx", w)
			}
			b.WriteByte(' ')
		}
		docs[i] = index.Document{Path: fmt.Sprintf("n/%05d.md", i), Raw: []byte(b.String())}
	}
	return docs
}

func BenchmarkRecall(b *testing.B) {
	scope, opts := scopeOf(b, "bench", corpus(10000))
	e := recall.New([]recall.Scope{scope}, opts)
	for _, text := range []string{"which region does the production cluster run in", "backup policy", "数据库备份", "what did we discuss last week"} {
		b.Run(strings.ReplaceAll(text, " ", "_"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Recall(b.Context(), memsearch.Query{Text: text, Now: now}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
