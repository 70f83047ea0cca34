package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memsearch/memsearch/core/config"
)

// app is what every command needs: its streams and the global flags.
type app struct {
	in  io.Reader
	out *answer
	err io.Writer

	vaults   []string
	indexDir string
	model    string
	zone     string
	prompt   string // of recall and eval selection

	cassette, cassetteMode string

	json    bool
	verbose bool
}

const rootLong = `memsearch finds the memories that matter now in folders of Markdown files.

The files are the only truth; indexes live in .memsearch beside them and can be
deleted at any time. No key, no network and no service is needed.

Exit codes: 0 ok, 1 error, 2 usage, 3 empty, 4 degraded with --strict, 5 busy,
6 unavailable, 130 interrupted.`

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:               "memsearch",
		Short:             "Memory for AI agents, in Markdown files",
		Long:              rootLong,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
		Version:           version(),
		Args:              cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, words []string) error {
			if len(words) == 0 {
				return c.Help()
			}
			hint := "memsearch --help lists the commands"
			if near := c.SuggestionsFor(words[0]); len(near) > 0 {
				hint = "did you mean " + strings.Join(near, " or ") + "?"
			}
			return usage(hint, "unknown command %q", words[0])
		},
		SuggestionsMinimumDistance: 1,
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage(fmt.Sprintf("%s --help", c.CommandPath()), "%w", err)
	})
	f := root.PersistentFlags()
	f.StringArrayVar(&a.vaults, "vault", nil, "folder of Markdown files, or NAME=DIR; without a name the first is \"user\", others are called as their folder; repeat to search several, best known first (default $MEMSEARCH_VAULTS, parted as PATH is, $MEMSEARCH_VAULT, ./memory, ~/.memsearch/memory)")
	f.StringVar(&a.indexDir, "index-dir", "", "folder for derived indexes, for a read-only vault (default DIR/.memsearch)")
	f.StringVar(&a.model, "model", "", "embedding model: static, none, or one behind base_url")
	f.StringVar(&a.zone, "zone", "", "time zone of dates without one (default UTC)")
	f.StringVar(&a.cassette, "cassette", "", "file of recorded replies of language models")
	f.StringVar(&a.cassetteMode, "cassette-mode", "", "replay (default), record or auto (replay what is there, record the rest)")
	f.BoolVar(&a.json, "json", false, "print one JSON document and nothing else")
	f.BoolVarP(&a.verbose, "verbose", "v", false, "tell on standard error what happens")
	root.AddCommand(a.commands()...)
	return root
}

// args refuses a wrong number of arguments with the command's own usage line.
func args(least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, got []string) error {
		if len(got) < least || most >= 0 && len(got) > most {
			return usage(c.CommandPath()+" --help", "want: %s", c.UseLine())
		}
		return nil
	}
}

// The environment variables that name vaults when no flag does: one, or several as
// --vault takes them, parted as PATH is.
const (
	vaultVariable  = "MEMSEARCH_VAULT"
	vaultsVariable = "MEMSEARCH_VAULTS"
)

// A place is one scope named on the command line.
type place struct{ name, dir string }

// given returns the vaults that a flag or else the environment names. Empty parts
// of a list are passed over.
func (a *app) given() []string {
	if len(a.vaults) > 0 {
		return a.vaults
	}
	several := slices.DeleteFunc(filepath.SplitList(os.Getenv(vaultsVariable)), func(v string) bool { return v == "" })
	if one := os.Getenv(vaultVariable); len(several) == 0 && one != "" {
		return []string{one}
	}
	return several
}

// places returns the scopes to open, the first being the one written to.
func (a *app) places() ([]place, error) {
	given := a.given()
	if len(given) == 0 {
		given = []string{defaultVault()}
	}
	var out []place
	seen := map[string]bool{}
	for i, v := range given {
		p := place{name: "user", dir: v}
		if name, dir, ok := strings.Cut(v, "="); ok && isName(name) {
			p = place{name: name, dir: dir}
		} else if i > 0 {
			p.name = filepath.Base(v)
			if abs, err := filepath.Abs(v); err == nil {
				p.name = filepath.Base(abs) // of "." and "..", too
			}
		}
		if p.dir == "" {
			return nil, usage("--vault DIR", "the vault has no folder: %q", v)
		}
		if seen[p.name] {
			return nil, usage("--vault NAME=DIR gives each its own name", "two vaults are called %q", p.name)
		}
		seen[p.name] = true
		out = append(out, p)
	}
	if a.indexDir != "" && len(out) > 1 {
		return nil, usage("set index_dir in each vault's memsearch.yaml", "--index-dir serves one vault, %d are given", len(out))
	}
	return out, nil
}

// defaultVault is ./memory when that exists, else the one in the home folder.
func defaultVault() string {
	home, err := os.UserHomeDir()
	if fi, serr := os.Stat("memory"); serr == nil && fi.IsDir() || err != nil {
		return "memory"
	}
	return filepath.Join(home, ".memsearch", "memory")
}

// vaultSettings loads the configuration of the vault that is written to.
func (a *app) vaultSettings() (*config.Config, error) {
	places, err := a.places()
	if err != nil {
		return nil, err
	}
	if !a.usesDefault() {
		if err := a.checkDir(places[0].dir); err != nil {
			return nil, err
		}
	}
	return a.settings(places[0].dir)
}

// isName reports whether what stands before a "=" is a name: part of a path it is
// when a slash is in it, as in ./a=b.
func isName(s string) bool { return s != "" && !strings.ContainsAny(s, `/\`) }

// settings loads the configuration of the vault in dir.
func (a *app) settings(dir string) (*config.Config, error) {
	all := map[string]string{}
	for k, v := range map[string]string{"index_dir": a.indexDir, "model": a.model, "zone": a.zone, "rerank.prompt": a.prompt,
		"cassette": a.cassette, "cassette_mode": a.cassetteMode} {
		if v != "" {
			all[k] = v
		}
	}
	if _, err := config.Load(config.Options{Flags: all}); err != nil {
		return nil, usage("--zone takes a name such as Europe/Berlin, --cassette-mode replay, record or auto", "%w", err)
	}
	o := config.Options{VaultDir: dir, Getenv: os.Getenv, Flags: all}
	if d, err := os.UserConfigDir(); err == nil {
		o.UserDir = filepath.Join(d, "memsearch")
	}
	return config.Load(o)
}

// logger writes to standard error: warnings, and with --verbose everything that
// holds no memory text.
func (a *app) logger() *slog.Logger {
	level := slog.LevelError
	if a.verbose {
		level = slog.LevelInfo
	}
	return slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: level}))
}

// print writes v as one JSON document, or calls human.
func (a *app) print(v any, human func(w io.Writer)) error {
	if !a.json {
		human(a.out)
		return nil
	}
	return a.document(v)
}

func (a *app) document(v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	return a.out.flush()
}
