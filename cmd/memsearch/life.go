package main

import (
	"github.com/spf13/cobra"
)

func (a *app) retireCmd() *cobra.Command {
	var at, reason, scope string
	c := &cobra.Command{
		Use:   "retire ID",
		Short: "End a memory: it is no fact any more",
		Long: `Marks ID as retired from --at on (default: now). The file stays; recall --as-of
finds it. The reason goes to the vault's journal.

Exit codes: 0 ok, 1 refused, unknown ID or another error, 2 usage, 5 another
process is writing.`,
		Args: args(1, 1),
		RunE: func(c *cobra.Command, ids []string) error {
			m, cfg, err := a.openIn(c.Context(), scope)
			if err != nil {
				return err
			}
			defer m.Close()
			end, err := bound("at", at, cfg.Zone)
			if err != nil {
				return err
			}
			w, err := m.Retire(c.Context(), ids[0], end, reason)
			return a.written("retired", w, err)
		},
	}
	c.Flags().StringVar(&at, "at", "", "first day or moment at which it holds no more (default: now)")
	c.Flags().StringVar(&reason, "reason", "", "why, for the journal")
	scopeFlag(c, &scope)
	return c
}

func (a *app) confirmCmd() *cobra.Command {
	var scope string
	c := &cobra.Command{
		Use:   "confirm ID",
		Short: "Say that a memory is true now; a candidate becomes active",
		Long: `Notes that the user holds ID for true at this moment. A candidate becomes a fact.

Exit codes: 0 ok, 1 refused, unknown ID or another error, 2 usage, 5 another
process is writing.`,
		Args: args(1, 1),
		RunE: func(c *cobra.Command, ids []string) error {
			m, _, err := a.openIn(c.Context(), scope)
			if err != nil {
				return err
			}
			defer m.Close()
			w, err := m.Confirm(c.Context(), ids[0])
			return a.written("confirmed", w, err)
		},
	}
	scopeFlag(c, &scope)
	return c
}
