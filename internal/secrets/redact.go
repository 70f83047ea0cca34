package secrets

import "strings"

// Redact replaces each finding in text, as Scan returned them, by the name of its
// rule in brackets.
func Redact(text string, found []Finding) string {
	var b strings.Builder
	at := 0
	for _, f := range found {
		b.WriteString(text[at:f.Start])
		b.WriteString("[redacted: " + f.Rule + "]")
		at = f.End
	}
	b.WriteString(text[at:])
	return b.String()
}
