// Package escape makes text safe to stand in a prompt.
//
//	memory text -> Text, Roles, Line, Attribute -> text that opens no tag and speaks for no role
//
// What it changes stays readable: a bracket or colon becomes an entity. It makes no
// claim that a model will not be persuaded by what a text says, only that the
// text cannot pass for a part of the prompt around it.
package escape

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// reserved are the beginnings of tag names that carry authority somewhere: ours,
// and those by which chat formats mark roles, tools and instructions.
var reserved = []string{"memor", "system", "sys", "user", "assistant", "human", "developer", "model", "tool", "function",
	"instruction", "im_", "inst", "antml", "invoke", "parameter", "prompt", "context", "begin_of", "end_of", "start_of",
	"endoftext", "eot", "start_header", "end_header", "channel", "message", "result", "thinking", "think", "policy", "admin"}

// Text makes text safe to stand in a context. A bracket that opens a
// reserved tag becomes an entity, which a reader still understands; control and
// direction characters go, since they hide what is there from one reader and
// not from another.
func Text(text string) string {
	text = shown(text)
	var b strings.Builder
	b.Grow(len(text) + 16)
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case (r == '<' || r == '＜' || r == '﹤') && (opensTag(text[i+n:]) || wholeTag(text[i+n:])),
			r >= utf8.RuneSelf && strings.ContainsRune(likeOpening, r) && wholeTag(text[i+n:]):
			b.WriteString("&lt;")
		case (r == '[' || r == '［') && opensRole(text[i+n:]):
			b.WriteString("&#91;")
		default:
			b.WriteString(text[i : i+n])
		}
		i += n
	}
	return b.String()
}

// shown returns text as it shows: valid, without hidden characters, its lines ended
// alike. It comes before all else, since a tag may be spelt around what it drops.
func shown(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for i, r := range text {
		switch {
		case r == '\r':
			if !strings.HasPrefix(text[i+1:], "\n") {
				b.WriteByte('\n')
			}
		case r == '\u2028' || r == '\u2029' || r == '\u0085':
			b.WriteByte('\n')
		case !hidden(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}

// hidden reports whether r shows nothing, or changes how others are shown. The
// joiners that emoji and some scripts are spelt with are kept.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == '\u200c' || r == '\u200d':
		return false
	case r >= 0xe0000 && r <= 0xe0fff, r >= 0xfe00 && r <= 0xfe0e: // tags, variation selectors
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}

// opensTag reports whether what follows a bracket makes it a reserved tag, or a
// token such as <|im_start|>. Spaces, slashes and characters that show nothing
// do not help.
func opensTag(s string) bool {
	name := tagName(s)
	if name == "" {
		return false
	}
	if name[0] == '|' {
		return true
	}
	if name == "s" {
		return true // the start and end token of some models
	}
	return isReserved(name)
}

// opensRole reports whether what follows a square bracket makes it a role token
// such as [INST] or [/SYSTEM].
func opensRole(s string) bool {
	name := tagName(s)
	for _, p := range []string{"inst", "sys", "system", "assistant", "user", "human", "developer", "tool_"} {
		rest, ok := strings.CutPrefix(name, p)
		if ok && (strings.HasPrefix(rest, "]") || p == "tool_") {
			return true
		}
	}
	return false
}

// tagName returns the first letters after a bracket, folded to lower-case ASCII
// where they are full-width, without what does not count.
func tagName(s string) string {
	const enough = 16
	name := make([]byte, 0, enough)
	skipped := 0
	for _, r := range s {
		if r >= 0xff01 && r <= 0xff5e {
			r -= 0xfee0
		}
		r = unicode.ToLower(r)
		switch {
		case len(name) == enough || skipped > 64:
			return string(name)
		case hidden(r), r == '\u200c', r == '\u200d', unicode.Is(unicode.Mn, r):
			skipped++
		case len(name) == 0 && (unicode.IsSpace(r) || r == '/' || r == '\\' || r == '<' || r == '!' || r == '?'):
			skipped++
		case r == '|' && len(name) == 0:
			return "|"
		case r >= 'a' && r <= 'z' || r == '_' || r == '-':
			name = append(name, byte(r))
		case r == ']':
			return string(append(name, ']'))
		default:
			return string(name)
		}
	}
	return string(name)
}

// Attribute makes s safe between the double quotes of an attribute.
func Attribute(s string) string {
	return attributeEscapes.Replace(Line(s))
}

var attributeEscapes = strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;", ">", "&gt;")

// Line makes s one line without characters that show nothing.
func Line(s string) string {
	return strings.Join(strings.Fields(Text(s)), " ")
}
