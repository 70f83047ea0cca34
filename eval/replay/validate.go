package replay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memsearch/memsearch/internal/llm"
)

// maxRepetitions bounds the runs of one task in one arm.
const maxRepetitions = 1000

// isTaskID reports whether s may name a task. (A regular expression with a hundred
// repetitions of all letters would cost every start of the program 4 MB and 4 ms.)
func isTaskID(s string) bool {
	inner := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
	first, _ := utf8.DecodeRuneInString(s)
	return inner(first) && utf8.RuneCountInString(s) <= 100 &&
		!strings.ContainsFunc(s, func(r rune) bool { return !inner(r) && !strings.ContainsRune("._-", r) })
}

// Validate refuses a set that could not tell success from failure, or whose
// folders are not there. Problems of several tasks come together.
func (s *Set) Validate() error {
	switch {
	case s.Version != SetVersion:
		return fmt.Errorf("version is %d, not %d", s.Version, SetVersion)
	case strings.TrimSpace(s.Name) == "":
		return errors.New("the set has no name")
	case len(s.Tasks) == 0:
		return errors.New("the set has no tasks")
	}
	if err := s.folders(); err != nil {
		return err
	}
	var errs []error
	seen := map[string]bool{}
	for i := range s.Tasks {
		t := &s.Tasks[i]
		err := t.validate()
		if key := strings.ToLower(t.ID); seen[key] {
			err = errors.Join(err, errors.New("the id occurs twice"))
		} else {
			seen[key] = true
		}
		if err == nil {
			err = t.prove()
		}
		if err != nil {
			problems := strings.ReplaceAll(err.Error(), "\n", "; ") // a line names its task
			errs = append(errs, fmt.Errorf("task %d (%s): %s", i+1, t.ID, problems))
		}
	}
	return errors.Join(errs...)
}

// folders refuses scopes that are no folders beside the file.
func (s *Set) folders() error {
	seen := map[string]bool{}
	for i := range s.Tasks {
		for _, name := range s.Tasks[i].Scopes {
			if seen[name] {
				continue
			}
			seen[name] = true
			if !local(name) || strings.Contains(name, "/") {
				return fmt.Errorf("scope %q is no name of a folder beside the file", name)
			}
			if fi, err := os.Stat(filepath.Join(s.Dir, name)); err != nil {
				return fmt.Errorf("scope %s: %w", name, err)
			} else if !fi.IsDir() {
				return fmt.Errorf("scope %s is no folder", name)
			}
		}
	}
	return nil
}

// apart refuses a folder for the records in a vault of the set: every run would
// find what others answered.
func (s *Set) apart(out string) error {
	out, err := resolved(out)
	if err != nil {
		return err
	}
	for i := range s.Tasks {
		for _, name := range s.Tasks[i].Scopes {
			vault, err := resolved(filepath.Join(s.Dir, name))
			if err != nil {
				return err
			}
			if rel, err := filepath.Rel(vault, out); err == nil && filepath.IsLocal(rel) {
				return fmt.Errorf("the folder of the records lies in the vault %s: take one elsewhere", name)
			}
		}
	}
	return nil
}

// resolved is the path without links of what is there of it.
func resolved(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(path)
	if parent := filepath.Dir(path); errors.Is(err, fs.ErrNotExist) && parent != path {
		if real, err = resolved(parent); err == nil {
			real = filepath.Join(real, filepath.Base(path))
		}
	}
	return real, err
}

func (t *Task) validate() error {
	var errs []error
	wants := func(ok bool, format string, a ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, a...))
		}
	}
	wants(isTaskID(t.ID), "id must have 1 to 100 letters, digits, dots, _ and -")
	wants((strings.TrimSpace(t.Prompt) == "") != (len(t.Turns) == 0), "needs a prompt or turns, and not both")
	for i, u := range t.Turns {
		wants((u.Role == "user" || u.Role == "assistant") && strings.TrimSpace(u.Text) != "", "turn %d needs the role user or assistant, and text", i+1)
	}
	wants(len(t.Turns) == 0 || t.Turns[len(t.Turns)-1].Role == "user", "the last turn must be the user's")
	wants(!t.Now.IsZero(), "now is missing, and the set has none: it is when the task is done, as in now: 2026-11-29")
	wants(len(t.Scopes) > 0, "reads no vault: the set names none")
	wants(distinct(t.Scopes) && distinct(t.Arms) && distinct(t.Tags), "a scope, arm or tag occurs twice or is empty")
	wants(t.Repetitions > 0 && t.Repetitions <= maxRepetitions, "repetitions must lie between 1 and %d", maxRepetitions)
	kinds := 0
	for _, k := range []string{TagHelps, TagNeutral, TagTrap} {
		if t.Has(k) {
			kinds++
		}
	}
	wants(kinds == 1, "needs exactly one of the tags %s, %s and %s", TagHelps, TagNeutral, TagTrap)
	wants(!t.Has(TagHelps) || len(t.Gold) > 0, "is to be helped by memory but names no gold memory")
	wants(!t.Has(TagNeutral) || len(t.Gold) == 0, "memory must not matter, but it names a gold one")
	for _, g := range t.Gold {
		wants(!slices.Contains(t.Stale, g) && !slices.Contains(t.Wrong, g), "%s is gold and stale or wrong", g)
	}
	for i := range t.Edits {
		if err := t.Edits[i].validate(t); err != nil {
			errs = append(errs, fmt.Errorf("edit %d: %w", i+1, err))
		}
	}
	return errors.Join(errs...)
}

func distinct(list []string) bool {
	for i, s := range list {
		if s == "" || slices.Contains(list[:i], s) {
			return false
		}
	}
	return true
}

// prove runs the checks on the outcomes that the task gives: each right one must
// pass, each wrong one must fail, and each check must reject one. What only a
// judge can tell is left to [Set.Prove].
func (t *Task) prove() error {
	switch {
	case len(t.Checks) == 0:
		return errors.New("has no checks")
	case len(t.WrongAnswers) == 0:
		return errors.New("gives no wrong answer: without wrong_answers its checks might never fail")
	case len(t.Right) == 0:
		return errors.New("gives no right answer: without right its checks might never pass")
	}
	var errs []error
	rejected := make([]bool, len(t.Checks))
	judged := slices.ContainsFunc(t.Checks, Check.Judged)
	left := false // for judges to reject
	look := func(s Sample, wrong bool, what string) {
		failed, err := t.look(s, rejected, wrong)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", what, err))
		case wrong && failed == "" && judged:
			left = true
		case wrong && failed == "":
			errs = append(errs, fmt.Errorf("%s passes every check", what))
		case !wrong && failed != "":
			errs = append(errs, fmt.Errorf("%s fails: %s", what, failed))
		}
	}
	for i, s := range t.Right {
		look(s, false, fmt.Sprintf("right answer %d", i+1))
	}
	for i, s := range t.WrongAnswers {
		look(s, true, fmt.Sprintf("wrong answer %d", i+1))
	}
	for i, ok := range rejected {
		if !ok && !t.Checks[i].Judged() {
			errs = append(errs, fmt.Errorf("check %d (%s) rejects none of the wrong answers", i+1, t.Checks[i].Type))
		}
	}
	if judged && !left && len(errs) == 0 {
		errs = append(errs, errors.New("gives no wrong answer that only its judge rejects: the judge might never fail"))
	}
	return errors.Join(errs...)
}

// look runs every check but judges on a sample and returns why the first of them
// failed. For a wrong sample it notes which did.
func (t *Task) look(s Sample, rejected []bool, wrong bool) (failed string, err error) {
	o, done, err := s.outcome()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, done()) }()
	for i, c := range t.Checks {
		if c.Judged() {
			continue
		}
		v, err := c.Check(context.Background(), o)
		if err != nil {
			return "", err
		}
		if v.Pass {
			continue
		}
		rejected[i] = rejected[i] || wrong
		if failed == "" {
			failed = v.Reason
		}
	}
	return failed, nil
}

// outcome makes s look like what a run leaves. The returned function removes its
// working folder.
func (s Sample) outcome() (o Outcome, done func() error, err error) {
	o = Outcome{Answer: s.Answer, ExitCode: s.Exit}
	if s.Files == nil {
		return o, func() error { return nil }, nil
	}
	if o.Dir, err = os.MkdirTemp("", "memsearch-replay-"); err != nil {
		return o, nil, err
	}
	done = func() error { return os.RemoveAll(o.Dir) }
	for name, text := range s.Files {
		if !local(name) {
			return o, nil, errors.Join(fmt.Errorf("file %q leads out of the working folder", name), done())
		}
		file := filepath.Join(o.Dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			return o, nil, errors.Join(err, done())
		}
	}
	return o, done, nil
}

// A Labelled answer is one that a task gives as right or wrong, with what its
// judges made of it.
type Labelled struct {
	Task   string
	Answer string
	Right  bool // as the task says
	Pass   bool // as the judges say
}

// Prove has the judges of the set grade the answers that its tasks give, and returns
// them in order: the caller measures how far judge and labels agree. As in a run,
// no judge is asked about an answer that another check rejects; what a task calls
// wrong may well meet the rubric then. It stops at the first error, with what was
// graded so far.
func (s *Set) Prove(ctx context.Context, judge llm.Asker) ([]Labelled, error) {
	var out []Labelled
	for i := range s.Tasks {
		t := &s.Tasks[i]
		if !slices.ContainsFunc(t.Checks, Check.Judged) {
			continue
		}
		for j, sample := range slices.Concat(t.Right, t.WrongAnswers) {
			pass, asked, err := t.judge(ctx, sample, judge)
			if err != nil {
				return out, fmt.Errorf("prove the judge of task %s: %w", t.ID, err)
			}
			if asked {
				out = append(out, Labelled{Task: t.ID, Answer: sample.Answer, Right: j < len(t.Right), Pass: pass})
			}
		}
	}
	return out, nil
}

// judge grades a sample, and says whether a judge was asked.
func (t *Task) judge(ctx context.Context, s Sample, judge llm.Asker) (pass, asked bool, err error) {
	o, done, err := s.outcome()
	if err != nil {
		return false, false, err
	}
	defer func() { err = errors.Join(err, done()) }()
	o.Judge = judge
	pass, verdicts, err := t.Grade(ctx, o)
	asked = slices.ContainsFunc(verdicts, func(v Verdict) bool { return v.Type == "judge" })
	return pass, asked, err
}
