package memsearch

import (
	"slices"
	"time"
)

// A Category says whom or what a memory is about. Empty means unknown: foreign
// notes have none.
type Category string

// The categories a writer may use.
const (
	CategoryUser      Category = "user"
	CategoryFeedback  Category = "feedback"
	CategoryProject   Category = "project"
	CategoryReference Category = "reference"
)

// Categories lists every category in the order they are documented.
var Categories = []Category{CategoryUser, CategoryFeedback, CategoryProject, CategoryReference}

// Valid reports whether c is one of [Categories].
func (c Category) Valid() bool {
	return slices.Contains(Categories, c)
}

// A Kind says what sort of statement a memory makes. Empty means unknown.
type Kind string

// The kinds of statement. A reader also takes "goal" for [KindProjectGoal] and
// "timeline" for [KindTimelineConstraint].
const (
	KindPreference         Kind = "preference"
	KindFact               Kind = "fact"
	KindDecision           Kind = "decision"
	KindProcedure          Kind = "procedure"
	KindEpisode            Kind = "episode"
	KindConstraint         Kind = "constraint"
	KindFormula            Kind = "formula"
	KindAPIContract        Kind = "api_contract"
	KindWarning            Kind = "warning"
	KindProjectGoal        Kind = "project_goal"
	KindTimelineConstraint Kind = "timeline_constraint"
)

// Kinds lists every kind in the order they are documented.
var Kinds = []Kind{KindPreference, KindFact, KindDecision, KindProcedure, KindEpisode, KindConstraint,
	KindFormula, KindAPIContract, KindWarning, KindProjectGoal, KindTimelineConstraint}

// Exact reports whether memories of this kind must keep their wording: they are
// pinned and never packed unless their file says otherwise.
func (k Kind) Exact() bool {
	return k == KindFormula || k == KindConstraint || k == KindAPIContract
}

// A Status is a memory's place in its life cycle. Only [StatusActive] memories
// are current facts.
type Status string

// The life cycle of a memory. A file without a status is active.
const (
	StatusCandidate  Status = "candidate"
	StatusActive     Status = "active"
	StatusSuperseded Status = "superseded"
	StatusRetired    Status = "retired"
	StatusRejected   Status = "rejected"
)

// Statuses lists every status in life-cycle order.
var Statuses = []Status{StatusCandidate, StatusActive, StatusSuperseded, StatusRetired, StatusRejected}

// A Trust says whose words a memory rests on. Empty means unknown.
type Trust string

// The levels of trust.
const (
	TrustUser      Trust = "user"
	TrustTool      Trust = "tool"
	TrustAssistant Trust = "assistant"
	TrustExternal  Trust = "external"
)

// A Source is the evidence a memory rests on.
type Source struct {
	SessionID   string   `json:"session_id,omitempty"`
	TurnID      string   `json:"turn_id,omitempty"`
	NodeIDs     []string `json:"node_ids,omitempty"`
	Trust       Trust    `json:"trust,omitempty"`
	ConfirmedBy string   `json:"confirmed_by,omitempty"`
}

// A Memory is one Markdown file. Strings are valid UTF-8; times are zero when
// the file does not say.
type Memory struct {
	ID        string // from front matter, else derived from Path
	DerivedID bool   // ID was derived from Path
	Path      string // below the vault, slash-separated, NFC

	Category     Category
	Kind         Kind
	Summary      string // front matter summary or description; may be empty
	Title        string // front matter title or name, else the first heading; may be empty
	Catalog      string // curated catalog line; empty means use Summary, else Title
	CatalogOff   bool   // catalog: false keeps it out of MEMORY.md
	Tags         []string
	Aliases      []string
	Status       Status // never empty
	Pinned       bool
	Packable     bool
	CanonicalKey string
	Confidence   float64 // 0 when the file does not say

	CreatedAt       time.Time
	UpdatedAt       time.Time
	LastConfirmedAt time.Time
	Valid           Validity
	Supersedes      []string
	SupersededBy    []string
	Source          Source
	Tools           []string // tools a usage note or warning is about
	SourceEvents    []string // ids of the transcript events it was made from
}

// A Unit is what is ranked and returned: a whole memory, or one section, dated
// entry or bullet of it.
type Unit struct {
	ID       string // MemoryID, or MemoryID + "#" + slug or ordinal
	MemoryID string
	Lines    [2]int   // first and last line in the file, counted from 1, both included
	Bytes    [2]int   // half-open range in the decoded text of the file
	Headings []string // above it and in it, outermost first
	Text     string   // the decoded text of Bytes, front matter left out
	Hash     string   // hex, over Text, or over what the front matter of a file without body says
	Occurred Occurred
}
