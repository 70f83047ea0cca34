package replay

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// normal is NFC without differences of case, width of letters, shape of quotes
// and white space.
func normal(s string) string {
	s = norm.NFC.String(strings.Map(narrow, s))
	return strings.Join(strings.Fields(cases.Fold().String(s)), " ")
}

// narrow maps the full-width forms of ASCII, curly quotes, and the hyphens and the
// minus of typography to ASCII.
func narrow(r rune) rune {
	switch {
	case r >= '！' && r <= '～':
		return r - '！' + '!'
	case r == '\u3000':
		return ' '
	case r == '‘' || r == '’':
		return '\''
	case r == '“' || r == '”':
		return '"'
	case r == '−' || r == '‐' || r == '‑':
		return '-'
	}
	return r
}

// unquoted is the normal form without the marks around an answer.
func unquoted(s string) string {
	return strings.Trim(normal(s), " .!?。…\"'`「」*_")
}

// exactCheck wants the answer to be one of some texts, but for case, width,
// spaces, Unicode form, quotes around it and final punctuation; strictly, byte
// for byte. An answer in a sentence fails: that is what contains is for.
type exactCheck struct {
	Value  string   `yaml:"value"`
	AnyOf  []string `yaml:"any_of"`
	Strict bool     `yaml:"strict"`
}

func (c *exactCheck) prepare() error {
	if c.Value != "" {
		c.AnyOf = append(c.AnyOf, c.Value)
	}
	for _, v := range c.AnyOf {
		if unquoted(v) == "" && !c.Strict {
			return errNothing
		}
	}
	if len(c.AnyOf) == 0 {
		return errNothing
	}
	return nil
}

func (c *exactCheck) Check(_ context.Context, o Outcome) (Verdict, error) {
	for _, v := range c.AnyOf {
		if o.Answer == v || !c.Strict && unquoted(o.Answer) == unquoted(v) {
			return pass("the answer is %s", quote(v)), nil
		}
	}
	return fail("the answer is %s", quote(o.Answer)), nil
}

// containsCheck looks for words or phrases, whole and in normal form. All of
// AllOf and one of AnyOf must stand in the answer, none of NoneOf may.
//
// A phrase with a negation close before it in the same clause does not stand
// there: "not Helix" neither satisfies any_of: [Helix] nor breaks none_of:
// [Helix]. None_of is not broken by what is said to be former, either: "12 s,
// previously 45 s" does not suggest 45 s. Literal turns both off.
//
// Limits: a negation behind the phrase ("Helix is wrong"), further off than two
// words, or of another kind ("I doubt it is Helix") is not seen, and one that negates
// something else ("not that I mind Helix") is taken for one. List such wordings in
// none_of when answers use them.
type containsCheck struct {
	AllOf   []string `yaml:"all_of"`
	AnyOf   []string `yaml:"any_of"`
	NoneOf  []string `yaml:"none_of"`
	Literal bool     `yaml:"literal"`
}

func (c *containsCheck) prepare() error {
	lists := [][]string{c.AllOf, c.AnyOf, c.NoneOf}
	for _, list := range lists {
		for i, p := range list {
			if list[i] = normal(p); list[i] == "" {
				return errNothing
			}
		}
	}
	if len(c.AllOf)+len(c.AnyOf) == 0 {
		return errors.New("needs all_of or any_of: silence must not pass")
	}
	return nil
}

func (c *containsCheck) Check(_ context.Context, o Outcome) (Verdict, error) {
	text := normal(o.Answer)
	said, suggested := negated, dismissed
	if c.Literal {
		never := func(string) bool { return false }
		said, suggested = never, never
	}
	has := func(p string) bool { return stands(text, p, said) }
	for _, p := range c.NoneOf {
		if stands(text, p, suggested) {
			return fail("the answer says %s", quote(p)), nil
		}
	}
	for _, p := range c.AllOf {
		if !has(p) {
			return fail("the answer does not say %s", quote(p)), nil
		}
	}
	if len(c.AnyOf) > 0 && !slices.ContainsFunc(c.AnyOf, has) {
		return fail("the answer says none of %q", c.AnyOf), nil
	}
	return pass("the answer says what it must"), nil
}

// stands reports whether the phrase occurs in text as whole words, at a place
// that the text before it does not excuse.
func stands(text, phrase string, excused func(before string) bool) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], phrase)
		if i < 0 {
			return false
		}
		i += at
		end := i + len(phrase)
		if whole(text, i, end) && !excused(text[:i]) {
			return true
		}
		_, n := utf8.DecodeRuneInString(text[i:])
		at = i + n
	}
}

// whole reports whether text[i:end] cuts no word or number.
func whole(text string, i, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	first, _ := utf8.DecodeRuneInString(text[i:])
	last, _ := utf8.DecodeLastRuneInString(text[:end])
	after, n := utf8.DecodeRuneInString(text[end:])
	if joins(before) && joins(first) || joins(last) && joins(after) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(text[end+n:])
	if unicode.IsDigit(last) && (after == '.' || after == ',') && unicode.IsDigit(next) {
		return false
	}
	return !(unicode.IsDigit(first) && (before == '.' || before == ',') && endsInDigit(text[:i-1]))
}

func endsInDigit(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return unicode.IsDigit(r)
}

// joins reports whether r makes one word with a letter beside it. Chinese
// characters stand alone.
func joins(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsDigit(r)) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r == '_'
}

// negations stand before what they negate, with at most two words between.
var (
	negated2 = lazy(`(?:^|[^\pL\pN])(?:not|no|never|no longer|without|instead of|rather than|other than|stopped|avoid|[a-z]+n't|cannot)(?:[ "'` + "`" + `*(]+[\pL\pN'_-]+){0,2}[ "'` + "`" + `*(]*$`)
	negatedZ = lazy(`(?:不是|不要|不用|不再|不能|不会|不应|不该|并非|而非|而不是|没有|没在|别用|别再|别|不|勿|无需|取代了?|代替)\PZ{0,3} ?["'「` + "`" + `*(]*$`)
	earlier  = lazy(`(?:^|[^\pL\pN])(?:previously|formerly|former|originally|used to be|(?:it|that|which) was|(?:moved|changed|raised|switched) from|replaced|replaces|replacing)(?:[ "'` + "`" + `*(]+[\pL\pN'_-]+){0,2}[ "'` + "`" + `*(]*$`)
	earlierZ = lazy(`(?:之前|以前|此前|先前|原来|原先|原本|原为|曾)\PZ{0,3} ?["'「` + "`" + `*(]*$`)
	plainNot = lazy(`(?:^|[^\pL])(?:not only|not just|no doubt|no problem|no worries)[^\pL]|不仅|不但|不只|别忘|不客气|没问题`)
)

// negated reports whether the text before a phrase negates it.
func negated(before string) bool {
	clause := clauseEnd(before)
	return !plainNot().MatchString(clause+" ") && (negated2().MatchString(clause) || negatedZ().MatchString(clause))
}

// dismissed reports whether the text before a phrase negates it or says that it
// held before.
func dismissed(before string) bool {
	clause := clauseEnd(before)
	return earlier().MatchString(clause) || earlierZ().MatchString(clause) || negated(before)
}

// clauseEnd returns what the clause at the end of a text has of it.
func clauseEnd(before string) string {
	clause := before
	if i := strings.LastIndexAny(before, ".,;:!?。，；：！？、\n—"); i >= 0 {
		_, n := utf8.DecodeRuneInString(before[i:])
		clause = before[i+n:]
	}
	const most = 120 // bytes looked back: what two words take
	if len(clause) > most {
		clause = clause[len(clause)-most:]
		for len(clause) > 0 && !utf8.RuneStart(clause[0]) {
			clause = clause[1:]
		}
	}
	return clause
}

// regexCheck matches an RE2 expression against the answer as it stands; absent
// wants it not to match, and is only useful beside another check. Write (?i) and
// (?s) where they are meant.
type regexCheck struct {
	Pattern string `yaml:"pattern"`
	Absent  bool   `yaml:"absent"`

	re *regexp.Regexp
}

func (c *regexCheck) prepare() (err error) {
	if c.Pattern == "" {
		return errNothing
	}
	c.re, err = regexp.Compile(c.Pattern)
	return err
}

func (c *regexCheck) Check(_ context.Context, o Outcome) (Verdict, error) {
	found := c.re.MatchString(o.Answer)
	switch {
	case found == c.Absent && found:
		return fail("the answer matches %s", c.Pattern), nil
	case found == c.Absent:
		return fail("the answer does not match %s", c.Pattern), nil
	}
	return pass("the answer is as %s wants", c.Pattern), nil
}

// lazy compiles an expression when it is first used. Those here would take half a
// millisecond of every start, whatever the command.
func lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
