package replay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/memsearch/memsearch/internal/atomicfile"
	"github.com/memsearch/memsearch/internal/when"
)

// SetVersion is the version of task files that is read.
//
// History: 1, the first.
const SetVersion = 1

// maxSet bounds a task file, in bytes.
const maxSet = 32 << 20

// A Set is a list of tasks over one or more vaults.
type Set struct {
	Version     int    `yaml:"version"`
	Name        string `yaml:"name"`
	Description string `yaml:"description"`
	Vault       string `yaml:"vault"`       // folder beside the file that tasks without scopes read
	Repetitions int    `yaml:"repetitions"` // of each task; zero: 1
	Now         Moment `yaml:"now"`         // of tasks that do not say
	Tasks       []Task `yaml:"tasks"`

	Dir string `yaml:"-"` // folder of the file
}

// The tags of which every task has exactly one.
const (
	TagHelps   = "helps"   // cannot be done without memory
	TagNeutral = "neutral" // memory must not matter
	TagTrap    = "trap"    // memory can mislead
)

// A Task is one thing that an agent is asked to do.
type Task struct {
	ID     string   `yaml:"id"`   // letters, digits, ".", "_" and "-"
	Tags   []string `yaml:"tags"` // helps, neutral or trap, and any others
	Prompt string   `yaml:"prompt"`
	Turns  []Turn   `yaml:"turns"` // instead of a prompt
	Query  string   `yaml:"query"` // what recall is asked; empty: the last user turn

	Now    Moment   `yaml:"now"`    // when the task is done; after every edit
	Scopes []string `yaml:"scopes"` // folders beside the file, the most important first; empty: the set's vault
	Edits  []Edit   `yaml:"edits"`

	// Memories, by id or by path below a scope. Gold is what must be found; with
	// none, memory must not matter. Stale is superseded and must not be injected.
	// Wrong must not be injected either; it may stand in scopes that the task
	// does not read, or be forgotten.
	Gold  []string `yaml:"gold"`
	Stale []string `yaml:"stale"`
	Wrong []string `yaml:"wrong"`

	Arms        []string `yaml:"arms"`        // that it takes part in; empty: all
	Repetitions int      `yaml:"repetitions"` // zero: the set's

	Checks       []Check  `yaml:"checks"`        // all must pass
	Right        []Sample `yaml:"right"`         // outcomes that pass
	WrongAnswers []Sample `yaml:"wrong_answers"` // outcomes that must fail
}

// A Turn is one message of a conversation.
type Turn struct {
	Role string `yaml:"role"` // user or assistant
	Text string `yaml:"text"`
}

// A Moment is a time, or a day, in UTC when it names no offset.
type Moment struct {
	time.Time
	Day bool // no time of day was given; Time is the day's first moment
}

// UnmarshalYAML reads the spellings of package when.
func (m *Moment) UnmarshalYAML(n *yaml.Node) error {
	t, day, _, ok := when.ParseStamp(n.Value, time.UTC)
	if n.Kind != yaml.ScalarNode || !ok {
		return fmt.Errorf("line %d: %q is no time", n.Line, n.Value)
	}
	m.Time, m.Day = t, day
	return nil
}

// A Sample is an outcome that a task gives to prove its checks: an answer, or
// a mapping with more.
type Sample struct {
	Answer string            `yaml:"answer"`
	Exit   int               `yaml:"exit"`
	Files  map[string]string `yaml:"files"` // of the working folder
}

// UnmarshalYAML reads a string as the answer.
func (s *Sample) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		return n.Decode(&s.Answer)
	}
	type plain Sample
	return strict(n, "an answer", (*plain)(s))
}

// UnmarshalYAML refuses unknown keys.
func (t *Turn) UnmarshalYAML(n *yaml.Node) error {
	type plain Turn
	return strict(n, "a turn", (*plain)(t))
}

// UnmarshalYAML refuses unknown keys.
func (t *Task) UnmarshalYAML(n *yaml.Node) error {
	type plain Task
	return strict(n, "a task", (*plain)(t))
}

// UnmarshalYAML refuses unknown keys.
func (s *Set) UnmarshalYAML(n *yaml.Node) error {
	type plain Set
	return strict(n, "a task set", (*plain)(s))
}

// Messages returns the turns of t, its prompt as the only one.
func (t *Task) Messages() []Turn {
	if len(t.Turns) > 0 {
		return t.Turns
	}
	return []Turn{{Role: "user", Text: t.Prompt}}
}

// Question returns what recall is asked for t.
func (t *Task) Question() string {
	if t.Query != "" {
		return t.Query
	}
	turns := t.Messages()
	return turns[len(turns)-1].Text
}

// Has reports whether t carries a tag.
func (t *Task) Has(tag string) bool {
	return slices.Contains(t.Tags, tag)
}

// Load reads a task file: YAML, or JSON Lines (.jsonl) whose first line is the
// set without its tasks and each other line a task. It refuses unknown keys and
// sets that [Set.Validate] refuses; problems of several tasks come together.
func Load(path string) (*Set, error) {
	raw, err := readBounded(path)
	if err != nil {
		return nil, fmt.Errorf("read tasks: %w", err)
	}
	lines := strings.EqualFold(filepath.Ext(path), ".jsonl")
	s, err := Parse(raw, lines)
	if err != nil {
		return nil, fmt.Errorf("read tasks %s: %w", path, err)
	}
	s.Dir = filepath.Dir(path)
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("read tasks %s: %w", path, err)
	}
	return s, nil
}

func readBounded(path string) ([]byte, error) {
	f, err := atomicfile.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only
	raw, err := io.ReadAll(io.LimitReader(f, maxSet+1))
	if err == nil && len(raw) > maxSet {
		err = fmt.Errorf("more than %d bytes", maxSet)
	}
	return raw, err
}

// Parse reads a task file, as JSON Lines or as YAML, and fills in the defaults
// of its tasks. It looks at no other file and validates nothing.
func Parse(raw []byte, lines bool) (*Set, error) {
	s := &Set{}
	var err error
	if lines {
		err = parseLines(raw, s)
	} else {
		err = parseYAML(raw, s)
	}
	if err != nil {
		return nil, err
	}
	s.Repetitions = max(s.Repetitions, 1)
	for i := range s.Tasks {
		t := &s.Tasks[i]
		if t.Repetitions == 0 {
			t.Repetitions = s.Repetitions
		}
		if t.Now.IsZero() {
			t.Now = s.Now
		}
		if len(t.Scopes) == 0 && s.Vault != "" {
			t.Scopes = []string{s.Vault}
		}
	}
	return s, nil
}

func parseYAML(raw []byte, s *Set) error {
	d := yaml.NewDecoder(bytes.NewReader(raw))
	err := d.Decode(s)
	if errors.Is(err, io.EOF) {
		return errors.New("the file is empty")
	}
	if err != nil {
		return err
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return errors.New("the file holds more than one document")
	}
	return nil
}

func parseLines(raw []byte, s *Set) error {
	sc := bufio.NewScanner(bytes.NewReader(bytes.TrimPrefix(raw, []byte("\ufeff"))))
	sc.Buffer(nil, maxSet)
	header := true
	for n := 1; sc.Scan(); n++ {
		if len(bytes.TrimSpace(sc.Bytes())) == 0 {
			continue
		}
		node, err := jsonNode(sc.Bytes(), n)
		switch {
		case err != nil:
			err = fmt.Errorf("line %d: %w", n, err)
		case header:
			err = node.Decode(s)
			if err == nil && len(s.Tasks) > 0 {
				err = fmt.Errorf("line %d: tasks stand in lines of their own", n)
			}
		default:
			var t Task
			err = node.Decode(&t)
			s.Tasks = append(s.Tasks, t)
		}
		if err != nil {
			return err
		}
		header = false
	}
	if header && sc.Err() == nil {
		return errors.New("the file is empty")
	}
	return sc.Err()
}

// jsonNode reads one JSON object as YAML that stands in the given line. YAML's own
// reader knows no escaped surrogate pairs, and JSON's into a map takes a key twice.
func jsonNode(raw []byte, line int) (*yaml.Node, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	n, err := jsonValue(d, line, 0)
	switch {
	case err != nil:
		return nil, err
	case n.Kind != yaml.MappingNode:
		return nil, errors.New("it is no object")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one object in a line")
	}
	return n, nil
}

// maxNesting bounds how deep a value in a line may go.
const maxNesting = 100

func jsonValue(d *json.Decoder, line, depth int) (*yaml.Node, error) {
	token, err := d.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Line: line}
	switch v := token.(type) {
	case json.Delim:
		n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
		if v == '{' {
			n.Kind, n.Tag = yaml.MappingNode, "!!map"
		}
		if depth == maxNesting {
			return nil, errors.New("it is nested too deep")
		}
		for d.More() {
			child, err := jsonValue(d, line, depth+1)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, child)
		}
		_, err = d.Token()
	case string:
		n.Tag, n.Value = "!!str", v
	case json.Number:
		n.Value = v.String()
	case bool:
		n.Tag, n.Value = "!!bool", strconv.FormatBool(v)
	default:
		n.Tag, n.Value = "!!null", "null"
	}
	return n, err
}
