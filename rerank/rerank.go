// Package rerank lets a model judge the candidates of a recall.
//
//	query, candidates -> prompt within a token budget -> model -> checked grades -> picks
//
// There are three kinds: a listwise language model ([Listwise]), a cross-encoder
// ([CrossEncoder]), and a model that picks from the catalog without any search
// ([Selector]), which exists to be compared with. Candidate text is data: it can
// change neither the structure of a prompt nor the handles of other candidates.
package rerank

import (
	"context"
	"time"

	"github.com/memsearch/memsearch"
)

// A Candidate is one unit to be judged.
type Candidate struct {
	ID       string // unit id; never shown to the model
	Hash     string // of the unit's text
	Path     string
	Category memsearch.Category
	Kind     memsearch.Kind
	Date     string
	Summary  string
	Text     string
}

// A Task is one query with its candidates, the best first.
type Task struct {
	Query      string
	Request    string    // the user's own words; may be empty
	Recent     string    // what the conversation is about; may be empty
	Now        time.Time // when the query is asked; zero when the dates do not depend on it, so that it stays the same query on another day
	Dates      []string  // spans read from the query; empty: not about time
	Candidates []Candidate
	Sample     int // see [llm.Request]
}

// A Pick is a candidate that the model finds relevant.
type Pick struct {
	Index int     // into the candidates of the task
	Grade float64 // larger is better; comparable within one answer only
}

// An Answer is the verdict on a task.
type Answer struct {
	Picks  []Pick // best first, each candidate once; none: nothing is relevant
	Judged int    // the first so many candidates were shown; the others were not judged
	Model  string // which model answered
	Prompt string // name, version and hash of the prompt, "rerank@1 3f9a2c…"; empty for a cross-encoder
	Cached bool   // from the cache: nothing was asked
	Cost   memsearch.Cost
	Notes  []string // what was odd about the model's reply, fit to be shown
}

// A Reranker judges tasks. It may fail, and may pick none; when it fails, the
// answer is non-nil if something was spent. It is safe for concurrent use and
// honours ctx.
type Reranker interface {
	Rerank(ctx context.Context, t Task) (*Answer, error)
}
