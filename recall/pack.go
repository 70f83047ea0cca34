package recall

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/escape"
	"github.com/memsearch/memsearch/internal/tokens"
)

// A Section is a part of a context. Sections stand in this order.
type Section int

// The sections of a context.
const (
	SectionPinned Section = iota
	SectionTimeline
	SectionMemories
	SectionHistory
	SectionTurns
	SectionCatalog // only where nothing was searched
	numSections
)

var sectionTitles = [numSections]string{"Pinned", "Timeline constraints", "Memories", "Packed history", "Recent turns", "Catalog"}

// A Piece is one unit on its way into a context.
type Piece struct {
	Section  Section
	Scope    string // name of its scope when several are searched, else empty
	ID       string // unit id; empty for what is no memory
	Category memsearch.Category
	Date     string // as it is shown; may be empty
	Source   string // path and lines; may be empty
	Summary  string // shown when Text does not contain it
	Text     string
}

// A Packed context fits its budget.
type Packed struct {
	Text   string
	Tokens int      // upper bound of Text's token count
	Used   []string // ids of the pieces in Text, in the order they were given
	Cut    bool     // the first piece did not fit whole
}

// Pack writes as many of pieces as fit budget tokens, in the order given, which
// is that of their worth, and stops at the first that does not fit: a larger
// budget never loses a piece. A first piece that is too large is cut after a
// sentence. A text that was written already is left out.
func Pack(pieces []Piece, budget int) Packed {
	seen := map[string]bool{}
	var blocks []block
	spent := tokens.Bound(closing) + tokens.Bound(opening(nil)) + 1
	var used [numSections]bool
	for i := range pieces {
		p := &pieces[i]
		norm := normalText(p.Text)
		if norm != "" && seen[norm] {
			continue
		}
		seen[norm] = true
		b := newBlock(p)
		cost := b.cost()
		if !used[p.Section] {
			cost += sectionCost(p.Section)
		}
		if spent+cost <= budget {
			spent += cost
			used[p.Section] = true
			blocks = append(blocks, b)
			continue
		}
		if len(blocks) == 0 {
			return packFirst(p, budget)
		}
		break
	}
	return finish(blocks, budget)
}

// finish renders blocks. The costs of the parts bound that of the whole; should
// they ever not, the last pieces give way.
func finish(blocks []block, budget int) Packed {
	for ; len(blocks) > 0; blocks = blocks[:len(blocks)-1] {
		text := render(blocks)
		if n := tokens.Bound(text); n <= budget {
			out := Packed{Text: text, Tokens: n}
			for _, b := range blocks {
				if b.id != "" {
					out.Used = append(out.Used, b.id)
				}
			}
			return out
		}
	}
	return Packed{}
}

// packFirst writes the longest run of sentences of p that fits, or nothing.
func packFirst(p *Piece, budget int) Packed {
	var out Packed
	head := *p
	if says(p.Text, p.Summary) {
		head.Summary = "" // though it may stand in the part that is cut off
	}
	for _, end := range sentenceEnds(p.Text) {
		short := head
		short.Text = strings.TrimRightFunc(p.Text[:end], unicode.IsSpace) + " …"
		next := finish([]block{newBlock(&short)}, budget)
		if next.Text == "" {
			break
		}
		out = next
		out.Cut = true
	}
	return out
}

// sentenceEnds returns where the sentences and lines of text end, the last one,
// which is the whole, left out.
func sentenceEnds(text string) []int {
	var ends []int
	for i, r := range text {
		next := i + utf8.RuneLen(max(r, 0))
		if r == utf8.RuneError || next >= len(text) {
			continue
		}
		switch r {
		case '。', '！', '？', '；', '\n':
		case '.', '!', '?', ';':
			if after, _ := utf8.DecodeRuneInString(text[next:]); !unicode.IsSpace(after) {
				continue
			}
		default:
			continue
		}
		if strings.TrimSpace(text[:next]) != "" && (len(ends) == 0 || strings.TrimSpace(text[ends[len(ends)-1]:next]) != "") {
			ends = append(ends, next)
		}
	}
	return ends
}

// A block is a piece as it is written.
type block struct {
	section  Section
	id       string
	category memsearch.Category
	text     string
}

func newBlock(p *Piece) block {
	var head []string
	for _, s := range []string{escape.Line(p.Date), escape.Line(p.Source)} {
		if s != "" {
			head = append(head, s)
		}
	}
	text := strings.TrimSpace(escape.Text(p.Text))
	if summary := escape.Line(p.Summary); !says(text, summary) {
		text = strings.TrimSpace(summary + "\n" + text)
	}
	if p.Section != SectionHistory && p.Section != SectionTurns { // whose speakers are real
		text = escape.Roles(text)
	}
	var b strings.Builder
	b.WriteString("- ")
	if len(head) > 0 {
		b.WriteString(strings.Join(head, " "))
		b.WriteByte('\n')
	} else {
		first, rest, _ := strings.Cut(text, "\n")
		b.WriteString(strings.TrimSpace(first))
		b.WriteByte('\n')
		text = rest
	}
	if text == "" {
		return block{section: p.Section, id: p.ID, category: p.Category, text: b.String()}
	}
	// No line of a memory begins where ours do, so none can pass for a heading,
	// another memory or a speaker.
	for l := range strings.SplitSeq(text, "\n") {
		if l = strings.TrimRightFunc(l, unicode.IsSpace); l != "" {
			b.WriteString("  ")
			b.WriteString(l)
		}
		b.WriteByte('\n')
	}
	return block{section: p.Section, id: p.ID, category: p.Category, text: b.String()}
}

// tellApart puts the name of the scope before the ids that several scopes have.
func tellApart(pieces []Piece) {
	first := map[string]string{} // id -> scope
	shared := map[string]bool{}
	for _, p := range pieces {
		if s, ok := first[p.ID]; !ok {
			first[p.ID] = p.Scope
		} else if s != p.Scope {
			shared[p.ID] = true
		}
	}
	for i := range pieces {
		if p := &pieces[i]; p.ID != "" && shared[p.ID] {
			p.ID = p.Scope + "/" + p.ID
		}
	}
}

// says reports whether text holds what summary says, in whatever clothes.
func says(text, summary string) bool { return strings.Contains(normalText(text), normalText(summary)) }

// cost bounds what the block adds to a context.
func (b *block) cost() int {
	n := tokens.Bound(b.text)
	if b.id != "" {
		n += tokens.Bound(" "+escape.Attribute(b.id)) + tokens.Bound(" "+escape.Attribute(string(b.category)))
	}
	return n
}

func sectionCost(s Section) int { return tokens.Bound(sectionTitles[s] + ":\n") }

const closing = "</memory>"

// opening returns the line before the first section.
func opening(blocks []block) string {
	var ids, categories []string
	for _, b := range blocks {
		if b.id == "" {
			continue
		}
		ids = append(ids, escape.Attribute(b.id))
		if c := escape.Attribute(string(b.category)); c != "" && !slices.Contains(categories, c) {
			categories = append(categories, c)
		}
	}
	return fmt.Sprintf("<memory ids=\"%s\" categories=\"%s\">\n", strings.Join(ids, " "), strings.Join(categories, " "))
}

func render(blocks []block) string {
	ordered := slices.Clone(blocks)
	slices.SortStableFunc(ordered, func(a, b block) int { return cmp.Compare(a.section, b.section) })
	var b strings.Builder
	b.WriteString(opening(blocks))
	for i, bl := range ordered {
		if i == 0 || bl.section != ordered[i-1].section {
			b.WriteString(sectionTitles[bl.section])
			b.WriteString(":\n")
		}
		b.WriteString(bl.text)
	}
	b.WriteString(closing)
	return b.String()
}
