package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/core/config"
	"github.com/memsearch/memsearch/eval/replay"
	"github.com/memsearch/memsearch/internal/llm"
)

// The model profiles of a replay.
const (
	taskProfile  = "task"
	judgeProfile = "judge"
)

func (a *app) replayCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "replay",
		Short: "Measure whether memory makes an agent better at its tasks",
		Args:  args(0, 0),

		PersistentPreRunE: noVault("the set names its vaults"),
		RunE: func(*cobra.Command, []string) error {
			return usage("memsearch replay run --help", "replay needs run, report, compare, gate or convert")
		},
	}
	c.AddCommand(a.replayRunCmd(), a.replayReportCmd(), a.replayCompareCmd(), a.replayGateCmd(), a.replayConvertCmd())
	return c
}

const replayRunLong = `Runs every task of SET, a .yaml or .jsonl file or a folder with tasks.yaml, in every
arm, each on its own copy of the vault, and writes the records to the folder DIR.

Arms: none (no memory), memory (the product), llm-selection (a model picks from the
catalog), oracle (the right memories handed over), stale (superseded facts put back),
random (as many memories drawn at random). The default is all but llm-selection.

With --runner chat the model of profiles.task does the tasks, with --runner exec the
command after --: the prompt is its standard input, its standard output the answer;
MEMSEARCH_CONTEXT names a file with the context, MEMSEARCH_VAULT the vault, and
MEMSEARCH_MCP the configuration of an MCP client over the same vaults; --verbose shows
what the command says on standard error. Checks of type judge ask the model of
profiles.judge. A --cassette repeats models offline.

The same command again goes on where it stopped; arms may be added. The whole replay
stays under --max-calls and --max-money, which are llm.run_calls and llm.run_money
unless they are given: no call is made that might exceed them.

With --candidate every task is run without and with that one memory instead.

Exit codes: 0 ok, 1 error or stopped by a cap (what was run is kept), 2 usage, 130
interrupted (also kept).`

// replayRun are the flags of replay run.
type replayRun struct {
	o         replay.Options
	arms      []string
	runner    string
	timeout   time.Duration
	candidate string
	tags      []string
	noJudge   bool

	failed *replay.Record // the first that ended in an error
}

func (a *app) replayRunCmd() *cobra.Command {
	var r replayRun
	c := &cobra.Command{
		Use:   "run SET --out DIR [-- COMMAND [ARG]...]",
		Short: "Run the tasks of a set in every arm",
		Long:  replayRunLong,
		Args:  cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, words []string) error {
			command := []string(nil)
			if at := c.ArgsLenAtDash(); at >= 0 {
				words, command = words[:at], words[at:]
			}
			if len(words) != 1 || r.o.Out == "" {
				return usage("memsearch replay run --help", "want: memsearch replay run SET --out DIR")
			}
			if o := &r.o; min(o.MaxCalls, o.Repetitions, o.Budget, o.Parallel) < 0 || r.timeout < 0 || !(o.MaxMoney >= 0 && o.MaxMoney <= math.MaxFloat64) {
				return usage("leave the flag out for its default", "no count, time or sum of money may be negative or endless")
			}
			return a.replay(c.Context(), &r, words[0], command)
		},
	}
	f := c.Flags()
	f.StringVar(&r.o.Out, "out", "", "folder of the records")
	f.StringSliceVar(&r.arms, "arms", nil, "any of "+strings.Join(replay.ArmNames(), ", "))
	f.StringVar(&r.runner, "runner", "", "chat or exec (default exec when there is a command after --, else chat)")
	f.IntVar(&r.o.Repetitions, "repeat", 0, "how often each task is run (default: what the set says)")
	f.IntVar(&r.o.Budget, "budget", 0, "tokens of a context (default: the setting)")
	f.IntVar(&r.o.Parallel, "parallel", replay.DefaultParallel, "runs at once")
	f.IntVar(&r.o.MaxCalls, "max-calls", 0, "most calls to models or commands (default llm.run_calls)")
	f.Float64Var(&r.o.MaxMoney, "max-money", 0, "most money, by the prices of the profiles (default llm.run_money)")
	f.DurationVar(&r.timeout, "timeout", replay.DefaultExecTimeout, "time that a command may take for one task")
	f.Uint64Var(&r.o.Seed, "seed", 1, "seed of what is drawn at random")
	f.StringVar(&r.candidate, "candidate", "", "file of one memory; run the tasks without and with it")
	f.StringSliceVar(&r.tags, "tags", nil, "only tasks with all of these tags")
	f.BoolVar(&r.noJudge, "no-judge", false, "leave out tasks whose checks ask a judge")
	f.StringVar(&a.prompt, "prompt", "", "prompt of the reranking model, as name@version or the path of a .md file")
	return c
}

// replay runs a set.
func (a *app) replay(ctx context.Context, r *replayRun, name string, command []string) (err error) {
	set, err := loadSet(name)
	if err != nil {
		return err
	}
	if err := r.choose(set); err != nil {
		return err
	}
	cfg, err := a.settings("")
	if err != nil {
		return err
	}
	r.use(cfg)
	runner, done, err := a.replayRunner(r, cfg, command)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	judge, model, closeJudge, err := core.NewAsker(cfg, judgeProfile, r.o.Out, r.o.Run, a.logger())
	if err != nil {
		return err
	}
	if judge != nil {
		r.o.Judge, r.o.JudgeName = judge, model
		defer func() { err = errors.Join(err, closeJudge()) }()
	}
	bar := a.progress("running")
	r.o.Progress = func(done, total int, rec *replay.Record) {
		if rec.Error != "" && r.failed == nil {
			r.failed = rec
		}
		bar.update(done, total)
	}
	defer func() { a.tellFailed(r.failed) }()
	r.o.Begin = func(h *replay.Header) {
		d := h.Detectable()
		fmt.Fprintln(a.err, d.String())
	}
	defer bar.finish()
	if r.candidate != "" {
		return a.replayCandidate(ctx, r, set, runner, bar)
	}
	arms, err := replay.Arms(r.arms...)
	if err != nil {
		return usage("memsearch replay run --help", "%w", err)
	}
	err = replay.Run(ctx, set, arms, runner, &r.o)
	bar.finish()
	if err != nil {
		return replayErr(err)
	}
	return a.replaySummary(r)
}

func (a *app) replayCandidate(ctx context.Context, r *replayRun, set *replay.Set, runner replay.Runner, bar *meter) error {
	if len(r.arms) > 0 {
		return usage("memsearch replay run --help", "--candidate has arms of its own")
	}
	_, err := replay.Candidate(ctx, set, r.candidate, runner, &r.o)
	bar.finish()
	if err != nil {
		return replayErr(err)
	}
	return a.replaySummary(r)
}

// replaySummary shows the verdicts of a replay that is over.
func (a *app) replaySummary(r *replayRun) error {
	rep, err := loadReport(r.o.Out)
	if err != nil {
		return err
	}
	return a.print(rep, func(w io.Writer) {
		for _, line := range rep.Summary() {
			fmt.Fprintln(w, printable(line))
		}
		fmt.Fprintf(w, "memsearch replay report %s shows everything\n", printable(r.o.Out))
	})
}

// choose leaves the wanted tasks in a set.
func (r *replayRun) choose(set *replay.Set) error {
	set.Tasks = slices.DeleteFunc(set.Tasks, func(t replay.Task) bool {
		return r.noJudge && slices.ContainsFunc(t.Checks, replay.Check.Judged) ||
			slices.ContainsFunc(r.tags, func(tag string) bool { return !t.Has(tag) })
	})
	if len(set.Tasks) == 0 {
		return usage("memsearch replay run --help", "no task of the set is left after --tags and --no-judge")
	}
	return nil
}

// tellFailed says what went wrong in the first run that ended in an error: the report
// only counts such runs.
func (a *app) tellFailed(rec *replay.Record) {
	if rec != nil {
		fmt.Fprintf(a.err, "the first run in error: task %s, arm %s: %s\n", printable(rec.Task), rec.Arm, printable(rec.Message))
	}
}

// located returns a command that can be started from any folder.
func located(command []string) ([]string, error) {
	found, err := exec.LookPath(command[0])
	if err != nil {
		return nil, usage("name a program of $PATH, or give its whole path", "%w", err)
	}
	if filepath.Base(command[0]) == command[0] {
		return command, nil
	}
	if found, err = filepath.Abs(found); err != nil {
		return nil, err
	}
	return append([]string{found}, command[1:]...), nil
}

// use takes the settings, with the ledger and caps of the replay.
func (r *replayRun) use(cfg *config.Config) {
	cfg.LedgerDir = cmp.Or(cfg.LedgerDir, replay.LedgerDir(r.o.Out))
	cfg.Caps.RunCalls = cmp.Or(r.o.MaxCalls, cfg.Caps.RunCalls, llm.DefaultRunCalls)
	cfg.Caps.RunMoney = cmp.Or(r.o.MaxMoney, cfg.Caps.RunMoney, llm.DefaultRunMoney)
	r.o.MaxCalls, r.o.MaxMoney, r.o.Settings, r.o.Run = cfg.Caps.RunCalls, cfg.Caps.RunMoney, cfg, new(llm.Run)
}

// replayRunner returns what does the tasks, and what ends it.
func (a *app) replayRunner(r *replayRun, cfg *config.Config, command []string) (replay.Runner, func() error, error) {
	nothing := func() error { return nil }
	kind := r.runner
	if kind == "" {
		kind = "chat"
		if len(command) > 0 {
			kind = "exec"
		}
	}
	switch {
	case kind == "exec" && len(command) > 0:
		self, err := os.Executable()
		if err != nil {
			return nil, nil, err
		}
		if command, err = located(command); err != nil {
			return nil, nil, err
		}
		e := &replay.Exec{Command: command, MCP: []string{self, "mcp"}, Timeout: r.timeout}
		if f, ok := a.err.(*os.File); ok && a.verbose {
			e.Stderr = f
		}
		return e, nothing, nil
	case kind == "exec":
		return nil, nil, usage("memsearch replay run SET --out DIR -- COMMAND", "--runner exec needs a command after --")
	case kind != "chat":
		return nil, nil, usage("memsearch replay run --help", "--runner %s is neither chat nor exec", kind)
	case len(command) > 0:
		return nil, nil, usage("memsearch replay run --help", "--runner chat takes no command")
	}
	asker, model, done, err := core.NewAsker(cfg, taskProfile, r.o.Out, r.o.Run, a.logger())
	if err != nil {
		return nil, nil, err
	}
	if asker == nil {
		return nil, nil, usage("set profiles.task.model or profiles.main.model, or give a command after --", "the runner chat needs a model")
	}
	return &replay.Chat{Asker: asker, Model: model}, done, nil
}

// replayErr adds what to do about an error of a replay.
func replayErr(err error) error {
	e := classify(err)
	_, capped := errors.AsType[*replay.StoppedError](err)
	_, leaks := errors.AsType[*replay.LeakError](err)
	switch {
	case leaks:
		e.hint = "a task that memory should help must not say its own answer: reword it, or tag it neutral"
	case capped:
		e.hint = "the same command goes on from here: with a larger --max-calls or --max-money, or once the setting named allows it"
	case errors.Is(err, replay.ErrNoJudge):
		e.hint = "set profiles.judge.model or profiles.main.model, or leave such tasks out with --no-judge"
	}
	return e
}

// loadSet reads the set in a file, or in tasks.yaml of a folder.
func loadSet(name string) (*replay.Set, error) {
	if fi, err := os.Stat(name); err == nil && fi.IsDir() {
		name = filepath.Join(name, "tasks.yaml")
	}
	return replay.Load(name)
}
