package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/memsearch/memsearch/eval"
	"github.com/memsearch/memsearch/recall"
)

func (a *app) evalConfidenceCmd() *cobra.Command {
	var d evalData
	var against []string
	var dump string
	o := eval.ConfidenceOptions{Floor: recall.DefaultFloor}
	c := &cobra.Command{
		Use:   "confidence",
		Short: "How well the confidence tells questions that memory can answer from others",
		Long: `Asks every judged question of its own conversation, where it can be answered, and
of the next conversation and each --against corpus, where it cannot. Reports the
AUC with its 95 % bootstrap interval, the calibration error with a reliability
table, and what floors do: the highest that empties at most --max-lost of the
answerable questions, and the default one. Questions of the category "adversarial"
are left out. With --model none it judges answers without vectors.

Exit codes: 0 ok, 1 error, 2 usage.`,
		Args: args(0, 0),
		RunE: func(c *cobra.Command, _ []string) (err error) {
			docs, qs, qrels, eo, err := d.load(a)
			if err != nil {
				return err
			}
			for _, path := range against {
				other, err := eval.LoadCorpus(eo.Zone, path)
				if err != nil {
					return err
				}
				o.Against = append(o.Against, eval.NamedDocs{Name: path, Docs: other})
			}
			if dump != "" {
				f, err := os.Create(dump)
				if err != nil {
					return err
				}
				defer func() { err = errors.Join(err, f.Close()) }() // a full disk shows here
				o.Dump = f
			}
			bar := a.progress("judging")
			o.Progress = bar.update
			rep, err := eval.Confidence(c.Context(), eval.NewBuilder(eo), docs, qs, qrels, &o)
			bar.finish()
			if err != nil {
				return err
			}
			return a.print(rep, func(w io.Writer) { fmt.Fprint(w, rep.Text()) })
		},
	}
	d.flags(c)
	f := c.Flags()
	f.StringArrayVar(&against, "against", nil, "another corpus that answers none of the questions; repeat for several")
	f.StringVar(&o.Arm, "arm", eval.ArmHybrid, "bm25, vector, temporal or hybrid")
	f.Float64Var(&o.MaxLost, "max-lost", eval.DefaultMaxLost, "share of answerable questions that a floor may empty")
	f.StringVar(&dump, "dump", "", "write every judgement with its features there, one JSON object a line")
	f.IntVar(&o.Resamples, "resamples", eval.DefaultResamples, "bootstrap draws")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of the bootstrap")
	return c
}
