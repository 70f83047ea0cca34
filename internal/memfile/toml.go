package memfile

import (
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// parseTOML returns as a YAML mapping the keys of the TOML behind the first of
// lines that have a string, a date, a number, a truth value or a list of those,
// nil when there are none. Of its tables only the taxonomies are read, in which
// site generators keep tags. What it does not understand it leaves out.
func parseTOML(text string, lines []line) *yaml.Node {
	if len(lines) < 2 {
		return nil
	}
	t := &tomlReader{text: text[:lines[len(lines)-1].end], lines: lines, at: int(lines[1].start)}
	root := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	foreign := false // in a table that is not read
	for t.skip(" \t\r\n"); t.at < len(t.text); t.skip(" \t\r\n") {
		if t.peek() == '[' {
			foreign = strings.Trim(t.until("#\r\n"), "[] \t") != "taxonomies"
			t.until("\r\n")
			continue
		}
		key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Line: t.line()}
		key.Value = strings.Trim(t.until("=#\r\n"), " \t\"'")
		if t.peek() != '=' {
			t.until("\r\n")
			continue
		}
		t.at++
		value := t.value(0)
		rest := strings.TrimSpace(t.until("\r\n"))
		if value != nil && !foreign && (rest == "" || rest[0] == '#') {
			root.Content = append(root.Content, key, value)
		}
	}
	if len(root.Content) == 0 {
		return nil
	}
	return root
}

// A tomlReader stands at a byte of a block of TOML.
type tomlReader struct {
	text  string
	at    int
	lines []line
	n     int // the line looked at last
}

// line returns the number of the line in the block, from 1.
func (t *tomlReader) line() int {
	for t.n+1 < len(t.lines) && int(t.lines[t.n+1].start) <= t.at {
		t.n++
	}
	return t.n
}

func (t *tomlReader) peek() byte {
	if t.at < len(t.text) {
		return t.text[t.at]
	}
	return 0
}

func (t *tomlReader) skip(set string) {
	t.at = len(t.text) - len(strings.TrimLeft(t.text[t.at:], set))
}

// until takes the text before the first byte of set.
func (t *tomlReader) until(set string) string {
	n := strings.IndexAny(t.text[t.at:], set)
	if n < 0 {
		n = len(t.text) - t.at
	}
	s := t.text[t.at : t.at+n]
	t.at += n
	return s
}

// deepestList is how far lists are followed into one another.
const deepestList = 3

// value takes a value, nil when it is none that is understood.
func (t *tomlReader) value(depth int) *yaml.Node {
	t.skip(" \t")
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Line: t.line()}
	ok := true
	switch c := t.peek(); c {
	case '"', '\'':
		n.Value, ok = t.quoted()
	case '[':
		if depth == deepestList {
			return nil
		}
		t.at++
		n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
		ok = t.list(n, depth)
	default:
		n.Value = strings.TrimSpace(t.until(",]#\r\n"))
		ok = n.Value != "" && n.Value[0] != '{'
	}
	if !ok {
		return nil
	}
	return n
}

// list takes the values of a list behind its bracket.
func (t *tomlReader) list(n *yaml.Node, depth int) bool {
	for {
		switch t.skip(" \t\r\n,"); t.peek() {
		case 0:
			return false
		case '#':
			t.until("\r\n")
			continue
		case ']':
			t.at++
			return true
		}
		item := t.value(depth + 1)
		if item == nil {
			return false
		}
		n.Content = append(n.Content, item)
	}
}

// quoted takes a string. One of three quotes may have several lines.
func (t *tomlReader) quoted() (string, bool) {
	q := t.text[t.at : t.at+1]
	s := t.text[t.at+1:]
	if strings.HasPrefix(s, q+q) {
		s, q = s[2:], q+q+q
	} else if n := strings.IndexAny(s, "\r\n"); n >= 0 {
		s = s[:n]
	}
	from, end := t.at+len(q), 0
	for {
		n := strings.Index(s[end:], q)
		if n < 0 {
			return "", false
		}
		end += n
		slashes := end - len(strings.TrimRight(s[:end], `\`))
		if q[0] == '\'' || slashes%2 == 0 {
			break
		}
		end++
	}
	t.at = from + end + len(q)
	s = s[:end]
	if q[0] == '\'' || !strings.Contains(s, `\`) {
		return s, true
	}
	var b strings.Builder
	for s != "" {
		r, _, tail, err := strconv.UnquoteChar(s, '"')
		if err != nil {
			return "", false
		}
		b.WriteRune(r)
		s = tail
	}
	return b.String(), true
}
