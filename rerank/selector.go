package rerank

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/memsearch/memsearch/internal/escape"
	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/internal/prompt"
)

// Limits of a [Selector].
const (
	SelectLines = 200    // of the catalog
	SelectBytes = 25_000 // of the catalog
	SelectMost  = 5      // picks
)

// DefaultSelectCalls is how often a [Selector] asks about one task: twice where
// the first reply cannot be used.
const DefaultSelectCalls = 2

// A Line is one memory as a catalog shows it.
type Line struct {
	ID       string // never shown to the model
	Category string
	Path     string
	Date     string
	Summary  string
}

// SelectorOptions configures a [Selector]. Nil and the zero value work.
type SelectorOptions struct {
	// Model is the name of the model, for answers and for the cache.
	Model string

	// Prompt is what the model is told.
	//
	// If nil, it is [DefaultSelectPrompt].
	Prompt *prompt.Prompt

	// MaxCalls is how many calls one task may take, with those made again.
	//
	// If zero, [DefaultSelectCalls].
	MaxCalls int

	// Cache, if non-nil, keeps verdicts.
	Cache *Cache
}

// A Selector lets a language model pick memories from a catalog, without any
// search. It is safe for concurrent use.
type Selector struct {
	asker llm.Asker
	opts  SelectorOptions
	err   error // why there is no prompt
}

// NewSelector returns a selector that asks a.
func NewSelector(a llm.Asker, o *SelectorOptions) *Selector {
	s := &Selector{asker: a}
	if o != nil {
		s.opts = *o
	}
	s.opts.MaxCalls = cmp.Or(s.opts.MaxCalls, DefaultSelectCalls)
	if s.opts.Prompt == nil {
		s.opts.Prompt, s.err = LoadPrompt(DefaultSelectPrompt)
	}
	return s
}

// A selection is a selecting model's reply.
type selection struct {
	Selected []int `json:"selected"`
}

// picks returns the numbers with grades that fall in their order.
func (s *selection) picks() []entryPick {
	picks := make([]entryPick, 0, len(s.Selected))
	for i, n := range s.Selected {
		picks = append(picks, entryPick{N: n, Grade: float64(len(s.Selected) - i)})
	}
	return picks
}

// Select has at most [SelectMost] lines of the catalog picked, which may be none.
// The candidates of t are not looked at. The picks' indexes are into catalog, of
// which [Answer].Judged lines were shown: at most [SelectLines], in at most
// [SelectBytes].
func (s *Selector) Select(ctx context.Context, t Task, catalog []Line) (*Answer, error) {
	if s.err != nil {
		return nil, s.err
	}
	w := newSession("select", s.opts.Model, s.opts.Prompt, s.opts.Cache, limited{asker: s.asker, left: s.opts.MaxCalls})
	if len(catalog) == 0 {
		return w.answer, nil
	}
	lines := catalogLines(catalog)
	f, err := newFrame(s.opts.Prompt, DefaultBudget, &t)
	if err != nil {
		return nil, fmt.Errorf("select: %w", err)
	}
	messages, err := f.messages(strings.Join(lines, "\n"))
	if err != nil {
		return nil, fmt.Errorf("select: %w", err)
	}
	picks, err := w.selected(ctx, messages, len(lines), t.Sample)
	if err != nil {
		return w.spent(), fmt.Errorf("select: %w", err)
	}
	w.answer.Judged = len(lines)
	for _, p := range picks[:min(len(picks), SelectMost)] {
		w.answer.Picks = append(w.answer.Picks, Pick{Index: p.N - 1, Grade: p.Grade})
	}
	w.finish()
	if len(picks) > SelectMost {
		w.answer.Notes = append(w.answer.Notes, fmt.Sprintf("the model selected %d memories: the first %d count", len(picks), SelectMost))
	}
	if len(lines) < len(catalog) {
		w.answer.Notes = append(w.answer.Notes, fmt.Sprintf("the catalog shows %d of %d memories", len(lines), len(catalog)))
	}
	return w.answer, nil
}

// selected asks for the picks among n lines.
func (s *session) selected(ctx context.Context, messages []llm.Message, n, sample int) ([]entryPick, error) {
	r, key := s.request(messages, sample)
	r.Schema, r.SchemaName = object("selected", &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "integer"}}), "selection"
	return s.verdict(n, key, func() (*entry, error) {
		out, reply, err := llm.Decode(ctx, &s.asker, r, func(out *selection) error { return checkNumbers(n, out.picks()) })
		if reply != nil {
			s.answer.Cost.Add(reply.Cost)
		}
		if err != nil {
			return nil, err
		}
		return collect(n, out.picks()), nil
	})
}

// catalogLines returns the lines of a catalog that are shown.
func catalogLines(catalog []Line) []string {
	var lines []string
	room := SelectBytes
	for i, l := range catalog[:min(len(catalog), SelectLines)] {
		line := fmt.Sprintf("%d. [%s] %s", i+1, snippet(l.Category, labelTokens, escape.Line), snippet(l.Path, summaryTokens, escape.Line))
		if date := snippet(l.Date, labelTokens, escape.Line); date != "" {
			line += " (" + date + ")"
		}
		if summary := snippet(l.Summary, summaryTokens, escape.Line); summary != "" {
			line += ": " + summary
		}
		if room -= len(line) + 1; room < 0 {
			break
		}
		lines = append(lines, line)
	}
	return lines
}
