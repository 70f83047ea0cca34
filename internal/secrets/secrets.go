// Package secrets finds credentials in text.
//
//	text -> gitleaks' rules + rules for prose -> Findings
//
// The rules are those of gitleaks, compiled in; their loading, some 30 ms, is
// put off until the first scan. They are made for source code, so a few rules
// for the way people write in notes ("the password is …", 密码：…, a login in a
// URL) stand beside them. Nothing is read from disk, from the environment or
// from the network, and a "gitleaks:allow" comment has no effect.
//
// A scan recognises shapes. It does not find a password that looks like a word,
// nor a secret that is encoded or spread over several places.
package secrets

import (
	"cmp"
	"math"
	"slices"
	"sync"
)

// A Finding is a stretch of text that looks like a credential.
type Finding struct {
	Rule       string // name of the rule, fit to be shown
	Start, End int    // bytes, half-open
}

// A Scanner finds credentials. An implementation returns findings in text order,
// without overlaps, and is safe for concurrent use.
type Scanner interface {
	Scan(text string) []Finding
}

// RuleUnavailable is the rule of the finding that covers a whole text when the
// rules could not be loaded: what cannot be checked is not let through.
const RuleUnavailable = "scanner-unavailable"

type scanner struct {
	rules func() (*leaks, error)
}

// New returns the Scanner described in the package comment.
func New() Scanner { return &scanner{rules: sync.OnceValues(load)} }

// Scan implements [Scanner].
func (s *scanner) Scan(text string) []Finding {
	if text == "" {
		return nil
	}
	rules, err := s.rules()
	if err != nil {
		return []Finding{{RuleUnavailable, 0, len(text)}}
	}
	return merge(append(scanProse(text), rules.scan(text)...))
}

// merge sorts findings and joins those that overlap, under the rule that starts
// first, or that of the longer finding.
func merge(found []Finding) []Finding {
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	var out []Finding
	for _, f := range found {
		if n := len(out); n > 0 && f.Start < out[n-1].End {
			out[n-1].End = max(out[n-1].End, f.End)
			continue
		}
		out = append(out, f)
	}
	return out
}

// entropy returns the Shannon entropy of s in bits per byte.
func entropy(s string) float64 {
	var counts [256]float64
	for i := range len(s) {
		counts[s[i]]++
	}
	var bits float64
	for _, n := range counts {
		if n > 0 {
			p := n / float64(len(s))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}
