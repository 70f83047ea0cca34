// Package secrets finds credentials in text and blacks them out.
package secrets

// A Finding is a stretch of text that looks like a credential.
type Finding struct {
	Rule       string
	Start, End int // bytes
}

// A Scanner finds credentials. An implementation returns findings in text order,
// without overlaps, and is safe for concurrent use.
type Scanner interface {
	Scan(text string) []Finding
}
type s struct{}

func (s) Scan(string) []Finding { return nil }
func New() Scanner              { return s{} }
