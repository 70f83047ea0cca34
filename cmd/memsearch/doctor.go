package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/internal/english"
)

func (a *app) doctorCmd() *cobra.Command {
	var fix bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Explain files that look odd",
		Long: `Reads every file and says in words what is odd: front matter that cannot be read,
dates that no calendar has, duplicate ids, names that other systems would take for
one, files that are not read and why. It changes nothing.

With --fix it finishes interrupted writes, writes the catalog in MEMORY.md anew and
gives every memory without an id one of its own; all other bytes stay.

Exit codes: 0 ok, also with findings; 1 error, or --fix could not change a file; 5
another process is writing.`,
		Args: args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			m, _, err := a.open(c.Context())
			if err != nil {
				return err
			}
			defer m.Close()
			doc := map[string]any{}
			var fixed []core.FixReport
			if fix {
				if fixed, err = m.Fix(c.Context()); err != nil {
					return err
				}
				doc["fixed"] = fixed
			}
			findings, err := m.Doctor(c.Context())
			if err != nil {
				return err
			}
			doc["findings"] = findings
			err = a.print(doc, func(w io.Writer) {
				for _, r := range fixed {
					printFix(w, &r)
				}
				printFindings(w, findings)
			})
			if err != nil {
				return err
			}
			return fixErr(fixed)
		},
	}
	c.Flags().BoolVar(&fix, "fix", false, "mend what can be mended without loss")
	return c
}

// noIDLines is how many files without an id are listed for a person: a vault that
// others write has an id nowhere.
const noIDLines = 5

func printFindings(w io.Writer, list []core.Finding) {
	if len(list) == 0 {
		fmt.Fprintln(w, "nothing odd")
		return
	}
	fixable, noID := 0, 0
	for _, f := range list {
		if f.Fixable {
			fixable++
		}
		if f.Code == core.CodeNoID {
			if noID++; noID > noIDLines {
				continue
			}
		}
		where := f.Scope
		if f.Path != "" {
			where = printable(f.Path)
		}
		if f.Line > 0 {
			where += fmt.Sprintf(":%d", f.Line)
		}
		fmt.Fprintf(w, "%s: %s (%s)\n", where, printable(f.Message), f.Code)
	}
	if noID > noIDLines {
		fmt.Fprintf(w, "and %d more have no id; --json lists them all\n", noID-noIDLines)
	}
	fmt.Fprint(w, english.Count(len(list), "finding"))
	if fixable > 0 {
		fmt.Fprintf(w, ", of which memsearch doctor --fix mends %d", fixable)
	}
	fmt.Fprintln(w)
}

func printFix(w io.Writer, r *core.FixReport) {
	for _, p := range sortedKeys(r.Stamped) {
		fmt.Fprintf(w, "%s: now has the id %s\n", printable(p), r.Stamped[p])
	}
	for _, s := range r.Refused {
		fmt.Fprintf(w, "not changed: %s\n", printable(s))
	}
}

func fixErr(list []core.FixReport) error {
	n := 0
	for _, r := range list {
		n += len(r.Refused)
	}
	if n == 0 {
		return nil
	}
	return &exitErr{code: exitFailure, err: fmt.Errorf("%s could not be changed without loss", english.Count(n, "file")), hint: "mend their front matter by hand"}
}
