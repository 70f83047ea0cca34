package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/internal/english"
)

func (a *app) indexCmd() *cobra.Command {
	var rebuild bool
	c := &cobra.Command{
		Use:   "index",
		Short: "Bring the derived indexes up to the files",
		Long: `Walks the vault, indexes what changed and removes what is gone. Nothing of the
vault itself is written. recall does the same by itself for few changes.

Exit codes: 0 ok, 1 error, 2 usage, 5 another process is indexing.`,
		Args: args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			m, _, err := a.open(c.Context())
			if err != nil {
				return err
			}
			defer m.Close()
			start := time.Now()
			bar := a.progress("indexing")
			reports, err := m.Sync(c.Context(), core.SyncOptions{Rebuild: rebuild, Progress: bar.update})
			bar.finish()
			if err != nil {
				return err
			}
			return a.print(map[string]any{"scopes": reports, "seconds": time.Since(start).Seconds()}, func(w io.Writer) {
				for _, r := range reports {
					printSync(w, r)
				}
			})
		},
	}
	c.Flags().BoolVar(&rebuild, "rebuild", false, "make everything from nothing")
	return c
}

func printSync(w io.Writer, r core.SyncReport) {
	fmt.Fprintf(w, "%s: %s indexed as %s, %d skipped", r.Scope, english.Count(r.Indexed, "file"), english.Count(r.Units, "unit"), r.Skipped)
	if r.Published {
		fmt.Fprintf(w, "; %d added, %d changed, %d removed", r.Added, r.Changed, r.Removed)
	} else {
		fmt.Fprint(w, "; nothing changed")
	}
	fmt.Fprintln(w)
	switch {
	case r.EmbedError != "":
		fmt.Fprintf(w, "  %s without a vector: %s\n", english.Count(r.Missing, "unit"), printable(r.EmbedError))
	case r.Missing > 0:
		fmt.Fprintf(w, "  %s without a vector: the model did not answer\n", english.Count(r.Missing, "unit"))
	}
}
