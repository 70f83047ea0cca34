package memfile

import "strings"

// A class says what a line of the body is.
type class uint8

const (
	classBlank   class = iota
	classText          // prose, tables, quotes, indented code
	classHeading       // of a heading; an underlined one has several lines
	classRule          // thematic break, or a comment that stands alone
	classCode          // fence or inside one
)

// A mark adds what classes leave out.
type mark uint8

const (
	markBullet mark = 1 << iota // opens an item of a top-level bullet list
	markInside                  // belongs to such an item, its first line included
	markFirst                   // opens a paragraph that is in no list and no quote
	markHidden                  // belongs to no unit: catalog lines
)

// A heading is a heading of the top level of the document.
type heading struct {
	first, last int // lines
	level       int
	text        string
	stamp       stamp // the date it names
}

// scan is the block structure of a body, as far as units need it. It is read by
// one pass without recursion, so that neither depth nor length can hurt.
type scan struct {
	from     int // line of the file that entry 0 of class and mark describes
	class    []class
	mark     []mark
	headings []heading
}

// A scanner walks over the lines of a body.
type scanner struct {
	text  string
	lines []line
	out   scan

	fence      string // characters that opened the current fence; "" outside
	htmlEnd    string // what ends the current HTML block; "\n" for a blank line
	within     int    // columns that the container of the fence or HTML block takes
	item       int    // columns at which the content of the current list item starts; 0: none
	bullet     bool   // the item belongs to a bullet list
	para       int    // first line of the current top-level paragraph, -1: none
	open       bool   // a paragraph is open somewhere, so that a line may continue it
	blankAfter bool   // the last line was blank
}

func scanBody(text string, lines []line, from int) scan {
	n := max(len(lines)-from, 0)
	s := &scanner{text: text, lines: lines, para: -1, out: scan{from: from, class: make([]class, n), mark: make([]mark, n)}}
	for i := from; i < len(lines); i++ {
		s.line(i, lines[i].of(text))
	}
	return s.out
}

func (s *scanner) set(i int, c class, m mark) {
	s.out.class[i-s.out.from] = c
	if s.item > 0 && s.bullet {
		m |= markInside
	}
	s.out.mark[i-s.out.from] |= m
}

func (s *scanner) line(i int, t string) {
	columns, n := indentOf(t)
	rest := t[n:]
	if blank(rest) {
		s.blankLine(i)
		return
	}
	if columns < s.within {
		s.fence, s.htmlEnd, s.within = "", "", 0 // the list item that held the block is over
	}
	if s.item > 0 && columns < s.item && s.fence == "" && s.htmlEnd == "" && !s.lazy(rest, columns) {
		s.item = 0
		s.close()
	}
	defer func() { s.blankAfter = false }()
	switch {
	case s.fence != "":
		s.set(i, classCode, 0)
		if (s.within > 0 || columns <= 3) && closesFence(rest, s.fence) {
			s.fence, s.within = "", 0
		}
	case s.htmlEnd != "":
		s.set(i, classText, 0)
		if s.htmlEnd != "\n" && containsFold(rest, s.htmlEnd) {
			s.htmlEnd, s.within = "", 0
		}
	default:
		s.block(i, rest, columns)
	}
}

func (s *scanner) blankLine(i int) {
	if s.fence != "" {
		s.set(i, classCode, 0)
		return
	}
	s.set(i, classBlank, 0)
	s.para, s.open, s.blankAfter = -1, false, true
	if s.htmlEnd == "\n" {
		s.htmlEnd, s.within = "", 0
	}
}

// lazy reports whether a line that is indented less than the item's content
// continues the paragraph of the item all the same.
func (s *scanner) lazy(rest string, columns int) bool {
	if !s.open || s.blankAfter {
		return false
	}
	if columns > 3 {
		return true
	}
	if _, ok := opensFence(rest); ok || isRule(rest) || headingLevel(rest) > 0 || rest[0] == '>' || markerLen(rest) > 0 {
		return false
	}
	return htmlBlock(rest) == ""
}

// block reads a line that neither fence nor HTML block claims.
func (s *scanner) block(i int, rest string, columns int) {
	inner := columns - s.item // columns inside the item
	if s.item > 0 && columns < s.item {
		inner = 0
	}
	inItem := s.item > 0 && columns >= s.item
	// A fence in an item of a nested list is indented further.
	if fence, ok := opensFence(rest); ok && (inItem || inner <= 3) {
		s.fence = fence
		if inItem {
			s.within = s.item
		}
		s.set(i, classCode, 0)
		s.close()
		return
	}
	if inner > 3 {
		s.prose(i, inItem || s.open)
		return
	}
	if !inItem && s.underline(i, rest) {
		return
	}
	switch end := htmlBlock(rest); {
	case isRule(rest):
		s.set(i, classRule, 0)
		s.close()
	case markerLen(rest) > 0 && s.mayInterrupt(rest):
		s.listItem(i, rest, columns, inItem)
	case headingLevel(rest) > 0:
		s.close()
		if inItem {
			s.set(i, classText, 0)
			return
		}
		s.set(i, classHeading, 0)
		s.out.headings = append(s.out.headings, heading{first: i, last: i, level: headingLevel(rest), text: headingText(rest)})
	case rest[0] == '>':
		s.close()
		s.set(i, classText, 0)
		s.open = true
	case end != "":
		s.html(i, rest, end, inItem)
	default:
		s.prose(i, inItem)
	}
}

// close ends the current paragraph.
func (s *scanner) close() { s.para, s.open = -1, false }

// prose takes a line as prose.
func (s *scanner) prose(i int, inside bool) {
	var m mark
	if !s.open && !inside && s.item == 0 {
		s.para = i
		m = markFirst
	}
	s.open = true
	s.set(i, classText, m)
}

// underline takes a line of = or - under a short paragraph as its heading mark.
// Under a long one it is the thematic break that its writer meant.
func (s *scanner) underline(i int, rest string) bool {
	level := underlineLevel(rest)
	if level == 0 || s.para < 0 || s.item > 0 {
		return false
	}
	text := s.text[s.lines[s.para].start:s.lines[i-1].end]
	if len(text) > maxHeading {
		return false
	}
	for j := s.para; j <= i; j++ {
		s.out.class[j-s.out.from], s.out.mark[j-s.out.from] = classHeading, 0
	}
	s.out.headings = append(s.out.headings, heading{first: s.para, last: i, level: level, text: oneLine(text)})
	s.close()
	return true
}

// mayInterrupt reports whether a list marker opens a list here. Inside a
// paragraph only a bullet or the number 1 with text behind it does.
func (s *scanner) mayInterrupt(rest string) bool {
	if !s.open || s.item > 0 {
		return true
	}
	n := markerLen(rest)
	if blank(rest[n:]) {
		return false
	}
	return n == 1 || rest[:n-1] == "1"
}

func (s *scanner) listItem(i int, rest string, columns int, inItem bool) {
	n := markerLen(rest)
	s.close()
	after, _ := indentOf(rest[n:])
	if blank(rest[n:]) || after > 4 {
		after = 1
	}
	content := strings.TrimLeft(rest[n:], " \t")
	if inItem {
		s.set(i, classText, 0) // nested: still the text of the item
	} else {
		s.item, s.bullet = columns+n+after, n == 1
		m := mark(0)
		if s.bullet {
			m = markBullet
		}
		s.set(i, classText, m)
	}
	if fence, ok := opensFence(content); ok {
		s.fence, s.within = fence, columns+n+after
		return
	}
	s.open = content != ""
}

// html opens an HTML block.
func (s *scanner) html(i int, rest, end string, inItem bool) {
	s.close()
	c := classText
	if end == "-->" {
		if k := strings.Index(rest, end); k >= 0 && blank(rest[k+len(end):]) {
			c = classRule
		}
	}
	s.set(i, c, 0)
	if end == "\n" || !containsFold(rest[1:], end) {
		if s.htmlEnd = end; inItem {
			s.within = s.item
		}
	}
}
