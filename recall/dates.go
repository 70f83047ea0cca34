package recall

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/when"
)

// A date is a stretch of time that the query names.
type date struct {
	span memsearch.Span
	day  memsearch.Span // the day in it that is meant first; of "two weeks ago"
	text string
}

func dateOf(m when.Match) date { return date{m.Span, m.Exact, m.Text} }

// aroundDay is what the week around a day counts beside it.
const aroundDay = .8

// meant reports whether what occurred in s did so when a date says, and not
// only in the week around it.
func (a *ask) meant(s memsearch.Span) bool {
	return slices.ContainsFunc(a.dates, func(d date) bool {
		if d.day.From.IsZero() {
			return s.Overlaps(d.span)
		}
		return s.Overlaps(d.day)
	})
}

// findDates returns the dates that are named, and whether the query itself names them,
// as they are at the given time. The agent's own wording may have dropped the date
// that the user gave, so a query without one takes the request's.
func (a *ask) findDates(now time.Time) (found []when.Match, own bool) {
	if found = when.Find(a.text, now); len(found) > 0 || len(a.Request) > MaxText {
		return found, true
	}
	return when.Find(a.Request, now), false
}

// relative reports whether the dates that are named are others on another day.
func (a *ask) relative() bool {
	later, _ := a.findDates(a.Now.AddDate(1, 1, 1)) // another weekday, too
	return !slices.EqualFunc(a.dates, later, func(d date, m when.Match) bool { return d.span == m.Span })
}

// readDates fills a.dates and a.pure.
func (a *ask) readDates() {
	found, own := a.findDates(a.Now)
	for _, m := range found {
		a.dates = append(a.dates, dateOf(m))
	}
	if !own || len(found) == 0 {
		return
	}
	var rest strings.Builder
	at := 0
	for _, m := range found {
		rest.WriteString(a.text[at:m.Start])
		rest.WriteByte(' ')
		at = m.End
	}
	rest.WriteString(a.text[at:])
	a.pure = onlyAsks(rest.String())
}

func (a *ask) spans() []memsearch.Span {
	spans := make([]memsearch.Span, len(a.dates))
	for i, d := range a.dates {
		spans[i] = d.span
	}
	return spans
}

func (a *ask) dateWords() []string {
	var out []string
	for _, d := range a.dates {
		out = append(out, d.text+" = "+boundText(d.span.From)+"/"+boundText(d.span.Until))
	}
	return out
}

func boundText(t time.Time) string {
	if t.IsZero() {
		return ".."
	}
	if t.Equal(time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())) {
		return t.Format(time.DateOnly)
	}
	return t.Format(time.RFC3339)
}

// askingWords are the English words of a question that asks for a time and
// nothing else: "what did we chat about on May 8th".
var askingWords = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`
		a about again all and any anything are around as at back be been before between by can chat chatted
		chatting conversation conversations could day days diary did discuss discussed discussing discussion
		discussions do does doing done during earlier entries entry event events everything exactly find for
		from get give go going had happen happened happening happens has have i in is it its itself journal last
		list log logged logs long look made make me meeting meetings memories memory message messages met month
		my name next note noted notes of on our out over past please recall recap remember remind said say
		saying session sessions shared show something speak spoke spoken summarise summarize summary talk talked
		talking tell that the there these thing things this those time to today together topic topics up us was
		we week went were what whatever when where which while who with work worked working write written wrote
		year you your`) {
		m[w] = true
	}
	return m
}()

// askingPhrases are the same in Chinese, longest first where one holds another.
var askingPhrases = strings.NewReplacer(
	"发生了什么事情", "", "发生了什么事", "", "发生了什么", "", "发生什么", "", "發生了什麼", "",
	"做了些什么", "", "做了什么", "", "做过什么", "", "干了什么", "", "干了啥", "", "做了啥", "", "做什么", "", "干什么", "",
	"聊了些什么", "", "聊了什么", "", "聊过什么", "", "聊什么", "", "聊了啥", "", "谈了什么", "", "谈到什么", "", "讨论了什么", "", "讨论什么", "",
	"说了什么", "", "说过什么", "", "记了什么", "", "写了什么", "", "忙了什么", "", "忙什么", "", "有什么", "", "有哪些", "", "有没有", "",
	"什么事情", "", "什么事", "", "哪些事情", "", "哪些事", "", "怎么样", "", "什么", "", "哪些", "", "事情", "", "记录", "", "日记", "", "日志", "",
	"笔记", "", "内容", "", "话题", "", "会话", "", "对话", "", "聊天", "", "安排", "", "工作", "", "我们", "", "咱们", "", "你们", "", "告诉我", "",
	"请问", "", "请", "", "我", "", "你", "", "咱", "", "都", "", "的", "", "了", "", "过", "", "吗", "", "呢", "", "在", "", "那", "", "这", "",
	"天", "", "是", "", "有", "", "和", "", "跟", "", "里", "", "间", "", "期", "", "到", "", "至", "", "从", "", "啊", "", "呀", "", "做", "", "聊", "", "谈", "", "说", "", "讨论", "", "时候", "", "时", "", "一起", "", "当天", "")

// onlyAsks reports whether what is left of a question without its dates names
// no subject.
func onlyAsks(rest string) bool {
	rest = askingPhrases.Replace(rest)
	for w := range strings.FieldsFuncSeq(strings.ToLower(rest), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '’'
	}) {
		w, _, _ = strings.Cut(strings.ReplaceAll(w, "’", "'"), "'")
		if w != "" && !askingWords[w] {
			return false
		}
	}
	return true
}
