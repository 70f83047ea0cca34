package memfile

import (
	"fmt"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// A frontKind says what opens a file.
type frontKind int

const (
	frontNone    frontKind = iota
	frontMapping           // a YAML mapping, maybe without keys
	frontBroken            // a block that was meant as front matter and cannot be read
	frontTOML
)

// front is the front matter block of a file.
type front struct {
	kind  frontKind
	root  *yaml.Node // the mapping; nil when it has no keys
	open  int        // line of the opening fence
	close int        // line of the closing fence
	body  int        // first line after the block; 0 when there is none
	odd   *Problem
}

// findFront finds the front matter block that opens the file. Dashes that turn
// out to be a thematic break leave the whole file as body: prose is never taken
// for metadata and lost.
func findFront(text string, lines []line) front {
	if len(lines) == 0 {
		return front{}
	}
	fence := strings.TrimRight(lines[0].of(text), " \t")
	if fence != "---" && fence != "+++" {
		return front{}
	}
	end := closingFence(text, lines, fence)
	meant := opensWithKey(text, lines)
	if end < 0 {
		if !meant {
			return front{}
		}
		return front{odd: &Problem{Code: ProblemUnterminated, Line: 1,
			Message: fmt.Sprintf("the front matter is never closed within %d bytes; the file is read as text", MaxFrontMatter)}}
	}
	if fence == "+++" {
		return front{kind: frontTOML, root: parseTOML(text, lines[:end]), close: end, body: end + 1, odd: &Problem{Code: ProblemBroken, Line: 1,
			Message: "TOML front matter is read, but never changed"}}
	}
	return readBlock(text, lines, end, meant)
}

// readBlock decides what the lines between the fences are.
func readBlock(text string, lines []line, end int, meant bool) front {
	f := front{kind: frontMapping, close: end, body: end + 1}
	block := ""
	if end > 1 {
		block = text[lines[1].start:lines[end].start]
	}
	if blank(strings.ReplaceAll(strings.ReplaceAll(block, "\n", ""), "\r", "")) {
		return f
	}
	root, err := parseYAML(block)
	gap := blank(lines[1].of(text))
	switch {
	case err != nil && meant:
		f.kind = frontBroken
		f.odd = &Problem{Code: ProblemBroken, Line: 1 + yamlLine(err),
			Message: "the front matter is not valid YAML: " + yamlMessage(err)}
		return f
	case err != nil:
		return front{}
	case root == nil: // comments only
		return f
	case root.Kind != yaml.MappingNode:
		if gap {
			return front{}
		}
		return front{odd: &Problem{Code: ProblemBroken, Line: 2,
			Message: "what stands between the first dashes is not a YAML mapping; it is read as text"}}
	case gap && !hasKnownKey(root):
		return front{}
	}
	f.root = root
	if strings.IndexByte(block, '*') >= 0 && expanded(root, make(map[*yaml.Node]int)) > aliasBudget {
		f.odd = &Problem{Code: ProblemBroken, Line: 1,
			Message: fmt.Sprintf("the aliases of the front matter expand to more than %d values; they are not all followed", aliasBudget)}
	}
	return f
}

// expanded returns how many nodes n stands for with its aliases followed, as far
// as it matters.
func expanded(n *yaml.Node, known map[*yaml.Node]int) int {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if size, ok := known[n]; ok {
		return size
	}
	known[n] = aliasBudget + 1 // an alias inside its own anchor never ends
	size := 1
	for _, c := range n.Content {
		size = min(size+expanded(c, known), aliasBudget+1)
	}
	known[n] = size
	return size
}

// closingFence returns the line that closes the block, or -1.
func closingFence(text string, lines []line, fence string) int {
	for i := 1; i < len(lines) && int(lines[i].start) <= MaxFrontMatter; i++ {
		s := lines[i].of(text)
		if len(s) < 3 || (s[0] != fence[0] && s[0] != '.') {
			continue
		}
		s = strings.TrimRight(s, " \t")
		if s == fence || (fence == "---" && s == "...") {
			return i
		}
	}
	return -1
}

// opensWithKey reports whether the first line behind the fence, comments left
// out, looks like a key.
func opensWithKey(text string, lines []line) bool {
	for _, l := range lines[1:] {
		if t := l.of(text); !strings.HasPrefix(t, "#") {
			return looksLikeKey(t)
		}
	}
	return false
}

// looksLikeKey reports whether a line opens like "key: value" or "key = value".
func looksLikeKey(s string) bool {
	s = strings.TrimLeft(s, " \t\"'")
	n := strings.IndexAny(s, ":=")
	if n <= 0 || n > 64 {
		return false
	}
	for _, r := range s[:n] {
		if !(r == '_' || r == '-' || r == '.' || r == ' ' || r == '"' || r == '\'' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 127) {
			return false
		}
	}
	return strings.Count(strings.TrimSpace(s[:n]), " ") < 3
}

// parseYAML returns the root of the one document in block, nil when it is empty.
func parseYAML(block string) (root *yaml.Node, err error) {
	defer func() {
		// The parser panics on some malformed input; to a reader that is the
		// same as an error.
		if r := recover(); r != nil {
			root, err = nil, fmt.Errorf("yaml: %v", r)
		}
	}()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(block), &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	return doc.Content[0], nil
}

// yamlLine returns the line an error of the YAML parser names, or 1.
func yamlLine(err error) int {
	_, rest, ok := strings.Cut(err.Error(), "line ")
	if !ok {
		return 1
	}
	digits, _, _ := strings.Cut(rest, ":")
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 1
	}
	return n
}

func yamlMessage(err error) string {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	if _, rest, ok := strings.Cut(message, ": "); ok && strings.HasPrefix(message, "line ") {
		message = rest
	}
	return oneLine(cut(message, 200))
}

// normalKey returns the spelling under which a front matter key is known.
func normalKey(key string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(key)), "-", "_")
}

func hasKnownKey(root *yaml.Node) bool {
	for i := 0; i+1 < len(root.Content); i += 2 {
		if knownKey(normalKey(root.Content[i].Value)) {
			return true
		}
	}
	return false
}

// knownKey reports whether a front matter key has a meaning.
func knownKey(key string) bool {
	switch key {
	case "id", "name", "title", "description", "summary", "category", "kind", "type", "metadata", "catalog",
		"tags", "tag", "aliases", "alias", "status", "pinned", "packable", "canonical_key", "confidence",
		"created_at", "created", "date", "updated_at", "updated", "modified", "last_modified", "last_confirmed_at",
		"valid_from", "valid_to", "valid_until", "supersedes", "superseded_by", "source", "source_session_id",
		"source_turn_id", "source_node_ids", "source_events", "trust", "tools":
		return true
	}
	return false
}
