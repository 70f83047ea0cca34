package replay

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/memsearch/memsearch/eval/replay/stats"
)

// ReportVersion is the version of a report as JSON.
//
// History: 1, the first.
const ReportVersion = 1

// A Report is what the records of a replay say. The same records give the same
// report, times included; two replays of one cassette differ in [Latency] alone.
type Report struct {
	V int `json:"v"`

	// Header is that of the records: the set, what ran, and what makes two
	// reports comparable.
	Header Header `json:"header"`

	Planned int `json:"planned"` // runs
	Runs    int `json:"runs"`    // of them, those there

	// Detectable is what this many tasks could find at all.
	Detectable Detectable `json:"detectable"`

	// Arms are in the order of the replay, Tasks in the order of the set; the
	// Arms of a task are parallel to those of the report.
	Arms  []ArmReport  `json:"arms"`
	Tasks []TaskReport `json:"tasks"`

	// Candidate is what the memory did that the replay tried; nil when it tried none.
	Candidate *CandidateReport `json:"candidate,omitempty"`

	// Notes are whole sentences that a reader of the figures must know.
	Notes []string `json:"notes,omitempty"`
}

// Detectable is the smallest difference of pass rates that the test finds with
// the power [stats.DefaultPower] on this many tasks.
type Detectable struct {
	Tasks       int     `json:"tasks"`
	Comparisons int     `json:"comparisons"` // for which p is corrected
	Discordant  float64 `json:"discordant"`  // assumed share of tasks that differ at all
	Diff        float64 `json:"diff"`
	Reached     bool    `json:"reached"` // false: not even a difference of Discordant is found
}

// An ArmReport is what one arm did. Shares are of runs, pass rates means over
// tasks with 95 % intervals.
type ArmReport struct {
	Arm    string         `json:"arm"`
	Tasks  int            `json:"tasks"`
	Runs   int            `json:"runs"`
	Passed int            `json:"passed"` // runs
	Pass   stats.Interval `json:"pass"`
	Tags   []TagReport    `json:"tags"` // helps, neutral, trap, as far as there are any

	// Against compares the arm with none, in the replay of a candidate with without.
	// It is nil for that arm itself and when it was not run.
	Against *Comparison `json:"against,omitempty"`

	Errors map[string]int `json:"errors"` // runs by kind of error; a run with one counts as failed
	Recall RecallReport   `json:"recall"`
	Chain  ChainReport    `json:"chain"`
	Cost   CostReport     `json:"cost"`
}

// A TagReport is an arm's pass rate on the tasks with a tag.
type TagReport struct {
	Tag   string         `json:"tag"`
	Tasks int            `json:"tasks"`
	Pass  stats.Interval `json:"pass"`
}

// Verdicts of a comparison.
const (
	VerdictBetter       = "better"
	VerdictWorse        = "worse"
	VerdictNoDifference = "no difference found"
	VerdictNotEnough    = "not enough evidence"
)

// A Comparison is one arm less another on the tasks that were run in both.
type Comparison struct {
	Arm     string         `json:"arm"`
	Base    string         `json:"base"`
	Tasks   int            `json:"tasks"`
	Diff    stats.Interval `json:"diff"`
	Test    string         `json:"test"`    // mcnemar, or sign when tasks were repeated
	P       float64        `json:"p"`       // exact, two-sided
	Holm    float64        `json:"p_holm"`  // adjusted for all comparisons of the report
	Verdict string         `json:"verdict"` // one of the Verdict constants
	Why     string         `json:"why"`     // in words, where the figures do not show it
	Helpful []string       `json:"helpful"` // tasks of which more runs passed, in the order of the set
	Harmful []string       `json:"harmful"` // of which fewer did
	Neutral []string       `json:"neutral"` // of which as many did
}

// A RecallReport says what got into the contexts of an arm.
type RecallReport struct {
	Injected float64 `json:"injected"` // memories a run, mean
	Nothing  int     `json:"nothing"`  // runs without any

	GoldRuns     int `json:"gold_runs"` // runs of tasks that have gold memories
	GoldStored   int `json:"gold_stored"`
	GoldFound    int `json:"gold_found"`
	GoldInjected int `json:"gold_injected"`

	// WrongRuns and StaleRuns are runs into which a memory got that must not: of
	// another matter or scope, superseded.
	WrongRuns int `json:"wrong_runs"`
	StaleRuns int `json:"stale_runs"`

	Degraded int `json:"degraded"` // runs whose recall was
}

// A ChainReport counts the runs that need a memory by where the way from the
// memory to the answer broke.
type ChainReport struct {
	NotStored   int `json:"not_stored"`
	NotFound    int `json:"not_found"`
	NotInjected int `json:"not_injected"`
	NotUsed     int `json:"not_used"`
	UsedWrongly int `json:"used_wrongly"`
	Held        int `json:"held"`
}

// A CostReport is what the runs of an arm cost. Means are over runs.
type CostReport struct {
	ContextTokens float64 `json:"context_tokens"` // mean
	TokensIn      float64 `json:"tokens_in"`      // mean, of preparing and answering
	TokensOut     float64 `json:"tokens_out"`     // mean
	Calls         float64 `json:"calls"`          // mean
	Money         float64 `json:"money"`          // of all runs
	RecallMoney   float64 `json:"recall_money"`   // of them, of preparing contexts
	JudgeMoney    float64 `json:"judge_money"`    // besides

	// Per100Turns is the money of a hundred turns of the user, Corrections how
	// many of them the user would have to correct: those of runs that failed.
	Per100Turns float64 `json:"money_per_100_turns"`
	Corrections float64 `json:"corrections_per_100_turns"`

	Latency Latency `json:"latency"`
}

// Latency is the time of preparing a context and answering.
type Latency struct {
	P50MS float64 `json:"p50_ms"`
	P95MS float64 `json:"p95_ms"`
}

// Effects of an arm on a task.
const (
	EffectHelpful = "helpful"
	EffectHarmful = "harmful"
	EffectNeutral = "neutral"
)

// A TaskReport is what became of one task.
type TaskReport struct {
	ID   string    `json:"id"`
	Tags []string  `json:"tags"`
	Arms []TaskArm `json:"arms"`
}

// A TaskArm is a task in one arm. Runs is 0 where it was not run.
type TaskArm struct {
	Arm    string `json:"arm"`
	Runs   int    `json:"runs"`
	Passed int    `json:"passed"`

	// Effect is that of [ArmReport.Against]: helpful, harmful or neutral; empty where
	// one of the two was not run.
	Effect string `json:"effect,omitempty"`

	// Broke is where the chain broke in the first run that failed: not stored, not
	// found, not injected, not used, used wrongly; empty when none failed or the
	// task needs no memory.
	Broke string `json:"broke,omitempty"`
	Error string `json:"error,omitempty"` // kind, of the first run that had one
}

// Rate returns the share of runs that passed; 0 when there was none.
func (t *TaskArm) Rate() float64 {
	if t.Runs == 0 {
		return 0
	}
	return float64(t.Passed) / float64(t.Runs)
}

// errors counts the runs that ended in an error.
func (a *ArmReport) errors() int {
	n := 0
	for _, k := range a.Errors {
		n += k
	}
	return n
}

// Arm returns what the arm called name did, nil when it is not there.
func (r *Report) Arm(name string) *ArmReport {
	for i := range r.Arms {
		if r.Arms[i].Arm == name {
			return &r.Arms[i]
		}
	}
	return nil
}

// JSON returns the report as indented JSON.
func (r *Report) JSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return nil, fmt.Errorf("write report: %w", err)
	}
	return b.Bytes(), nil
}

// ParseReport reads a report as [Report.JSON] writes it.
func ParseReport(raw []byte) (*Report, error) {
	r := &Report{}
	if err := json.Unmarshal(raw, r); err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	if r.V != ReportVersion {
		return nil, fmt.Errorf("read report: version %d, only %d is known", r.V, ReportVersion)
	}
	for _, t := range r.Tasks {
		if len(t.Arms) != len(r.Arms) {
			return nil, fmt.Errorf("read report: task %q has %d arms, the report %d", t.ID, len(t.Arms), len(r.Arms))
		}
		for i, a := range t.Arms {
			if a.Arm != r.Arms[i].Arm || a.Passed < 0 || a.Passed > a.Runs {
				return nil, fmt.Errorf("read report: task %q, arm %q: %d of %d runs", t.ID, a.Arm, a.Passed, a.Runs)
			}
		}
	}
	return r, nil
}
