package replay

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/memsearch/memsearch/internal/llm"
)

// An Outcome is what a run left behind.
type Outcome struct {
	Answer   string
	Dir      string // working folder of a command; empty: there was none
	ExitCode int

	// Question is what was asked, and Judge the model that grades; only judge
	// checks need them.
	Question string
	Judge    llm.Asker
}

// A Verdict says whether a check passed, and why.
type Verdict struct {
	Type   string `json:"type"` // of the check; [Task.Grade] notes it
	Pass   bool   `json:"pass"`
	Reason string `json:"reason"` // in words; may quote the answer
}

// A Checker looks at one outcome. An error means that it could not look, which
// is no verdict. It is safe for concurrent use.
type Checker interface {
	Check(ctx context.Context, o Outcome) (Verdict, error)
}

// A Check is a checker as a task file has it: a mapping with its type.
type Check struct {
	Type string
	Checker
}

// CheckTypes lists every type of check.
var CheckTypes = []string{"exact", "contains", "regex", "json", "number", "set", "file", "exit", "judge"}

// A preparer is a checker that compiles or refuses what its mapping says.
type preparer interface {
	Checker
	prepare() error
}

func newChecker(kind string) preparer {
	switch kind {
	case "exact":
		return &exactCheck{}
	case "contains":
		return &containsCheck{}
	case "regex":
		return &regexCheck{}
	case "json":
		return &jsonCheck{}
	case "number":
		return &numberCheck{}
	case "set":
		return &setCheck{}
	case "file":
		return &fileCheck{}
	case "exit":
		return &exitCheck{}
	case "judge":
		return &judgeCheck{}
	}
	return nil
}

// UnmarshalYAML reads the mapping of one check, refusing unknown types and keys.
func (c *Check) UnmarshalYAML(n *yaml.Node) error {
	var head struct {
		Type string `yaml:"type"`
	}
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: a check must be a mapping", n.Line)
	}
	if err := n.Decode(&head); err != nil {
		return err
	}
	p := newChecker(head.Type)
	if p == nil {
		return fmt.Errorf("line %d: check type %q is none of %s", n.Line, head.Type, strings.Join(CheckTypes, ", "))
	}
	err := strict(n, "a check of type "+head.Type, p, "type")
	if err != nil {
		return err
	}
	if err := p.prepare(); err != nil {
		return fmt.Errorf("line %d: %s check: %w", n.Line, head.Type, err)
	}
	c.Type, c.Checker = head.Type, p
	return nil
}

// Judged reports whether a model decides this check.
func (c Check) Judged() bool { return c.Type == "judge" }

// Grade runs every check of t on o, those of judges last; the task is done when all
// pass. Judges are not asked when another check has failed: their verdicts are
// missing then.
func (t *Task) Grade(ctx context.Context, o Outcome) (pass bool, verdicts []Verdict, err error) {
	o.Question = t.Question()
	pass = true
	for _, judged := range []bool{false, true} {
		for _, c := range t.Checks {
			if c.Judged() != judged || judged && !pass {
				continue
			}
			v, err := c.Check(ctx, o)
			if err != nil {
				return false, verdicts, fmt.Errorf("%s check of task %s: %w", c.Type, t.ID, err)
			}
			v.Type = c.Type
			verdicts = append(verdicts, v)
			pass = pass && v.Pass
		}
	}
	return pass, verdicts, nil
}

func pass(format string, a ...any) Verdict {
	return Verdict{Pass: true, Reason: fmt.Sprintf(format, a...)}
}

func fail(format string, a ...any) Verdict { return Verdict{Reason: fmt.Sprintf(format, a...)} }

var errNothing = errors.New("says nothing to look for")

// quote shortens what a reason shows of an answer.
func quote(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
