package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/internal/vault"
)

// writeFlags are the front matter of a new memory as given.
type writeFlags struct {
	category, kind, name, summary string
	tags, tools, supersedes       []string
	validFrom, validTo            string
	key, status, scope            string
	session, turn                 string
	pinned, again                 bool
}

func (f *writeFlags) add(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.category, "category", "", "user, feedback, project or reference (default: what the kind suggests, else user)")
	fl.StringVar(&f.kind, "kind", "", "preference, fact, decision, procedure, episode, constraint, formula, api_contract, warning, project_goal or timeline_constraint")
	fl.StringVar(&f.name, "name", "", "how the file name begins (default: the kind)")
	fl.StringVar(&f.summary, "summary", "", "one line (default: the first line of TEXT)")
	fl.StringSliceVar(&f.tags, "tags", nil, "words to find it by")
	fl.StringSliceVar(&f.tools, "tools", nil, "tools it is a usage note of")
	fl.StringVar(&f.validFrom, "valid-from", "", "when it begins to hold")
	fl.StringVar(&f.validTo, "valid-to", "", "when it ceases to hold (that day or moment excluded)")
	fl.StringVar(&f.key, "canonical-key", "", "subject.attribute, when it has one value at a time")
	fl.StringVar(&f.session, "session", "", "id of the session it comes from")
	fl.StringVar(&f.turn, "turn", "", "id of the turn it comes from")
	fl.BoolVar(&f.pinned, "pinned", false, "keep it in every context (default: what the kind implies)")
	fl.BoolVar(&f.again, "again", false, "let a text come back that was forgotten; also allows a duplicate")
}

// categoryOf is where memories of a kind usually belong.
func categoryOf(k memsearch.Kind) memsearch.Category {
	switch k {
	case "", memsearch.KindPreference:
		return memsearch.CategoryUser
	case memsearch.KindFormula, memsearch.KindAPIContract, memsearch.KindProcedure, memsearch.KindFact:
		return memsearch.CategoryReference
	}
	return memsearch.CategoryProject
}

// memory makes the memory to write.
func (a *app) memory(c *cobra.Command, f *writeFlags, text string) (core.NewMemory, error) {
	n := core.NewMemory{Name: f.name, Body: text, Again: f.again}
	m := &n.Memory
	m.Category, m.Kind, m.Status = memsearch.Category(f.category), memsearch.Kind(f.kind), memsearch.Status(f.status)
	switch {
	case f.category != "" && !m.Category.Valid():
		return n, usage("", "--category %q is none of user, feedback, project, reference", f.category)
	case f.kind != "" && !slices.Contains(memsearch.Kinds, m.Kind):
		return n, usage("", "--kind %q is none of %s", f.kind, join(memsearch.Kinds))
	case f.status != "" && m.Status != memsearch.StatusActive && m.Status != memsearch.StatusCandidate:
		return n, usage("", "--status %q is neither active nor candidate", f.status)
	}
	if m.Category == "" {
		m.Category = categoryOf(m.Kind)
	}
	if m.Summary = f.summary; m.Summary == "" {
		m.Summary = core.Summarise(text)
	}
	m.Tags, m.Tools, m.Supersedes, m.CanonicalKey = tags(f.tags), trimmed(f.tools), trimmed(f.supersedes), f.key
	m.Source = memsearch.Source{Trust: memsearch.TrustUser, SessionID: f.session, TurnID: f.turn}
	if c.Flags().Changed("pinned") {
		n.Pinned = &f.pinned
	}
	cfg, err := a.vaultSettings()
	if err != nil {
		return n, err
	}
	if m.Valid.From, err = bound("valid-from", f.validFrom, cfg.Zone); err != nil {
		return n, err
	}
	if m.Valid.Until, err = bound("valid-to", f.validTo, cfg.Zone); err != nil {
		return n, err
	}
	if v := m.Valid; !v.From.IsZero() && !v.Until.IsZero() && !v.From.Time.Before(v.Until.Time) {
		return n, usage("", "--valid-to %s does not lie after --valid-from %s", v.Until, v.From)
	}
	return n, nil
}

// trimmed returns the values of a list flag without the spaces after its commas.
func trimmed(list []string) []string {
	for i, s := range list {
		list[i] = strings.TrimSpace(s)
	}
	return list
}

// tags returns the values of --tags, which Chinese commas part as well.
func tags(list []string) []string {
	var out []string
	for _, s := range list {
		out = append(out, strings.FieldsFunc(s, func(r rune) bool { return r == '，' || r == '、' })...)
	}
	return trimmed(out)
}

func join[T ~string](list []T) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return strings.Join(out, ", ")
}

// body returns the words of the command line, or standard input for "-".
func (a *app) body(ctx context.Context, words []string) (string, error) {
	text := strings.Join(words, " ")
	if len(words) == 1 && words[0] == "-" {
		b, err := io.ReadAll(io.LimitReader(a.input(ctx), vault.MaxMemory+1))
		if err != nil {
			return "", fmt.Errorf("read text: %w", err)
		}
		text = string(b)
	}
	if strings.TrimSpace(text) == "" {
		return "", usage(`memsearch remember "what to remember"`, "no text given")
	}
	return text, nil
}

func (a *app) rememberCmd() *cobra.Command {
	f := &writeFlags{}
	c := &cobra.Command{
		Use:   "remember TEXT",
		Short: "Write a new memory",
		Long: `Writes TEXT (standard input for "-") as a memory of the user's own words. Secrets,
broken values, texts that were forgotten and those that a memory already has, word
for word, are refused and nothing is written; --again lets the last two pass.

Without --category the kind decides: none or preference is user; fact, formula,
api_contract and procedure are reference; the others are project.

The default vault is made when there is none yet.

Exit codes: 0 ok, 1 refused or another error, 2 usage, 5 another process is
writing.`,
		Example: `  memsearch remember --category user --kind preference --name editor "The user edits with Helix."
  memsearch remember --supersedes mem_20250302090000_p1c2d3 "Production runs in eu-central-1."`,
		Args: args(1, -1),
		RunE: func(c *cobra.Command, words []string) error {
			text, err := a.body(c.Context(), words)
			if err != nil {
				return err
			}
			if err := a.makeDefaultVault(); err != nil {
				return err
			}
			n, err := a.memory(c, f, text)
			if err != nil {
				return err
			}
			m, _, err := a.open(c.Context())
			if err != nil {
				return err
			}
			defer m.Close()
			w, err := m.Remember(c.Context(), f.scope, n)
			return a.written("remembered", w, err)
		},
	}
	f.add(c)
	c.Flags().StringVar(&f.status, "status", "", "active or candidate; a candidate is left out until it is confirmed (default active)")
	c.Flags().StringSliceVar(&f.supersedes, "supersedes", nil, "ids of memories that this one replaces")
	c.Flags().StringVar(&f.scope, "scope", "", "name of the vault to write to (default: the first)")
	return c
}

func (a *app) supersedeCmd() *cobra.Command {
	f := &writeFlags{}
	c := &cobra.Command{
		Use:   "supersede ID TEXT",
		Short: "Replace a memory by a new one and keep the old one as history",
		Long: `Writes TEXT (standard input for "-") as a memory that takes the place of ID from
--valid-from on (default: now). The old file stays; recall --as-of finds it.

Exit codes: 0 ok, 1 refused, unknown ID or another error, 2 usage, 5 another
process is writing.`,
		Example: `  memsearch supersede mem_20250302090000_p1c2d3 --valid-from 2026-11-01 "Production runs in eu-central-1."`,
		Args:    args(2, -1),
		RunE: func(c *cobra.Command, words []string) error {
			text, err := a.body(c.Context(), words[1:])
			if err != nil {
				return err
			}
			m, _, err := a.openIn(c.Context(), f.scope)
			if err != nil {
				return err
			}
			defer m.Close()
			n, err := a.memory(c, f, text)
			if err != nil {
				return err
			}
			if !c.Flags().Changed("category") && !c.Flags().Changed("kind") {
				if err := inherit(c.Context(), m, words[0], &n); err != nil {
					return err
				}
			}
			w, err := m.Supersede(c.Context(), words[0], n, n.Memory.Valid.From)
			return a.written("superseded "+words[0]+" by", w, err)
		},
	}
	f.add(c)
	scopeFlag(c, &f.scope)
	c.Flags().Lookup("category").Usage = "user, feedback, project or reference (default: that of ID, or what --kind suggests)"
	c.Flags().Lookup("kind").Usage += " (default: that of ID, unless --category is given)"
	return c
}

// inherit gives a new memory category and kind of the one that it replaces.
func inherit(ctx context.Context, m *core.Memory, id string, n *core.NewMemory) error {
	old, err := m.Show(ctx, id)
	if err != nil {
		return err
	}
	if old.Category.Valid() {
		n.Memory.Category = old.Category
	}
	n.Memory.Kind = old.Kind
	return nil
}

// written tells what a write did.
func (a *app) written(what string, w *core.Written, err error) error {
	if refused, ok := errors.AsType[*core.RefusedError](err); ok {
		return &exitErr{code: exitFailure, err: err, hint: refusalHint(refused)}
	}
	if err != nil {
		return err
	}
	doc := map[string]any{"id": w.Memory.ID, "scope": w.Scope, "path": w.Memory.Path, "status": w.Memory.Status, "summary": w.Memory.Summary}
	if w.IndexErr != nil {
		doc["index_error"] = w.IndexErr.Error()
		fmt.Fprintf(a.err, "memsearch: written, but not indexed yet: %s\n", printableLines(w.IndexErr.Error()))
	}
	return a.print(doc, func(out io.Writer) {
		fmt.Fprintf(out, "%s %s in %s\n", what, w.Memory.ID, printable(w.Memory.Path))
	})
}

// refusalHint says what to do about a refusal.
func refusalHint(e *core.RefusedError) string {
	switch e.Rule {
	case vault.RuleSecret:
		return "write where the secret is kept, not the secret"
	case vault.RuleTombstone:
		return "--again lets a forgotten text come back"
	case vault.RuleExists:
		if e.Field == "body" {
			return "memsearch confirm says that it still holds; --again writes it a second time"
		}
	case vault.RuleMissing, vault.RuleStatus:
		return "memsearch list shows every memory with its id and status"
	case vault.RuleFile:
		return "memsearch doctor says what is odd about the file"
	}
	return ""
}
