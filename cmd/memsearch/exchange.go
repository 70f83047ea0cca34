package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/core/chromem"
	"github.com/memsearch/memsearch/internal/atomicfile"
	"github.com/memsearch/memsearch/internal/english"
)

func (a *app) exportCmd() *cobra.Command {
	var skill, file, scope string
	c := &cobra.Command{
		Use:   "export",
		Short: "Write the current memories for another program",
		Long: `--skill DIR writes an Agent Skills folder that another agent loads without
memsearch; the folder's name becomes the skill's. --chromem FILE writes a database
of github.com/philippgille/chromem-go with one collection for each vault: text,
metadata and vectors of every current unit.

Exit codes: 0 ok, 1 error, 2 usage.`,
		Args: args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if (skill == "") == (file == "") {
				return usage("memsearch export --help", "export needs one of --skill DIR and --chromem FILE")
			}
			m, _, err := a.open(c.Context())
			if err != nil {
				return err
			}
			defer m.Close()
			if skill != "" {
				n, err := m.ExportSkill(c.Context(), scope, skill)
				if err != nil {
					return err
				}
				return a.print(map[string]any{"skill": skill, "memories": n}, func(w io.Writer) {
					fmt.Fprintf(w, "%s in %s\n", english.Count(n, "memory"), printable(skill))
				})
			}
			return a.exportChromem(c, m, file)
		},
	}
	c.Flags().StringVar(&skill, "skill", "", "folder to write: new, empty or an earlier export, where the vault does not read it")
	c.Flags().StringVar(&file, "chromem", "", "file to write or replace")
	c.Flags().StringVar(&scope, "scope", "", "name of the vault of --skill (default: the first)")
	return c
}

func (a *app) exportChromem(c *cobra.Command, m *core.Memory, file string) error {
	var buf bytes.Buffer
	r, err := chromem.Export(c.Context(), m, &buf)
	if err != nil {
		return err
	}
	dir, err := atomicfile.OpenDir(filepath.Dir(file), nil)
	if err != nil {
		return fmt.Errorf("write export: %w", err)
	}
	defer dir.Close()
	if err := dir.Write(filepath.Base(file), buf.Bytes(), 0o600); err != nil {
		return fmt.Errorf("write export: %w", err)
	}
	return a.print(r, func(w io.Writer) {
		fmt.Fprintf(w, "%s in %s, vectors of %s\n", english.Count(r.Documents, "document"), english.Count(r.Collections, "collection"), printable(r.Model))
		if r.NoVector > 0 {
			fmt.Fprintf(w, "%s left out: the model knows nothing of the text\n", english.Count(r.NoVector, "unit"))
		}
	})
}

func (a *app) importCmd() *cobra.Command {
	var file, category string
	o := &chromem.ImportOptions{}
	c := &cobra.Command{
		Use:   "import",
		Short: "Make memories of another program's documents",
		Long: `--chromem FILE reads an exported database of github.com/philippgille/chromem-go, or
the folder of a persistent one, and makes a memory of each document through the
guard that every write passes. Documents that are here already, by id or by text,
are left alone, so that importing again changes nothing. Vectors are made anew.

Exit codes: 0 ok, 1 some documents were refused or differ from what is here, or
another error, 2 usage, 5 another process is writing.`,
		Args: args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if file == "" {
				return usage("memsearch import --help", "import needs --chromem FILE")
			}
			if o.Category = memsearch.Category(category); category != "" && !o.Category.Valid() {
				return usage("", "--category %q is none of %s", category, join(memsearch.Categories))
			}
			list, err := chromem.Read(file)
			if err != nil {
				return err
			}
			if err := a.makeDefaultVault(); err != nil {
				return err
			}
			m, _, err := a.open(c.Context())
			if err != nil {
				return err
			}
			defer m.Close()
			r, err := chromem.Import(c.Context(), m, list, o)
			if r != nil {
				if perr := a.print(r, func(w io.Writer) { printImport(w, r) }); perr != nil {
					return perr
				}
			}
			if err == nil && len(r.Refused)+len(r.Changed) > 0 {
				err = &exitErr{code: exitFailure, err: fmt.Errorf("%d of %s not imported", len(r.Refused)+len(r.Changed), english.Count(r.Documents, "document"))}
			}
			return err
		},
	}
	c.Flags().StringVar(&file, "chromem", "", "exported file, or folder of a persistent database")
	c.Flags().StringVar(&category, "category", "", "category of documents that name none (default reference)")
	c.Flags().StringVar(&o.Scope, "scope", "", "name of the vault to write to (default: the first)")
	c.Flags().BoolVar(&o.Candidate, "candidate", false, "make candidates, left out until they are confirmed")
	return c
}

func printImport(w io.Writer, r *chromem.ImportReport) {
	fmt.Fprintf(w, "%d of %s imported, %d already here\n", len(r.Created), english.Count(r.Documents, "document"), r.Present)
	for _, part := range []struct {
		what string
		list []chromem.Entry
	}{{"refused", r.Refused}, {"differs", r.Changed}} {
		for _, e := range part.list {
			fmt.Fprintf(w, "%s: %s/%s: %s\n", part.what, printable(e.Collection), printable(e.ID), printable(e.Reason))
		}
	}
}
