package memfile

import (
	"slices"
	"strings"
)

// markerLen returns the bytes of the list marker that opens s: 1 for a bullet,
// more for a number, 0 for none.
func markerLen(s string) int {
	if s == "" {
		return 0
	}
	n := 1
	switch c := s[0]; {
	case c == '-' || c == '*' || c == '+':
	case c >= '0' && c <= '9':
		for n < len(s) && n < 10 && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		if n > 9 || n == len(s) || s[n] != '.' && s[n] != ')' {
			return 0
		}
		n++
	default:
		return 0
	}
	if n < len(s) && s[n] != ' ' && s[n] != '\t' {
		return 0
	}
	return n
}

// isRule reports whether s is a thematic break.
func isRule(s string) bool {
	c := s[0]
	if c != '-' && c != '*' && c != '_' {
		return false
	}
	n := 0
	for i := range len(s) {
		switch s[i] {
		case c:
			n++
		case ' ', '\t':
		default:
			return false
		}
	}
	return n >= 3
}

// headingLevel returns the level of the heading that s is by its number signs,
// or 0.
func headingLevel(s string) int {
	n := 0
	for n < len(s) && s[n] == '#' {
		n++
	}
	if n == 0 || n > 6 || n < len(s) && s[n] != ' ' && s[n] != '\t' {
		return 0
	}
	return n
}

// headingText returns the text of a heading without its number signs.
func headingText(s string) string {
	s = strings.Trim(strings.TrimLeft(s, "#"), " \t")
	if t := strings.TrimRight(s, "#"); t == "" || strings.HasSuffix(t, " ") || strings.HasSuffix(t, "\t") {
		s = strings.TrimRight(t, " \t")
	}
	return oneLine(cut(s, maxHeading))
}

// underlineLevel returns the level of the heading that a line of = or - makes of
// the paragraph above it, or 0.
func underlineLevel(s string) int {
	t := strings.TrimRight(s, " \t")
	switch {
	case strings.Trim(t, "=") == "":
		return 1
	case strings.Trim(t, "-") == "":
		return 2
	}
	return 0
}

// opensFence returns the run of characters that opens a code fence.
func opensFence(s string) (string, bool) {
	if len(s) < 3 || s[0] != '`' && s[0] != '~' {
		return "", false
	}
	n := 1
	for n < len(s) && s[n] == s[0] {
		n++
	}
	if n < 3 || s[0] == '`' && strings.IndexByte(s[n:], '`') >= 0 {
		return "", false
	}
	return s[:n], true
}

// closesFence reports whether s closes the fence that open opened.
func closesFence(s, open string) bool {
	t := strings.TrimRight(s, " \t")
	return len(t) >= len(open) && strings.Trim(t, open[:1]) == ""
}

// htmlBlock returns what ends the HTML block that s opens, "\n" standing for a
// blank line, or "" when it opens none.
func htmlBlock(s string) string {
	if len(s) < 2 || s[0] != '<' {
		return ""
	}
	if strings.HasPrefix(s, "<!--") {
		return "-->"
	}
	name := strings.TrimPrefix(s[1:], "/")
	n := 0
	for n < len(name) && n < 12 && (name[n]|0x20 >= 'a' && name[n]|0x20 <= 'z' || n > 0 && name[n] >= '1' && name[n] <= '6') {
		n++
	}
	if n == 0 || n < len(name) && strings.IndexByte(" \t>/", name[n]) < 0 {
		return ""
	}
	tag := strings.ToLower(name[:n])
	switch tag {
	case "pre", "script", "style", "textarea":
		if s[1] != '/' {
			return "</" + tag + ">"
		}
	}
	if _, ok := slices.BinarySearch(blockTags, tag); ok {
		return "\n"
	}
	return ""
}

// blockTags are the HTML elements that open a block of CommonMark's kind 6.
var blockTags = strings.Fields(`address article aside base basefont blockquote body caption center col colgroup dd
	details dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head
	header hr html iframe legend li link main menu menuitem nav noframes ol optgroup option p param search
	section summary table tbody td tfoot th thead title tr track ul`)

// containsFold reports whether s contains lower, which is in lower case, in any
// case.
func containsFold(s, lower string) bool {
	for {
		i := strings.IndexByte(s, lower[0])
		if i < 0 || len(s)-i < len(lower) {
			return false
		}
		if strings.EqualFold(s[i:i+len(lower)], lower) {
			return true
		}
		s = s[i+1:]
	}
}

// plain returns the text of a heading without emphasis, code and link marks.
func plain(s string) string {
	if !strings.ContainsAny(s, "*_`[") {
		return s
	}
	for {
		open := strings.IndexByte(s, '[')
		if open < 0 {
			break
		}
		mid := strings.Index(s[open:], "](")
		if mid < 0 {
			break
		}
		end := strings.IndexByte(s[open+mid:], ')')
		if end < 0 {
			break
		}
		s = s[:open] + s[open+1:open+mid] + s[open+mid+end+1:]
	}
	s = strings.NewReplacer("**", "", "__", "", "`", "", "[[", "", "]]", "").Replace(s)
	if len(s) > 2 && (s[0] == '*' || s[0] == '_') && s[len(s)-1] == s[0] {
		s = s[1 : len(s)-1]
	}
	return oneLine(s)
}
