package eval

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// An Oracle is a model server that answers from the judgements: it is asked over
// HTTP like any other, in the chat and in the rerank protocol, reads the candidates
// or the catalog in the prompt, and picks what is relevant to the question that
// [Oracle.Ask] named. What a pipeline reaches with it is the ceiling for every
// model. It is no estimate of one.
type Oracle struct {
	URL string // base address, with "/v1"

	server *http.Server

	mu   sync.Mutex
	gold []goldDoc
}

// A goldDoc is a relevant document of the question being asked.
type goldDoc struct {
	path        string // of a Markdown file
	title, text string // as [letters] leaves them
	grade       int
}

// NewOracle starts an oracle on a free port of the loopback interface.
func NewOracle() (*Oracle, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start oracle: %w", err)
	}
	o := &Oracle{URL: "http://" + l.Addr().String() + "/v1"}
	o.server = &http.Server{Handler: o, ReadHeaderTimeout: time.Minute}
	go o.server.Serve(l) // ends with Close
	return o, nil
}

// Close stops the server.
func (o *Oracle) Close() error { return o.server.Close() }

// Ask sets the relevant documents of the question that is asked next.
func (o *Oracle) Ask(relevant []Document, grades map[string]int) {
	gold := make([]goldDoc, len(relevant))
	for i, d := range relevant {
		text := d.Text
		if d.Raw != nil {
			text = string(d.Raw)
		}
		gold[i] = goldDoc{path: d.Path, title: letters(d.Title), text: letters(text), grade: min(max(grades[d.ID], 1), 3)}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.gold = gold
}

// letters drops all but letters and digits, in lower case: what is left of a text
// whatever a prompt does to it.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, html.UnescapeString(s))
}

// shortest is how many characters a piece of a text must have to stand for it.
const shortest = 16

// grade returns the grade of the relevant document that text shows, whole or in
// pieces with "…" between them; 0 when it shows none.
func (o *Oracle) grade(text string) int {
	best := 0
	whole := letters(text)
	for _, g := range o.gold {
		if g.text == whole || utf8.RuneCountInString(g.text) >= shortest && strings.Contains(whole, g.text) || g.shows(text) {
			best = max(best, g.grade)
		}
	}
	return best
}

// shows reports whether every long piece of text stands in the document.
func (g goldDoc) shows(text string) bool {
	some := false
	for piece := range strings.SplitSeq(text, "…") {
		if piece = letters(piece); utf8.RuneCountInString(piece) < shortest {
			continue
		}
		if !strings.Contains(g.text, piece) {
			return false
		}
		some = true
	}
	return some
}

// listed reports whether a line of a catalog, behind its category, is about the
// document: by its file, or where it is none by title or first words.
func (g goldDoc) listed(line string) bool {
	if g.path != "" {
		return line == g.path || strings.HasPrefix(line, g.path+" (") || strings.HasPrefix(line, g.path+":")
	}
	_, summary, _ := strings.Cut(line, ": ")
	cut := strings.HasSuffix(summary, "…")
	summary = letters(summary)
	if summary == "" {
		return false
	}
	return summary == g.title || summary == g.text || cut && (strings.HasPrefix(g.title, summary) || strings.HasPrefix(g.text, summary))
}

// ServeHTTP implements [http.Handler].
func (o *Oracle) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Messages  []struct{ Content string }
		Documents []string
	}
	if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
		http.Error(w, `{"error": {"message": "not JSON"}}`, http.StatusBadRequest)
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	out := json.NewEncoder(w)
	if strings.HasSuffix(r.URL.Path, "/rerank") {
		out.Encode(o.rank(ask.Documents)) // to a client that may have gone
		return
	}
	var prompt strings.Builder
	for _, m := range ask.Messages {
		prompt.WriteString(m.Content)
		prompt.WriteByte('\n')
	}
	text := o.answer(prompt.String())
	out.Encode(map[string]any{"choices": []any{map[string]any{"index": 0, "finish_reason": "stop",
		"message": map[string]string{"role": "assistant", "content": text}}}})
}

// Lines of a prompt that name something to choose.
var (
	candidateLine = regexp.MustCompile(`(?m)^\[(\d+)\] (\{.*\})$`)
	catalogLine   = regexp.MustCompile(`(?m)^(\d+)\. \[[^\]]*\] (.*)$`)
)

// answer picks from a prompt of candidates, or of a catalog.
func (o *Oracle) answer(prompt string) string {
	type pick struct {
		N     int `json:"n"`
		Grade int `json:"grade"`
	}
	if lines := candidateLine.FindAllStringSubmatch(prompt, -1); len(lines) > 0 {
		picks := []pick{}
		for _, l := range lines {
			n, _ := strconv.Atoi(l[1]) // of digits
			var c struct{ Summary, Text string }
			if json.Unmarshal([]byte(l[2]), &c) != nil {
				continue
			}
			if g := max(o.grade(c.Text), o.grade(c.Summary+"\n"+c.Text)); g > 0 {
				picks = append(picks, pick{n, g})
			}
		}
		slices.SortStableFunc(picks, func(a, b pick) int { return cmp.Compare(b.Grade, a.Grade) })
		b, _ := json.Marshal(map[string]any{"ranking": picks}) // cannot fail
		return string(b)
	}
	selected := []int{}
	for _, l := range catalogLine.FindAllStringSubmatch(prompt, -1) {
		n, _ := strconv.Atoi(l[1])
		if len(selected) < 5 && slices.ContainsFunc(o.gold, func(g goldDoc) bool { return g.listed(l[2]) }) {
			selected = append(selected, n)
		}
	}
	b, _ := json.Marshal(map[string]any{"selected": selected}) // cannot fail
	return string(b)
}

// rank scores documents as a cross-encoder does.
func (o *Oracle) rank(documents []string) map[string]any {
	results := make([]any, len(documents))
	tokens := 0
	for i, d := range documents {
		_, undated, _ := strings.Cut(d, "\n")
		_, text, _ := strings.Cut(undated, "\n") // behind date and summary
		results[i] = map[string]any{"index": i, "relevance_score": float64(max(o.grade(d), o.grade(undated), o.grade(text)))}
		tokens += len(d) / 4
	}
	return map[string]any{"results": results, "usage": map[string]int{"total_tokens": max(tokens, 1)}}
}
