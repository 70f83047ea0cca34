// Package memfile turns one Markdown file with YAML front matter into a
// [memsearch.Memory] and its units, and writes such files.
//
//	bytes -> Decode -> front matter -> Memory
//	                -> body lines   -> Units -> Chunks
//
// Reading is liberal: [Parse] takes any bytes, never fails, and reports what is
// odd as [Problem]s. Writing is strict: [Format] makes a new file with its keys
// in one order, [Splice] changes single front matter keys of an existing file
// and leaves every other byte alone.
//
// Work is bounded by the size of the input: block structure is read by one pass
// over the lines without recursion, front matter is limited to
// [MaxFrontMatter], YAML aliases are followed within a fixed budget, and a file
// has at most [MaxUnits] units. docs/format.md holds the reading rules.
package memfile

import (
	"path"
	"strings"
	"time"

	"github.com/memsearch/memsearch"
)

// Limits of a file.
const (
	MaxFile        = 64 << 20 // bytes of a file that is indexed
	MaxFrontMatter = 64 << 10 // bytes of a front matter block
	MaxUnits       = 60000    // units of a file; the rest of it joins the last
	longBody       = 2000     // bytes from which a body with sections is split
	maxProblems    = 100      // problems reported for a file
	maxHeading     = 300      // bytes of a heading's text
)

// Options says what [Parse] cannot learn from the file. A nil Options is the
// same as a zero one.
type Options struct {
	// ModTime, if not zero, dates units that nothing else dates.
	ModTime time.Time

	// Zone is where dates and times without an offset are read.
	//
	// If nil, it is UTC.
	Zone *time.Location

	// InVault reports whether a file of the vault has the path, slash-separated
	// and relative to the vault. It decides which lines of a MEMORY.md are
	// catalog lines.
	//
	// If nil, every relative link to a Markdown file and every wiki link is
	// taken to lead to a file of the vault.
	InVault func(path string) bool
}

func (o *Options) zone() *time.Location {
	if o.Zone == nil {
		return time.UTC
	}
	return o.Zone
}

// A Problem is something odd about a file. A file with problems is still read.
type Problem struct {
	Code    string // one of the Problem constants
	Message string // one line for a person
	Line    int    // in the file, from 1; 0 when it concerns no line
	Fixable bool   // rewriting the file without loss would remove it
}

// The codes of a [Problem].
const (
	ProblemEncoding     = "encoding"      // not UTF-8, or not valid UTF-8
	ProblemNUL          = "nul"           // NUL bytes, read as spaces
	ProblemBroken       = "front_matter"  // front matter that cannot be read
	ProblemUnterminated = "unterminated"  // front matter or catalog block without an end
	ProblemDuplicateKey = "duplicate_key" // the first one counts
	ProblemDate         = "date"          // not a date; read as not given
	ProblemValidity     = "validity"      // ends before it starts; the end is ignored
	ProblemValue        = "value"         // not one of the values the key may have
	ProblemID           = "id"            // an id that cannot be used
)

// A File is what [Parse] read.
type File struct {
	Memory   memsearch.Memory
	Units    []memsearch.Unit // in file order; none when Skip is set
	Text     string           // the decoded file
	Body     [2]int           // half-open byte range of Text without the front matter
	Problems []Problem
	Skip     string // if not empty, why there is nothing to index
}

// Parse reads the file at path, which is slash-separated and relative to the
// vault. It never fails and never panics; a nil opts is the same as a zero
// Options.
func Parse(path string, raw []byte, opts *Options) *File {
	if opts == nil {
		opts = &Options{}
	}
	if len(raw) > MaxFile {
		return &File{Memory: memsearch.Memory{ID: PathID(path), DerivedID: true, Path: path, Status: memsearch.StatusActive, Packable: true}, Skip: "too large"}
	}
	text, problems := Decode(raw)
	p := &parser{
		opts:  opts,
		text:  text,
		lines: splitLines(text),
		file:  &File{Text: text, Problems: problems},
	}
	p.parse(path)
	return p.file
}

// A parser holds one file while it is read.
type parser struct {
	opts  *Options
	text  string
	lines []line
	file  *File
	front front
	body  int // first line of the body
	scan  scan
	fdate stamp // date or created_at of the front matter
	named stamp // the date in the file's name or its folders'
	daily bool  // the path says a day and nothing else
}

func (p *parser) parse(name string) {
	p.front = findFront(p.text, p.lines)
	p.body = p.front.body
	from := len(p.text)
	if p.body < len(p.lines) {
		from = int(p.lines[p.body].start)
	}
	p.file.Body = [2]int{from, len(p.text)}

	m := &p.file.Memory
	m.Path = name
	p.readFront()
	if m.ID == "" {
		m.ID, m.DerivedID = PathID(name), true
	}

	p.scan = scanBody(p.text, p.lines, p.body)
	if m.Title == "" && len(p.scan.headings) > 0 {
		m.Title = plain(p.scan.headings[0].text)
	}
	if path.Base(name) == CatalogName {
		p.hideCatalog(path.Dir(name))
	}
	p.makeUnits()
}

func (p *parser) problem(code string, line int, fixable bool, message string) {
	if len(p.file.Problems) < maxProblems {
		p.file.Problems = append(p.file.Problems, Problem{Code: code, Message: message, Line: line, Fixable: fixable})
	}
}

// baseName returns the name of a file without its folder and ending.
func baseName(name string) string {
	base := path.Base(name)
	return strings.TrimSuffix(base, path.Ext(base))
}
