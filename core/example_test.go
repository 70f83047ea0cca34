package core_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/core"
)

func Example() {
	ctx := context.Background()
	mem, err := core.Open(ctx, []core.Scope{{Name: "user", Dir: "../examples/vault", ReadOnly: true, IndexDir: exampleIndex()}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer mem.Close()
	res, err := mem.Recall(ctx, memsearch.Query{Text: "where does production run?", Now: time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Status, "-", res.Hits[0].Summary)
	// Output: ok - Production moved from us-east-1 to eu-central-1
}
