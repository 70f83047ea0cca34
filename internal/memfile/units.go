package memfile

import (
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/memsearch/memsearch"
)

// A splitting says where units begin.
type splitting struct {
	sections, bullets, entries bool
}

// A segment is a run of lines that becomes a unit.
type segment struct {
	first, last int // lines of the file
	from        origin
	item        bool      // is an item of a list whose items are units
	content     bool      // holds more than headings, rules and blank lines
	headings    []heading // above it and in it
	section     heading   // the innermost heading at its first content line
	nth         int       // among the bullets or entries of its section, from 1
	stamp       stamp     // the explicit date that opens it
	under       stamp     // the nearest dated heading
}

// An origin says what began a segment.
type origin uint8

const (
	fromText origin = iota
	fromHeading
	fromBullet
	fromEntry
)

// makeUnits cuts the body into units.
func (p *parser) makeUnits() {
	f := p.file
	p.named, p.daily = p.fileDate()
	if !p.named.ok && !p.fdate.ok {
		p.named = p.folderDate()
	}
	how := p.howToSplit()
	segs := p.segments(how)
	if len(segs) == 0 {
		p.noBody()
		return
	}
	ids := newIDs(f.Memory.ID)
	f.Units = make([]memsearch.Unit, 0, len(segs))
	for _, s := range segs {
		u := p.unit(s)
		if u.ID = f.Memory.ID; len(segs) > 1 {
			u.ID = ids.next(s)
		}
		f.Units = append(f.Units, u)
	}
}

// noBody makes the one unit of a file that is front matter only, if that says
// anything.
func (p *parser) noBody() {
	f, m := p.file, &p.file.Memory
	switch {
	case path.Base(m.Path) == CatalogName && p.hidden():
		f.Skip = "catalog only"
	case m.Summary == "" && m.Title == "" && len(m.Tags) == 0 && len(m.Aliases) == 0:
		f.Skip = "empty"
		if p.front.body > 0 {
			f.Skip = "nothing but front matter"
		}
	default:
		said := strings.Join([]string{m.Summary, m.Title, strings.Join(m.Tags, ","), strings.Join(m.Aliases, ",")}, "\n")
		f.Units = []memsearch.Unit{{
			ID: m.ID, MemoryID: m.ID, Lines: [2]int{1, p.front.close + 1},
			Bytes: [2]int{f.Body[0], f.Body[0]}, Hash: digest(said), Occurred: p.occurred(segment{}),
		}}
	}
}

func (p *parser) hidden() bool {
	for _, m := range p.scan.mark {
		if m&markHidden != 0 {
			return true
		}
	}
	return false
}

func (p *parser) unit(s segment) memsearch.Unit {
	from, to := int(p.lines[s.first].start), int(p.lines[s.last].end)
	u := memsearch.Unit{
		MemoryID: p.file.Memory.ID,
		Lines:    [2]int{s.first + 1, s.last + 1},
		Bytes:    [2]int{from, to},
		Text:     p.text[from:to],
		Occurred: p.occurred(s),
	}
	u.Hash = digest(u.Text)
	for _, h := range s.headings {
		if t := plain(h.text); t != "" {
			u.Headings = append(u.Headings, t)
		}
	}
	return u
}

// occurred dates a unit by the best evidence there is.
func (p *parser) occurred(s segment) memsearch.Occurred {
	if s.stamp.ok {
		return s.stamp.occurred(memsearch.DateText)
	}
	if s.under.ok {
		return s.under.occurred(memsearch.DateHeading)
	}
	if p.named.ok {
		return p.named.occurred(memsearch.DateFileName)
	}
	if p.fdate.ok {
		return p.fdate.occurred(memsearch.DateFrontMatter)
	}
	if t := p.opts.ModTime; !t.IsZero() {
		return instant(t).occurred(memsearch.DateModTime)
	}
	return memsearch.Occurred{}
}

// howToSplit decides what the units of the file are.
func (p *parser) howToSplit() splitting {
	zone := p.opts.zone()
	var total, inBullets, bullets, entries int
	for i, c := range p.scan.class {
		m := p.scan.mark[i]
		if m&markHidden != 0 || c == classBlank || c == classHeading || c == classRule {
			continue
		}
		l := p.lines[p.scan.from+i]
		total += int(l.end - l.start)
		if m&markInside != 0 {
			inBullets += int(l.end - l.start)
		}
		if m&markBullet != 0 {
			bullets++
		}
		if p.entry(i) && leadingDate(l.of(p.text), zone).ok {
			entries++
		}
	}
	dated := 0
	for i := range p.scan.headings {
		h := &p.scan.headings[i]
		if h.stamp = headingDate(h.text, zone); h.stamp.ok {
			dated++
		}
	}
	base := baseName(p.file.Memory.Path)
	st := parseStamp(base, zone)
	daily := p.daily || st.ok && st.gran == memsearch.GranularityDay
	how := splitting{
		sections: daily || dated >= 2 || total > longBody,
		bullets:  bullets >= 3 && inBullets*2 > total,
		entries:  entries >= 3,
	}
	how.sections = how.sections || how.bullets || how.entries
	return how
}

// entry reports whether a dated entry may open at line i of the scan: prose or
// an item of the top level.
func (p *parser) entry(i int) bool {
	m := p.scan.mark[i]
	if p.scan.class[i] != classText || m&markBullet == 0 && m&markInside != 0 {
		return false
	}
	columns, _ := indentOf(p.lines[p.scan.from+i].of(p.text))
	return columns < 4
}

// segments cuts the lines of the body.
func (p *parser) segments(how splitting) []segment {
	c := &cutter{p: p, how: how, zone: p.opts.zone(), catalog: path.Base(p.file.Memory.Path) == CatalogName}
	for i := range p.scan.class {
		c.line(i)
	}
	c.flush(len(p.scan.class))
	return c.out
}

// A cutter collects segments while it walks over the lines.
type cutter struct {
	p       *parser
	how     splitting
	zone    *time.Location
	catalog bool

	out   []segment
	cur   segment
	open  bool
	stack []heading // headings above the line, outermost first
	next  int       // the next heading
	nth   int       // items of the section so far
}

func (c *cutter) line(i int) {
	s := &c.p.scan
	cl, m := s.class[i], s.mark[i]
	if m&markHidden != 0 {
		c.flush(i)
		return
	}
	if cl == classBlank {
		return
	}
	if h := c.heading(s.from + i); h != nil {
		c.nth = 0
		for len(c.stack) > 0 && c.stack[len(c.stack)-1].level >= h.level {
			c.stack = c.stack[:len(c.stack)-1]
		}
		if !c.open || c.how.sections && c.cur.content {
			c.begin(i, fromHeading)
		}
		c.stack = append(c.stack, *h)
		if len(c.cur.headings) < maxUnitHeadings {
			c.cur.headings = append(c.cur.headings, *h)
		}
		return
	}
	if cl == classHeading || cl == classRule {
		if !c.open {
			c.begin(i, fromText)
		}
		return
	}
	c.contentLine(i, cl, m)
}

// contentLine takes a line that says something.
func (c *cutter) contentLine(i int, cl class, m mark) {
	p := c.p
	var st stamp
	from := fromText
	item := c.how.bullets && m&markBullet != 0
	if p.entry(i) && (c.how.entries || item || !c.cur.content) {
		st = leadingDate(p.lines[p.scan.from+i].of(p.text), c.zone)
	}
	switch {
	case c.how.entries && st.ok:
		from = fromEntry
	case item:
		from = fromBullet
	}
	leftList := c.cur.item && m&markInside == 0 && cl == classText
	if !c.open || c.cur.content && (from != fromText || leftList) {
		c.begin(i, from)
	}
	if c.cur.content {
		return
	}
	c.cur.content = true
	c.cur.stamp, c.cur.item = st, item
	c.cur.from = max(c.cur.from, from)
	if from != fromText {
		c.nth++
		c.cur.nth = c.nth
	}
	for j := len(c.stack) - 1; j >= 0 && !c.cur.under.ok; j-- {
		c.cur.under = c.stack[j].stamp
	}
	if len(c.stack) > 0 {
		c.cur.section = c.stack[len(c.stack)-1]
	}
}

// maxUnitHeadings bounds the headings that a unit lists.
const maxUnitHeadings = 32

// heading returns the heading that starts at line n.
func (c *cutter) heading(n int) *heading {
	hs := c.p.scan.headings
	for c.next < len(hs) && hs[c.next].first < n {
		c.next++
	}
	if c.next < len(hs) && hs[c.next].first == n {
		return &hs[c.next]
	}
	return nil
}

// begin ends the segment before line i and opens one there.
func (c *cutter) begin(i int, from origin) {
	if c.open && len(c.out) == MaxUnits-1 {
		return
	}
	c.flush(i)
	c.open = true
	c.cur = segment{first: c.p.scan.from + i, from: from, headings: append([]heading(nil), c.stack...)}
}

// flush ends the segment before line i, without the blank lines at its end.
func (c *cutter) flush(i int) {
	if !c.open {
		return
	}
	c.open = false
	s := &c.p.scan
	last := i - 1
	for last >= 0 && s.class[last] == classBlank {
		last--
	}
	c.cur.last = s.from + last
	keep := c.cur.content || !c.catalog && len(c.cur.headings) > 0 && c.holdsHeading()
	if keep {
		if len(c.cur.headings) > 0 && !c.cur.content {
			c.cur.section = c.cur.headings[len(c.cur.headings)-1]
		}
		c.out = append(c.out, c.cur)
	}
	c.cur = segment{}
}

// holdsHeading reports whether a heading stands in the segment itself.
func (c *cutter) holdsHeading() bool {
	for _, h := range c.cur.headings {
		if h.first >= c.cur.first {
			return true
		}
	}
	return false
}

// ids gives the units of a file their ids.
type ids struct {
	memory string
	used   map[string]int
	plain  int // units without a heading or date so far
}

func newIDs(memory string) *ids { return &ids{memory: memory, used: make(map[string]int)} }

// next returns an id that depends on nothing behind the segment, so that text
// appended to a file leaves the ids before it alone.
func (d *ids) next(s segment) string {
	name := slug(s.section.text)
	switch {
	case s.from == fromEntry:
		name = s.stamp.time().Format(time.DateOnly)
	case s.from == fromBullet && name != "":
		name += "-" + strconv.Itoa(s.nth)
	case name == "":
		d.plain++
		name = strconv.Itoa(d.plain)
	}
	id := name
	for d.used[id] > 0 {
		d.used[name]++
		id = name + "-" + strconv.Itoa(d.used[name])
	}
	d.used[id]++
	return d.memory + "#" + id
}
