package memfile

import "strings"

// TrimCallout returns line without the marker of an Obsidian callout at its
// begin, such as [!note] or, folded, [!tip]-.
func TrimCallout(line string) string {
	rest, ok := strings.CutPrefix(line, "[!")
	if !ok {
		return line
	}
	kind, rest, ok := strings.Cut(rest, "]")
	if !ok || kind == "" || strings.ContainsAny(kind, "[ \t") {
		return line
	}
	return strings.TrimLeft(strings.TrimLeft(rest, "+-"), " \t")
}
