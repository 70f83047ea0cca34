package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/core/config"
)

// commands lists every command in the order of the help.
func (a *app) commands() []*cobra.Command {
	return []*cobra.Command{
		a.recallCmd(), a.indexCmd(), a.evalCmd(), a.configCmd(),
	}
}

// open opens the scopes of the command line in the role of a job: whoever runs
// the command is the user. The returned settings are those of the first scope.
func (a *app) open(ctx context.Context, flags map[string]string) (*core.Memory, *config.Config, error) {
	places, err := a.places()
	if err != nil {
		return nil, nil, err
	}
	var scopes []core.Scope
	var first *config.Config
	for _, p := range places {
		fi, err := os.Stat(p.dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil, &exitErr{code: exitFailure, err: fmt.Errorf("open vault %s: %w", p.dir, fs.ErrNotExist),
				hint: "--vault DIR names a folder of Markdown files; mkdir it to start an empty one"}
		case err != nil:
			return nil, nil, fmt.Errorf("open vault: %w", err)
		case !fi.IsDir():
			return nil, nil, usage("--vault names a folder", "open vault %s: not a folder", p.dir)
		}
		cfg, err := a.settings(p.dir, flags)
		if err != nil {
			return nil, nil, &exitErr{code: exitFailure, err: err, hint: "memsearch config lists every setting"}
		}
		if first == nil {
			first = cfg
		}
		scopes = append(scopes, core.Scope{Name: p.name, Dir: p.dir, IndexDir: cfg.IndexDir})
	}
	m, err := core.Open(ctx, scopes, &core.Options{Settings: first, Caller: core.Caller{Role: memsearch.RoleJob}, Logger: a.logger()})
	return m, first, err
}
