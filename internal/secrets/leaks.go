package secrets

import (
	"fmt"
	"strings"

	"github.com/spf13/viper"
	"github.com/zricethezav/gitleaks/v8/config"
)

// leaks are gitleaks' rules. Its own detector is not used: it reports columns
// instead of offsets, and importing it costs every process 1.5 ms at its start
// and 6 MB, where the rules alone cost half a millisecond.
type leaks struct {
	rules  []config.Rule
	allows []*config.Allowlist
}

func load() (*leaks, error) {
	v := viper.New()
	v.SetConfigType("toml")
	if err := v.ReadConfig(strings.NewReader(config.DefaultConfig)); err != nil {
		return nil, fmt.Errorf("read rules: %w", err)
	}
	var raw config.ViperConfig
	if err := v.Unmarshal(&raw); err != nil {
		return nil, fmt.Errorf("decode rules: %w", err)
	}
	cfg, err := raw.Translate()
	if err != nil {
		return nil, fmt.Errorf("compile rules: %w", err)
	}
	l := &leaks{allows: cfg.Allowlists}
	for _, id := range cfg.OrderedRules {
		if r := cfg.Rules[id]; r.Regex != nil { // the others look at file names
			l.rules = append(l.rules, r)
		}
	}
	return l, nil
}

func (l *leaks) scan(text string) []Finding {
	var found, generic []Finding
	lower := strings.ToLower(text)
	for _, r := range l.rules {
		if !hasKeyword(lower, r.Keywords) {
			continue
		}
		for _, m := range r.Regex.FindAllStringSubmatchIndex(text, -1) {
			start, end := group(m, r.SecretGroup)
			secret := text[start:end]
			if r.Entropy > 0 && entropy(secret) <= r.Entropy {
				continue
			}
			match, line := text[m[0]:m[1]], lineOf(text, m[0], m[1])
			if allowed(l.allows, secret, match, line) || allowed(r.Allowlists, secret, match, line) {
				continue
			}
			switch f := (Finding{r.RuleID, start, end}); {
			case !strings.Contains(r.RuleID, "generic"):
				found = append(found, f)
			case mixed(secret): // in prose, "key: America/Chicago" is none
				generic = append(generic, f)
			}
		}
	}
	return append(found, generic...) // a named rule is the better reason
}

func hasKeyword(lower string, keywords []string) bool {
	for _, k := range keywords {
		if strings.Contains(lower, k) {
			return true
		}
	}
	return len(keywords) == 0
}

// group returns the bounds of the wanted group of a match: the n-th, or the
// first that holds anything, or the whole.
func group(m []int, n int) (start, end int) {
	if n > 0 && 2*n+1 < len(m) && m[2*n] >= 0 {
		return m[2*n], m[2*n+1]
	}
	for i := 2; i+1 < len(m); i += 2 {
		if m[i] >= 0 && m[i] < m[i+1] {
			return m[i], m[i+1]
		}
	}
	return m[0], m[1]
}

func lineOf(text string, start, end int) string {
	start = strings.LastIndexByte(text[:start], '\n') + 1
	if i := strings.IndexByte(text[end:], '\n'); i >= 0 {
		return text[start : end+i]
	}
	return text[start:]
}

// allowed reports whether a list knows the match for a false alarm. Lists that
// also ask for a path or a commit never do: a memory has neither.
func allowed(lists []*config.Allowlist, secret, match, line string) bool {
	for _, a := range lists {
		target := secret
		switch a.RegexTarget {
		case "match":
			target = match
		case "line":
			target = line
		}
		regex := a.RegexAllowed(target)
		stop, _ := a.ContainsStopWord(secret)
		if a.MatchCondition != config.AllowlistMatchAnd {
			if regex || stop {
				return true
			}
			continue
		}
		if len(a.Paths) == 0 && len(a.Commits) == 0 &&
			(len(a.Regexes) == 0 || regex) && (len(a.StopWords) == 0 || stop) {
			return true
		}
	}
	return false
}
