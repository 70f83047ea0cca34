package memfile

import (
	"strings"
	"unicode/utf8"
)

// A line is a half-open byte range without its line end. Files are limited to
// [MaxFile] bytes, so 32 bits are enough and a file of empty lines stays small.
type line struct {
	start, end int32
}

func (l line) of(text string) string { return text[l.start:l.end] }

// splitLines splits at LF, CRLF and CR. A line end that closes the text starts
// no further line.
func splitLines(text string) []line {
	lines := make([]line, 0, strings.Count(text, "\n")+1)
	lf, cr := indexFrom(text, '\n', 0), indexFrom(text, '\r', 0)
	for start := 0; start < len(text); {
		end := min(lf, cr)
		lines = append(lines, line{int32(start), int32(end)})
		start = end + 1
		if end == cr && lf == cr+1 {
			start++
		}
		if lf < start {
			lf = indexFrom(text, '\n', start)
		}
		if cr < start {
			cr = indexFrom(text, '\r', start)
		}
	}
	return lines
}

// indexFrom returns the index of the first b in text at or after from, or the
// length of text.
func indexFrom(text string, b byte, from int) int {
	if from >= len(text) {
		return len(text)
	}
	if i := strings.IndexByte(text[from:], b); i >= 0 {
		return from + i
	}
	return len(text)
}

// nextStart returns where the line after line i starts.
func nextStart(text string, lines []line, i int) int {
	if i+1 < len(lines) {
		return int(lines[i+1].start)
	}
	return len(text)
}

// indentOf returns the columns of white space that open s, a tab reaching to the
// next multiple of four, and their bytes.
func indentOf(s string) (columns, bytes int) {
	for bytes < len(s) {
		switch s[bytes] {
		case ' ':
			columns++
		case '\t':
			columns += 4 - columns%4
		default:
			return columns, bytes
		}
		bytes++
	}
	return columns, bytes
}

func blank(s string) bool { return strings.TrimLeft(s, " \t\v\f\u00a0\u3000") == "" }

// cut returns s cut to at most n bytes, at the end of a rune.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
