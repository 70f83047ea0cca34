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
underscores), then from flags. An unknown key is an error.

Exit codes: 0 ok, 1 a setting that is unknown or wrong, 2 usage.`,
		Args: args(0, 0),
		RunE: func(*cobra.Command, []string) error {
			cfg, err := a.vaultSettings()
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
