package main

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// printable makes text safe for a terminal: control and direction characters,
// which can hide or forge what a person sees, become visible.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == unicode.ReplacementChar:
			return '·'
		}
		return r
	}, strings.ToValidUTF8(s, "·"))
}

// printableLines is printable for text of several lines.
func printableLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = printable(l)
	}
	return strings.Join(lines, "\n")
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	return slices.Sorted(maps.Keys(m))
}
