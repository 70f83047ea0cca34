package core_test

import (
	"context"
	"fmt"
	"log"
	"os"
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

func ExampleMemory_Remember() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "memory")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	mem, err := core.Open(ctx, []core.Scope{{Name: "user", Dir: dir}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer mem.Close()
	said := memsearch.Memory{Category: memsearch.CategoryUser, Summary: "Editor", Source: memsearch.Source{Trust: memsearch.TrustUser}}
	job := mem.As(core.Caller{Role: memsearch.RoleJob}) // only jobs write
	old, err := job.Remember(ctx, "", core.NewMemory{Memory: said, Body: "The user edits with vim."})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := job.Supersede(ctx, old.Memory.ID, core.NewMemory{Memory: said, Body: "The user edits with Helix."}, memsearch.Bound{}); err != nil {
		log.Fatal(err)
	}
	p, err := mem.PrepareContext(ctx, memsearch.Query{Text: "which editor does the user like?"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Result.Hits[0].Text)
	if _, err := job.Forget(ctx, false, old.Memory.ID); err != nil {
		log.Fatal(err)
	}
	// Output: The user edits with Helix.
}
