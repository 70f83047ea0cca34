package rerank

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/english"
	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/internal/prompt"
)

// ErrCalls is returned when a task needs more calls than it is allowed.
var ErrCalls = errors.New("no call is left for this task")

// A limited asker asks no more often than it may, and no longer prompts.
type limited struct {
	asker  llm.Asker
	left   int // calls
	budget int // tokens of a prompt; zero: any
}

func (l *limited) Ask(ctx context.Context, r llm.Request) (*llm.Reply, error) {
	if l.left <= 0 {
		return nil, ErrCalls
	}
	if l.budget > 0 {
		if r.Messages = fit(r.Messages, l.budget); size(r.Messages) > l.budget {
			return nil, fmt.Errorf("%w: the prompt takes more than %d tokens", ErrBudget, l.budget)
		}
	}
	r.MaxCalls = l.left
	reply, err := l.asker.Ask(ctx, r)
	made := 1
	if reply != nil {
		made = max(made, reply.Cost.Calls)
	}
	l.left -= made
	return reply, err
}

// fit shortens what was added to a prompt when it is put once more: the reply
// that could not be used, and what was wrong with it.
func fit(messages []llm.Message, budget int) []llm.Message {
	const prompt = 2 // messages
	if len(messages) <= prompt || size(messages) <= budget {
		return messages
	}
	room := (budget - size(messages[:prompt])) / (len(messages) - prompt)
	messages = slices.Clone(messages)
	for i := prompt; i < len(messages); i++ {
		messages[i].Content = cmp.Or(snippet(messages[i].Content, room-slackTokens, strings.Clone), "…")
	}
	return messages
}

// A session is the work on one task.
type session struct {
	kind   string
	prompt *prompt.Prompt // nil for a cross-encoder
	cache  *Cache
	asker  limited
	answer *Answer

	asked          bool
	unknown, twice int // numbers in replies that were not counted
}

func newSession(kind, model string, p *prompt.Prompt, cache *Cache, a limited) *session {
	s := &session{kind: kind, prompt: p, cache: cache, asker: a, answer: &Answer{Model: model, Picks: []Pick{}}}
	if p != nil {
		s.answer.Prompt = p.ID()
	}
	return s
}

// spent returns what is left of the answer when the task fails: its cost, or nil.
func (s *session) spent() *Answer {
	if s.answer.Cost == (memsearch.Cost{}) {
		return nil
	}
	return &Answer{Model: s.answer.Model, Prompt: s.answer.Prompt, Cost: s.answer.Cost}
}

// finish fills in what is known once everything was asked.
func (s *session) finish() {
	s.answer.Cached = !s.asked
	if s.unknown > 0 {
		s.answer.Notes = append(s.answer.Notes, fmt.Sprintf("the model named %s that no candidate has", english.Count(s.unknown, "number")))
	}
	if s.twice > 0 {
		s.answer.Notes = append(s.answer.Notes, fmt.Sprintf("the model named %s more than once", english.Count(s.twice, "candidate")))
	}
}

// verdict returns the picks among n lines, from the cache or by asking.
func (s *session) verdict(n int, key string, ask func() (*entry, error)) ([]entryPick, error) {
	e := s.cache.get(key, n)
	if e == nil {
		s.asked = true
		var err error
		if e, err = ask(); err != nil {
			return nil, err
		}
		s.cache.put(key, e)
	}
	s.unknown += e.Unknown
	s.twice += e.Twice
	return e.Picks, nil
}

// request returns the question that messages put, and the key of its answer.
func (s *session) request(messages []llm.Message, sample int) (r llm.Request, key string) {
	parts := []string{s.prompt.Hash}
	for _, m := range messages {
		parts = append(parts, m.Role, m.Content)
	}
	return llm.Request{Messages: messages, Prompt: s.prompt.Label(), Sample: sample}, cacheKey(s.kind, s.answer.Model, sample, parts...)
}

// collect turns numbers in a reply into picks: those of no line are left out, and
// the first mention counts.
func collect(n int, picks []entryPick) *entry {
	e := &entry{Version: entryVersion, Picks: []entryPick{}}
	seen := make([]bool, n+1)
	for _, p := range picks {
		switch {
		case p.N < 1 || p.N > n:
			e.Unknown++
		case seen[p.N]:
			e.Twice++
		default:
			seen[p.N] = true
			e.Picks = append(e.Picks, p)
		}
	}
	return e
}

// errUnknown is told to a model whose whole reply is about nothing that it was
// shown.
var errUnknown = errors.New("none of the numbers is one of those shown")

func checkNumbers(n int, picks []entryPick) error {
	if e := collect(n, picks); e.Unknown > 0 && len(e.Picks) == 0 {
		return errUnknown
	}
	return nil
}
