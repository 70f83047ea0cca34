package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/internal/english"
)

const forgetLong = `Removes memories or units from the files, the catalog, every index and every cache,
looks everywhere for what is left, and says what it found. The text cannot come
back by remember without --again. Ids that do not exist stop it before anything is
touched. With --dry-run it only says what would go.

History of a git repository cannot be rewritten from here: commits that still hold
the text are named, and the exit code is 1.

Exit codes: 0 gone everywhere, 1 something still holds the text or another error,
2 usage, 5 another process is writing.`

func (a *app) forgetCmd() *cobra.Command {
	var dry bool
	var scope string
	c := &cobra.Command{
		Use:   "forget ID...",
		Short: "Remove memories for good, and prove it",
		Long:  forgetLong,
		Args:  args(1, -1),
		RunE: func(c *cobra.Command, ids []string) error {
			m, _, err := a.openIn(c.Context(), scope)
			if err != nil {
				return err
			}
			defer m.Close()
			reports, err := m.Forget(c.Context(), dry, ids...)
			if len(reports) > 0 {
				perr := a.print(map[string]any{"scopes": reports}, func(w io.Writer) {
					for _, r := range reports {
						printForget(w, &r)
					}
				})
				if perr != nil {
					return perr
				}
			}
			return forgetErr(reports, err)
		},
	}
	scopeFlag(c, &scope)
	c.Flags().BoolVar(&dry, "dry-run", false, "say what would go and change nothing")
	return c
}

// forgetErr adds what to do about the rest that could not be removed.
func forgetErr(reports []core.ForgetReport, err error) error {
	if refused, ok := errors.AsType[*core.RefusedError](err); ok {
		return &exitErr{code: exitFailure, err: err, hint: refusalHint(refused)}
	}
	if !errors.Is(err, core.ErrForget) {
		return err
	}
	hint := "run memsearch forget again, or memsearch index --rebuild, and memsearch check"
	for _, r := range reports {
		switch {
		case len(r.GitCommits) > 0:
			hint = "rewrite the history that holds it, for instance with git filter-repo: commits " + strings.Join(r.GitCommits, ", ")
		case len(r.OtherFiles) > 0:
			hint = "the same words stand in other files, which may be memories of their own; forget or edit them: " + strings.Join(r.OtherFiles, ", ")
		case len(r.Held) > 0:
			hint = "another process still reads an old index; it goes with the next memsearch index"
		}
	}
	return &exitErr{code: exitFailure, err: err, hint: hint}
}

func printForget(w io.Writer, r *core.ForgetReport) {
	verb := "removed"
	if r.DryRun {
		verb = "would remove"
	}
	for _, p := range r.Removed {
		fmt.Fprintf(w, "%s %s\n", verb, printable(p))
	}
	for _, p := range r.Edited {
		if r.DryRun {
			fmt.Fprintf(w, "would take lines out of %s\n", printable(p))
		} else {
			fmt.Fprintf(w, "took lines out of %s\n", printable(p))
		}
	}
	if r.DryRun {
		return
	}
	for _, p := range r.Purged {
		fmt.Fprintf(w, "purged %s\n", printable(p))
	}
	fmt.Fprintf(w, "looked for %d words and lines\n", r.Needles)
	fmt.Fprintf(w, "  before: %s in the index, text in %s\n", english.Count(r.SeenTerms, "word"), english.Count(len(r.SeenFiles), "file"))
	fmt.Fprintf(w, "  after:  %s, %s, text in %d of %s looked into\n", english.Count(r.LeftTerms, "word"), english.Count(r.LeftRows, "vector"), len(r.LeftFiles), english.Count(len(r.Checked), "file"))
	for _, p := range r.LeftFiles {
		fmt.Fprintf(w, "  still in %s\n", printable(p))
	}
	for _, p := range r.OtherFiles {
		fmt.Fprintf(w, "  the same words stand in %s\n", printable(p))
	}
	for _, n := range r.Held {
		fmt.Fprintf(w, "  index generation %d is still open in another process\n", n)
	}
	for _, h := range r.GitCommits {
		fmt.Fprintf(w, "  still in git commit %s\n", h)
	}
	if r.Clean {
		fmt.Fprintln(w, "gone everywhere")
	}
}
