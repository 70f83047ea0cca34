package main

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/core/config"
	"github.com/memsearch/memsearch/internal/when"
)

// recallFlags are the flags of recall as given.
type recallFlags struct {
	k, budget               int
	now, asOf, since, until string
	categories              []string
	surfaced, tools         []string
	rerank, format          string
	session, turn           string
	request, recent         string
	explain, strict         bool
	batch                   string
}

const recallLong = `Finds the memories that matter for QUERY and packs them under a token budget.

With --json it prints one document: status (ok, empty, degraded, unavailable),
reasons, confidence (0-1), hits with path, lines, date and signals, the context
and its tokens. With a language model in the settings (profiles.main.model, see
memsearch config) it may have that model judge what it found; whatever goes wrong
with the model, it answers without.

With --batch it reads one JSON query a line (text, and any of request, recent,
session, turn, now, as_of, since, until, categories, k, budget, surfaced, tools,
explain) from a file, or from standard input for "-", and prints one JSON result a
line, in order.

Exit codes: 0 ok, 1 error, 2 usage (an empty query or a bad line of a batch too),
3 empty (not of a batch), 4 degraded with --strict, 6 unavailable.`

func (a *app) recallCmd() *cobra.Command {
	f := &recallFlags{}
	c := &cobra.Command{
		Use:     "recall QUERY",
		Short:   "Find the memories that matter now",
		Long:    recallLong,
		Example: "  memsearch recall --vault examples/vault \"where does production run?\"\n  memsearch recall --as-of 2026-01-15 --json \"where does production run?\"",
		RunE: func(c *cobra.Command, words []string) error {
			if f.batch != "" {
				if len(words) > 0 {
					return usage("put the queries into the file", "--batch takes no query")
				}
				return a.recallBatch(c, f)
			}
			return a.recallOne(c, f, strings.Join(words, " "))
		},
	}
	fl := c.Flags()
	fl.IntVarP(&f.k, "k", "k", 0, "most memories to return, each with up to three units (default: the setting k, 8)")
	fl.IntVar(&f.budget, "budget", 0, "tokens the context may take (default: the setting memory_context_token_budget, 2000)")
	fl.StringVar(&f.now, "now", "", "the moment of the question (default: the clock)")
	fl.StringVar(&f.asOf, "as-of", "", "ask what held at this time")
	fl.StringVar(&f.since, "since", "", "only what occurred at or after this time")
	fl.StringVar(&f.until, "until", "", "only what occurred before this time; a bare date includes its day")
	fl.StringSliceVar(&f.categories, "category", nil, "only these: user, feedback, project, reference")
	fl.StringSliceVar(&f.surfaced, "surfaced", nil, "UNIT:HASH pairs the agent already has")
	fl.StringSliceVar(&f.tools, "tools", nil, "tools in use: their usage notes are left out")
	fl.StringVar(&f.rerank, "rerank", "", "whether a configured model judges what is found: auto (when it is likely to pay), always or never (default rerank.mode)")
	fl.StringVar(&a.prompt, "prompt", "", "prompt of that model, as name@version or the path of a .md file (default rerank@1; select@1 for llm-selection)")
	fl.StringVar(&f.format, "format", "text", "text, json or context (only the block for the prompt)")
	fl.StringVar(&f.session, "session", "", "id of the session")
	fl.StringVar(&f.turn, "turn", "", "id of the turn: memories made in it are left out")
	fl.StringVar(&f.request, "request", "", "the user's own words, when QUERY is the agent's")
	fl.StringVar(&f.recent, "recent", "", "summary of the conversation so far")
	fl.BoolVar(&f.explain, "explain", false, "print the arithmetic behind each hit")
	fl.BoolVar(&f.strict, "strict", false, "exit with 4 when the answer is degraded")
	fl.StringVar(&f.batch, "batch", "", "file of JSON queries, one a line")
	return c
}

func (a *app) recallOne(c *cobra.Command, f *recallFlags, text string) error {
	if strings.TrimSpace(text) == "" {
		return usage(`memsearch recall "what you want to know"`, "nothing asked")
	}
	if f.format == "json" {
		a.json = true
	} else if f.format != "text" && f.format != "context" {
		return usage("", "format %q is none of text, json, context", f.format)
	}
	m, cfg, err := a.open(c.Context())
	if err != nil {
		return a.unavailable(f, text, err)
	}
	defer m.Close()
	if err := a.checkPrompt(cfg); err != nil {
		return err
	}
	q, err := f.query(c, cfg.Zone)
	if err != nil {
		return err
	}
	q.Text = text
	res, err := m.Recall(c.Context(), q)
	if core.IsQueryError(err) {
		return usage("memsearch recall --help", "%w", err)
	}
	if err != nil {
		return err
	}
	if err := a.show(res, f); err != nil {
		return err
	}
	return exitFor(res, f.strict)
}

// checkPrompt refuses a --prompt that the kind of reranking has no use for. As a
// setting it only degrades the answers of those who did not write it.
func (a *app) checkPrompt(cfg *config.Config) error {
	if a.prompt == "" {
		return nil
	}
	if err := core.CheckPrompt(cfg); err != nil {
		return usage("the setting rerank.kind says what judges", "--prompt: %w", err)
	}
	return nil
}

// unavailable answers a recall whose vault cannot be opened: with --json by a
// result, so that an agent can tell it from an empty one.
func (a *app) unavailable(f *recallFlags, text string, err error) error {
	e := classify(err)
	if u, ok := err.(*exitErr); ok {
		e = u
	}
	if e.code == exitUsage {
		return e
	}
	e.code = exitUnavailable
	if a.json {
		if perr := a.document(noAnswer(text, e)); perr != nil {
			return perr
		}
	}
	return e
}

// noAnswer is the result of a query that could not be searched for.
func noAnswer(text string, err error) *memsearch.Result {
	return memsearch.NewResult(text, memsearch.StateUnavailable, err.Error())
}

// exitFor turns a status into an exit code.
func exitFor(res *memsearch.Result, strict bool) error {
	switch {
	case res.Status == memsearch.StateEmpty:
		return &exitErr{code: exitEmpty}
	case res.Status == memsearch.StateUnavailable:
		return &exitErr{code: exitUnavailable}
	case res.Status == memsearch.StateDegraded && strict:
		return &exitErr{code: exitDegraded}
	}
	return nil
}

// query makes a query of the flags.
func (f *recallFlags) query(c *cobra.Command, zone *time.Location) (memsearch.Query, error) {
	q := memsearch.Query{K: f.k, Budget: f.budget, Session: f.session, Turn: f.turn, Request: f.request, Recent: f.recent,
		Tools: f.tools, Rerank: memsearch.RerankMode(f.rerank), Explain: f.explain}
	if c.Flags().Changed("k") && f.k < 1 {
		return q, usage("", "-k %d: want 1 or more", f.k)
	}
	if c.Flags().Changed("budget") && f.budget < 1 {
		return q, usage("", "--budget %d: want 1 or more tokens", f.budget)
	}
	switch q.Rerank {
	case "", memsearch.RerankAuto, memsearch.RerankAlways, memsearch.RerankNever:
	default:
		return q, usage("", "--rerank %q is none of auto, always, never", f.rerank)
	}
	for _, s := range f.categories {
		cat := memsearch.Category(s)
		if !cat.Valid() {
			return q, usage("", "--category %q is none of user, feedback, project, reference", s)
		}
		q.Categories = append(q.Categories, cat)
	}
	for _, s := range f.surfaced {
		i := strings.LastIndexByte(s, ':')
		if i < 1 || i == len(s)-1 {
			return q, usage("--surfaced ID:HASH,ID:HASH as hits give them", "--surfaced %q is no UNIT:HASH pair", s)
		}
		if q.Surfaced == nil {
			q.Surfaced = map[string]string{}
		}
		q.Surfaced[s[:i]] = s[i+1:]
	}
	return q, f.times(&q, zone)
}

// times reads the flags that are moments.
func (f *recallFlags) times(q *memsearch.Query, zone *time.Location) error {
	for _, t := range []struct {
		flag, text string
		at         *time.Time
		end        bool
	}{{"now", f.now, &q.Now, false}, {"as-of", f.asOf, &q.AsOf, false}, {"since", f.since, &q.Since, false}, {"until", f.until, &q.Until, true}} {
		if t.text == "" {
			continue
		}
		v, err := when.Moment(t.text, zone, t.end)
		if err != nil {
			return usage(momentHint, "--%s: %w", t.flag, err)
		}
		*t.at = v
	}
	return nil
}
