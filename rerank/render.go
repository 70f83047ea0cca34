package rerank

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/memsearch/memsearch/internal/escape"
	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/internal/prompt"
	"github.com/memsearch/memsearch/internal/tokens"
)

// ErrBudget is returned when a budget holds the prompt but no candidate.
var ErrBudget = errors.New("the prompt budget is too small for a candidate")

// What a part of the prompt may take, in tokens.
const (
	labelTokens   = 24 // a candidate's date, and its category
	summaryTokens = 96

	// chatTokens is what a server adds around the messages.
	chatTokens = 24

	// againTokens are kept for asking once more.
	againTokens = 160

	// slackTokens covers what a text may count more between its neighbours than
	// by itself.
	slackTokens = 4
)

// A view is what a template sees of a task. Every text in it is a JSON string
// without "<", ">" and "&", or one line of such, so that none can pass for
// another part of the prompt.
type view struct {
	Query, Request, Recent string // empty: there is none
	Dates                  string // empty unless the query names dates
	Now                    string // empty unless these depend on the day
	Candidates             string // one line each
}

// quote returns s as a JSON string on one line.
func quote(s string) string {
	b, _ := json.Marshal(s) // a string cannot fail
	return string(b)
}

// share returns the beginning of s that takes at most n tokens, and what is to be
// set aside for it: n, unless all of s takes less.
func share(s string, n int) (string, int) {
	aside := n
	if len(s) <= n*bytesPerToken {
		aside = min(n, tokens.Bound(quote(strings.TrimSpace(escape.Text(s)))))
	}
	return snippet(s, n, escape.Text), aside + slackTokens
}

// A body is what a model sees of a candidate.
type body struct {
	Date     string `json:"date,omitempty"`
	Category string `json:"category,omitempty"`
	Summary  string `json:"summary,omitempty"`
	Text     string `json:"text,omitempty"`
}

func newBody(c *Candidate, textTokens int, about map[string]bool) body {
	b := body{
		Date:     snippet(c.Date, labelTokens, escape.Line),
		Category: snippet(string(c.Category), labelTokens, escape.Line),
		Summary:  snippet(c.Summary, summaryTokens, escape.Line),
		Text:     excerpt(c.Text, textTokens, about),
	}
	if strings.Contains(b.Text, b.Summary) {
		b.Summary = ""
	}
	return b
}

func (b body) String() string {
	out, _ := json.Marshal(b) // strings cannot fail
	return string(out)
}

// numbered returns lines behind their numbers, which are from 1.
func numbered(lines []string) string {
	var b strings.Builder
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "[%d] %s", i+1, l)
	}
	return b.String()
}

// lineCost bounds what a line takes in a prompt of up to n candidates. The
// tokenizer cuts behind the bracket, behind the number, and behind the line.
func lineCost(line string, n int) int {
	return 1 + len(strconv.Itoa(n)) + tokens.Bound("] "+line+"\n")
}

// A frame is a prompt for one task without its candidates.
type frame struct {
	prompt *prompt.Prompt
	view   view
	room   int // tokens left for candidates
}

// newFrame fits the task's own texts into the budget. Each takes at most an
// eighth of it, and what is set aside for them never grows faster than the
// budget, so that a larger budget never has less room for candidates.
func newFrame(p *prompt.Prompt, budget int, t *Task) (*frame, error) {
	f := &frame{prompt: p}
	empty := view{}
	aside := 0
	field := func(i int, s string) (shown, placeholder string) {
		if s = strings.TrimSpace(s); s == "" {
			return "", ""
		}
		// The eighths round up at different budgets, one at a time.
		s, n := share(s, (budget+2*i)/8)
		aside += n
		return quote(s), `""`
	}
	f.view.Query, empty.Query = field(0, t.Query)
	if strings.TrimSpace(t.Request) != strings.TrimSpace(t.Query) {
		f.view.Request, empty.Request = field(1, t.Request)
	}
	f.view.Recent, empty.Recent = field(2, t.Recent)
	if len(t.Dates) > 0 {
		if !t.Now.IsZero() {
			f.view.Now = t.Now.Format("2006-01-02 (Monday)")
			empty.Now = f.view.Now
		}
		f.view.Dates, empty.Dates = field(3, strings.Join(t.Dates, ", "))
	}
	system, user, err := p.Render(empty)
	if err != nil {
		return nil, err
	}
	f.room = budget - chatTokens - againTokens - tokens.Bound(system) - tokens.Bound(user) - slackTokens - aside
	return f, nil
}

// messages renders the prompt around the lines of candidates.
func (f *frame) messages(candidates string) ([]llm.Message, error) {
	v := f.view
	v.Candidates = candidates
	system, user, err := f.prompt.Render(v)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(user, v.Candidates) {
		return nil, fmt.Errorf("prompt %s does not show the candidates", f.prompt.Label())
	}
	return []llm.Message{{Role: llm.RoleSystem, Content: system}, {Role: llm.RoleUser, Content: user}}, nil
}

// size bounds the tokens of messages.
func size(messages []llm.Message) int {
	n := chatTokens
	for _, m := range messages {
		n += tokens.Bound(m.Content)
	}
	return n
}
