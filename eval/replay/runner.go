package replay

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/internal/llm"
)

// A Runner does a task with a prepared context. Name says what outcomes depend
// on. An error means that there is no outcome to grade. It is safe for
// concurrent use.
type Runner interface {
	Name() string
	Run(ctx context.Context, t *Trial, p *core.Prepared) (Outcome, memsearch.Cost, error)
}

// ErrTimeout is wrapped when a runner took too long.
var ErrTimeout = errors.New("took too long")

// Chat asks a model.
type Chat struct {
	Asker llm.Asker
	Model string // its name
}

// chatPrompt names the prompt of chat runs in ledgers and cassettes.
const chatPrompt = "task@1"

const chatSystem = `You are a helpful assistant. It is %s.
Do what the user asks. When you cannot know something, say so; do not guess.`

// Name implements [Runner].
func (c *Chat) Name() string { return "chat " + chatPrompt + " " + c.Model }

// Run implements [Runner]. The instructions of the context stand behind those of
// the assistant, its content before the last turn. An answer that was cut off is
// taken as it is.
func (c *Chat) Run(ctx context.Context, t *Trial, p *core.Prepared) (Outcome, memsearch.Cost, error) {
	reply, err := c.Asker.Ask(ctx, llm.Request{Messages: messages(t, p), Prompt: chatPrompt, Sample: t.Rep})
	var cost memsearch.Cost
	if reply != nil {
		cost = reply.Cost
	}
	if err != nil && !(errors.Is(err, llm.ErrLength) && reply != nil) {
		return Outcome{}, cost, fmt.Errorf("ask model: %w", err)
	}
	return Outcome{Answer: strings.TrimSpace(reply.Text)}, cost, nil
}

func messages(t *Trial, p *core.Prepared) []llm.Message {
	system := fmt.Sprintf(chatSystem, t.Task.Now.Format("Monday, 2006-01-02 15:04 MST"))
	if p.Instructions != "" {
		system += "\n\n" + p.Instructions
	}
	out := []llm.Message{{Role: llm.RoleSystem, Content: system}}
	turns := t.Task.Messages()
	for i, turn := range turns {
		m := llm.Message{Role: turn.Role, Content: turn.Text}
		if i == len(turns)-1 && p.Content != "" {
			m.Content = p.Content + "\n\n" + m.Content
		}
		out = append(out, m)
	}
	return out
}

// Transcript writes the turns of a task as a command reads them: the text alone
// when there is one, else each behind its role.
func Transcript(t *Task) string {
	turns := t.Messages()
	if len(turns) == 1 {
		return turns[0].Text
	}
	var b strings.Builder
	for _, turn := range turns {
		fmt.Fprintf(&b, "%s: %s\n\n", turn.Role, strings.TrimSpace(turn.Text))
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// Scripted answers with a function, for tests.
type Scripted func(instructions, content, prompt string) string

// Name implements [Runner].
func (Scripted) Name() string { return "scripted" }

// Run implements [Runner].
func (s Scripted) Run(_ context.Context, t *Trial, p *core.Prepared) (Outcome, memsearch.Cost, error) {
	return Outcome{Answer: s(p.Instructions, p.Content, Transcript(t.Task))}, memsearch.Cost{}, nil
}
