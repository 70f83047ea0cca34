package rerank_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/rerank"
)

// A fake answers from the request, and keeps what it was asked.
type fake struct {
	reply func(r llm.Request) (string, error)

	mu    sync.Mutex
	asked []llm.Request
}

func (f *fake) Ask(_ context.Context, r llm.Request) (*llm.Reply, error) {
	f.mu.Lock()
	f.asked = append(f.asked, r)
	f.mu.Unlock()
	text, err := f.reply(r)
	reply := &llm.Reply{Text: text, Finish: llm.FinishStop, Cost: memsearch.Cost{Calls: 1, TokensIn: 100, TokensOut: 10, Money: .5}}
	return reply, err
}

func (f *fake) calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.asked)
}

// says returns a fake that gives the replies in turn, the last one for ever.
func says(replies ...string) *fake {
	f := &fake{}
	f.reply = func(llm.Request) (string, error) { return replies[min(f.calls(), len(replies))-1], nil }
	return f
}

// shownLine is a candidate as the model sees it.
type shownLine struct {
	Date     *string `json:"date"`
	Category *string `json:"category"`
	Summary  *string `json:"summary"`
	Text     *string `json:"text"`
}

// A shown prompt is the user message, taken apart.
type shown struct {
	labels []string          // in order
	fields map[string]string // by label
	lines  []shownLine
	tail   string
}

var (
	fieldPattern = regexp.MustCompile(`^(Today|Dates in the query|Query|Request|Conversation): (.+)$`)
	linePattern  = regexp.MustCompile(`^\[([0-9]+)\] (\{.*\})$`)
)

// parse takes a user message apart. It allows nothing but what the prompt is made
// of: labelled fields, numbered candidates, and the closing line.
func parse(user string) (*shown, error) {
	head, rest, ok := strings.Cut(user, "\n\nCandidates:\n")
	if !ok {
		return nil, fmt.Errorf("no candidates in %q", user)
	}
	body, tail, ok := strings.Cut(rest, "\n\n")
	if !ok || strings.Contains(tail, "\n") {
		return nil, fmt.Errorf("no closing line in %q", user)
	}
	s := &shown{fields: map[string]string{}, tail: tail}
	for l := range strings.SplitSeq(head, "\n") {
		m := fieldPattern.FindStringSubmatch(l)
		if m == nil || slices.Contains(s.labels, m[1]) {
			return nil, fmt.Errorf("line %q is no field", l)
		}
		value := m[2]
		if m[1] != "Today" {
			if err := json.Unmarshal([]byte(m[2]), &value); err != nil {
				return nil, fmt.Errorf("field %q: %w", l, err)
			}
		}
		s.labels = append(s.labels, m[1])
		s.fields[m[1]] = value
	}
	for i, l := range strings.Split(body, "\n") {
		m := linePattern.FindStringSubmatch(l)
		if m == nil || m[1] != strconv.Itoa(i+1) {
			return nil, fmt.Errorf("line %q is not candidate %d", l, i+1)
		}
		var c shownLine
		d := json.NewDecoder(strings.NewReader(m[2]))
		d.DisallowUnknownFields()
		if err := d.Decode(&c); err != nil {
			return nil, fmt.Errorf("candidate %q: %w", l, err)
		}
		if d.InputOffset() != int64(len(m[2])) {
			return nil, fmt.Errorf("candidate %q goes on behind its object", l)
		}
		s.lines = append(s.lines, c)
	}
	return s, nil
}

// parsed returns the user message of a request, taken apart.
func parsed(t fatal, r llm.Request) *shown {
	t.Helper()
	if len(r.Messages) < 2 || r.Messages[0].Role != llm.RoleSystem || r.Messages[1].Role != llm.RoleUser {
		t.Fatalf("messages %v", r.Messages)
	}
	s, err := parse(r.Messages[1].Content)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return s
}

type fatal interface {
	Helper()
	Fatalf(string, ...any)
	Errorf(string, ...any)
}

// form returns what is left of a prompt when the texts are taken out.
func (s *shown) form() string {
	var b strings.Builder
	fmt.Fprintln(&b, s.labels)
	for _, l := range s.lines {
		fmt.Fprintln(&b, l.Date != nil, l.Category != nil, l.Summary != nil, l.Text != nil)
	}
	b.WriteString(s.tail)
	return b.String()
}

// text returns everything that came from the task.
func (s *shown) text() string {
	var all []string
	for _, l := range s.labels {
		all = append(all, s.fields[l])
	}
	for _, l := range s.lines {
		for _, p := range []*string{l.Date, l.Category, l.Summary, l.Text} {
			if p != nil {
				all = append(all, *p)
			}
		}
	}
	return strings.Join(all, "\n")
}

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// task returns a task of n candidates that say which one they are.
func task(n int) rerank.Task {
	t := rerank.Task{Query: "where does Anna live", Now: noon}
	for i := range n {
		t.Candidates = append(t.Candidates, rerank.Candidate{
			ID: fmt.Sprintf("mem_%d", i), Hash: fmt.Sprintf("h%d", i), Path: fmt.Sprintf("user/%d.md", i), Category: memsearch.CategoryUser,
			Date: "2026-03-12", Summary: fmt.Sprintf("Summary of note %d", i), Text: fmt.Sprintf("Note %d says something about Anna.", i),
		})
	}
	return t
}

// perfect returns a model that knows how relevant each note of a [task] is: worth
// gives a number from 0, not relevant, to 300, in hundreds the grade.
func perfect(t *testing.T, worth func(i int) int) *fake {
	return &fake{reply: func(r llm.Request) (string, error) {
		type item struct{ n, worth int }
		var items []item
		for i, l := range parsed(t, r).lines {
			var note int
			if _, err := fmt.Sscanf(*l.Text, "Note %d says", &note); err != nil {
				t.Errorf("text %q: %v", *l.Text, err)
			}
			if w := worth(note); w > 0 {
				items = append(items, item{i + 1, w})
			}
		}
		slices.SortStableFunc(items, func(a, b item) int { return b.worth - a.worth })
		var picks []string
		for _, x := range items {
			picks = append(picks, fmt.Sprintf(`{"n":%d,"grade":%d}`, x.n, (x.worth+99)/100))
		}
		return `{"ranking":[` + strings.Join(picks, ",") + `]}`, nil
	}}
}
