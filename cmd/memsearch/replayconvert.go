package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/memsearch/memsearch/eval/replay"
	"github.com/memsearch/memsearch/internal/english"
	"github.com/memsearch/memsearch/internal/when"
)

const replayConvertLong = `Turns questions over conversations, as LoCoMo and LongMemEval ask them, into a task
set in the folder DIR: one vault for each conversation, one task for each question
that can be graded, and tasks.yaml beside them. Corpus, queries and qrels are those of
memsearch eval; each query also has an answer.

Adversarial questions become traps: their given answer is the wrong one. Other wrong
answers are that of another question of the conversation, and a vague one. Without
--judge only short answers become tasks, which must stand in what the agent says.

The licence of the data holds for what is written.

Exit codes: 0 ok, 1 error, 2 usage.`

func (a *app) replayConvertCmd() *cobra.Command {
	var o replay.QAOptions
	var now string
	c := &cobra.Command{
		Use:   "convert --corpus FILE --queries FILE --qrels FILE --out DIR",
		Short: "Make a task set of questions and answers over conversations",
		Long:  replayConvertLong,
		Args:  args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if len(o.Corpus) == 0 || o.Questions == "" || o.Qrels == "" || o.Dir == "" {
				return usage("memsearch replay convert --help", "convert needs --corpus, --queries, --qrels and --out")
			}
			cfg, err := a.settings("")
			if err != nil {
				return err
			}
			o.Now = time.Now().In(cfg.Zone)
			if now != "" {
				if o.Now, err = when.Moment(now, cfg.Zone, false); err != nil {
					return usage(momentHint, "--now: %w", err)
				}
			}
			set, skips, err := replay.FromQA(c.Context(), o)
			if err != nil {
				return err
			}
			return a.print(map[string]any{"set": set.Name, "tasks": len(set.Tasks), "skipped": skips}, func(w io.Writer) {
				fmt.Fprintf(w, "%s in %s\n", english.Count(len(set.Tasks), "task"), printable(o.Dir))
				for _, why := range sortedKeys(skips) {
					fmt.Fprintf(w, "%s left out: %s\n", english.Count(skips[why], "question"), why)
				}
			})
		},
	}
	f := c.Flags()
	f.StringArrayVar(&o.Corpus, "corpus", nil, "folder of Markdown or corpus.jsonl; repeat to join several")
	f.StringVar(&o.Questions, "queries", "", "queries.jsonl with an answer each")
	f.StringVar(&o.Qrels, "qrels", "", "lines of question, 0, document, grade")
	f.StringVar(&o.Dir, "out", "", "folder to write, empty or new")
	f.StringVar(&o.Name, "name", "", "name of the set (default: the name of the folder)")
	f.StringVar(&now, "now", "", "when tasks are done whose question has no query_date (default: the clock)")
	f.BoolVar(&o.Judge, "judge", false, "let a model grade the answers: more questions become tasks")
	return c
}
