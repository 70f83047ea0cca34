package chromem

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/internal/vault"
	"github.com/memsearch/memsearch/internal/when"
)

// ImportOptions configures an [Import]. The zero value works.
type ImportOptions struct {
	Scope string // where to write; empty: the first

	// Category of documents that name none.
	//
	// If empty, it is [DefaultCategory].
	Category memsearch.Category

	// Candidate makes candidates, which recall leaves out until they are
	// confirmed. Otherwise whoever imports confirms the documents.
	Candidate bool
}

// DefaultCategory is the default for [ImportOptions.Category].
const DefaultCategory = memsearch.CategoryReference

// An Entry names a document and what there is to say of it.
type Entry struct {
	Collection string `json:"collection"`
	ID         string `json:"id"`
	Reason     string `json:"reason"`
}

// An ImportReport says what became of each document.
type ImportReport struct {
	Documents int      `json:"documents"`
	Created   []string `json:"created"` // ids of the new memories
	Present   int      `json:"present"` // already here, by id or by text
	Changed   []Entry  `json:"changed"` // here under their id with another text, left as they are
	Refused   []Entry  `json:"refused"`
}

// Import makes a memory of every document that is not here yet. Importing the
// same collections again makes none.
func Import(ctx context.Context, m *core.Memory, list []Collection, o *ImportOptions) (*ImportReport, error) {
	if o == nil {
		o = &ImportOptions{}
	}
	r := &ImportReport{Created: []string{}, Changed: []Entry{}, Refused: []Entry{}}
	texts, byID := map[string]bool{}, map[string]string{}
	err := m.Passages(ctx, core.ListOptions{}, func(p core.Passage) error {
		text := plain(p.Text)
		texts[text] = true
		byID[p.ID] = strings.TrimSpace(byID[p.ID] + " " + text)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("import from chromem: %w", err)
	}
	var todo []core.NewMemory
	var from []Entry
	for _, c := range list {
		for _, d := range c.Documents {
			r.Documents++
			n := o.memory(c.Name, d)
			e := Entry{Collection: c.Name, ID: d.ID}
			old, known := byID[n.Memory.ID]
			body := plain(d.Content)
			switch {
			case body == "":
				e.Reason = "has no text"
				r.Refused = append(r.Refused, e)
			case known && strings.Contains(old, body), !known && texts[body]:
				r.Present++
			case known:
				e.Reason = "memory " + n.Memory.ID + " has another text"
				r.Changed = append(r.Changed, e)
			default:
				texts[body] = true
				todo, from = append(todo, n), append(from, e)
			}
		}
	}
	outcomes, err := m.RememberAll(ctx, o.Scope, todo)
	for i, out := range outcomes {
		if out.Refused != nil && out.Refused.Rule == vault.RuleExists && out.Refused.Field == "body" {
			r.Present++
			continue
		}
		if out.Refused != nil {
			from[i].Reason = out.Refused.Error()
			r.Refused = append(r.Refused, from[i])
			continue
		}
		r.Created = append(r.Created, out.Memory.ID)
	}
	if err != nil {
		return r, fmt.Errorf("import from chromem: %w", err)
	}
	return r, nil
}

// plain is text without regard to its spaces.
func plain(s string) string { return strings.Join(strings.Fields(s), " ") }

// memory makes a memory of a document. Its id depends on collection and document
// id alone, so that the same document is known again.
func (o *ImportOptions) memory(collection string, d Document) core.NewMemory {
	sum := sha256.Sum256([]byte(collection + "\x00" + d.ID))
	n := core.NewMemory{Name: "imported", Body: d.Content}
	m := &n.Memory
	m.ID = "mem_chromem_" + hex.EncodeToString(sum[:8])
	m.Category = cmp.Or(o.Category, DefaultCategory)
	m.Source = memsearch.Source{Trust: memsearch.TrustExternal, NodeIDs: []string{oneLine("chromem/" + collection + "/" + d.ID)}}
	if o.Candidate {
		m.Status = memsearch.StatusCandidate
	} else {
		m.Source.ConfirmedBy = string(memsearch.TrustUser)
	}
	for _, k := range slices.Sorted(maps.Keys(d.Metadata)) {
		readKey(m, k, strings.TrimSpace(d.Metadata[k]))
	}
	m.Summary = cmp.Or(m.Summary, core.Summarise(d.Content))
	return n
}

// readKey takes over one value of a document's metadata. What memsearch has no
// place for becomes a tag.
func readKey(m *memsearch.Memory, key, value string) {
	if value == "" {
		return
	}
	switch strings.ToLower(key) {
	case keyMemory, keyPath, keyLines, keyDate: // of where it was exported
		return
	case keyCategory:
		if c := memsearch.Category(value); c.Valid() {
			m.Category = c
			return
		}
	case keyKind:
		if k := memsearch.Kind(value); slices.Contains(memsearch.Kinds, k) {
			m.Kind = k
			return
		}
	case keySummary:
		m.Summary = core.Summarise(value)
		return
	case keyTags:
		for t := range strings.SplitSeq(value, ",") {
			if t = oneLine(t); t != "" {
				m.Tags = append(m.Tags, t)
			}
		}
		return
	case keyCreated, keyValidFrom, keyValidTo:
		if t, dateOnly, _, ok := when.ParseStamp(value, time.UTC); ok {
			setTime(m, strings.ToLower(key), t, dateOnly)
			return
		}
	}
	m.Tags = append(m.Tags, oneLine(key+"="+value))
}

func setTime(m *memsearch.Memory, key string, t time.Time, dateOnly bool) {
	switch key {
	case keyCreated:
		m.CreatedAt = t
	case keyValidFrom:
		m.Valid.From = memsearch.Bound{Time: t, Date: dateOnly}
	case keyValidTo:
		m.Valid.Until = memsearch.Bound{Time: t, Date: dateOnly}
	}
}

// maxTag is the most characters of a tag.
const maxTag = 200

// oneLine makes s fit for a front matter value.
func oneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, ""), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if r := []rune(s); len(r) > maxTag {
		s = strings.TrimSpace(string(r[:maxTag]))
	}
	return s
}
