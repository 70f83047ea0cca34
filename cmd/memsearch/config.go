package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memsearch/memsearch/core/config"
)

func (a *app) configCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "config",
		Short: "Show the effective settings and where each came from",
		Long: `Settings come from memsearch.yaml in the user's configuration folder, then from
the one in the vault, then from MEMSEARCH_<NAME> in the environment (dots become
underscores), then from flags; what comes later wins. An unknown key in a file is
an error; a variable that is none of the settings is named on standard error. Of
several vaults the first has the say, but for each one's index_dir.

A model profile is called main, rerank, judge or task (of replays), extract or dream
(reserved); what another leaves unset is taken from main. Of the profiles, only what
is set is shown; --json has all.

Settings:
` + settingsHelp() + `

Exit codes: 0 ok, 1 a setting that is unknown or wrong, 2 usage.`,
		Args: args(0, 0),
		RunE: func(*cobra.Command, []string) error {
			cfg, err := a.vaultSettings()
			if err != nil {
				return err
			}
			for _, name := range config.Unread(os.Environ()) {
				if !slices.Contains(variables, name) {
					fmt.Fprintf(a.err, "%s is no setting and changes nothing\n", printable(name))
				}
			}
			return a.print(map[string]any{"settings": cfg.Entries()}, func(w io.Writer) {
				for _, e := range cfg.Entries() {
					if config.IsProfile(e.Key) && e.Source == config.SourceDefault {
						continue
					}
					fmt.Fprintf(w, "%-33s %-26s %s\n%-33s   %s\n", e.Key, plain(e.Value), e.Source, "", e.Help)
				}
			})
		},
	}
}

// variables are environment variables of ours that are no settings: those that the
// program reads, those that a replay gives to a command, and where the documents and
// benchmarks look for evaluation data.
var variables = []string{vaultVariable, vaultsVariable, nowVariable,
	"MEMSEARCH_CONTEXT", "MEMSEARCH_MCP", "MEMSEARCH_SEED", "MEMSEARCH_DATA"}

// settingsHelp has a line for each setting, also when a file of settings is
// broken.
func settingsHelp() string {
	cfg, err := config.Load(config.Options{})
	if err != nil {
		return ""
	}
	var b strings.Builder
	for _, e := range cfg.Entries() {
		key := e.Key
		if config.IsProfile(key) {
			main, ok := strings.CutPrefix(key, config.MainPrefix)
			if !ok {
				continue
			}
			key = "profiles.<name>." + main
		}
		fmt.Fprintf(&b, "  %-33s %s\n", key, e.Help)
	}
	return b.String()
}

// plain writes a value as a file of settings would have it.
func plain(v any) string {
	if f, ok := v.(float64); ok {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}
