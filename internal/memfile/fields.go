package memfile

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/memsearch/memsearch"
	"gopkg.in/yaml.v3"
)

// readFront fills the memory from the front matter.
func (p *parser) readFront() {
	m := &p.file.Memory
	m.Status, m.Packable = memsearch.StatusActive, true
	if odd := p.front.odd; odd != nil {
		p.problem(odd.Code, odd.Line, odd.Fixable, odd.Message)
	}
	if p.front.root == nil {
		return
	}
	f := p.newFields(p.front.root)

	m.ID = p.readID(f)
	m.Summary = f.text("summary", "description")
	m.Title = f.text("title")
	if name := f.text("name"); m.Title == "" && looksLikeTitle(name) {
		m.Title = name
	}
	m.Tags = trimTags(f.list("tags", "tag"))
	m.Aliases = f.list("aliases", "alias")
	m.CanonicalKey = f.text("canonical_key")
	m.Supersedes = f.list("supersedes")
	m.SupersededBy = f.list("superseded_by")
	m.Tools = f.list("tools")
	m.SourceEvents = f.list("source_events")
	p.readCatalog(f)
	p.readVocabulary(f)
	p.readConfidence(f)
	m.Pinned, m.Packable = Defaults(m.Kind)
	p.readFlag(f, "pinned", &m.Pinned)
	p.readFlag(f, "packable", &m.Packable)
	p.readTimes(f)
	p.readSource(f)
}

// Defaults returns what pinned and packable are for a kind when the file does
// not say.
func Defaults(k memsearch.Kind) (pinned, packable bool) {
	return k.Exact(), !k.Exact()
}

func (p *parser) readID(f *fields) string {
	n, _ := f.find("id")
	if n == nil {
		return ""
	}
	id := strings.TrimSpace(n.Value)
	if n.Kind != yaml.ScalarNode || !usableID(id) {
		p.problem(ProblemID, p.frontLine(n), false, "the id "+quote(id)+" cannot be used; one is derived from the path")
		return ""
	}
	return id
}

func (p *parser) readCatalog(f *fields) {
	m := &p.file.Memory
	on, ok := f.flag("catalog")
	switch {
	case ok:
		m.CatalogOff = !on
	default:
		m.Catalog = f.text("catalog")
	}
}

// readVocabulary reads the keys that take one of a few values. A value nobody
// knows never hides a note: foreign tools use the same keys for other things.
func (p *parser) readVocabulary(f *fields) {
	m := &p.file.Memory
	if s, n := f.word("category"); s != "" {
		if m.Category = memsearch.Category(s); !m.Category.Valid() {
			m.Category = ""
			p.unknown(n, "category", s)
		}
	}
	if s, n := f.word("kind"); s != "" {
		if m.Kind = kindOf(s); m.Kind == "" {
			p.unknown(n, "kind", s)
		}
	}
	types := []string{f.text("type")}
	if meta := f.sub("metadata"); meta != nil {
		types = append(types, meta.text("type"))
	}
	for _, t := range types {
		t = strings.ToLower(t)
		if c := memsearch.Category(t); m.Category == "" && c.Valid() {
			m.Category = c
		}
		if m.Kind == "" {
			m.Kind = kindOf(t)
		}
	}
	if s, n := f.word("status"); s != "" {
		if slices.Contains(memsearch.Statuses, memsearch.Status(s)) {
			m.Status = memsearch.Status(s)
		} else {
			p.unknown(n, "status", s)
		}
	}
}

// word returns a scalar in lower case and its node.
func (f *fields) word(key string) (string, *yaml.Node) {
	n, _ := f.find(key)
	if n == nil {
		return "", nil
	}
	if n.Kind != yaml.ScalarNode {
		return "(not a word)", n
	}
	return strings.ToLower(oneLine(n.Value)), n
}

func (p *parser) unknown(n *yaml.Node, key, value string) {
	message := "unknown " + key + " " + quote(value)
	if key == "status" {
		message += "; the memory counts as active"
	}
	p.problem(ProblemValue, p.frontLine(n), false, message)
}

// kindOf returns the kind that s names, or "".
func kindOf(s string) memsearch.Kind {
	switch s {
	case "goal":
		return memsearch.KindProjectGoal
	case "timeline":
		return memsearch.KindTimelineConstraint
	}
	if k := memsearch.Kind(s); slices.Contains(memsearch.Kinds, k) {
		return k
	}
	return ""
}

func (p *parser) readConfidence(f *fields) {
	n, _ := f.find("confidence")
	if n == nil {
		return
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(n.Value), 64)
	if n.Kind != yaml.ScalarNode || err != nil || !(v >= 0 && v <= 1) {
		p.problem(ProblemValue, p.frontLine(n), false, "the confidence "+quote(n.Value)+" is not a number from 0 to 1")
		return
	}
	p.file.Memory.Confidence = v
}

func (p *parser) readFlag(f *fields, key string, to *bool) {
	n, _ := f.find(key)
	if n == nil {
		return
	}
	v, ok := f.flag(key)
	if !ok {
		p.problem(ProblemValue, p.frontLine(n), false, key+" is neither true nor false: "+quote(n.Value))
		return
	}
	*to = v
}

func (p *parser) readTimes(f *fields) {
	m := &p.file.Memory
	created := p.readStamp(f, "created_at", "created")
	date := p.readStamp(f, "date")
	if p.fdate = date; !p.fdate.ok {
		p.fdate = created
	}
	if m.CreatedAt = created.time(); !created.ok {
		m.CreatedAt = date.time()
	}
	m.UpdatedAt = p.readStamp(f, "updated_at", "updated", "modified", "last_modified").time()
	m.LastConfirmedAt = p.readStamp(f, "last_confirmed_at").time()

	m.Valid.From = p.readStamp(f, "valid_from").bound()
	m.Valid.Until = p.readStamp(f, "valid_to", "valid_until").bound()
	from, until := m.Valid.From, m.Valid.Until
	if !from.IsZero() && !until.IsZero() && !from.Time.Before(until.Time) {
		n, key := f.find("valid_to", "valid_until")
		p.problem(ProblemValidity, p.frontLine(n), false, key+" does not lie after valid_from; the end is ignored")
		m.Valid.Until = memsearch.Bound{}
	}
}

// readStamp reads the first of keys that has a value. What is no date is
// reported and read as not given: an odd date must not make a fact expire.
func (p *parser) readStamp(f *fields, keys ...string) stamp {
	n, key := f.find(keys...)
	if n == nil {
		return stamp{}
	}
	if n.Kind == yaml.ScalarNode {
		s := strings.TrimSpace(n.Value)
		if st := parseStamp(s, p.opts.zone()); st.ok {
			return st
		}
		if st := epoch(s); st.ok {
			return st
		}
	}
	p.problem(ProblemDate, p.frontLine(n), false, key+" is not a date: "+quote(n.Value))
	return stamp{}
}

// epoch reads seconds, milliseconds or microseconds since 1970.
func epoch(s string) stamp {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || !(n >= 1e8 && n < 1e17) {
		return stamp{}
	}
	for n >= 1e11 {
		n /= 1000
	}
	return instant(time.UnixMilli(int64(n * 1000)).UTC())
}

func (p *parser) readSource(f *fields) {
	s := &p.file.Memory.Source
	s.SessionID = f.text("source_session_id")
	s.TurnID = f.text("source_turn_id")
	s.NodeIDs = f.list("source_node_ids")
	trust, n := f.word("trust")
	if sub := f.sub("source"); sub != nil {
		if id := sub.text("session_id"); id != "" {
			s.SessionID = id
		}
		if id := sub.text("turn_id"); id != "" {
			s.TurnID = id
		}
		if ids := sub.list("node_ids"); len(ids) > 0 {
			s.NodeIDs = ids
		}
		s.ConfirmedBy = sub.text("confirmed_by")
		if t, at := sub.word("trust"); t != "" {
			trust, n = t, at
		}
	}
	switch t := memsearch.Trust(trust); t {
	case "":
	case memsearch.TrustUser, memsearch.TrustTool, memsearch.TrustAssistant, memsearch.TrustExternal:
		s.Trust = t
	default:
		p.unknown(n, "trust", trust)
	}
}

// looksLikeTitle reports whether a name can stand as a title: a short text with
// a letter in it.
func looksLikeTitle(name string) bool {
	return len(name) <= 200 && strings.ContainsFunc(name, unicode.IsLetter)
}

// trimTags drops the sign before a tag. A list of tags that all carry the sign
// may be split by spaces alone.
func trimTags(tags []string) []string {
	var out []string
	for _, t := range tags {
		if strings.HasPrefix(t, "#") && strings.Contains(t, " #") {
			for part := range strings.FieldsSeq(t) {
				out = append(out, strings.TrimLeft(part, "#"))
			}
			continue
		}
		out = append(out, strings.TrimLeft(t, "#"))
	}
	return slices.DeleteFunc(out, func(t string) bool { return t == "" })
}
