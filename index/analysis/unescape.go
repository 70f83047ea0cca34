package analysis

import (
	"html"
	"strings"
)

const (
	esc        = 0x1b
	bell       = 0x07
	maxEntity  = 10   // bytes of a name between & and ;
	maxCommand = 4096 // bytes of an operating system command, as of a link
)

// Unescape drops the escape sequences by which terminals are told of colours,
// titles and links, and replaces the entities of HTML by what they stand for.
// [Each] and [Parse] do so themselves.
func Unescape(s string) string {
	i := strings.IndexAny(s, "\x1b&")
	if i < 0 {
		return s
	}
	var b strings.Builder
	for i >= 0 {
		b.WriteString(s[:i])
		s = s[i:]
		n := 0
		if s[0] == '&' {
			if n = entity(s); n > 0 {
				b.WriteString(html.UnescapeString(s[:n]))
			}
		} else {
			n = escape(s)
		}
		if n == 0 {
			n = 1
			b.WriteByte(s[0])
		}
		s = s[n:]
		i = strings.IndexAny(s, "\x1b&")
	}
	b.WriteString(s)
	return b.String()
}

// entity returns the length of the entity that s begins with, 0 when there is
// none: without its semicolon it may be a part of a URL.
func entity(s string) int {
	n := 1
	if n < len(s) && s[n] == '#' {
		n++
	}
	from := n
	for n < len(s) && n <= maxEntity && (isLetter(s[n]) || isDigit(s[n])) {
		n++
	}
	if n == from || n >= len(s) || s[n] != ';' {
		return 0
	}
	return n + 1
}

// escape returns the length of the escape sequence that s begins with, 0 when
// it is none.
func escape(s string) int {
	switch {
	case len(s) < 2:
		return 0
	case s[1] == '[':
		return control(s, 2)
	case s[1] == ']':
		return command(s)
	}
	return 0
}

// control returns the length of a control sequence whose parameters begin at n.
func control(s string, n int) int {
	for n < len(s) && s[n] >= 0x20 && s[n] < 0x40 {
		n++
	}
	if n < len(s) && s[n] >= 0x40 && s[n] < 0x7f {
		return n + 1
	}
	return 0
}

// command returns the length of an operating system command, which ends with a
// bell or a backslash that is escaped.
func command(s string) int {
	for n := 2; n < min(len(s), maxCommand); n++ {
		switch {
		case s[n] == bell:
			return n + 1
		case s[n] == esc && n+1 < len(s) && s[n+1] == '\\':
			return n + 2
		case s[n] == '\n' || s[n] == esc:
			return 0
		}
	}
	return 0
}
