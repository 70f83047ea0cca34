package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/core"
)

func (a *app) listCmd() *cobra.Command {
	var o core.ListOptions
	var categories, kinds, statuses []string
	c := &cobra.Command{
		Use:   "list",
		Short: "List memories, newest first",
		Long: `Lists every memory, or those that all given filters want. A star marks current
facts: active, and holding now.

Exit codes: 0 ok (also when there is none), 1 error, 2 usage.`,
		Args: args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			if o.Categories, err = values("category", categories, memsearch.Categories); err != nil {
				return err
			}
			if o.Kinds, err = values("kind", kinds, memsearch.Kinds); err != nil {
				return err
			}
			if o.Statuses, err = values("status", statuses, memsearch.Statuses); err != nil {
				return err
			}
			if o.Limit < 0 {
				return usage("", "--limit %d: want 0 or more", o.Limit)
			}
			m, _, err := a.open(c.Context())
			if err != nil {
				return err
			}
			defer m.Close()
			items, err := m.List(c.Context(), o)
			if err != nil {
				return err
			}
			if len(items) == 0 && !a.json {
				fmt.Fprintln(a.err, "no memories")
			}
			return a.print(map[string]any{"memories": items}, func(w io.Writer) { printItems(w, items) })
		},
	}
	f := c.Flags()
	f.StringSliceVar(&categories, "category", nil, "only these: "+join(memsearch.Categories))
	f.StringSliceVar(&kinds, "kind", nil, "only these: "+join(memsearch.Kinds))
	f.StringSliceVar(&statuses, "status", nil, "only these: "+join(memsearch.Statuses))
	f.StringVar(&o.Tag, "tag", "", "only with this tag")
	f.BoolVar(&o.Pinned, "pinned", false, "only pinned ones")
	f.BoolVar(&o.Current, "current", false, "only facts that hold now")
	f.IntVarP(&o.Limit, "limit", "n", 0, "most memories of each vault (default all)")
	return c
}

// values checks the values of a flag against those that there are.
func values[T ~string](flag string, given []string, known []T) ([]T, error) {
	var out []T
	for _, s := range given {
		if !slices.Contains(known, T(s)) {
			return nil, usage("", "--%s %q is none of %s", flag, s, join(known))
		}
		out = append(out, T(s))
	}
	return out, nil
}

// printItems prints memories, under the names of their vaults if there are several.
func printItems(w io.Writer, items []core.Item) {
	width := 2
	for _, it := range items {
		width = max(width, len(it.ID))
	}
	several := len(items) > 0 && items[0].Scope != items[len(items)-1].Scope
	for i, it := range items {
		if several && (i == 0 || it.Scope != items[i-1].Scope) {
			fmt.Fprintf(w, "%s:\n", printable(it.Scope))
		}
		mark := " "
		if it.Current {
			mark = "*"
		}
		day, _, _ := strings.Cut(it.CreatedAt, "T")
		fmt.Fprintf(w, "%s %-*s  %-10s  %-10s  %-9s  %s\n", mark, width, printable(it.ID), it.Status, day, it.Category, printable(clip(itemTitle(it), 100)))
	}
}

func itemTitle(it core.Item) string {
	if it.Summary != "" {
		return it.Summary
	}
	return it.Path
}

func (a *app) showCmd() *cobra.Command {
	var scope string
	c := &cobra.Command{
		Use:   "show ID",
		Short: "Print the file of a memory",
		Long: `Prints where the memory ID (or the one with the unit ID) is, and its file.

Exit codes: 0 ok, 1 unknown ID or another error, 2 usage.`,
		Args: args(1, 1),
		RunE: func(c *cobra.Command, ids []string) error {
			m, _, err := a.openIn(c.Context(), scope)
			if err != nil {
				return err
			}
			defer m.Close()
			it, err := m.Show(c.Context(), ids[0])
			if err != nil {
				return err
			}
			return a.print(it, func(w io.Writer) {
				state := "not current"
				if it.Current {
					state = "current"
				}
				fmt.Fprintf(w, "%s · %s · %s, %s\n\n", printable(it.Path), printable(it.ID), it.Status, state)
				for line := range strings.SplitSeq(strings.TrimRight(it.Text, "\r\n"), "\n") {
					fmt.Fprintln(w, printable(strings.TrimSuffix(line, "\r")))
				}
			})
		},
	}
	scopeFlag(c, &scope)
	return c
}

func (a *app) historyCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "history ID",
		Short: "What a memory superseded and what superseded it",
		Long: `Lists the memories that supersede one another around ID, oldest first, and when
each held.

Exit codes: 0 ok, 1 unknown ID or another error, 2 usage.`,
		Args: args(1, 1),
		RunE: func(c *cobra.Command, ids []string) error {
			m, _, err := a.open(c.Context())
			if err != nil {
				return err
			}
			defer m.Close()
			items, err := m.History(c.Context(), ids[0])
			if err != nil {
				return err
			}
			return a.print(map[string]any{"memories": items}, func(w io.Writer) {
				for _, it := range items {
					mark := " "
					if it.Current {
						mark = "*"
					}
					fmt.Fprintf(w, "%s %10s to %-10s  %-10s  %s  %s\n", mark, day(it.ValidFrom, it.CreatedAt), day(it.ValidTo, ""), it.Status, printable(it.ID), printable(clip(itemTitle(it), 100)))
				}
			})
		},
	}
}

// day shortens the first time that is known to its date.
func day(times ...string) string {
	for _, t := range times {
		if d, _, _ := strings.Cut(t, "T"); d != "" {
			return d
		}
	}
	return "…"
}
