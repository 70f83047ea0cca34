package replay

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/eval"
)

// DefaultShortAnswer is the most words of an answer that is looked for word by
// word. LoCoMo's and LongMemEval's longer answers are sentences that nobody
// repeats as they stand.
const DefaultShortAnswer = 4

// QAOptions says what [FromQA] reads and writes.
type QAOptions struct {
	Corpus    []string // as [eval.LoadCorpus] reads: sessions, turns or facts
	Questions string   // as [eval.LoadQuestions] reads, each with an answer
	Qrels     string   // as [eval.LoadQrels] reads

	Dir  string // written to; must be empty or not exist
	Name string // of the set; empty: the name of Dir

	// Now is when tasks are done whose question has no query_date.
	Now time.Time

	// Judge lets a model grade every answer against the given one. Without it,
	// only answers of at most ShortAnswer words become tasks, and must stand in
	// what the agent says, dates and small numbers in any of their spellings: a right
	// answer in other words then fails, for every arm alike.
	Judge       bool
	ShortAnswer int // zero: [DefaultShortAnswer]
}

// QASkips counts the questions that became no task, by reason.
type QASkips map[string]int

// String lists the reasons.
func (s QASkips) String() string {
	var out []string
	for _, why := range slices.Sorted(maps.Keys(s)) {
		out = append(out, fmt.Sprintf("%s (%d)", why, s[why]))
	}
	return strings.Join(out, ", ")
}

// FromQA turns questions over conversations, as LoCoMo (Maharana et al. 2024)
// and LongMemEval (Wu et al. 2025) ask them, into a task set: one vault for each
// conversation, one task for each question that can be graded, and tasks.yaml
// beside them. Questions of the category "adversarial" become traps: their given
// answer is the wrong one, and the right one is that nobody knows. A wrong answer
// is that of another question of the conversation, and a vague one. The licence
// of the data holds for what is written.
func FromQA(ctx context.Context, o QAOptions) (*Set, QASkips, error) {
	set, skips, err := fromQA(ctx, o)
	if err != nil {
		return nil, nil, fmt.Errorf("convert questions: %w", err)
	}
	return set, skips, nil
}

func fromQA(ctx context.Context, o QAOptions) (*Set, QASkips, error) {
	docs, err := eval.LoadCorpus(time.UTC, o.Corpus...)
	if err != nil {
		return nil, nil, err
	}
	questions, err := eval.LoadQuestions(o.Questions, time.UTC)
	if err != nil {
		return nil, nil, err
	}
	answers, err := loadAnswers(o.Questions)
	if err != nil {
		return nil, nil, err
	}
	qrels, err := eval.LoadQrels(o.Qrels)
	if err != nil {
		return nil, nil, err
	}
	if left, err := os.ReadDir(o.Dir); err == nil && len(left) > 0 {
		return nil, nil, fmt.Errorf("%s is not empty", o.Dir)
	}
	c := &converter{o: o, answers: answers, qrels: qrels, gold: map[string]map[string]string{}, ids: map[string]bool{}, skips: QASkips{}}
	c.o.ShortAnswer = cmp.Or(o.ShortAnswer, DefaultShortAnswer)
	for _, q := range questions {
		if name := folder(q.Conversation); c.gold[name] == nil {
			c.gold[name] = map[string]string{}
		}
	}
	if err := c.vaults(ctx, docs); err != nil {
		return nil, nil, err
	}
	file := qaSet{Version: SetVersion, Name: cmp.Or(o.Name, filepath.Base(o.Dir)), Description: "Made of questions and answers over conversations"}
	for i := range questions {
		if t := c.task(questions, i); t != nil {
			file.Tasks = append(file.Tasks, *t)
		}
	}
	if len(file.Tasks) == 0 {
		return nil, nil, fmt.Errorf("no question became a task: %s", c.skips)
	}
	raw, err := yaml.Marshal(file)
	if err != nil {
		return nil, nil, err
	}
	name := filepath.Join(o.Dir, "tasks.yaml")
	if err := os.WriteFile(name, raw, 0o644); err != nil {
		return nil, nil, err
	}
	set, err := Load(name)
	return set, c.skips, err
}

// loadAnswers reads the answers of a question file by id. An audited answer goes
// before the first one.
func loadAnswers(name string) (map[string]string, error) {
	raw, err := readBounded(name)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	n := 0
	for line := range strings.Lines(string(raw)) {
		n++
		line = strings.TrimSpace(strings.TrimPrefix(line, "\ufeff"))
		if line == "" {
			continue
		}
		var q struct {
			ID     string `json:"id"`
			Answer any    `json:"answer"`
			Audit  any    `json:"audit_answer"`
		}
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber() // a year stays a year
		if err := d.Decode(&q); err != nil {
			return nil, fmt.Errorf("read answers: line %d: %w", n, err)
		}
		switch v := cmp.Or(q.Audit, q.Answer).(type) {
		case string, json.Number, bool: // nobody says a list or an object
			out[q.ID] = strings.Join(strings.Fields(fmt.Sprint(v)), " ")
		}
	}
	return out, nil
}

// A converter makes tasks of the questions of one data set.
type converter struct {
	o       QAOptions
	answers map[string]string
	qrels   eval.Qrels
	gold    map[string]map[string]string // folder -> document -> how a task names it
	ids     map[string]bool              // of the tasks, in lower case
	skips   QASkips
}

// The file as it is written.
type (
	qaSet struct {
		Version     int      `yaml:"version"`
		Name        string   `yaml:"name"`
		Description string   `yaml:"description"`
		Tasks       []qaTask `yaml:"tasks"`
	}
	qaTask struct {
		ID     string    `yaml:"id"`
		Tags   []string  `yaml:"tags,flow"`
		Prompt string    `yaml:"prompt"`
		Now    string    `yaml:"now"`
		Scopes []string  `yaml:"scopes,flow"`
		Gold   []string  `yaml:"gold,omitempty,flow"`
		Checks []qaCheck `yaml:"checks"`
		Right  []string  `yaml:"right"`
		Wrong  []string  `yaml:"wrong_answers"`
	}
	qaCheck struct {
		Type   string   `yaml:"type"`
		AnyOf  []string `yaml:"any_of,omitempty,flow"`
		NoneOf []string `yaml:"none_of,omitempty,flow"`
		Rubric string   `yaml:"rubric,omitempty"`
	}
	qaFront struct {
		ID      string `yaml:"id"`
		Title   string `yaml:"title,omitempty"`
		Created string `yaml:"created_at,omitempty"`
	}
)

var unsafeName = regexp.MustCompile(`[^\pL\pN._-]+`)

// folder names the vault of a conversation.
func folder(conversation string) string {
	return cmp.Or(strings.Trim(unsafeName.ReplaceAllString(conversation, "-"), "-."), "vault")
}

// vaults writes every document into the folders of the conversations that may
// find it.
func (c *converter) vaults(ctx context.Context, docs []eval.Document) error {
	folders := slices.Sorted(maps.Keys(c.gold))
	for _, name := range folders {
		if err := os.MkdirAll(filepath.Join(c.o.Dir, name), 0o755); err != nil {
			return err
		}
	}
	for i, d := range docs {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		rel, raw, gold, err := markdown(d, i)
		if err != nil {
			return err
		}
		for _, name := range folders {
			if d.Conversation != eval.AllConversations && folder(d.Conversation) != name {
				continue
			}
			c.gold[name][d.ID] = gold
			file := filepath.Join(c.o.Dir, name, filepath.FromSlash(rel))
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, raw, 0o644)); err != nil {
				return err
			}
		}
	}
	return nil
}

// markdown returns a document as a memory file: its path, its bytes and how a
// task names it.
func markdown(d eval.Document, n int) (rel string, raw []byte, gold string, err error) {
	if d.Raw != nil {
		if gold = d.ID; gold == strings.TrimSuffix(d.Path, path.Ext(d.Path)) {
			gold = d.Path // perhaps it has no id but this
		}
		return d.Path, d.Raw, gold, nil
	}
	rel = fmt.Sprintf("documents/%06d.md", n)
	f := qaFront{ID: d.ID, Title: d.Title}
	if !d.CreatedAt.IsZero() {
		f.Created = d.CreatedAt.Format(time.RFC3339)
	}
	front, err := yaml.Marshal(f)
	return rel, fmt.Appendf(nil, "---\n%s---\n%s\n", front, strings.TrimSpace(d.Text)), rel, err
}

// unsure is a vague answer, by language.
var unsure = map[string]string{"en": "It depends; there are several possibilities.", "zh": "这要看情况，有好几种可能。"}

// unknown are ways to say that one does not know.
var unknown = []string{"not know", "don't know", "cannot know", "can't know", "not tell", "cannot tell", "can't tell", "unknown", "no idea", "no information", "no mention", "no record", "no evidence",
	"not have", "don't have", "not mention", "doesn't mention", "not mentioned", "isn't mentioned", "not say", "doesn't say", "not specified", "nothing", "unable",
	"不知", "不清楚", "无法", "未提", "没提", "没有提", "没有记录", "没有相关", "没有任何", "没有关于", "没有信息", "没有这"}

var dateLayouts = []string{"2 January 2006", "2 January, 2006", "January 2, 2006", "January 2 2006", time.DateOnly}

// spellings returns the usual ways to write an answer that is a date or a small
// number, else the answer alone.
func spellings(answer string) []string {
	for _, layout := range dateLayouts {
		at, err := time.Parse(layout, answer)
		if err != nil {
			continue
		}
		out := []string{answer}
		for _, l := range dateLayouts {
			out = append(out, at.Format(l))
		}
		nth := ordinal(at.Day())
		out = append(out, nth+at.Format(" January 2006"), nth+at.Format(" of January 2006"), at.Format("January ")+nth+at.Format(", 2006"))
		slices.Sort(out)
		return slices.Compact(out)
	}
	if n, err := strconv.Atoi(answer); err == nil && n > 1 && n < len(numerals) {
		return []string{answer, numerals[n]}
	}
	return []string{answer}
}

// numerals are from two on: "one" is mostly no number.
var numerals = []string{"", "", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}

func ordinal(n int) string {
	if n%100/10 != 1 && n%10 >= 1 && n%10 <= 3 {
		return strconv.Itoa(n) + [...]string{"st", "nd", "rd"}[n%10-1]
	}
	return strconv.Itoa(n) + "th"
}

// task makes a task of questions[i], or counts why not.
func (c *converter) task(questions []eval.Question, i int) *qaTask {
	q := questions[i]
	skip := func(why string) *qaTask {
		c.skips[why]++
		return nil
	}
	answer, name := c.answers[q.ID], folder(q.Conversation)
	at := q.Now
	if at.IsZero() {
		at = c.o.Now
	}
	t := &qaTask{ID: unsafeName.ReplaceAllString(q.ID, "-"), Prompt: q.Text, Now: at.Format(time.RFC3339), Scopes: []string{name}, Wrong: []string{unsure[language(q.Text)]}}
	trap := q.Category == eval.Adversarial
	switch {
	case at.IsZero():
		return skip("no query_date, and no time is given")
	case answer == "":
		return skip("no answer")
	case trap:
		t.Tags, t.Right, t.Wrong = []string{TagTrap}, []string{"I do not know."}, append(t.Wrong, answer)
		t.Checks = []qaCheck{{Type: "contains", AnyOf: unknown, NoneOf: []string{answer}}}
	case c.o.Judge:
		t.Tags, t.Right = []string{TagHelps}, []string{answer}
		t.Checks = []qaCheck{{Type: "judge", Rubric: "Gives this answer, in whatever words: " + answer}}
	case words(answer) > c.o.ShortAnswer:
		return skip("the answer is long, and there is no judge")
	default:
		t.Tags, t.Right = []string{TagHelps}, []string{answer}
		t.Checks = []qaCheck{{Type: "contains", AnyOf: spellings(strings.TrimRight(answer, ".。"))}}
	}
	if !trap {
		for _, id := range slices.Sorted(maps.Keys(c.qrels[q.ID])) {
			if gold, ok := c.gold[name][id]; ok {
				t.Gold = append(t.Gold, gold)
			}
		}
		if len(t.Gold) == 0 {
			return skip("no document answers")
		}
		if other := c.other(questions, i); other != "" {
			t.Wrong = append(t.Wrong, other)
		}
	}
	t.Tags = append(t.Tags, language(q.Text))
	if q.Category != "" && q.Category != eval.Adversarial {
		t.Tags = append(t.Tags, q.Category)
	}
	if why := t.unsound(); why != "" {
		return skip(why)
	}
	key := strings.ToLower(t.ID)
	if c.ids[key] {
		return skip("another has its id")
	}
	c.ids[key] = true
	return t
}

// other returns the answer of the next question of the conversation that says
// something else.
func (c *converter) other(questions []eval.Question, i int) string {
	mine := normal(c.answers[questions[i].ID])
	for n := 1; n < len(questions); n++ {
		q := questions[(i+n)%len(questions)]
		a := normal(c.answers[q.ID])
		if q.Conversation == questions[i].Conversation && a != "" && !strings.Contains(a, mine) && !strings.Contains(mine, a) {
			return c.answers[q.ID]
		}
	}
	return ""
}

// unsound says why t would not be let in, or would end every replay as a leak;
// empty when it is sound.
func (t *qaTask) unsound() string {
	var back Task
	raw, err := yaml.Marshal(t)
	if err == nil {
		err = yaml.Unmarshal(raw, &back)
	}
	back.Repetitions = 1
	if err := errors.Join(err, back.validate(), back.prove()); err != nil {
		return "its check cannot tell right from wrong"
	}
	if said, _ := leak(context.Background(), &back, &core.Prepared{}); said != "" {
		return "it says its own answer"
	}
	return ""
}

// words counts words, two Chinese characters as one.
func words(s string) int {
	n, han := 0, 0
	for w := range strings.FieldsSeq(s) {
		latin := false
		for _, r := range w {
			if unicode.Is(unicode.Han, r) {
				han++
			} else {
				latin = true
			}
		}
		if latin {
			n++
		}
	}
	return n + (han+1)/2
}

func language(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		return "zh"
	}
	return "en"
}
