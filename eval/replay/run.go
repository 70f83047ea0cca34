package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/core/config"
	"github.com/memsearch/memsearch/eval/replay/stats"
	"github.com/memsearch/memsearch/internal/english"
	"github.com/memsearch/memsearch/internal/llm"
)

// DefaultParallel is how many runs go on at once unless it is said.
const DefaultParallel = 2

// maxTooKind is the share of wrong answers that a judge may pass: one that
// passes more cannot tell an arm that works from one that does not.
const maxTooKind = .05

// Options configures [Run]. The zero value works, but for Out.
type Options struct {
	Out         string // folder of the records; made when it is not there
	Repetitions int    // of every task; zero: what the task says
	Seed        uint64
	Budget      int // tokens of a context; zero: that of Settings
	Parallel    int // runs at once; zero: [DefaultParallel]

	// MaxCalls and MaxMoney cap the whole replay, also when it is resumed. What a
	// cassette answers counts as it was recorded. No run begins that would make
	// more calls than are left if each succeeds at once, and no call is made that
	// Run has no room for. Zero: no cap but those of Settings.
	MaxCalls int
	MaxMoney float64

	// Run counts the calls of recall and of commands, and should count those of
	// Judge and of the runner too: then the caps of a run in Settings, and MaxCalls
	// and MaxMoney, hold for every single call at the most that it may cost. If nil,
	// there is one for recall and commands.
	Run *llm.Run

	Judge     llm.Asker // for tasks that need one
	JudgeName string    // of its model: part of what outcomes depend on

	// Settings of the memory; nil: the defaults. Ledgers go to the folder Out
	// unless they name another.
	Settings *config.Config

	// Begin, if non-nil, is told what will be run before anything is:
	// [Header.Detectable] says what it could find.
	Begin func(h *Header)

	// Progress, if non-nil, is told of every run that is over, one at a time.
	// Runs that were there already count as done.
	Progress func(done, total int, r *Record)
}

// A StoppedError says that a replay ended early, with its records so far
// written.
type StoppedError struct {
	Reason        string
	Done, Planned int
}

// Error implements error.
func (e *StoppedError) Error() string {
	return fmt.Sprintf("replay stopped after %d of %s: %s", e.Done, english.Count(e.Planned, "run"), e.Reason)
}

// Run runs every task of set in every arm that it takes part in and writes the
// records into the folder of o, each as soon as it is there, and in the order of
// the plan when all are. Runs whose records are there already are not repeated,
// unless no model, command or judge answered. The error is a *StoppedError when
// a cap ended it, a *LeakError when a task says its own answer: there would be no
// report, so nothing is run. The folder may hold only a replay of the same set,
// runner and settings; arms may join it.
func Run(ctx context.Context, set *Set, arms []Arm, runner Runner, o *Options) error {
	return runAll(ctx, set, arms, runner, o, "")
}

func runAll(ctx context.Context, set *Set, arms []Arm, runner Runner, o *Options, candidate string) (err error) {
	r, err := newReplay(set, arms, runner, o, candidate)
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	if err := r.foresee(ctx); err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	r.log, err = openLog(r.opts.Out)
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	defer func() { err = errors.Join(err, r.log.close(r.plan)) }()
	if o.Begin != nil {
		o.Begin(&r.header)
	}
	if err := r.begin(ctx); err != nil {
		return err
	}
	return r.runPlan(ctx)
}

// A replay is one call of [Run].
type replay struct {
	set    *Set
	arms   []Arm
	runner Runner
	opts   Options
	header Header
	plan   []planned
	meter  *meter
	log    *log
	mu     sync.Mutex
	done   int
}

func newReplay(set *Set, arms []Arm, runner Runner, o *Options, candidate string) (*replay, error) {
	r := &replay{set: set, arms: arms, runner: runner, opts: *o}
	switch {
	case len(arms) == 0 || runner == nil:
		return nil, errors.New("there is no arm or no runner")
	case o.Out == "":
		return nil, errors.New("there is no folder for the records")
	case o.MaxCalls < 0 || !(o.MaxMoney >= 0) || o.Budget < 0:
		return nil, errors.New("caps and budget are never negative")
	case o.Repetitions < 0 || o.Repetitions > maxRepetitions:
		return nil, fmt.Errorf("repetitions must lie between 1 and %d", maxRepetitions)
	}
	if err := set.apart(o.Out); err != nil {
		return nil, err
	}
	if o.Settings == nil {
		c, err := config.Load(config.Options{})
		if err != nil {
			return nil, err
		}
		r.opts.Settings = c
	}
	c := *r.opts.Settings
	if c.LedgerDir == "" {
		c.LedgerDir = LedgerDir(o.Out)
	}
	c.IndexDir = ""
	c.Caps.RunCalls = cmp.Or(o.MaxCalls, c.Caps.RunCalls)
	c.Caps.RunMoney = cmp.Or(o.MaxMoney, c.Caps.RunMoney)
	r.opts.Settings = &c
	r.opts.Budget = cmp.Or(o.Budget, c.Budget)
	r.opts.Parallel = max(1, cmp.Or(o.Parallel, DefaultParallel))
	r.opts.Run = cmp.Or(o.Run, new(llm.Run))
	r.meter = newMeter(o.MaxCalls, o.MaxMoney)
	for _, a := range arms {
		if a, ok := a.(readier); ok {
			if err := a.ready(&c); err != nil {
				return nil, err
			}
		}
	}
	if err := r.describe(candidate); err != nil {
		return nil, err
	}
	if _, chat := runner.(*Chat); chat {
		for i := range r.plan {
			if t := r.plan[i].task; slices.ContainsFunc(t.Checks, func(c Check) bool { return c.Type == "exit" || c.Type == "file" }) {
				return nil, fmt.Errorf("task %s checks files or an exit code, which only a command leaves", t.ID)
			}
		}
	}
	if r.judged() && o.Judge == nil {
		return nil, fmt.Errorf("%w: some checks of the set are of type judge", ErrNoJudge)
	}
	return r, nil
}

// judged reports whether a task of the plan needs a judge.
func (r *replay) judged() bool {
	for i := range r.plan {
		if r.plan[i].judges > 0 {
			return true
		}
	}
	return false
}

// begin reads what is there, has the judge prove itself, and writes the header.
func (r *replay) begin(ctx context.Context) error {
	old, err := r.log.read()
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	if old != nil {
		if err := r.header.join(old); err != nil {
			return fmt.Errorf("replay: %s holds another replay: %w", r.opts.Out, err)
		}
	}
	if len(r.log.records) == 0 {
		if err := r.rehearse(ctx); err != nil {
			return fmt.Errorf("replay: %w", err)
		}
	}
	before, err := r.spentBefore()
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	r.meter.add(before)
	r.opts.Run.Add(before)
	if r.judged() && r.header.Judge.Answers == 0 {
		if err := r.prove(ctx); err != nil {
			return err
		}
	}
	if err := r.log.begin(&r.header); err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	return nil
}

// rehearse prepares every task once, before anything is spent: a memory that is
// missing, or an edit that fails, would otherwise end the replay at its task, and a
// set that was mended is another set.
func (r *replay) rehearse(ctx context.Context) error {
	var errs []error
	seen := map[string]map[string]string{}
	done := map[*Task]bool{}
	for i := range r.plan {
		t := r.plan[i].task
		if done[t] {
			continue
		}
		done[t] = true
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := r.prepares(ctx, t, seen); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// prepares prepares a task, over copies only if it has edits; seen remembers the
// memories of vaults.
func (r *replay) prepares(ctx context.Context, t *Task, seen map[string]map[string]string) (err error) {
	if len(t.Edits) > 0 {
		dir, err := os.MkdirTemp("", "memsearch-replay-")
		if err != nil {
			return err
		}
		_, err = Materialise(ctx, r.set, t, dir)
		return errors.Join(err, os.RemoveAll(dir))
	}
	st := &State{}
	for _, name := range t.Scopes {
		st.Scopes = append(st.Scopes, core.Scope{Name: name, Dir: filepath.Join(r.set.Dir, name)})
	}
	key := strings.Join(t.Scopes, "/") // which no name has
	if seen[key] == nil {
		if seen[key], err = st.ids(); err != nil {
			return fmt.Errorf("prepare task %s: %w", t.ID, err)
		}
	}
	if err := st.resolve(t, seen[key]); err != nil {
		return fmt.Errorf("prepare task %s: %w", t.ID, err)
	}
	return nil
}

// LedgerDir returns the folder of the ledger of a replay whose records are in out, when
// its settings name none. Only there [Run] finds what earlier calls have spent on runs
// that left no record.
func LedgerDir(out string) string { return filepath.Join(out, "ledger") }

// spentBefore returns what the replay has spent so far: by its records and, where
// that is more, by its own ledger, which also has the calls of runs that left no
// record because they were stopped or killed.
func (r *replay) spentBefore() (memsearch.Cost, error) {
	spent := r.header.Judge.Cost
	for _, rec := range r.log.records {
		spent.Add(rec.Cost)
		spent.Add(rec.JudgeCost)
	}
	dir := r.opts.Settings.LedgerDir
	if dir != LedgerDir(r.opts.Out) {
		return spent, nil
	}
	l, err := llm.OpenLedger(dir, ".")
	if errors.Is(err, fs.ErrNotExist) {
		return spent, nil
	}
	if err != nil {
		return spent, err
	}
	rows, err := l.Costs(time.Time{})
	var paid memsearch.Cost
	for _, row := range rows {
		if row.Profile == "embed" { // only its money counts with that of models
			paid.Money += row.Money
			continue
		}
		paid.Add(memsearch.Cost{Calls: row.Calls, TokensIn: row.TokensIn, TokensOut: row.TokensOut, Money: row.Money})
	}
	return memsearch.Cost{Calls: max(spent.Calls, paid.Calls), TokensIn: max(spent.TokensIn, paid.TokensIn), TokensOut: max(spent.TokensOut, paid.TokensOut),
		Money: max(spent.Money, paid.Money)}, errors.Join(err, l.Close())
}

// prove measures the judge, and refuses one that lets too much pass.
func (r *replay) prove(ctx context.Context) error {
	answers := 0
	for i := range r.set.Tasks {
		t := &r.set.Tasks[i]
		if n := judges(t); n > 0 {
			answers += n * (len(t.Right) + len(t.WrongAnswers))
		}
	}
	if why := r.meter.reserve(answers); why != "" {
		return r.stopped(why + "; the judge alone has to grade " + english.Count(answers, "given answer"))
	}
	judge := &metered{Asker: r.opts.Judge}
	graded, err := r.set.Prove(ctx, judge)
	r.meter.settle(answers, judge.spent())
	if err != nil {
		return fmt.Errorf("replay: measure the judge: %w", err)
	}
	j := &r.header.Judge
	*j = judgedOf(graded)
	j.Cost = judge.spent()
	if share := float64(j.TooKind) / float64(max(1, j.Wrong)); share > maxTooKind {
		return fmt.Errorf("replay: the judge passes %d of %s that must fail, of task %s: make the rubrics say what a right answer contains, or take another judge",
			j.TooKind, english.Count(j.Wrong, "given answer"), strings.Join(j.Misled, ", "))
	}
	return nil
}

// judgedOf compares verdicts with labels.
func judgedOf(graded []Labelled) Judged {
	var j Judged
	var label, verdict []bool
	for _, l := range graded {
		label, verdict = append(label, l.Right), append(verdict, l.Pass)
		switch {
		case !l.Right && l.Pass:
			j.TooKind++
			if n := len(j.Misled); n == 0 || j.Misled[n-1] != l.Task {
				j.Misled = append(j.Misled, l.Task)
			}
		case l.Right && !l.Pass:
			j.TooHarsh++
		}
		if !l.Right {
			j.Wrong++
		}
	}
	j.Answers, j.Agreement, j.Kappa = len(graded), stats.Agreement(label, verdict), stats.Kappa(label, verdict)
	return j
}

// stopped is the error of a cap.
func (r *replay) stopped(why string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &StoppedError{Reason: why, Done: r.done, Planned: len(r.plan)}
}

// runPlan runs what is planned and not there yet.
func (r *replay) runPlan(ctx context.Context) error {
	var todo []*planned
	for i := range r.plan {
		if rec, ok := r.log.records[r.plan[i].key]; ok && !rec.again() {
			r.done++
			continue
		}
		todo = append(todo, &r.plan[i])
	}
	tmp, err := workDir(r.opts.Out)
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	defer os.RemoveAll(tmp) // copies only
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	more, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	next := make(chan *planned)
	var wg sync.WaitGroup
	for range min(r.opts.Parallel, len(todo)) {
		wg.Go(func() {
			for p := range next {
				err := r.one(ctx, p, tmp)
				if _, capped := errors.AsType[*StoppedError](err); capped {
					stop(err) // what goes on is paid for
				} else if err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, p := range todo {
		select {
		case next <- p:
			continue
		case <-more.Done():
		}
		break
	}
	close(next)
	wg.Wait()
	if err := context.Cause(more); err != nil {
		if stop, ok := errors.AsType[*StoppedError](err); ok {
			return r.stopped(stop.Reason)
		}
		return fmt.Errorf("replay: %w", err)
	}
	return nil
}

// workDir makes the folder for the copies of a replay into out. It lies elsewhere,
// since a command may look around. Its name is always the same, so that copies
// that a killed process left are found, and go.
func workDir(out string) (string, error) {
	abs, err := filepath.Abs(out)
	if err != nil {
		return "", err
	}
	tmp := filepath.Join(os.TempDir(), "memsearch-replay-"+hashOf(abs))
	if err := os.RemoveAll(tmp); err != nil {
		return "", err
	}
	return tmp, os.Mkdir(tmp, 0o700) // an error when somebody else was faster
}

// one runs p and keeps its record. An error ends the replay.
func (r *replay) one(ctx context.Context, p *planned, tmp string) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(tmp, "run-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) // copies only
	calls := p.calls(r.opts.Settings)
	if why := r.meter.reserve(calls); why != "" {
		return r.stopped(why)
	}
	rec, err := r.run(ctx, p, dir)
	var cost memsearch.Cost
	if rec != nil {
		cost = sum(rec.Cost, rec.JudgeCost)
	}
	r.meter.settle(calls, cost)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.log.add(rec); err != nil {
		return err
	}
	r.done++
	if r.opts.Progress != nil {
		r.opts.Progress(r.done, len(r.plan), rec)
	}
	return nil
}
