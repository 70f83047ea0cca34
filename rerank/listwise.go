package rerank

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/internal/prompt"
)

// Defaults of [ListwiseOptions].
const (
	DefaultBudget   = 6000
	DefaultMaxCalls = 4
	DefaultSnippet  = 160
)

// ListwiseOptions configures a [Listwise]. Nil and the zero value work.
type ListwiseOptions struct {
	// Model is the name of the model, for answers and for the cache.
	Model string

	// Prompt is what the model is told.
	//
	// If nil, it is [DefaultPrompt].
	Prompt *prompt.Prompt

	// Budget is how many tokens one prompt may take.
	//
	// If zero, [DefaultBudget].
	Budget int

	// MaxCalls is how many calls one task may take: for more windows, once more
	// after a reply that cannot be used, or again after a failure.
	//
	// If zero, [DefaultMaxCalls].
	MaxCalls int

	// Snippet is how many tokens of a candidate's text are shown.
	//
	// If zero, [DefaultSnippet].
	Snippet int

	// Cache, if non-nil, keeps verdicts.
	Cache *Cache

	// Logger, if non-nil, is told at debug level how a task went.
	Logger *slog.Logger
}

// A Listwise lets a language model grade candidates that it sees beside each
// other. It is safe for concurrent use.
type Listwise struct {
	asker llm.Asker
	opts  ListwiseOptions
	err   error // why there is no prompt
}

// NewListwise returns a reranker that asks a.
func NewListwise(a llm.Asker, o *ListwiseOptions) *Listwise {
	l := &Listwise{asker: a}
	if o != nil {
		l.opts = *o
	}
	l.opts.Budget = cmp.Or(l.opts.Budget, DefaultBudget)
	l.opts.MaxCalls = cmp.Or(l.opts.MaxCalls, DefaultMaxCalls)
	l.opts.Snippet = cmp.Or(l.opts.Snippet, DefaultSnippet)
	l.opts.Logger = cmp.Or(l.opts.Logger, slog.New(slog.DiscardHandler))
	if l.opts.Prompt == nil {
		l.opts.Prompt, l.err = LoadPrompt("")
	}
	return l
}

// Rerank grades the candidates of t in one prompt, or in overlapping windows from
// the last candidate to the first where one prompt does not hold them: the best
// of a window are shown again in the next. Candidates that the allowed calls
// cannot show stay unjudged.
func (l *Listwise) Rerank(ctx context.Context, t Task) (*Answer, error) {
	if l.err != nil {
		return nil, l.err
	}
	s := newSession("listwise", l.opts.Model, l.opts.Prompt, l.opts.Cache,
		limited{asker: l.asker, left: l.opts.MaxCalls, budget: l.opts.Budget})
	if len(t.Candidates) == 0 {
		return s.answer, nil
	}
	p, err := l.plan(&t)
	if err != nil {
		return nil, fmt.Errorf("rerank: %w", err)
	}
	if err := p.run(ctx, s, t.Sample); err != nil {
		return s.spent(), fmt.Errorf("rerank: %w", err)
	}
	l.opts.Logger.DebugContext(ctx, "reranked", "candidates", len(t.Candidates), "judged", s.answer.Judged, "picked", len(s.answer.Picks),
		"windows", len(p.ends), "cached", s.answer.Cached)
	return s.answer, nil
}

// A plan says which candidates are new in which window.
type plan struct {
	frame *frame
	lines []string
	costs []int
	ends  []int // of each window's new candidates, from the first candidate on
}

// plan divides the candidates into windows. All but the last, which is asked
// first, leave half of their room to the best of the one behind.
func (l *Listwise) plan(t *Task) (*plan, error) {
	f, err := newFrame(l.opts.Prompt, l.opts.Budget, t)
	if err != nil {
		return nil, err
	}
	p := &plan{frame: f}
	n, about := len(t.Candidates), terms(t.Query)
	first, cost, err := l.firstLine(f, &t.Candidates[0], n, about)
	if err != nil {
		return nil, err
	}
	most := l.windows()
	p.lines, p.costs = append(p.lines, first), append(p.costs, cost)
	total := cost
	for i := 1; i < n && total <= f.room*most; i++ {
		line := newBody(&t.Candidates[i], l.opts.Snippet, about).String()
		cost := lineCost(line, n)
		p.lines, p.costs = append(p.lines, line), append(p.costs, cost)
		total += cost
	}
	if len(p.lines) == n && total <= f.room {
		p.ends = []int{n}
		return p, nil
	}
	for at := 0; at < len(p.lines) && len(p.ends) < most; {
		room := f.room / 2
		if len(p.ends) == most-1 || p.cost(at, len(p.lines)) <= f.room {
			room = f.room
		}
		end := p.fill(at, room)
		if end == at {
			break
		}
		p.ends = append(p.ends, end)
		at = end
	}
	return p, nil
}

// windows is how many windows there may be. One call is kept for a reply that
// cannot be used.
func (l *Listwise) windows() int { return max(1, l.opts.MaxCalls-1) }

// firstLine shows the first candidate, and says what it takes. Where the room asks
// for it, less of its text is shown, and it has all the room: what a cut happens to
// leave would be gone with a larger budget.
func (l *Listwise) firstLine(f *frame, c *Candidate, n int, about map[string]bool) (line string, cost int, err error) {
	b := newBody(c, l.opts.Snippet, about)
	line = b.String()
	if cost = lineCost(line, n); cost <= f.room {
		return line, cost, nil
	}
	b.Text = ""
	line = b.String()
	left := f.room - lineCost(line, n)
	if left < 0 {
		return "", 0, fmt.Errorf("%w: %d tokens", ErrBudget, l.opts.Budget)
	}
	b.Text = excerpt(c.Text, min(l.opts.Snippet, left-2*slackTokens), about)
	if whole := b.String(); lineCost(whole, n) <= f.room {
		line = whole
	}
	return line, f.room, nil
}

func (p *plan) cost(from, to int) int {
	sum := 0
	for _, c := range p.costs[from:to] {
		sum += c
	}
	return sum
}

// fill returns where a window that begins at from ends. A candidate that is too
// large for its share of the window has it for itself.
func (p *plan) fill(from, room int) int {
	end := from
	for end < len(p.costs) && (p.costs[end] <= room || end == from && p.costs[end] <= p.frame.room) {
		room -= p.costs[end]
		end++
	}
	return end
}

// A place is what the last window that showed a candidate made of it.
type place struct {
	index, window, rank int
	grade               float64
}

// run asks about the windows from the last to the first.
func (p *plan) run(ctx context.Context, s *session, sample int) error {
	places := map[int]place{}
	var best []int // of the window before, best first
	for w := len(p.ends) - 1; w >= 0; w-- {
		from := 0
		if w > 0 {
			from = p.ends[w-1]
		}
		var shown []int
		for i := from; i < p.ends[w]; i++ {
			shown = append(shown, i)
		}
		room := p.frame.room - p.cost(from, p.ends[w])
		for _, i := range best {
			if room -= p.costs[i]; room < 0 {
				break
			}
			shown = append(shown, i)
		}
		slices.Sort(shown)
		picks, err := p.ask(ctx, s, shown, sample)
		if err != nil {
			return err
		}
		for _, i := range shown {
			delete(places, i)
		}
		best = best[:0]
		for rank, pick := range picks {
			i := shown[pick.N-1]
			places[i] = place{index: i, window: w, rank: rank, grade: pick.Grade}
			best = append(best, i)
		}
	}
	s.answer.Judged = p.ends[len(p.ends)-1]
	s.answer.Picks = ordered(places)
	s.finish()
	return nil
}

// ask has one window judged.
func (p *plan) ask(ctx context.Context, s *session, shown []int, sample int) ([]entryPick, error) {
	lines := make([]string, 0, len(shown))
	for _, i := range shown {
		lines = append(lines, p.lines[i])
	}
	messages, err := p.frame.messages(numbered(lines))
	if err != nil {
		return nil, err
	}
	return s.grades(ctx, messages, len(shown), sample)
}

// ordered sorts by grade, then by the later window, then by the model's order.
func ordered(places map[int]place) []Pick {
	all := make([]place, 0, len(places))
	for _, p := range places {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b place) int {
		return cmp.Or(cmp.Compare(b.grade, a.grade), a.window-b.window, a.rank-b.rank)
	})
	picks := make([]Pick, 0, len(all))
	for _, p := range all {
		picks = append(picks, Pick{Index: p.index, Grade: p.grade})
	}
	return picks
}
