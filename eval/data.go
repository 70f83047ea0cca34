package eval

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/memsearch/memsearch/internal/memfile"
	"github.com/memsearch/memsearch/internal/when"
)

// AllConversations, as a document's conversation, puts it into every index.
const AllConversations = "*"

// Adversarial is the category that is reported apart.
const Adversarial = "adversarial"

// A Document is one retrievable item of a corpus.
type Document struct {
	ID           string
	Conversation string
	Title        string
	Text         string
	CreatedAt    time.Time
	Path         string // of a Markdown file, below the corpus folder
	Raw          []byte // the Markdown file; nil for a JSON document
}

// A Question is one judged query.
type Question struct {
	ID           string    `json:"id"`
	Text         string    `json:"text"`
	Category     string    `json:"category"`
	Conversation string    `json:"conversation"`
	QueryDate    string    `json:"query_date"`
	Now          time.Time `json:"-"` // QueryDate, zero when not given
}

// Qrels maps question id to document id to grade; only grades above 0 are kept.
type Qrels map[string]map[string]int

// ErrNoData is wrapped when a corpus or question file holds nothing.
var ErrNoData = errors.New("no data")

// ErrOptions is wrapped when options name something that there is not.
var ErrOptions = errors.New("unusable options")

// ErrNoNegatives is returned by [Confidence] when every question can be answered
// by all there is to ask.
var ErrNoNegatives = fmt.Errorf("negatives need a second conversation or another corpus: %w", ErrNoData)

// maxLine bounds one line of a JSON Lines file, in bytes.
const maxLine = 64 << 20

// LoadCorpus reads a folder of Markdown files (document id = front matter id,
// else the path without its ending; conversation = front matter conversation)
// or a JSON Lines file with id, title, text, created_at and conversation.
// Several paths make one corpus. A repeated id is an error. Times without an
// offset are read in zone (nil: UTC).
func LoadCorpus(zone *time.Location, paths ...string) ([]Document, error) {
	if zone == nil {
		zone = time.UTC
	}
	var docs []Document
	for _, p := range paths {
		fi, err := os.Stat(p)
		if err != nil {
			return nil, fmt.Errorf("read corpus: %w", err)
		}
		var part []Document
		if fi.IsDir() {
			part, err = loadFolder(p)
		} else {
			part, err = loadLines(p, zone)
		}
		if err != nil {
			return nil, fmt.Errorf("read corpus %s: %w", p, err)
		}
		docs = append(docs, part...)
	}
	if len(docs) == 0 {
		return nil, fmt.Errorf("read corpus %s: %w", strings.Join(paths, ", "), ErrNoData)
	}
	seen := make(map[string]bool, len(docs))
	for _, d := range docs {
		if seen[d.ID] {
			return nil, fmt.Errorf("read corpus: document id %q occurs twice", d.ID)
		}
		seen[d.ID] = true
	}
	return docs, nil
}

func loadFolder(dir string) ([]Document, error) {
	var docs []Document
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		ext := strings.ToLower(filepath.Ext(name))
		if !d.Type().IsRegular() || ext != ".md" && ext != ".markdown" {
			return nil
		}
		raw, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		doc := Document{Path: rel, Raw: raw, Conversation: conversation(raw)}
		m := memfile.Parse(rel, raw, nil).Memory
		if doc.ID = m.ID; m.DerivedID {
			doc.ID = strings.TrimSuffix(rel, filepath.Ext(rel))
		}
		docs = append(docs, doc)
		return nil
	})
	return docs, err
}

// conversation reads the one key of a front matter that memories do not have.
func conversation(raw []byte) string {
	rest, ok := bytes.CutPrefix(raw, []byte("---\n"))
	if !ok {
		return ""
	}
	head, _, ok := bytes.Cut(rest, []byte("\n---"))
	if !ok {
		return ""
	}
	var fm struct {
		Conversation string `yaml:"conversation"`
	}
	if yaml.Unmarshal(head, &fm) != nil {
		return ""
	}
	return fm.Conversation
}

func loadLines(name string, zone *time.Location) ([]Document, error) {
	var docs []Document
	err := eachLine(name, func(line []byte) error {
		var d struct {
			ID, Title, Text, Conversation string
			CreatedAt                     string `json:"created_at"`
		}
		if err := json.Unmarshal(line, &d); err != nil {
			return err
		}
		if d.ID == "" {
			return errors.New("a document has no id")
		}
		doc := Document{ID: d.ID, Title: d.Title, Text: d.Text, Conversation: d.Conversation}
		if d.CreatedAt != "" {
			t, _, _, ok := when.ParseStamp(d.CreatedAt, zone)
			if !ok {
				return fmt.Errorf("created_at %q is not a date", d.CreatedAt)
			}
			doc.CreatedAt = t
		}
		docs = append(docs, doc)
		return nil
	})
	return docs, err
}

// LoadQuestions reads a queries.jsonl; query_date becomes the question's Now in
// the given zone (nil: UTC). A bare date counts as the end of that day.
func LoadQuestions(name string, zone *time.Location) ([]Question, error) {
	if zone == nil {
		zone = time.UTC
	}
	var qs []Question
	err := eachLine(name, func(line []byte) error {
		var q Question
		if err := json.Unmarshal(line, &q); err != nil {
			return err
		}
		if q.ID == "" || strings.TrimSpace(q.Text) == "" {
			return errors.New("a question has no id or no text")
		}
		if q.QueryDate != "" {
			t, dateOnly, _, ok := when.ParseStamp(q.QueryDate, zone)
			if !ok {
				return fmt.Errorf("query_date %q is not a date", q.QueryDate)
			}
			if dateOnly {
				t = t.AddDate(0, 0, 1).Add(-time.Second)
			}
			q.Now = t
		}
		qs = append(qs, q)
		return nil
	})
	if err == nil && len(qs) == 0 {
		err = ErrNoData
	}
	if err != nil {
		return nil, fmt.Errorf("read questions %s: %w", name, err)
	}
	return qs, nil
}

// LoadQrels reads lines of question, 0, document and grade, parted by white
// space.
func LoadQrels(name string) (Qrels, error) {
	out := Qrels{}
	err := eachLine(name, func(line []byte) error {
		f := strings.Fields(string(line))
		if len(f) != 4 {
			return fmt.Errorf("want 4 columns, got %d", len(f))
		}
		grade, err := strconv.Atoi(f[3])
		if err != nil {
			return fmt.Errorf("grade %q is not a whole number", f[3])
		}
		if grade <= 0 {
			return nil
		}
		if out[f[0]] == nil {
			out[f[0]] = map[string]int{}
		}
		out[f[0]][f[2]] = grade
		return nil
	})
	if err == nil && len(out) == 0 {
		err = ErrNoData
	}
	if err != nil {
		return nil, fmt.Errorf("read judgements %s: %w", name, err)
	}
	return out, nil
}

// eachLine calls fn with every line that is not blank.
func eachLine(name string, fn func([]byte) error) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, maxLine)
	for n := 1; sc.Scan(); n++ {
		line := bytes.TrimSpace(bytes.TrimPrefix(sc.Bytes(), []byte("\ufeff")))
		if len(line) == 0 {
			continue
		}
		if err := fn(line); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return sc.Err()
}

// A group is one conversation with the documents that its questions may find.
type group struct {
	name      string
	docs      []Document
	questions []Question
}

// groups parts a corpus by conversation, in order of name. Without any
// conversation among the questions there is one group of everything.
func groups(docs []Document, qs []Question) []group {
	byName := map[string]*group{}
	for _, q := range qs {
		g := byName[q.Conversation]
		if g == nil {
			g = &group{name: q.Conversation}
			byName[q.Conversation] = g
		}
		g.questions = append(g.questions, q)
	}
	for _, d := range docs {
		if d.Conversation == AllConversations {
			for _, g := range byName {
				g.docs = append(g.docs, d)
			}
			continue
		}
		for name, g := range byName {
			if name == "" || name == d.Conversation {
				g.docs = append(g.docs, d)
			}
		}
	}
	out := make([]group, 0, len(byName))
	for _, g := range byName {
		out = append(out, *g)
	}
	slices.SortFunc(out, func(a, b group) int { return strings.Compare(a.name, b.name) })
	return out
}
