package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/server/mcp"
)

const mcpLong = `Serves the vaults to an agent over the Model Context Protocol on standard input and
output. The tools are recall (search) and show (one memory in full); nothing can be
written, and the agent cannot choose other vaults. Changes of the files are seen a
moment later; in the mode off there are no tools.

A client starts it by a configuration such as

  {"mcpServers": {"memsearch": {"command": "memsearch", "args": ["mcp", "--vault", "DIR"]}}}

Exit codes: 0 when the client has gone, 1 error, 2 usage, 130 interrupted.`

func (a *app) mcpCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "Serve memory to an agent over MCP",
		Long:  mcpLong,
		Args:  args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			m, cfg, err := a.openAs(c.Context(), core.Options{Watch: true})
			if err != nil {
				return err
			}
			defer func() { m.Close() }()
			reopen := func(context.Context) (*core.Memory, error) {
				next, _, err := a.openAs(c.Context(), core.Options{Watch: true})
				if err != nil {
					return nil, err
				}
				m.Close() // of folders that are gone
				m = next
				return m, nil
			}
			return mcp.Serve(c.Context(), mcp.New(m, &mcp.Options{Version: version(), Zone: cfg.Zone, Reopen: reopen}), a.in, a.out.dst)
		},
	}
}
