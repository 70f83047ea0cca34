package replay

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/memsearch/memsearch/core"
)

// leak returns the right answer that stands in what an agent without memory is
// given, or how it could be read there; empty when there is none. Only tasks
// that cannot be done without memory can leak. It is not sure where it may be
// chance, as a 3 in "three lines: 1, 2, 3" is: whether the run passes tells.
func leak(ctx context.Context, t *Task, p *core.Prepared) (said string, sure bool) {
	if !t.Has(TagHelps) {
		return "", false
	}
	given := strings.Join([]string{p.Instructions, p.Content, Transcript(t)}, "\n")
	text := " " + plain(given) + " "
	for _, s := range t.Right {
		words := plain(s.Answer)
		switch {
		case words == "" || !strings.Contains(text, " "+words+" "):
		case slight(words):
			said = s.Answer
		default:
			return s.Answer, true
		}
	}
	if said != "" {
		return said, false
	}
	for _, c := range t.Checks {
		if c.Judged() || c.Type == "exit" || c.Type == "file" {
			return "", false
		}
	}
	if ok, _, err := t.Grade(ctx, Outcome{Answer: given}); err == nil && ok {
		return "the task's own words pass its checks", false
	}
	return "", false
}

// foresee returns a *LeakError when tasks say what they ask for: there would be no
// report, whatever the runs cost.
func (r *replay) foresee(ctx context.Context) error {
	e := &LeakError{}
	for i := range r.plan {
		p := &r.plan[i]
		if p.arm.Name() != ArmNone || slices.Contains(e.Tasks, p.task.ID) {
			continue
		}
		if said, sure := leak(ctx, p.task, &core.Prepared{}); sure {
			e.add(p.task.ID, said)
		}
	}
	if len(e.Tasks) == 0 {
		return nil
	}
	return e
}

// slight reports whether an answer, as words, is one that stands in many texts: a
// number of up to four digits, or a word of up to three letters.
func slight(words string) bool {
	letters := strings.ContainsFunc(words, unicode.IsLetter)
	n := utf8.RuneCountInString(words)
	return !strings.Contains(words, " ") && (n <= 3 || !letters && n <= 4)
}

// plain is a text as words of letters and digits, in lower case, with one space
// between them. Each Chinese character is a word.
func plain(s string) string {
	var b strings.Builder
	gap := false
	for _, r := range norm.NFKC.String(s) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			gap = true
			continue
		}
		han := unicode.Is(unicode.Han, r)
		if (gap || han) && b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
		gap = han
	}
	return b.String()
}

// shortWord is the fewest letters of a word that says where a text comes from.
const shortWord = 4

// repeats reports whether answer has a word of the context that the task lacks:
// a number, a word of at least four letters, or two Chinese characters in a row.
// It is an estimate: a word like "with" may be chance.
func repeats(answer, context, task string) bool {
	known := marks(task)
	from := marks(context)
	for w := range marks(answer) {
		if from[w] && !known[w] {
			return true
		}
	}
	return false
}

// marks returns the words of s that can say where a text comes from.
func marks(s string) map[string]bool {
	out := map[string]bool{}
	last := ""
	for w := range strings.FieldsSeq(plain(s)) {
		first := []rune(w)[0]
		switch {
		case unicode.Is(unicode.Han, first):
			if last != "" {
				out[last+w] = true
			}
			last = w
			continue
		case strings.ContainsFunc(w, unicode.IsDigit) || len(w) >= shortWord && !common[w]:
			out[w] = true
		}
		last = ""
	}
	return out
}

// common are words of four letters and more that stand in any text.
var common = map[string]bool{"about": true, "after": true, "also": true, "been": true, "before": true, "could": true, "data": true,
	"does": true, "from": true, "have": true, "here": true, "into": true, "just": true, "know": true, "like": true, "memory": true,
	"more": true, "most": true, "must": true, "note": true, "notes": true, "only": true, "other": true, "over": true, "please": true,
	"project": true, "should": true, "some": true, "than": true, "that": true, "their": true, "them": true, "then": true,
	"there": true, "these": true, "they": true, "this": true, "those": true, "time": true, "used": true, "user": true, "uses": true,
	"very": true, "want": true, "were": true, "what": true, "when": true, "where": true, "which": true, "while": true, "will": true,
	"with": true, "would": true, "your": true}
