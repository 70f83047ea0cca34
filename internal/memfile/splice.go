package memfile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// A Change sets one front matter key of the top level.
type Change struct {
	Key   string
	Value any // string, bool, int, float64, time.Time, []string or a type of package memsearch; nil deletes the key
}

// Errors of [Splice].
var (
	ErrFrontMatter = errors.New("front matter cannot be rewritten")
	ErrEncoding    = errors.New("not UTF-8")
)

// Splice returns raw with changes made to its front matter. Only the lines of
// the named keys change: every other byte stays, among them a byte order mark,
// line ends, comments, blank lines and the body. A comment behind a changed
// value on one line is kept. A new key goes behind the last one; a file without
// front matter gets some.
//
// It refuses, with [ErrFrontMatter], front matter that it cannot read, and any
// change after which the file would not read back as meant.
func Splice(raw []byte, changes []Change) ([]byte, error) {
	if _, _, wide := decodeWide(raw); wide || !utf8.Valid(raw) {
		return nil, ErrEncoding
	}
	text, bom := string(raw), ""
	if bytes.HasPrefix(raw, []byte(byteOrderMark)) {
		bom, text = byteOrderMark, text[len(byteOrderMark):]
	}
	read, _ := withoutNUL(text)
	s := &splicer{raw: text, text: read, lines: splitLines(read)}
	s.front = findFront(read, s.lines)
	switch {
	case s.front.kind == frontBroken, s.front.kind == frontTOML:
		return nil, fmt.Errorf("%w: %s", ErrFrontMatter, s.front.odd.Message)
	case s.front.kind == frontNone && s.front.odd != nil && s.front.odd.Code == ProblemUnterminated:
		return nil, fmt.Errorf("%w: it is never closed", ErrFrontMatter)
	case s.front.root != nil && s.front.root.Style&yaml.FlowStyle != 0:
		return nil, fmt.Errorf("%w: it is one mapping in braces", ErrFrontMatter)
	}
	s.eol = s.lineEnd()
	edits, err := s.edits(changes)
	if err != nil {
		return nil, err
	}
	out := s.apply(edits)
	read, _ = withoutNUL(out)
	if err := s.verify(read, changes); err != nil {
		return nil, err
	}
	changed := []byte(bom + out)
	if _, _, wide := decodeWide(changed); wide {
		return nil, fmt.Errorf("%w: what is left would be read as UTF-16", ErrFrontMatter)
	}
	return changed, nil
}

// A splicer rewrites the front matter of one text.
type splicer struct {
	raw   string // what is written
	text  string // the same as it is read, byte for byte: NUL is a space
	lines []line
	front front
	eol   string
}

// An edit replaces the bytes [from, to).
type edit struct {
	from, to int
	with     string
}

// lineEnd returns the line end that the file uses.
func (s *splicer) lineEnd() string {
	if len(s.lines) == 0 {
		return "\n"
	}
	end := s.text[s.lines[0].end:nextStart(s.text, s.lines, 0)]
	switch {
	case strings.HasPrefix(end, "\r\n"):
		return "\r\n"
	case strings.HasPrefix(end, "\r"):
		return "\r"
	}
	return "\n"
}

func (s *splicer) edits(changes []Change) ([]edit, error) {
	var edits []edit
	var added strings.Builder
	for i, c := range changes {
		if !usableKey(c.Key) || slices.ContainsFunc(changes[:i], func(o Change) bool { return normalKey(o.Key) == normalKey(c.Key) }) {
			return nil, fmt.Errorf("%w: key %q", ErrFrontMatter, c.Key)
		}
		value := ""
		if c.Value != nil {
			var ok bool
			if value, ok = renderValue(c.Value); !ok {
				return nil, fmt.Errorf("%w: key %q: cannot write a %s", ErrFrontMatter, c.Key, value)
			}
		}
		at := s.find(c.Key)
		switch {
		case c.Value == nil:
			for _, k := range at {
				from, to := s.entry(k)
				edits = append(edits, edit{from, to, ""})
			}
		case len(at) > 0:
			edits = append(edits, s.replace(at[0], value))
		default:
			added.WriteString(c.Key + ": " + value + s.eol)
		}
	}
	if added.Len() > 0 {
		edits = append(edits, s.insert(added.String()))
	}
	slices.SortFunc(edits, func(a, b edit) int { return a.from - b.from })
	return edits, nil
}

func usableKey(key string) bool {
	for i := range len(key) {
		if c := key[i]; c != '_' && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9' && i > 0) {
			return false
		}
	}
	return key != ""
}

// find returns the places of a key among the nodes of the mapping. Of several,
// readers take the first.
func (s *splicer) find(key string) []int {
	if s.front.root == nil {
		return nil
	}
	var at []int
	for i := 0; i+1 < len(s.front.root.Content); i += 2 {
		if n := s.front.root.Content[i]; n.Kind == yaml.ScalarNode && normalKey(n.Value) == key {
			at = append(at, i)
		}
	}
	return at
}

// insert returns the edit that adds lines behind the last key.
func (s *splicer) insert(lines string) edit {
	if s.front.kind != frontMapping {
		return edit{0, 0, "---" + s.eol + lines + "---" + s.eol}
	}
	at := int(s.lines[s.front.close].start)
	return edit{at, at, lines}
}

// entryLines returns the lines of the file that the key at place k and its value
// take: up to the next key, without the blank lines and comments before it.
func (s *splicer) entryLines(k int) (first, last int) {
	nodes := s.front.root.Content
	first = nodes[k].Line // the block starts behind line 0, the opening fence
	last = s.front.close - 1
	if k+2 < len(nodes) {
		last = nodes[k+2].Line - 1
	}
	for last > first {
		t := s.lines[last].of(s.text)
		if !blank(t) && t[0] != '#' {
			break
		}
		last--
	}
	return first, last
}

func (s *splicer) entry(k int) (from, to int) {
	first, last := s.entryLines(k)
	return int(s.lines[first].start), nextStart(s.text, s.lines, last)
}

// replace returns the edit that gives the key at place k a value.
func (s *splicer) replace(k int, value string) edit {
	first, last := s.entryLines(k)
	key, old := s.front.root.Content[k], s.front.root.Content[k+1]
	l := s.lines[first]
	t := l.of(s.text)
	colon := keyEnd(t)
	tail := ""
	if comment := lineComment(key, old); comment != "" && first == last && strings.HasSuffix(t, comment) {
		head := strings.TrimRight(t[:len(t)-len(comment)], " \t")
		if len(head) >= colon {
			tail = t[len(head):]
		}
	}
	return edit{int(l.start) + colon, int(s.lines[last].end), " " + value + tail}
}

// keyEnd returns the index behind the colon that ends the key of a line.
func keyEnd(t string) int {
	from := 0
	if t != "" && (t[0] == '"' || t[0] == '\'') {
		from = 1 + max(strings.IndexByte(t[1:], t[0]), 0)
	}
	return from + strings.IndexByte(t[from:], ':') + 1
}

func lineComment(key, value *yaml.Node) string {
	if value.LineComment != "" {
		return value.LineComment
	}
	return key.LineComment
}

func (s *splicer) apply(edits []edit) string {
	var b strings.Builder
	done := 0
	for _, e := range edits {
		b.WriteString(s.raw[done:max(e.from, done)])
		b.WriteString(e.with)
		done = max(e.to, done)
	}
	b.WriteString(s.raw[done:])
	return b.String()
}

// verify reads the result: the changed keys must have their values, the others
// what they had, and the body must begin where it did.
func (s *splicer) verify(out string, changes []Change) error {
	lines := splitLines(out)
	front := findFront(out, lines)
	if len(changes) > 0 && front.kind != frontMapping && s.keeps(changes) {
		return fmt.Errorf("%w: the changed block cannot be read", ErrFrontMatter)
	}
	if s.body(s.text, s.lines, s.front) != s.body(out, lines, front) {
		return fmt.Errorf("%w: the change would reach into the body", ErrFrontMatter)
	}
	old, now := values(s.front.root), values(front.root)
	for _, c := range changes {
		got, ok := now[c.Key]
		if ok != (c.Value != nil) {
			return fmt.Errorf("%w: key %q would not read back", ErrFrontMatter, c.Key)
		}
		if ok {
			text, _ := renderValue(c.Value)
			want, err := parseYAML(text)
			if err != nil || !sameValue(want, got) {
				return fmt.Errorf("%w: key %q would not read back", ErrFrontMatter, c.Key)
			}
		}
		delete(old, c.Key)
		delete(now, c.Key)
	}
	if len(old) != len(now) {
		return fmt.Errorf("%w: other keys would change", ErrFrontMatter)
	}
	for key, n := range old {
		if !sameValue(n, now[key]) {
			return fmt.Errorf("%w: key %q would change", ErrFrontMatter, key)
		}
	}
	return nil
}

// keeps reports whether the file has keys after changes.
func (s *splicer) keeps(changes []Change) bool {
	return s.front.kind == frontMapping || slices.ContainsFunc(changes, func(c Change) bool { return c.Value != nil })
}

func (s *splicer) body(text string, lines []line, f front) string {
	if f.body < len(lines) {
		return text[lines[f.body].start:]
	}
	return ""
}

// values returns the nodes of a mapping by key, the first of each.
func values(root *yaml.Node) map[string]*yaml.Node {
	out := make(map[string]*yaml.Node)
	if root == nil {
		return out
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key := normalKey(root.Content[i].Value)
		if _, ok := out[key]; !ok {
			out[key] = root.Content[i+1]
		}
	}
	return out
}

// sameValue reports whether two nodes stand for the same value. Aliases are
// compared by name, so that nothing expands.
func sameValue(a, b *yaml.Node) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Kind != b.Kind || a.Tag != b.Tag || a.Value != b.Value || a.Anchor != b.Anchor || len(a.Content) != len(b.Content) {
		return false
	}
	for i := range a.Content {
		if !sameValue(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}
