package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/core/config"
	"github.com/memsearch/memsearch/eval"
)

const selectionLong = `Asks the same judged questions of growing numbers of memories and compares what is
selected: by keywords (bm25), by vectors, by both (hybrid), by a model that grades
what hybrid finds, when the gate finds it worth it or always, by a model that picks
from the catalog and searches nothing (llm-selection), and by a cross-encoder.

Reports for each arm R@5 and nDCG@10 with 95 % bootstrap intervals, also as paired
differences to hybrid; the precision of what was injected and the share of questions
that injected nothing; how often a model was asked, calls, tokens and money a
question; the share of questions with the same selection each of --repeat times; and
p50 and p95 of the time.

The model is the one of the settings (profiles.main.model, or the profile that
memory.recall_model_profile names), live or from a --cassette. With --oracle it is
a server in this process that answers from the judgements: that shows what every
model is bounded by, and no model's quality. Without either, the arms that need a
model are left out. When a cap is reached the report says so and has the questions
before. What is asked stands in the ledger of llm.ledger_dir, else in one in the
user's configuration folder.

Exit codes: 0 ok, also when a cap was reached; 1 error, 2 usage.`

func (a *app) evalSelectionCmd() *cobra.Command {
	var d evalData
	var oracle bool
	var dump string
	o := eval.SelectionOptions{}
	c := &cobra.Command{
		Use:   "selection",
		Short: "Compare retrieval, reranking and letting a model pick from the catalog",
		Long:  selectionLong,
		Args:  args(0, 0),
		RunE: func(c *cobra.Command, _ []string) (err error) {
			docs, qs, qrels, eo, err := d.load(a)
			if err != nil {
				return err
			}
			cfg, err := a.settings("")
			if err != nil {
				return err
			}
			o.Candidates, o.Budget = cfg.Rerank.Candidates, cfg.Budget
			done, models, err := a.selectionModels(cfg, oracle, &o)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, done()) }()
			if len(models) == 0 && len(o.Arms) == 0 {
				fmt.Fprintln(a.err, "no model is named, so the arms that ask one are left out: set profiles.main.model, or give --oracle for their ceiling")
			}
			bar := a.progress("selecting")
			o.Progress = bar.update
			rep, err := eval.Selection(c.Context(), eo, docs, qs, qrels, &o)
			bar.finish()
			if errors.Is(err, eval.ErrOptions) {
				return usage("memsearch eval selection --help", "%w", err)
			}
			if err != nil {
				return err
			}
			rep.Models = models
			if dump != "" {
				if err := dumpRows(dump, rep); err != nil {
					return err
				}
			}
			return a.print(rep, func(w io.Writer) { fmt.Fprint(w, rep.Text()) })
		},
	}
	d.flags(c)
	f := c.Flags()
	f.StringSliceVar(&o.Arms, "arms", nil, "bm25, vector, hybrid, hybrid+rerank(gated), hybrid+rerank(always), llm-selection, cross-encoder (default: all that have a model)")
	f.IntSliceVar(&o.Sizes, "sizes", nil, "numbers of memories (default 50,200,1000,10000)")
	f.IntVar(&o.Questions, "questions", eval.DefaultQuestions, "most questions of each size")
	f.IntVar(&o.Repeat, "repeat", eval.DefaultRepeat, "how often each question is asked, to see whether the selection stays")
	f.BoolVar(&oracle, "oracle", false, "let the judgements answer in place of a model: the ceiling of the pipeline")
	f.StringVar(&a.prompt, "prompt", "", "prompt of the model, as name@version or the path of a .md file")
	f.StringVar(&dump, "dump", "", "write what each arm made of each question there, one JSON object a line")
	f.IntVar(&o.Resamples, "resamples", eval.DefaultResamples, "bootstrap draws")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of the sample and the bootstrap")
	return c
}

// selectionModels sets the models of o and returns their names and how to end
// them.
func (a *app) selectionModels(cfg *config.Config, oracle bool, o *eval.SelectionOptions) (done func() error, names []string, err error) {
	if !oracle {
		dir, err := os.UserConfigDir()
		if err != nil {
			return nil, nil, fmt.Errorf("find a folder for the ledger: %w", err)
		}
		j, err := core.NewJudge(cfg, filepath.Join(dir, "memsearch"), a.logger())
		if err != nil {
			return nil, nil, err
		}
		if j.Model != "" {
			names = []string{j.Model}
		}
		o.Listwise, o.CrossEncoder, o.Selector = j.Listwise, j.CrossEncoder, j.Selector
		return j.Close, names, nil
	}
	m, err := a.oracleModels(cfg, cfg.Rerank.Budget)
	if err != nil {
		return nil, nil, err
	}
	o.Oracle, o.Listwise, o.Selector, o.CrossEncoder = m.oracle, m.listwise.Listwise, m.listwise.Selector, m.cross.CrossEncoder
	return m.close, []string{"oracle"}, nil
}

// An oracleSet is an oracle and the models that ask it.
type oracleSet struct {
	oracle          *eval.Oracle
	listwise, cross *core.Judge
	closers         []func() error
}

func (m *oracleSet) close() error {
	var errs []error
	for i := len(m.closers) - 1; i >= 0; i-- {
		errs = append(errs, m.closers[i]())
	}
	return errors.Join(errs...)
}

// oracleModels starts an oracle, which is asked as cfg says but for the tokens of a
// prompt.
func (a *app) oracleModels(cfg *config.Config, budget int) (m *oracleSet, err error) {
	tmp, err := os.MkdirTemp("", "memsearch-oracle-") // for its ledger
	if err != nil {
		return nil, err
	}
	m = &oracleSet{closers: []func() error{func() error { return os.RemoveAll(tmp) }}}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.close())
		}
	}()
	if m.oracle, err = eval.NewOracle(); err != nil {
		return nil, err
	}
	m.closers = append(m.closers, m.oracle.Close)
	judge := func(kind string) (*core.Judge, error) {
		const plenty = "1000000000"
		settings, err := config.Load(config.Options{Flags: map[string]string{
			"profiles.main.model": "oracle", "profiles.main.base_url": m.oracle.URL, "profiles.main.context_window": plenty,
			"rerank.kind": kind, "rerank.prompt_budget": fmt.Sprint(budget), "rerank.max_calls": fmt.Sprint(cfg.Rerank.MaxCalls),
			"rerank.prompt": cfg.Rerank.Prompt, "llm.call_tokens": plenty, "llm.run_calls": plenty, "llm.run_tokens": plenty,
			"llm.day_calls": plenty, "llm.day_tokens": plenty}})
		if err != nil {
			return nil, err
		}
		j, err := core.NewJudge(settings, filepath.Join(tmp, kind), a.logger())
		if err == nil {
			m.closers = append(m.closers, j.Close)
		}
		return j, err
	}
	if m.listwise, err = judge(config.RerankListwise); err != nil {
		return nil, err
	}
	m.cross, err = judge(config.RerankCrossEncoder)
	return m, err
}

func dumpRows(name string, rep *eval.SelectionReport) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }() // a full disk shows here
	return rep.Dump(f)
}
