package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/internal/english"
	"github.com/memsearch/memsearch/internal/when"
)

func (a *app) statusCmd() *cobra.Command {
	var costs bool
	var since string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "What is there and how the index stands to it",
		Long: `Says for each vault where it is, how many memories it holds, and whether the index
is equal to the files (state equal), behind (content) or has to be made anew
(missing, corrupt, version, options, model), and why. It changes nothing.

With --costs it says instead what calls to models cost, by day (UTC), profile and
model, failed calls included. A call of a process that died counts with the most
that it could cost.

Exit codes: 0 ok, 1 error, 2 usage.`,
		Args: args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if since != "" && !costs {
				return usage("memsearch status --costs --since 2026-11-01", "--since is for --costs")
			}
			m, cfg, err := a.open(c.Context())
			if err != nil {
				return err
			}
			defer m.Close()
			if costs {
				return a.costs(m, since, cfg.Zone)
			}
			list, err := m.Status(c.Context())
			if err != nil {
				return err
			}
			return a.print(map[string]any{"scopes": list}, func(w io.Writer) {
				for _, s := range list {
					printStatus(w, &s)
				}
			})
		},
	}
	cmd.Flags().BoolVar(&costs, "costs", false, "what calls to models cost")
	cmd.Flags().StringVar(&since, "since", "", "only costs at or after this time")
	return cmd
}

// costs prints what calls to models cost.
func (a *app) costs(m *core.Memory, since string, zone *time.Location) error {
	var from time.Time
	if since != "" {
		var err error
		if from, err = when.Moment(since, zone, false); err != nil {
			return usage(momentHint, "--since: %w", err)
		}
	}
	rows, err := m.Costs(from)
	if err != nil {
		return err
	}
	sum := core.CostRow{}
	for _, r := range rows {
		sum.Calls += r.Calls
		sum.Failed += r.Failed
		sum.TokensIn += r.TokensIn
		sum.TokensOut += r.TokensOut
		sum.Money += r.Money
	}
	total := memsearch.Cost{Calls: sum.Calls, TokensIn: sum.TokensIn, TokensOut: sum.TokensOut, Money: sum.Money}
	return a.print(map[string]any{"costs": rows, "total": total, "failed": sum.Failed}, func(w io.Writer) {
		if len(rows) == 0 {
			fmt.Fprintln(w, "no model was called")
			return
		}
		fmt.Fprintf(w, "%-10s  %-8s %7s %7s %10s %10s %10s  %s\n", "day", "profile", "calls", "failed", "tokens in", "out", "money", "model")
		sum.Day = "total"
		for _, r := range append(rows, sum) {
			fmt.Fprintf(w, "%-10s  %-8s %7d %7d %10d %10d %10.4f  %s\n", r.Day, r.Profile, r.Calls, r.Failed, r.TokensIn, r.TokensOut, r.Money, printable(r.Model))
		}
	})
}

func printStatus(w io.Writer, s *core.Status) {
	fmt.Fprintf(w, "%s: %s\n", s.Scope, printable(s.Dir))
	state := s.State
	if s.Reason != "" {
		state += ", " + s.Reason
	}
	fmt.Fprintf(w, "  index     %s: %s\n", printable(s.IndexDir), printable(state))
	fmt.Fprintf(w, "  memories  %d as %s", s.Memories, english.Count(s.Units, "unit"))
	for _, part := range []string{counts(s.Statuses), counts(s.Categories)} {
		if part != "" {
			fmt.Fprintf(w, "; %s", part)
		}
	}
	fmt.Fprintf(w, "\n  model     %s", printable(s.Model))
	if s.Missing > 0 {
		fmt.Fprintf(w, "; %s without a vector: memsearch index tries again and says why", english.Count(s.Missing, "unit"))
	}
	fmt.Fprintf(w, "\n  mode      %s\n  zone      %s\n", s.Mode, s.Zone)
}

func counts[K ~string](m map[K]int) string {
	var out []string
	for _, k := range sortedKeys(m) {
		name := string(k)
		if name == "" {
			name = "no category"
		}
		out = append(out, fmt.Sprintf("%d %s", m[k], name))
	}
	return strings.Join(out, ", ")
}

func (a *app) checkCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Do index and files agree?",
		Long: `Reads every file again and compares it with the index, by content, and the catalog
block of MEMORY.md with the memories. It changes nothing. A stale catalog is said,
but nothing is found by it: index and files are clean all the same.

Exit codes: 0 index and files agree, also with a stale catalog; 1 they do not, or
another error.`,
		Args: args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			m, _, err := a.open(c.Context())
			if err != nil {
				return err
			}
			defer m.Close()
			list, err := m.Check(c.Context())
			if err != nil {
				return err
			}
			err = a.print(map[string]any{"scopes": list}, func(w io.Writer) {
				for _, r := range list {
					printCheck(w, &r)
				}
			})
			if err != nil {
				return err
			}
			return checkErr(list)
		},
	}
}

func printCheck(w io.Writer, r *core.CheckReport) {
	verdict := "clean"
	if !r.Clean {
		verdict = "not clean"
	}
	fmt.Fprintf(w, "%s: %s; index is %s with %s, %s, %s\n", r.Scope, verdict, r.State,
		english.Count(r.Files, "file"), english.Count(r.Units, "unit"), english.Count(r.Vectors, "vector"))
	for _, d := range r.Differences {
		fmt.Fprintf(w, "  %s\n", printable(d))
	}
	if r.CatalogStale {
		fmt.Fprintln(w, "  MEMORY.md: the catalog block does not say what the files say; memsearch doctor --fix, or the next write, makes it anew")
	}
}

// checkErr says how to mend an index that does not agree with its files.
func checkErr(list []core.CheckReport) error {
	if !slices.ContainsFunc(list, func(r core.CheckReport) bool { return !r.Clean }) {
		return nil
	}
	hint := "memsearch index brings the index up to the files"
	if slices.ContainsFunc(list, func(r core.CheckReport) bool { return r.Missing > 0 }) {
		hint += "; for missing vectors it says what keeps the model from answering (memsearch config shows its settings)"
	}
	return &exitErr{code: exitFailure, err: errors.New("index and files do not agree"), hint: hint}
}
