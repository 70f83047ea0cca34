package memsearch

import "time"

// A Query asks for the memories that matter now. The zero value of every field
// but Text works.
type Query struct {
	Text    string // what to look for
	Request string // the user's own words, when Text is the agent's wording: dates that Text lacks are read from it, and the wish to do without memory; a reranking model sees it
	Recent  string // summary of what the conversation is about; only a reranking model sees it

	Session string // narrows Turn to this session
	Turn    string // memories made in this turn are left out

	Now   time.Time // zero: the caller's clock; ranking never reads one itself
	AsOf  time.Time // valid time asked about; zero: Now, current facts only
	Since time.Time // zero: open; matched against when a unit occurred, or was recorded if nothing in it or its name says when
	Until time.Time // exclusive

	Categories []Category // only these; none: all, and memories without one
	K          int        // most memories to return, each with up to three units as hits; zero: [DefaultK]
	Budget     int        // tokens the context may take; zero: [DefaultBudget]

	Surfaced map[string]string // unit id -> hash of what the agent already has
	Tools    []string          // tools in current use: their usage notes are left out, warnings are not

	Rerank  RerankMode
	Explain bool
}

// Defaults of [Query].
const (
	DefaultK      = 8
	DefaultBudget = 2000
)

// A RerankMode says whether a model may judge the candidates. Without a model,
// auto and never give the fused order, and always gives it as degraded.
type RerankMode string

// The rerank modes. The empty mode is [RerankAuto].
const (
	RerankAuto   RerankMode = "auto"   // when it is likely to pay; see [Gate]
	RerankAlways RerankMode = "always" // whenever there is a candidate
	RerankNever  RerankMode = "never"
)

// A State is the outcome of a recall. Empty and unavailable never look alike.
type State string

// The outcomes of a recall.
const (
	StateOK          State = "ok"
	StateEmpty       State = "empty"       // searched, nothing relevant
	StateDegraded    State = "degraded"    // an answer, with reasons why it may be incomplete
	StateUnavailable State = "unavailable" // could not search at all
)

// A Result is the answer to a [Query].
type Result struct {
	Status     State              `json:"status"`
	Reasons    []string           `json:"reasons"`
	Confidence float64            `json:"confidence"` // 0-1, calibrated: does the best hit answer? 0 where a model picked it from the catalog without a search
	Hits       []Hit              `json:"hits"`       // best first
	Injected   []string           `json:"injected"`   // unit ids of what stands in Context
	Context    string             `json:"context"`
	Tokens     int                `json:"tokens"` // upper bound of Context's o200k_base count
	Budget     int                `json:"budget"`
	Already    []string           `json:"already_recalled"` // unit ids left out because the agent has them
	Stale      int                `json:"stale"`            // files known to differ from the index
	SelectedBy string             `json:"selected_by"`      // "fusion", "llm" or "cross-encoder"; "none" when memory is off or cannot be opened
	Query      string             `json:"query"`
	Model      string             `json:"model"`        // embedding model that took part, or "none"
	Zone       string             `json:"zone"`         // zone in which naive times were read
	Sources    []string           `json:"source_paths"` // of the hits, each once
	Cost       Cost               `json:"cost"`
	Trace      *Trace             `json:"trace,omitempty"`
	Timings    map[string]float64 `json:"timings_ms"` // by stage
}

// NewResult returns a result of nothing found, not searched by any model, whose
// lists are empty and not nil, as its JSON form has them.
func NewResult(query string, status State, reasons ...string) *Result {
	return &Result{Status: status, Reasons: append([]string{}, reasons...), Hits: []Hit{}, Injected: []string{}, Already: []string{},
		Sources: []string{}, Query: query, SelectedBy: "none", Model: "none", Timings: map[string]float64{}}
}

// A Cost is what model calls took.
type Cost struct {
	Calls     int     `json:"calls"`
	TokensIn  int     `json:"tokens_in"`
	TokensOut int     `json:"tokens_out"`
	Money     float64 `json:"money"` // in the currency of the configured prices
}

// Add adds what other calls took.
func (c *Cost) Add(o Cost) {
	c.Calls += o.Calls
	c.TokensIn += o.TokensIn
	c.TokensOut += o.TokensOut
	c.Money += o.Money
}

// A Hit is one unit that answers, with its evidence.
type Hit struct {
	ID         string     `json:"id"`
	MemoryID   string     `json:"memory_id"`
	Path       string     `json:"path"`
	Lines      [2]int     `json:"lines"`
	Score      float64    `json:"score"` // of this query and scope alone; with several scopes by rank
	Hash       string     `json:"hash"`
	Scope      string     `json:"scope"`
	Category   Category   `json:"category"`
	Kind       Kind       `json:"kind,omitempty"`
	Status     Status     `json:"status"`
	Summary    string     `json:"summary"`
	Date       string     `json:"date"` // when it occurred, as exactly as that is known: 2026-03-12, 2026-03, 2026-Q1, 2026, or first/last day
	DateSource DateSource `json:"date_source"`
	ValidFrom  *string    `json:"valid_from"`
	ValidTo    *string    `json:"valid_to"` // exclusive; earlier than the file says when a successor took over
	Signals    Signals    `json:"signals"`
	Text       string     `json:"text"`
	Trace      []Step     `json:"trace,omitempty"` // filled when asked to explain
}

// Signals are a hit's places in the lists of the retrievers; nil: not in it.
type Signals struct {
	BM25     *Signal `json:"bm25"`
	Vector   *Signal `json:"vector"`
	Temporal *Signal `json:"temporal"`
}

// A Signal is a place in one retriever's list.
type Signal struct {
	Rank  int     `json:"rank"` // from 1
	Score float64 `json:"score"`
}

// A Step is one stage's contribution to a score.
type Step struct {
	Stage string  `json:"stage"`
	Rank  int     `json:"rank,omitempty"`
	Delta float64 `json:"delta"`
	Note  string  `json:"note,omitempty"`
}

// A Trace says how an answer came about.
type Trace struct {
	Dates      []string       `json:"dates,omitempty"` // spans read from the query
	Terms      []string       `json:"terms,omitempty"` // query terms with their idf; filled when asked to explain
	Candidates int            `json:"candidates"`
	Dropped    map[string]int `json:"dropped,omitempty"` // why candidates left, and how many
	Gate       *Gate          `json:"gate,omitempty"`
	Rerank     *RerankTrace   `json:"rerank,omitempty"` // of a model that was asked, or tried
}

// A Gate is the decision whether a model is worth asking. Its numbers are given
// whatever the reason.
type Gate struct {
	Ask    bool    `json:"ask"`
	Reason string  `json:"reason"`
	Margin float64 `json:"margin"` // lead of the first candidate over the second, as a share of its score; 0 for candidates of two scopes, whose scores cannot be compared
	Agree  float64 `json:"agree"`  // overlap of the retrievers' first places
}

// A RerankTrace says what a model made of the candidates.
type RerankTrace struct {
	Model  string   `json:"model"`
	Prompt string   `json:"prompt,omitempty"` // name, version and hash
	Shown  int      `json:"shown"`            // candidates, or lines of the catalog, that were there to be judged
	Judged int      `json:"judged"`           // of these, how many the model saw
	Picked int      `json:"picked"`           // of these, how many it kept
	Cached bool     `json:"cached"`           // known from an earlier answer: nothing was asked
	Notes  []string `json:"notes,omitempty"`  // what was odd about its reply
}

// A Role is who calls. It decides what the caller may do.
type Role string

// The roles of a caller.
const (
	RoleMain    Role = "main"    // recalls
	RoleSub     Role = "sub"     // sub-agents neither write nor recall
	RoleCompact Role = "compact" // a compaction sees no new recall
	RoleJob     Role = "job"     // the only role that writes
)
