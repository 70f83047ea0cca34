package recall

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/index/analysis"
	"github.com/memsearch/memsearch/index/validity"
)

// ErrQuery is wrapped by every error that the asker has to mend: an empty
// query, a number out of bounds, a missing time.
var ErrQuery = errors.New("invalid query")

// Bounds of a query. Larger numbers are lowered, longer texts are cut.
const (
	MaxK      = 1000
	MaxBudget = 1 << 20
	MaxText   = 8 << 10 // bytes
)

// An ask is a checked query with what was read from its text.
type ask struct {
	memsearch.Query
	text   string // cleaned and cut
	cut    bool   // the text was longer than MaxText
	cjk    bool
	dates  []date
	pure   bool // asks for a time and nothing else
	filter validity.Filter
}

// prepare checks q and reads what its text says about time.
func (e *Engine) prepare(q memsearch.Query) (*ask, error) {
	a := &ask{Query: q}
	if a.K == 0 {
		a.K = memsearch.DefaultK
	}
	if a.Budget == 0 {
		a.Budget = memsearch.DefaultBudget
	}
	switch {
	case a.K < 0:
		return nil, fmt.Errorf("%w: k is %d, want 1 or more", ErrQuery, a.K)
	case a.Budget < 0:
		return nil, fmt.Errorf("%w: budget is %d tokens, want 1 or more", ErrQuery, a.Budget)
	case !a.Since.IsZero() && !a.Until.IsZero() && !a.Since.Before(a.Until):
		return nil, fmt.Errorf("%w: since %s is not before until %s", ErrQuery,
			a.Since.Format(time.RFC3339), a.Until.Format(time.RFC3339))
	}
	switch a.Rerank {
	case "":
		a.Rerank = memsearch.RerankAuto
	case memsearch.RerankAuto, memsearch.RerankAlways, memsearch.RerankNever:
	default:
		return nil, fmt.Errorf("%w: no rerank mode %q, want auto, always or never", ErrQuery, a.Rerank)
	}
	for _, c := range a.Categories {
		if !c.Valid() {
			return nil, fmt.Errorf("%w: no category %q", ErrQuery, c)
		}
	}
	a.K, a.Budget = min(a.K, MaxK), min(a.Budget, MaxBudget)
	if a.Now.IsZero() {
		if e.opts.Clock == nil {
			return nil, fmt.Errorf("%w: no time to answer for", ErrQuery)
		}
		a.Now = e.opts.Clock()
	}
	a.text = cleanQuery(a.Text)
	if a.text == "" {
		return nil, fmt.Errorf("%w: nothing asked", ErrQuery)
	}
	if len(a.text) > MaxText {
		a.text, a.cut = cutQuery(a.text, MaxText), true
	}
	a.cjk = strings.ContainsFunc(a.text, isCJK)
	a.readDates()
	a.filter = validity.Filter{Now: a.Now, AsOf: a.AsOf, Since: a.Since, Until: a.Until,
		Categories: a.Categories, Turn: a.Turn, Session: a.Session}
	return a, nil
}

// cleanQuery drops what is no text: bytes that are not UTF-8, the colours of a
// terminal, control characters, and format characters other than the joiners
// that emoji and some scripts are spelt with.
func cleanQuery(s string) string {
	s = analysis.Unescape(strings.ToValidUTF8(s, " "))
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return r
		case unicode.IsControl(r):
			return ' '
		case unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d':
			return -1
		}
		return r
	}, s))
}

// cutQuery keeps the head and the tail of a text, where a question about a
// pasted log stands, and cuts between words.
func cutQuery(s string, limit int) string {
	half := limit/2 - 1
	head, tail := s[:half], s[len(s)-half:]
	for head != "" && !utf8.RuneStart(s[len(head)]) {
		head = head[:len(head)-1]
	}
	for tail != "" && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	const near = 64 // a longer run without a space is no word
	if i := strings.LastIndexFunc(head, unicode.IsSpace); i > len(head)-near {
		head = head[:i]
	}
	if i := strings.IndexFunc(tail, unicode.IsSpace); i >= 0 && i < near {
		tail = tail[i:]
	}
	return strings.TrimSpace(head) + "\n" + strings.TrimSpace(tail)
}

// isCJK reports whether r belongs to a script for which the built-in model's
// weight is lower: Han and kana.
func isCJK(r rune) bool {
	return r >= 0x3040 && (r <= 0x30ff || r >= 0x3400 && r <= 0x4dbf || r >= 0x4e00 && r <= 0x9fff || r >= 0xf900 && r <= 0xfaff)
}
