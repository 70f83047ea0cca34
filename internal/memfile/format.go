package memfile

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/memsearch/memsearch"
)

// Format returns a new file for m with body behind its front matter. Keys stand
// in the order of docs/format.md, and only those that have a value; pinned and
// packable are left out when they are what [Defaults] says for the kind.
func Format(m memsearch.Memory, body string) []byte {
	var b strings.Builder
	b.WriteString("---\n")
	for _, c := range formatted(m) {
		if text, ok := renderValue(c.Value); ok && text != "" {
			b.WriteString(c.Key + ": " + text + "\n")
		}
	}
	b.WriteString("---\n")
	b.WriteString(body)
	if body != "" && !strings.HasSuffix(body, "\n") {
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

// formatted lists the keys of m that have a value, in their order.
func formatted(m memsearch.Memory) []Change {
	var out []Change
	add := func(key string, value any, has bool) {
		if has {
			out = append(out, Change{key, value})
		}
	}
	str := func(key, value string) { add(key, value, value != "") }
	list := func(key string, value []string) { add(key, value, len(value) > 0) }
	moment := func(key string, value time.Time) { add(key, value, !value.IsZero()) }
	pinned, packable := Defaults(m.Kind)

	add("id", m.ID, m.ID != "" && !m.DerivedID)
	str("category", string(m.Category))
	str("kind", string(m.Kind))
	str("title", m.Title)
	str("summary", m.Summary)
	if m.CatalogOff {
		add("catalog", false, true)
	} else {
		str("catalog", m.Catalog)
	}
	list("tags", m.Tags)
	list("aliases", m.Aliases)
	str("status", string(m.Status))
	add("pinned", m.Pinned, m.Pinned != pinned)
	add("packable", m.Packable, m.Packable != packable)
	str("canonical_key", m.CanonicalKey)
	add("confidence", m.Confidence, m.Confidence != 0)
	moment("created_at", m.CreatedAt)
	moment("updated_at", m.UpdatedAt)
	moment("last_confirmed_at", m.LastConfirmedAt)
	add("valid_from", m.Valid.From, !m.Valid.From.IsZero())
	add("valid_to", m.Valid.Until, !m.Valid.Until.IsZero())
	list("supersedes", m.Supersedes)
	list("superseded_by", m.SupersededBy)
	list("tools", m.Tools)
	add("source", m.Source, sourceText(m.Source) != "{}")
	list("source_events", m.SourceEvents)
	return out
}

// renderValue returns a value as it stands behind its key, on one line. ok is
// false for a type that front matter does not hold.
func renderValue(v any) (text string, ok bool) {
	switch v := v.(type) {
	case string:
		return scalarText(v), true
	case memsearch.Category:
		return scalarText(string(v)), true
	case memsearch.Kind:
		return scalarText(string(v)), true
	case memsearch.Status:
		return scalarText(string(v)), true
	case memsearch.Trust:
		return scalarText(string(v)), true
	case bool:
		return strconv.FormatBool(v), true
	case int:
		return strconv.Itoa(v), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	case time.Time:
		return v.Format(time.RFC3339), true
	case memsearch.Bound:
		return v.String(), true
	case []string:
		parts := make([]string, len(v))
		for i, s := range v {
			parts[i] = flowText(s)
		}
		return "[" + strings.Join(parts, ", ") + "]", true
	case memsearch.Source:
		return sourceText(v), true
	}
	return fmt.Sprintf("%T", v), false
}

func sourceText(s memsearch.Source) string {
	var parts []string
	str := func(key, value string) {
		if value != "" {
			parts = append(parts, key+": "+flowText(value))
		}
	}
	str("session_id", s.SessionID)
	str("turn_id", s.TurnID)
	if len(s.NodeIDs) > 0 {
		text, _ := renderValue(s.NodeIDs)
		parts = append(parts, "node_ids: "+text)
	}
	str("trust", string(s.Trust))
	str("confirmed_by", s.ConfirmedBy)
	return "{" + strings.Join(parts, ", ") + "}"
}

// scalarText returns s as a YAML scalar that every reader takes for the same
// string, plain when it can be.
func scalarText(s string) string {
	if plainScalar(s) {
		return s
	}
	return quoted(s)
}

// quoted returns s as a double-quoted YAML scalar on one line.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case unprintable(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// unprintable reports whether YAML wants r escaped.
func unprintable(r rune) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' || r == '\ufeff' || r == '\ufffe' || r == '\uffff'
}

// flowText is scalarText for a value inside brackets or braces.
func flowText(s string) string {
	if strings.ContainsAny(s, ",[]{}:?#") {
		return quoted(s)
	}
	return scalarText(s)
}

// plainScalar reports whether s may stand without quotes: it is one line, has
// nothing that YAML gives a meaning, and no reader takes it for a number, a
// date, a truth value or null.
func plainScalar(s string) bool {
	if s == "" || strings.TrimSpace(s) != s || strings.ContainsAny(s[:1], "-?:,[]{}#&*!|>'\"%@`<=~.+") {
		return false
	}
	if strings.Contains(s, ": ") || strings.Contains(s, " #") || strings.HasSuffix(s, ":") {
		return false
	}
	if strings.ContainsFunc(s, unprintable) || !utf8.ValidString(s) {
		return false
	}
	if s[0] >= '0' && s[0] <= '9' {
		return !numberLike(s)
	}
	switch strings.ToLower(s) {
	case "true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf":
		return false
	}
	return true
}

// numberLike reports whether some YAML reader may take s for a number, a date or
// a time.
func numberLike(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c >= '0' && c <= '9') && strings.IndexByte("+-_.:eExXoObBaAcCdDfFTtZz /", c) < 0 {
			return false
		}
	}
	return true
}
