package secrets

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// A proseRule finds credentials in the way they stand in notes. The first group
// of the pattern is the secret.
type proseRule struct {
	name    string
	hints   []string // lower case; one must stand in the text
	pattern string
	likely  func(secret string) bool // nil: always
}

// The assignment of a value to a name: "x = y", "x: y", "x is y", "x 是 y".
const (
	assigned = `\s*(?:=>|:=|[:=：＝]|\s(?:is|was|are)\s)\s*`
	quoted   = "[\"'`“「]?"
	value    = "([^\\s\"'`“”「」，。；、（）<>|]{6,200})"
)

var proseRules = []proseRule{
	{"aws-access-key", []string{"akia", "asia", "abia", "acca"}, `\b((?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16})\b`, nil},
	{"github-token", []string{"gh", "github_pat_"}, `\b((?:gh[pousr]_[A-Za-z0-9]{30,255})|(?:github_pat_[A-Za-z0-9_]{40,255}))`, nil},
	{"private-key", []string{"private key"}, `(-----BEGIN[ A-Z0-9_-]{0,40}PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END[ A-Z0-9_-]{0,40}PRIVATE KEY(?: BLOCK)?-----|\z))`, nil},
	{"openai-api-key", []string{"sk-"}, `\b(sk-(?:proj-|svcacct-|admin-|ant-|or-v1-)?[A-Za-z0-9_-]{20,200})`, mixed},
	{"slack-token", []string{"xox", "xapp-"}, `\b((?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,250})`, nil},
	{"google-api-key", []string{"aiza"}, `\b(AIza[A-Za-z0-9_-]{35})`, nil},
	{"stripe-key", []string{"_live_"}, `\b((?:sk|rk|pk)_live_[A-Za-z0-9]{16,200})`, nil},
	{"url-login", []string{"://"}, `\b[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s:/@"'<>]{0,200}:([^\s/@"'<>]{3,200})@[^\s/]`, notPlaceholder},
	{"password", []string{"pass", "pwd"},
		`(?i)(?:\b|_)(?:password|passwd|passphrase|passcode|pwd)\b["']?(?:\s+(?:for|of|to)\s+[^\s:=]{1,60})?` + assigned + quoted + value, password},
	{"password", []string{"密码", "密碼", "口令", "密钥", "密鑰", "令牌"}, `(?:密码|密碼|口令|密钥|密鑰|令牌)\s*(?:[:=：＝]|是|为|為)\s*` + quoted + value, password},
	{"credential", []string{"token", "secret", "key"},
		`(?i)(?:\b|_)(?:(?:access|auth|api|refresh|bearer|bot|secret|client)[ _-]?(?:token|key|secret)|secret|token|apikey)\b["']?` + assigned + quoted + value, token},
	{"authorization-header", []string{"authorization"}, `(?i)\bauthorization["']?\s*[:=]\s*["']?(?:basic|bearer|token)\s+([A-Za-z0-9+/=_.-]{12,})`, mixed},
}

var prosePatterns = sync.OnceValue(func() []*regexp.Regexp {
	out := make([]*regexp.Regexp, len(proseRules))
	for i, r := range proseRules {
		out[i] = regexp.MustCompile(r.pattern)
	}
	return out
})

func scanProse(text string) []Finding {
	var found []Finding
	lower := strings.ToLower(text)
	for i, re := range prosePatterns() {
		r := proseRules[i]
		if !hasKeyword(lower, r.hints) {
			continue
		}
		for _, m := range re.FindAllStringSubmatchIndex(text, -1) {
			start, end := m[2], m[3]
			if r.likely != nil {
				end = start + len(strings.TrimRight(text[start:end], ".,;:!?)]}"))
				if !r.likely(text[start:end]) {
					continue
				}
			}
			found = append(found, Finding{r.name, start, end})
		}
	}
	return found
}

// mixed reports whether s has a digit and a letter, as random strings have and
// words have not.
func mixed(s string) bool {
	return strings.ContainsFunc(s, unicode.IsDigit) && strings.ContainsFunc(s, unicode.IsLetter)
}

// harmless matches values that name a secret, or stand for one, without being
// it, and values of other kinds: paths, calls, versions, dates and times.
var harmless = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:\$[a-z_{(]|%[a-z_]+%|~?/|\.\.?/|[<{\[(]|[a-z_][\w.]*[\[(]|[a-z]:\\|https?://|v?\d+(?:\.\d+)+|\d{4}-\d\d|` +
		`x+$|\*+$|redacted|example|changeme|placeholder|your[-_ ]|mem_\d{14}|` +
		`(?:base64|sha\d+|md5|bcrypt|argon2\w*|utf-?8|pbkdf2|oauth2?|hs256|rs256|aes-?\d+)\b)`)
})

func notPlaceholder(s string) bool {
	switch strings.ToLower(s) {
	case "pass", "password", "passwd", "pwd", "secret", "user", "token", "postgres", "root", "admin", "guest", "test":
		return false
	}
	return !harmless().MatchString(s)
}

func password(s string) bool {
	return len(s) >= 6 && mixed(s) && notPlaceholder(s)
}

// token asks more than password: "token" and "key" have other meanings, which
// short values belong to.
func token(s string) bool {
	return len(s) >= 16 && mixed(s) && entropy(s) >= 3.3 && notPlaceholder(s)
}
