package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/core/config"
	"github.com/memsearch/memsearch/embed"
	"github.com/memsearch/memsearch/eval"
	"github.com/memsearch/memsearch/internal/when"
	"github.com/memsearch/memsearch/recall"
)

// evalData are the flags that name evaluation data.
type evalData struct {
	corpus  []string
	queries string
	qrels   string
	now     string
}

func (d *evalData) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringArrayVar(&d.corpus, "corpus", nil, "folder of Markdown or corpus.jsonl; repeat to join several")
	f.StringVar(&d.queries, "queries", "", "queries.jsonl: id, text, category, conversation, query_date")
	f.StringVar(&d.qrels, "qrels", "", "lines of question, 0, document, grade")
	f.StringVar(&d.now, "now", "", "the moment of questions without a query_date (default: the clock)")
}

// load reads the data and the model.
func (d *evalData) load(a *app) (docs []eval.Document, qs []eval.Question, qrels eval.Qrels, o *eval.EngineOptions, err error) {
	if len(d.corpus) == 0 || d.queries == "" || d.qrels == "" {
		return nil, nil, nil, nil, usage("memsearch eval --help", "eval needs --corpus, --queries and --qrels")
	}
	cfg, err := a.settings("")
	if err != nil {
		return nil, nil, nil, nil, err
	}
	if docs, err = eval.LoadCorpus(cfg.Zone, d.corpus...); err != nil {
		return nil, nil, nil, nil, err
	}
	if qs, err = eval.LoadQuestions(d.queries, cfg.Zone); err != nil {
		return nil, nil, nil, nil, err
	}
	if qrels, err = eval.LoadQrels(d.qrels); err != nil {
		return nil, nil, nil, nil, err
	}
	o, err = d.engine(a, cfg)
	return docs, qs, qrels, o, err
}

func (d *evalData) engine(a *app, cfg *config.Config) (*eval.EngineOptions, error) {
	now := time.Now().In(cfg.Zone)
	if d.now != "" {
		var err error
		if now, err = when.Moment(d.now, cfg.Zone, false); err != nil {
			return nil, usage("", "--now: %w", err)
		}
	}
	var e embed.Embedder
	e, _, err := core.NewEmbedder(cfg, a.logger())
	return &eval.EngineOptions{Embedder: e, Zone: cfg.Zone, Now: now}, err
}

func (a *app) evalCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "eval",
		Short: "Measure retrieval and selection against judged questions",
		Args:  args(0, 0),

		PersistentPreRunE: noVault("--corpus names what is searched"),
		RunE: func(c *cobra.Command, _ []string) error {
			return usage("memsearch eval retrieval --help", "eval needs retrieval, confidence or selection")
		},
	}
	c.AddCommand(a.evalRetrievalCmd(), a.evalConfidenceCmd(), a.evalSelectionCmd())
	return c
}

// noVault refuses the flags of a vault, which would be passed over silently.
func noVault(instead string) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, _ []string) error {
		for _, name := range []string{"vault", "index-dir"} {
			if c.Flags().Changed(name) {
				return usage(instead, "--%s means nothing to %s", name, c.CommandPath())
			}
		}
		return nil
	}
}

func (a *app) evalRetrievalCmd() *cobra.Command {
	var d evalData
	var o eval.Options
	c := &cobra.Command{
		Use:   "retrieval",
		Short: "R@k, nDCG, MRR and hits per arm and category, with intervals",
		Long: `Indexes each conversation of the corpus alone, in memory ("*" joins all; without
conversations there is one index), ranks every judged question with every arm and
reports the means with 95 % bootstrap intervals, and hybrid minus each other arm
as paired differences. Questions of the category "adversarial" are reported apart.
The empty floor is off.

The arm oracle, which has to be asked for, is hybrid with its first 100 documents
reranked by a server in this process that answers from the judgements: the ceiling
of any reranking.

Exit codes: 0 ok, 1 error, 2 usage.`,
		Args: args(0, 0),
		RunE: func(c *cobra.Command, _ []string) (err error) {
			docs, qs, qrels, eo, err := d.load(a)
			if err != nil {
				return err
			}
			if slices.Contains(o.Arms, eval.ArmOracle) {
				var done func() error
				if done, err = a.addOracle(eo); err != nil {
					return err
				}
				defer func() { err = errors.Join(err, done()) }()
			}
			bar := a.progress("ranking")
			o.Progress = bar.update
			rep, err := eval.Retrieval(c.Context(), eval.NewBuilder(eo), docs, qs, qrels, &o)
			bar.finish()
			if err != nil {
				return err
			}
			return a.print(rep, func(w io.Writer) { fmt.Fprint(w, rep.Text()) })
		},
	}
	d.flags(c)
	f := c.Flags()
	f.StringSliceVar(&o.Arms, "arms", nil, "any of bm25, vector, temporal, hybrid (default these), oracle")
	f.IntVar(&o.Cut, "cut", eval.DefaultCut, "cut of nDCG, MRR and hit")
	f.IntVarP(&o.RunDepth, "k", "k", 0, "documents a question in the run files (default 100)")
	f.StringVar(&o.RunDir, "run-dir", "", "write one TREC run file per arm there; the vector arm is always among them")
	f.IntVar(&o.Resamples, "resamples", eval.DefaultResamples, "bootstrap draws")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of the bootstrap")
	return c
}

// oracleBudget is how many tokens a prompt of an oracle may take: all candidates go
// into one.
const oracleBudget = 1_000_000

// addOracle lets an oracle rerank for the arm of that name.
func (a *app) addOracle(o *eval.EngineOptions) (done func() error, err error) {
	cfg, err := a.settings("")
	if err != nil {
		return nil, err
	}
	m, err := a.oracleModels(cfg, oracleBudget)
	if err != nil {
		return nil, err
	}
	o.Oracle, o.Recall = m.oracle, &recall.Options{Reranker: m.listwise.Listwise}
	return m.close, nil
}
