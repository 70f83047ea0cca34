package vault

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/memsearch/memsearch"
	"golang.org/x/text/unicode/norm"
)

// Limits of a new memory.
const (
	MaxMemory  = 256 << 10 // bytes of the whole file
	MaxSummary = 200       // characters
	MaxName    = 80        // bytes
	maxValue   = 500       // characters of any other front matter value
	maxList    = 100       // values of a front matter list
)

// A Rule is why a write is refused.
type Rule string

// The rules of the guard.
const (
	RuleSecret     Rule = "secret"
	RuleSchema     Rule = "schema"
	RuleSize       Rule = "size"
	RuleName       Rule = "name"
	RulePath       Rule = "path"
	RuleProvenance Rule = "provenance"
	RuleExists     Rule = "exists"
	RuleMissing    Rule = "missing"
	RuleTombstone  Rule = "tombstone"
	RuleValidity   Rule = "validity"
	RuleCycle      Rule = "cycle"
	RuleStatus     Rule = "status"
	RuleFile       Rule = "file" // the file cannot be rewritten without loss
)

// A RefusedError says that the guard stopped a write and that the disk is as it
// was. It never holds what was to be written.
type RefusedError struct {
	Op     string // create, supersede, …
	Rule   Rule
	Field  string // the part of the memory that broke the rule; may be empty
	Reason string
}

func (e *RefusedError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("refuse to %s memory: %s (%s)", e.Op, e.Reason, e.Rule)
	}
	return fmt.Sprintf("refuse to %s memory: %s: %s (%s)", e.Op, e.Field, e.Reason, e.Rule)
}

func refuse(rule Rule, field, format string, args ...any) error {
	return &RefusedError{Rule: rule, Field: field, Reason: fmt.Sprintf(format, args...)}
}

// A field is one value of a new memory.
type field struct {
	name, value string
}

// fields lists every text of m that goes to the disk, but the body.
func fields(m *memsearch.Memory) []field {
	out := []field{
		{"id", m.ID}, {"category", string(m.Category)}, {"kind", string(m.Kind)}, {"status", string(m.Status)},
		{"title", m.Title}, {"summary", m.Summary}, {"catalog", m.Catalog}, {"canonical_key", m.CanonicalKey},
		{"source.session_id", m.Source.SessionID}, {"source.turn_id", m.Source.TurnID},
		{"source.trust", string(m.Source.Trust)}, {"source.confirmed_by", m.Source.ConfirmedBy},
	}
	for _, list := range []struct {
		name   string
		values []string
	}{
		{"tags", m.Tags}, {"aliases", m.Aliases}, {"supersedes", m.Supersedes}, {"superseded_by", m.SupersededBy},
		{"tools", m.Tools}, {"source_events", m.SourceEvents}, {"source.node_ids", m.Source.NodeIDs},
	} {
		for _, value := range list.values {
			out = append(out, field{list.name, value})
		}
	}
	return out
}

// checkSchema refuses values that a file may not have.
func checkSchema(m *memsearch.Memory, body string) error {
	switch {
	case !m.Category.Valid():
		return refuse(RuleSchema, "category", "must be one of %v", memsearch.Categories)
	case m.Kind != "" && !slices.Contains(memsearch.Kinds, m.Kind):
		return refuse(RuleSchema, "kind", "must be one of %v", memsearch.Kinds)
	case m.Status != memsearch.StatusActive && m.Status != memsearch.StatusCandidate:
		return refuse(RuleSchema, "status", "a new memory is active or candidate")
	case m.Summary == "" || utf8.RuneCountInString(m.Summary) > MaxSummary:
		return refuse(RuleSchema, "summary", "must have 1 to %d characters", MaxSummary)
	case math.IsNaN(m.Confidence) || m.Confidence < 0 || m.Confidence > 1:
		return refuse(RuleSchema, "confidence", "must lie between 0 and 1")
	case strings.TrimSpace(body) == "":
		return refuse(RuleSchema, "body", "is empty")
	case !utf8.ValidString(body) || strings.ContainsRune(body, 0):
		return refuse(RuleSchema, "body", "must be UTF-8 text")
	case !safeID(m.ID):
		return refuse(RuleSchema, "id", "must have 1 to 64 of a-z, A-Z, 0-9, - and _")
	case len(m.SupersededBy) > 0:
		return refuse(RuleSchema, "superseded_by", "a new memory is not superseded")
	case !m.Valid.From.IsZero() && !m.Valid.Until.IsZero() && !m.Valid.From.Time.Before(m.Valid.Until.Time):
		return refuse(RuleValidity, "valid_to", "must lie after valid_from")
	}
	for _, list := range [][]string{m.Tags, m.Aliases, m.Supersedes, m.Tools, m.SourceEvents, m.Source.NodeIDs} {
		if len(list) > maxList {
			return refuse(RuleSchema, "", "a list has more than %d values", maxList)
		}
		if slices.Contains(list, "") {
			return refuse(RuleSchema, "", "a list has an empty value")
		}
	}
	for _, f := range fields(m) {
		if !utf8.ValidString(f.value) || strings.ContainsFunc(f.value, breaksLine) || strings.TrimSpace(f.value) != f.value {
			return refuse(RuleSchema, f.name, "must be one line of UTF-8 text without spaces around it")
		}
		if utf8.RuneCountInString(f.value) > maxValue {
			return refuse(RuleSchema, f.name, "is longer than %d characters", maxValue)
		}
	}
	for _, t := range []time.Time{m.CreatedAt, m.UpdatedAt, m.LastConfirmedAt, m.Valid.From.Time, m.Valid.Until.Time} {
		if !t.IsZero() && (t.Year() < 1 || t.Year() > 9999) {
			return refuse(RuleSchema, "", "a year does not have four digits")
		}
	}
	return nil
}

func breaksLine(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == '\ufeff'
}

func safeID(id string) bool {
	for i := range len(id) {
		c := id[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' && i > 0) {
			return false
		}
	}
	return id != "" && len(id) <= 64
}

// checkProvenance refuses a memory that does not say whose words it rests on,
// and one that takes the words of others for a fact.
func checkProvenance(m *memsearch.Memory) error {
	s := m.Source
	traced := len(s.NodeIDs) > 0 || s.ConfirmedBy != ""
	switch s.Trust {
	case memsearch.TrustUser:
		return nil
	case memsearch.TrustTool, memsearch.TrustAssistant, memsearch.TrustExternal:
	case "":
		return refuse(RuleProvenance, "source.trust", "is missing")
	default:
		return refuse(RuleProvenance, "source.trust", "must be user, tool, assistant or external")
	}
	if (m.Category == memsearch.CategoryUser || m.Category == memsearch.CategoryFeedback) && !traced {
		return refuse(RuleProvenance, "source", "a %s memory must trace to a user message", m.Category)
	}
	if m.Status == memsearch.StatusActive && s.ConfirmedBy == "" {
		return refuse(RuleProvenance, "source.confirmed_by", "words of trust %q must be confirmed, or the memory be a candidate", s.Trust)
	}
	return nil
}

// checkSecrets refuses credentials wherever they stand.
func (v *Vault) checkSecrets(parts []field) error {
	for _, f := range parts {
		if found := v.opts.Secrets.Scan(f.value); len(found) > 0 {
			return refuse(RuleSecret, f.name, "looks like a credential: %s", found[0].Rule)
		}
	}
	return nil
}

// reserved are the names that Windows gives to devices, with any ending.
var reserved = []string{"con", "prn", "aux", "nul",
	"com0", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
	"lpt0", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9"}

// cleanName returns a proposed file name in NFC, or refuses it.
func cleanName(name string) (string, error) {
	if !utf8.ValidString(name) {
		return "", refuse(RuleName, "name", "is not UTF-8")
	}
	name = norm.NFC.String(name)
	for i, r := range name {
		ok := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r) && i > 0 || r == '_' || i > 0 && (r == '-' || r == '.')
		if !ok {
			return "", refuse(RuleName, "name", "may have letters, digits, _, and after the first character - and .")
		}
	}
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	switch {
	case name == "" || len(name) > MaxName:
		return "", refuse(RuleName, "name", "must have 1 to %d bytes", MaxName)
	case slices.Contains(reserved, stem):
		return "", refuse(RuleName, "name", "is the name of a device on Windows")
	case strings.Contains(name, ".."):
		return "", refuse(RuleName, "name", "has two dots in a row")
	}
	return name, nil
}

// memoryPath returns where a new memory is written.
func memoryPath(m *memsearch.Memory, name string) string {
	return path.Join(string(m.Category), fmt.Sprintf("%s-%s-%s.md", name, m.CreatedAt.UTC().Format("20060102"), m.ID))
}
