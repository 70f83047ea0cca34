package memfile

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// fields are the top-level keys of front matter. Aliases are followed within a
// budget, so that nested ones cost a bounded amount of work.
type fields struct {
	keys   map[string]*yaml.Node
	names  map[string]*yaml.Node // the key nodes
	budget int
}

// aliasBudget bounds the nodes visited while front matter is read.
const aliasBudget = 4000

func (p *parser) newFields(root *yaml.Node) *fields {
	f := &fields{
		keys:   make(map[string]*yaml.Node, len(root.Content)/2),
		names:  make(map[string]*yaml.Node, len(root.Content)/2),
		budget: aliasBudget,
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		name, value := root.Content[i], root.Content[i+1]
		key := normalKey(name.Value)
		if name.Kind != yaml.ScalarNode || key == "" {
			continue
		}
		if _, ok := f.keys[key]; ok {
			p.problem(ProblemDuplicateKey, p.frontLine(name), false, "the key "+quote(key)+" stands twice; the first one counts")
			continue
		}
		f.keys[key], f.names[key] = value, name
	}
	return f
}

// frontLine returns the line of the file at which a node of the front matter
// stands.
func (p *parser) frontLine(n *yaml.Node) int { return p.front.open + 1 + n.Line }

// find returns the first of keys that has a value, and its key.
func (f *fields) find(keys ...string) (*yaml.Node, string) {
	for _, key := range keys {
		if n := f.follow(f.keys[key]); n != nil && !isNull(n) {
			return n, key
		}
	}
	return nil, ""
}

// follow resolves aliases. It returns nil when the budget is used up.
func (f *fields) follow(n *yaml.Node) *yaml.Node {
	for n != nil {
		if f.budget--; f.budget < 0 {
			return nil
		}
		if n.Kind != yaml.AliasNode {
			return n
		}
		n = n.Alias
	}
	return nil
}

func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && (n.Tag == "!!null" || strings.TrimSpace(n.Value) == "")
}

// text returns a scalar as one line of text.
func (f *fields) text(keys ...string) string {
	n, _ := f.find(keys...)
	if n == nil || n.Kind != yaml.ScalarNode {
		return ""
	}
	return oneLine(n.Value)
}

// list returns a sequence of scalars, or a scalar split at commas.
func (f *fields) list(keys ...string) []string {
	n, _ := f.find(keys...)
	if n == nil {
		return nil
	}
	var out []string
	if n.Kind == yaml.ScalarNode {
		for s := range strings.FieldsFuncSeq(n.Value, isComma) {
			if s = oneLine(s); s != "" {
				out = append(out, s)
			}
		}
		return out
	}
	f.collect(n, 0, &out)
	return out
}

func isComma(r rune) bool { return r == ',' || r == '，' || r == '、' || r == '\n' }

func (f *fields) collect(n *yaml.Node, depth int, out *[]string) {
	if depth > 3 || n.Kind != yaml.SequenceNode {
		return
	}
	for _, c := range n.Content {
		c = f.follow(c)
		switch {
		case c == nil:
			return
		case c.Kind == yaml.SequenceNode:
			f.collect(c, depth+1, out)
		case c.Kind == yaml.ScalarNode && !isNull(c):
			if s := oneLine(c.Value); s != "" {
				*out = append(*out, s)
			}
		}
	}
}

// sub returns the keys of a nested mapping, nil when there is none.
func (f *fields) sub(key string) *fields {
	n, _ := f.find(key)
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	s := &fields{keys: make(map[string]*yaml.Node, len(n.Content)/2), budget: f.budget}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := normalKey(n.Content[i].Value)
		if _, ok := s.keys[k]; !ok {
			s.keys[k] = n.Content[i+1]
		}
	}
	return s
}

// flag returns a truth value.
func (f *fields) flag(key string) (value, ok bool) {
	switch strings.ToLower(f.text(key)) {
	case "true", "yes", "on", "y", "1":
		return true, true
	case "false", "no", "off", "n", "0":
		return false, true
	}
	return false, false
}

// oneLine returns s with every run of white space as one space and without
// control characters.
func oneLine(s string) string {
	clean := true
	for i := range len(s) {
		if s[i] < ' ' || s[i] == 0x7f || s[i] == ' ' && (i == 0 || i == len(s)-1 || s[i+1] == ' ') {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	s = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0x7f {
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

func quote(s string) string { return `"` + cut(oneLine(s), 60) + `"` }
