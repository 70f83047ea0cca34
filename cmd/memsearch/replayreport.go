package main

import (
	"cmp"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/memsearch/memsearch/eval/replay"
)

// loadReport returns the report of the records in a folder, or the one in a file.
func loadReport(name string) (*replay.Report, error) {
	if fi, err := os.Stat(name); err == nil && !fi.IsDir() {
		raw, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		return replay.ParseReport(raw)
	}
	h, records, err := replay.ReadRecords(name)
	if err != nil {
		return nil, err
	}
	r, err := replay.Analyse(h, records)
	if err != nil {
		return nil, replayErr(err)
	}
	return r, nil
}

func (a *app) replayReportCmd() *cobra.Command {
	format, output := "", ""
	c := &cobra.Command{
		Use:   "report DIR",
		Short: "Show what a replay found, as Markdown, JSON or one HTML page",
		Long: `Shows the report of the records in the folder DIR, or of a file that --format json
wrote: outcomes with 95 % intervals, each arm against none with the helpful and
harmful tasks named, recall, where the chain from memory to answer broke, cost.

There is no report when the answer of a task leaks into the arm none: what is
compared with it would mean nothing.

Exit codes: 0 ok, 1 error or a leak, 2 usage.`,
		Args: args(1, 1),
		RunE: func(_ *cobra.Command, words []string) (err error) {
			if a.json && format == "" {
				format = "json"
			}
			if a.json && format != "json" {
				return usage("memsearch replay report --help", "--json is --format json")
			}
			var write func(*replay.Report) (string, error)
			switch format {
			case "", "text":
				write = func(r *replay.Report) (string, error) { return printableLines(r.Markdown()), nil }
			case "json":
				write = func(r *replay.Report) (string, error) {
					raw, err := r.JSON()
					return string(raw), err
				}
			case "html":
				write = (*replay.Report).HTML
			default:
				return usage("--format text, json or html", "--format %s is none of text, json, html", format)
			}
			r, err := loadReport(words[0])
			if err != nil {
				return err
			}
			text, err := write(r)
			if err != nil {
				return err
			}
			if output == "" {
				_, err = io.WriteString(a.out, text)
				return err
			}
			if err := os.WriteFile(output, []byte(text), 0o644); err != nil {
				return fmt.Errorf("write report: %w", err)
			}
			return nil
		},
	}
	c.Flags().StringVar(&format, "format", "", "text (Markdown, default), json or html")
	c.Flags().StringVarP(&output, "output", "o", "", "file to write (default: standard output)")
	return c
}

func (a *app) replayCompareCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "compare A B",
		Short: "Compare two replays of the same tasks",
		Long: `Says what the replay B did differently from A, arm by arm, on the same tasks: to tell
what another prompt, threshold or model changes. A and B are folders of records, or
files that memsearch replay report --format json wrote.

Exit codes: 0 ok, also when something became worse; 1 error, or the two are not of
the same tasks; 2 usage.`,
		Args: args(2, 2),
		RunE: func(_ *cobra.Command, words []string) error {
			before, err := loadReport(words[0])
			if err != nil {
				return err
			}
			after, err := loadReport(words[1])
			if err != nil {
				return err
			}
			c, err := replay.Compare(before, after)
			if err != nil {
				return err
			}
			return a.print(c, func(w io.Writer) { fmt.Fprint(w, printableLines(c.Markdown())) })
		},
	}
}

func (a *app) replayGateCmd() *cobra.Command {
	var o replay.GateOptions
	c := &cobra.Command{
		Use:   "gate DIR",
		Short: "Fail when memory harms too much or helps too little",
		Long: `Passes when, in the replay in DIR, at most --max-harm tasks go worse with memory than
without and the pass rate gains at least --min-gain. A replay that is not complete, or
has runs that ended in errors, does not pass.

Exit codes: 0 passed, 1 not passed or another error, 2 usage.`,
		Args: args(1, 1),
		RunE: func(_ *cobra.Command, words []string) error {
			if o.MaxHarm < 0 || !(o.MinGain >= -1 && o.MinGain <= 1) {
				return usage("--min-gain .05 asks for five points", "--max-harm is 0 or more, --min-gain from -1 to 1")
			}
			r, err := loadReport(words[0])
			if err != nil {
				return err
			}
			if err := replay.Gate(r, &o); err != nil {
				return &exitErr{code: exitFailure, err: err, hint: "memsearch replay report " + words[0] + " shows every task"}
			}
			return a.print(map[string]any{"passed": true, "against": r.Arm(cmp.Or(o.Arm, replay.ArmMemory)).Against}, func(w io.Writer) { fmt.Fprintln(w, "passed") })
		},
	}
	f := c.Flags()
	f.IntVar(&o.MaxHarm, "max-harm", 0, "most tasks that may go worse than without memory")
	f.Float64Var(&o.MinGain, "min-gain", 0, "least gain in pass rate, as a share")
	f.StringVar(&o.Arm, "arm", replay.ArmMemory, "arm that must pass")
	f.BoolVar(&o.Proven, "proven", false, "also ask for the verdict better: a gain that is more than chance")
	return c
}
