package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/kaptinlin/jsonrepair"
)

// maxObject is the longest reply, in bytes, that is searched for JSON.
const maxObject = 1 << 20

// maxRepair is how many bytes of a reply are repaired at most: the time it takes
// grows with their square, and with how deep they are nested.
const maxRepair = 32 << 10

// maxCandidates is how many stretches of a reply are tried.
const maxCandidates = 64

// Object returns the JSON object in what a model said. Around it may stand a chain
// of thought in tags, fences, prose and other JSON: the last whole object counts,
// since a model that corrects itself does so at the end. An array counts where there
// is no object, and an echo of the schema does not. What is not JSON but almost is
// repaired if nothing else is found. An error wraps [ErrReply] and quotes nothing.
func Object(text string) (json.RawMessage, error) {
	if len(text) > maxObject {
		return nil, fmt.Errorf("%w: %d bytes of text", ErrReply, len(text))
	}
	text = answerOf(text)
	if inner, ok := encodedTwice(text); ok {
		text = answerOf(inner)
	}
	if isValue([]byte(text)) {
		return compact([]byte(text)), nil
	}
	found := values(text)
	for _, bracket := range []string{"{", "["} {
		if raw := lastOf(found, bracket); raw != nil {
			return compact(raw), nil
		}
	}
	if len(found) > 0 {
		return nil, fmt.Errorf("%w: JSON that cannot be repaired, or only the schema", ErrReply)
	}
	return nil, fmt.Errorf("%w: no JSON object", ErrReply)
}

// lastOf returns the last of the found stretches that begin with a bracket and are
// JSON or can be made that.
func lastOf(found []string, bracket string) json.RawMessage {
	for _, f := range slices.Backward(found) {
		if strings.HasPrefix(f, bracket) && isValue([]byte(f)) {
			return json.RawMessage(f)
		}
	}
	left := maxRepair
	for _, f := range slices.Backward(found) {
		if !strings.HasPrefix(f, bracket) {
			continue
		}
		if left -= len(f); left < 0 {
			return nil
		}
		if raw, ok := repair(f); ok && !isSchema(raw) {
			return raw
		}
	}
	return nil
}

// isValue reports whether raw is a JSON object or array, and not a schema.
func isValue(raw []byte) bool {
	return (bytes.HasPrefix(raw, []byte("{")) || bytes.HasPrefix(raw, []byte("["))) && json.Valid(raw) && !isSchema(raw)
}

// answerOf drops what a model thought before it answered. A thought that is never
// closed is kept: the answer may stand in it. In what is JSON as it stands, a tag is
// part of a string.
func answerOf(text string) string {
	text = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "\ufeff"))
	if json.Valid([]byte(text)) {
		return text
	}
	for _, tag := range []string{"think", "thinking", "reasoning"} {
		if i := strings.LastIndex(text, "</"+tag+">"); i >= 0 {
			text = text[i+len(tag)+3:]
		}
	}
	return strings.TrimSpace(text)
}

// encodedTwice returns the text of a reply that is one JSON string.
func encodedTwice(text string) (string, bool) {
	var inner string
	if !strings.HasPrefix(text, `"`) || json.Unmarshal([]byte(text), &inner) != nil {
		return "", false
	}
	return inner, true
}

// values returns the stretches between outermost brackets that match, and a last
// one that is never closed. Brackets in strings do not count.
func values(text string) (found []string) {
	for at := 0; at < len(text) && len(found) < maxCandidates; {
		i := strings.IndexAny(text[at:], "{[")
		if i < 0 {
			break
		}
		at += i
		end := closing(text[at:])
		if end < 0 {
			// Not closed: this may be the start of a truncated value, or a
			// bracket in prose before the value.
			if len(found) == 0 {
				found = append(found, text[at:])
			}
			at++
			continue
		}
		found = append(found, text[at:at+end])
		at += end
	}
	return found
}

// maxDepth is how deep brackets are followed.
const maxDepth = 64

// closing returns where the bracket that text begins with is closed, -1 if it is
// not.
func closing(text string) int {
	var open []byte
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if len(open) == maxDepth {
				return -1
			}
			open = append(open, c+2) // '}' and ']' stand two after theirs
		case c == '}' || c == ']':
			if open[len(open)-1] != c {
				return -1
			}
			if open = open[:len(open)-1]; len(open) == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// deep reports whether text is nested deeper than brackets are followed, counting
// those in strings.
func deep(text string) bool {
	open := 0
	for i := range len(text) {
		switch text[i] {
		case '{', '[':
			open++
		case '}', ']':
			open--
		}
		if open > maxDepth {
			return true
		}
	}
	return false
}

// repair makes JSON of what is almost that.
func repair(text string) (raw json.RawMessage, ok bool) {
	defer func() {
		if recover() != nil { // the library indexes what it does not check
			raw, ok = nil, false
		}
	}()
	if deep(text) {
		return nil, false
	}
	fixed, err := jsonrepair.Repair(text)
	raw = json.RawMessage(fixed)
	if err != nil || !json.Valid(raw) || !bytes.HasPrefix(bytes.TrimSpace(raw), []byte(text[:1])) {
		return nil, false
	}
	return raw, true
}

// isSchema reports whether raw is a JSON Schema rather than a value.
func isSchema(raw []byte) bool {
	var s map[string]json.RawMessage
	if json.Unmarshal(raw, &s) != nil {
		return false
	}
	_, properties := s["properties"]
	_, schema := s["$schema"]
	return schema || properties && string(s["type"]) == `"object"`
}

func compact(raw []byte) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}
