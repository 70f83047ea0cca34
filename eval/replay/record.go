package replay

import "github.com/memsearch/memsearch"

// RecordVersion is the version of runs.jsonl.
//
// History: 1, the first.
const RecordVersion = 1

// RunsFile is the name of the records in the folder of a replay: a [Header] on
// the first line, a [Record] on every other.
const RunsFile = "runs.jsonl"

// A Header says what the records of a replay are about. What stands in it is
// what makes two replays comparable.
type Header struct {
	V        int       `json:"v"`
	Set      string    `json:"set"`
	SetHash  string    `json:"set_hash"` // of the tasks and of the vaults they read
	Tasks    []TaskTag `json:"tasks"`    // in the order of the set, those of any arm
	Arms     []string  `json:"arms"`
	Runner   string    `json:"runner"`   // its kind and what it asks
	Settings string    `json:"settings"` // hash of those that outcomes depend on

	// Given are those of them that do not have their default, by name; of a prompt,
	// its name, version and hash.
	Given map[string]string `json:"given,omitempty"`

	Repetitions int    `json:"repetitions,omitempty"`
	Seed        uint64 `json:"seed"`
	Budget      int    `json:"budget"`
	Candidate   string `json:"candidate,omitempty"` // id and hash of the memory that [Candidate] tries
	JudgeModel  string `json:"judge_model,omitempty"`
	Judge       Judged `json:"judge"`
}

// A TaskTag names a task and what is said about it. Planned is how many runs it
// has over all arms.
type TaskTag struct {
	ID      string   `json:"id"`
	Tags    []string `json:"tags"`
	Planned int      `json:"planned"`
	Turns   int      `json:"turns"` // of the user
}

// Judged is how a judge graded the answers that the set gives as right or
// wrong. It is zero when no check needs a judge.
type Judged struct {
	Answers   int            `json:"answers"`
	Wrong     int            `json:"wrong"`     // of Answers, given as wrong
	Agreement float64        `json:"agreement"` // share of answers
	Kappa     float64        `json:"kappa"`
	TooKind   int            `json:"too_kind"`         // wrong answers that passed
	TooHarsh  int            `json:"too_harsh"`        // right answers that failed
	Misled    []string       `json:"misled,omitempty"` // tasks of which a wrong answer passed
	Cost      memsearch.Cost `json:"cost"`
}

// Kinds of errors of a run.
const (
	ErrorContext = "context" // the arm could not prepare a context
	ErrorModel   = "model"   // the model did not answer
	ErrorReply   = "reply"   // the model answered with nothing usable
	ErrorRefused = "refused" // the model refused
	ErrorTimeout = "timeout" // the runner took too long
	ErrorRunner  = "runner"  // the command could not be run
	ErrorJudge   = "judge"   // the judge gave no verdict
)

// A Record is one run of one task in one arm.
type Record struct {
	V    int    `json:"v"`
	Key  string `json:"key"` // of everything that the run depends on
	Task string `json:"task"`
	Arm  string `json:"arm"`
	Rep  int    `json:"rep"` // from 0

	Pass     bool      `json:"pass"`
	Error    string    `json:"error,omitempty"` // kind; empty when the run came to an end
	Message  string    `json:"message,omitempty"`
	Answer   string    `json:"answer"`
	Exit     int       `json:"exit,omitempty"` // code of a command; -1 when a signal ended it
	Verdicts []Verdict `json:"verdicts"`

	// Injected are the ids of the memories in the context, each once, and the
	// others those of the task's memories among them.
	Injected []string `json:"injected"`
	Gold     []string `json:"gold"`
	Wrong    []string `json:"wrong"`
	Stale    []string `json:"stale"`

	// The chain, of tasks with gold memories: is any of them there, among the
	// hits of the recall, in the context?
	HasGold      bool `json:"has_gold"`
	GoldStored   bool `json:"gold_stored"`
	GoldFound    bool `json:"gold_found"`
	GoldInjected bool `json:"gold_injected"`

	// Repeats says that the answer has something of the context that the task
	// itself does not say: a run that fails then used its memory wrongly, and did
	// not use it otherwise.
	Repeats bool `json:"repeats"`

	// Leak names the right answer of the task that stands in what the arm none was
	// asked. A short one, which may stand there by chance, counts only when the run
	// passes.
	Leak string `json:"leak,omitempty"`

	Status        string         `json:"status,omitempty"` // of the recall
	Reasons       []string       `json:"reasons,omitempty"`
	SelectedBy    string         `json:"selected_by,omitempty"`
	Prompt        string         `json:"prompt,omitempty"` // of the reranking model: name, version and hash
	ContextTokens int            `json:"context_tokens"`
	Recall        memsearch.Cost `json:"recall_cost"` // of preparing the context
	Cost          memsearch.Cost `json:"cost"`        // of preparing the context and answering
	JudgeCost     memsearch.Cost `json:"judge_cost"`
	LatencyMS     float64        `json:"latency_ms"` // of preparing the context and answering
}
