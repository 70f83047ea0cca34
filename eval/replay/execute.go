package replay

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/internal/llm"
)

// again reports whether a run ended in an error that says nothing about the
// task: it is made again when the replay is resumed.
func (r *Record) again() bool {
	return slices.Contains([]string{ErrorContext, ErrorModel, ErrorRunner, ErrorJudge}, r.Error)
}

// run makes one run. The error is one that ends the replay.
func (r *replay) run(ctx context.Context, p *planned, dir string) (*Record, error) {
	t := &Trial{Set: r.set, Task: p.task, Rep: p.rep, Seed: seedOf(r.opts.Seed, p.task.ID, p.rep), Dir: dir,
		Settings: r.opts.Settings, Budget: r.opts.Budget, run: r.opts.Run, vectors: filepath.Dir(dir)}
	rec := &Record{V: RecordVersion, Key: p.key, Task: p.task.ID, Arm: p.arm.Name(), Rep: p.rep, Verdicts: []Verdict{},
		Injected: []string{}, Gold: []string{}, Wrong: []string{}, Stale: []string{}}
	var err error
	if t.State, err = Materialise(ctx, r.set, p.task, dir+"/vaults"); err != nil {
		return nil, err
	}
	began := time.Now()
	prepared, err := p.arm.Context(ctx, t)
	rec.took(began)
	if err != nil {
		return rec, rec.fail(ctx, ErrorContext, err)
	}
	if err := rec.context(t, prepared); err != nil {
		return nil, err
	}
	if err := spoiled(rec); err != nil {
		return rec, err
	}
	leaks := ""
	if rec.Arm == ArmNone {
		var sure bool
		if leaks, sure = leak(ctx, p.task, prepared); sure {
			rec.Leak = leaks
		}
	}
	if _, ok := r.runner.(*Exec); ok {
		if err := r.opts.Run.Call(r.opts.Settings.Caps); err != nil {
			return rec, rec.fail(ctx, ErrorRunner, err)
		}
	}
	began = time.Now()
	out, cost, err := r.runner.Run(ctx, t, prepared)
	rec.took(began)
	rec.Cost = sum(rec.Recall, cost)
	if err != nil {
		return rec, rec.fail(ctx, errorKind(err), err)
	}
	rec.Answer, rec.Exit = out.Answer, out.ExitCode
	rec.Repeats = repeats(out.Answer, prepared.Content, Transcript(p.task))
	judge := &metered{Asker: r.opts.Judge}
	if r.opts.Judge != nil {
		out.Judge = judge
	}
	err = rec.grade(ctx, p.task, out, judge)
	if rec.Pass {
		rec.Leak = leaks
	}
	return rec, err
}

func (r *Record) took(began time.Time) {
	r.LatencyMS += float64(time.Since(began).Microseconds()) / 1000
}

// context notes what was prepared.
func (r *Record) context(t *Trial, p *core.Prepared) error {
	res := p.Result
	r.Injected = memoriesOf(res.Injected)
	st := t.State
	r.Gold, r.Wrong, r.Stale = among(r.Injected, st.Gold), among(r.Injected, st.Wrong), among(r.Injected, st.Stale)
	stored, err := t.memories()
	if err != nil {
		return err
	}
	r.HasGold = len(st.Gold) > 0
	r.GoldStored = slices.ContainsFunc(st.Gold, func(id string) bool { return stored[id] })
	r.GoldInjected = len(r.Gold) > 0
	r.GoldFound = r.GoldInjected || slices.ContainsFunc(res.Hits, func(h memsearch.Hit) bool { return slices.Contains(st.Gold, h.MemoryID) })
	r.Status, r.Reasons, r.SelectedBy, r.ContextTokens = string(res.Status), res.Reasons, res.SelectedBy, p.Tokens
	if res.Trace != nil && res.Trace.Rerank != nil {
		r.Prompt = res.Trace.Rerank.Prompt
	}
	r.Recall, r.Cost = res.Cost, res.Cost
	return nil
}

// spoiled returns an error for a recall that is no measurement, since it lacked
// what the replay itself withheld. A recall never fails, so it says so in words.
func spoiled(r *Record) error {
	for _, why := range r.Reasons {
		switch {
		case strings.Contains(why, "has no reply of"): // llm.MissingError
			return fmt.Errorf("task %s, arm %s: %s", r.Task, r.Arm, why)
		case strings.Contains(why, "(setting llm."): // llm.CapError
			return &StoppedError{Reason: why}
		}
	}
	return nil
}

// grade has the checks look at what a run left behind.
func (r *Record) grade(ctx context.Context, t *Task, out Outcome, judge *metered) error {
	pass, verdicts, err := t.Grade(ctx, out)
	r.JudgeCost = judge.spent()
	r.Verdicts = append(r.Verdicts, verdicts...)
	if err != nil {
		return r.fail(ctx, ErrorJudge, err)
	}
	r.Pass = pass
	return nil
}

// fail notes an error. What it returns ends the replay.
func (r *Record) fail(ctx context.Context, kind string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if _, ok := errors.AsType[*llm.CapError](err); ok {
		return &StoppedError{Reason: err.Error()}
	}
	if _, ok := errors.AsType[*llm.MissingError](err); ok {
		return fmt.Errorf("task %s, arm %s: %w", r.Task, r.Arm, err)
	}
	r.Error, r.Message = kind, err.Error()
	return nil
}

// errorKind returns the kind of a runner's error.
func errorKind(err error) string {
	_, status := errors.AsType[*llm.StatusError](err)
	switch {
	case errors.Is(err, llm.ErrRefused):
		return ErrorRefused
	case errors.Is(err, llm.ErrReply):
		return ErrorReply
	case errors.Is(err, ErrTimeout):
		return ErrorTimeout
	case status || errors.Is(err, llm.ErrUnavailable) || strings.HasPrefix(err.Error(), "ask model"):
		return ErrorModel
	}
	return ErrorRunner
}
