package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

func (a *app) configCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "config",
		Short: "Show the effective settings and where each came from",
		Long: `Settings come from memsearch.yaml in the user's configuration folder, then from
the one in the vault, then from MEMSEARCH_<NAME> in the environment (dots become
underscores), then from flags. An unknown key is an error.`,
		Args: args(0, 0),
		RunE: func(*cobra.Command, []string) error {
			places, err := a.places()
			if err != nil {
				return err
			}
			cfg, err := a.settings(places[0].dir, nil)
			if err != nil {
				return err
			}
			return a.print(map[string]any{"settings": cfg.Entries()}, func(w io.Writer) {
				for _, e := range cfg.Entries() {
					fmt.Fprintf(w, "%-28s %-26s %s\n%-28s   %s\n", e.Key, fmt.Sprint(e.Value), e.Source, "", e.Help)
				}
			})
		},
	}
}
