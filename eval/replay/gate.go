package replay

import (
	"errors"
	"fmt"
	"strings"

	"github.com/memsearch/memsearch/internal/english"
)

// ErrGate is wrapped when a report does not meet what is asked of it.
var ErrGate = errors.New("gate: not passed")

// GateOptions is what a report must meet.
type GateOptions struct {
	Arm     string  // that is judged; empty: memory
	MaxHarm int     // most tasks that go worse than without memory
	MinGain float64 // least difference of pass rates against none, from -1 to 1

	// Proven asks for the verdict better, not only for the difference. Without it
	// a difference that may be chance passes.
	Proven bool
}

// Gate returns nil when the report meets o, else an error that wraps [ErrGate]
// and says everything that it does not meet, harmful tasks by name. A replay
// that is not complete, or that had runs end in errors, never passes: what is
// missing may be what harms.
func Gate(r *Report, o *GateOptions) error {
	g := GateOptions{}
	if o != nil {
		g = *o
	}
	if g.Arm == "" {
		g.Arm = ArmMemory
	}
	arm := r.Arm(g.Arm)
	switch {
	case arm == nil:
		return fmt.Errorf("%w: there is no arm %s", ErrGate, g.Arm)
	case arm.Against == nil:
		return fmt.Errorf("%w: the arm %s is compared with nothing, the arm %s was not run", ErrGate, g.Arm, ArmNone)
	}
	c := arm.Against
	var why []string
	if r.Runs < r.Planned {
		why = append(why, fmt.Sprintf("only %d of %s were made", r.Runs, english.Count(r.Planned, "run")))
	}
	for _, name := range []string{c.Base, c.Arm} {
		if a := r.Arm(name); a != nil && a.errors() > 0 {
			why = append(why, fmt.Sprintf("%s of the arm %s ended in errors", english.Count(a.errors(), "run"), name))
		}
	}
	if c.Tasks == 0 {
		why = append(why, "no task was run in both arms")
	}
	if n := len(c.Harmful); n > g.MaxHarm {
		why = append(why, fmt.Sprintf("%s harmed, at most %d allowed: %s", english.Count(n, "task"), g.MaxHarm, strings.Join(c.Harmful, ", ")))
	}
	const rounding = 1e-9 // a gain of .1 made of tenths must reach .1
	if !(c.Diff.Estimate >= g.MinGain-rounding) {
		why = append(why, fmt.Sprintf("the gain is %+.1f points, %+.1f are asked for", 100*c.Diff.Estimate, 100*g.MinGain))
	}
	if g.Proven && c.Verdict != VerdictBetter {
		why = append(why, "the verdict is "+c.Conclusion())
	}
	if len(why) > 0 {
		return fmt.Errorf("%w: %s", ErrGate, strings.Join(why, "; "))
	}
	return nil
}
