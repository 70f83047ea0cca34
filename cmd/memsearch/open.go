package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/core/config"
)

// commands lists every command in the order of the help.
func (a *app) commands() []*cobra.Command {
	return []*cobra.Command{
		a.recallCmd(), a.rememberCmd(), a.listCmd(), a.showCmd(), a.historyCmd(), a.supersedeCmd(), a.retireCmd(), a.confirmCmd(),
		a.forgetCmd(), a.indexCmd(), a.statusCmd(), a.doctorCmd(), a.checkCmd(), a.configCmd(), a.exportCmd(), a.importCmd(), a.evalCmd(), a.replayCmd(), a.mcpCmd(),
	}
}

// open opens the scopes of the command line in the role of a job: whoever runs
// the command is the user. The returned settings are those of the first scope.
func (a *app) open(ctx context.Context) (*core.Memory, *config.Config, error) {
	return a.openAs(ctx, core.Options{Caller: core.Caller{Role: memsearch.RoleJob}})
}

func (a *app) openAs(ctx context.Context, o core.Options) (*core.Memory, *config.Config, error) {
	places, err := a.places()
	if err != nil {
		return nil, nil, err
	}
	var scopes []core.Scope
	var first *config.Config
	for _, p := range places {
		dir := p.dir
		if err := a.checkDir(dir); err != nil {
			if len(places) == 1 {
				return nil, nil, err
			}
			dir = "" // the others may do; core says what is wrong with this one
		}
		cfg, err := a.settings(dir)
		if _, said := errors.AsType[*exitErr](err); said {
			return nil, nil, err
		}
		if err != nil {
			return nil, nil, &exitErr{code: exitFailure, err: err, hint: settingsHint}
		}
		if first == nil {
			first = cfg
		}
		if i := slices.IndexFunc(scopes, func(s core.Scope) bool { return cfg.IndexDir != "" && s.IndexDir == cfg.IndexDir }); i >= 0 {
			return nil, nil, usage("set index_dir in each vault's memsearch.yaml", "the vaults %s and %s cannot share the index folder %s", scopes[i].Name, p.name, cfg.IndexDir)
		}
		scopes = append(scopes, core.Scope{Name: p.name, Dir: p.dir, IndexDir: cfg.IndexDir})
	}
	o.Settings, o.Logger = first, a.logger()
	if o.Now, err = clock(first.Zone); err != nil {
		return nil, nil, err
	}
	m, err := core.Open(ctx, scopes, &o)
	return m, first, err
}

// checkDir returns what keeps dir from being a vault.
func (a *app) checkDir(dir string) error {
	fi, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &exitErr{code: exitFailure, err: fmt.Errorf("open vault %s: %w", dir, fs.ErrNotExist), hint: a.missingHint()}
	case err != nil:
		return fmt.Errorf("open vault: %w", err)
	case !fi.IsDir():
		return usage("--vault names a folder", "open vault %s: not a folder", dir)
	}
	return nil
}

// scopeFlag adds --scope to a command that names a memory by its id.
func scopeFlag(c *cobra.Command, scope *string) {
	c.Flags().StringVar(scope, "scope", "", "name of the vault that ID is in, when several have it")
}

// openIn is open for a command that takes ids, of the vault called scope if that
// is named.
func (a *app) openIn(ctx context.Context, scope string) (*core.Memory, *config.Config, error) {
	m, cfg, err := a.open(ctx)
	if err != nil || scope == "" {
		return m, cfg, err
	}
	in, err := m.In(scope)
	if err != nil {
		return nil, nil, errors.Join(err, m.Close())
	}
	return in, cfg, nil
}

// usesDefault reports whether neither a flag nor the environment names a vault.
func (a *app) usesDefault() bool { return len(a.given()) == 0 }

func (a *app) missingHint() string {
	if a.usesDefault() {
		return "there is no vault yet: memsearch remember TEXT makes this one, --vault DIR names another"
	}
	return "--vault DIR names a folder of Markdown files; mkdir it to start an empty one"
}

// makeDefaultVault makes the vault that is used when none is named. A vault that
// is named must exist: its name may be misspelt.
func (a *app) makeDefaultVault() error {
	if !a.usesDefault() {
		return nil
	}
	if err := os.MkdirAll(defaultVault(), 0o700); err != nil {
		return fmt.Errorf("make vault: %w", err)
	}
	return nil
}
