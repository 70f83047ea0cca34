package analysis

import (
	"strings"
	"sync"
	"unicode"
)

var tokenizers = sync.Pool{New: func() any { return new(tokenizer) }}

// Each calls fn with every term of text as it is indexed, in order and with
// repetitions. The bytes are valid until fn returns.
func Each(text string, fn func(term []byte)) {
	t := tokenizers.Get().(*tokenizer)
	t.query, t.capsNames = false, false
	t.emit = func(tok token) {
		if len(tok.text) > 0 {
			fn(tok.text)
		}
	}
	t.run(text)
	t.emit = nil
	tokenizers.Put(t)
}

// Terms appends every term of text as it is indexed, in order and with
// repetitions.
func Terms(dst []string, text string) []string {
	Each(text, func(term []byte) { dst = append(dst, string(term)) })
	return dst
}

// Parse returns the terms of a question. Stop words count only when there is
// nothing else.
func Parse(text string) Query {
	var q Query
	at := map[string]int{}
	t := tokenizers.Get().(*tokenizer)
	t.query, t.capsNames = true, strings.ContainsFunc(text, unicode.IsLower)
	t.emit = func(tok token) {
		if len(tok.text) == 0 {
			return
		}
		if i, ok := at[string(tok.text)]; ok {
			q.Terms[i].merge(tok)
			return
		}
		if len(q.Terms) == MaxTerms {
			return
		}
		term := Term{Text: string(tok.text), Count: 1, Weight: tok.weight, Kind: tok.kind, Optional: tok.optional, Group: tok.group}
		if tok.weight == 0 {
			term.Weight = 1
		}
		at[term.Text] = len(q.Terms)
		q.Terms = append(q.Terms, term)
	}
	t.run(text)
	sole := t.words == 0 && t.compounds == 1
	for i := range q.Terms {
		if g := &q.Terms[i].Group; *g == soleGroup {
			*g = 0
			if sole {
				*g = t.groups + 1
			}
		}
	}
	t.emit = nil
	tokenizers.Put(t)
	return q
}

// merge counts another token with the text of t.
func (t *Term) merge(tok token) {
	t.Count++
	w := tok.weight
	if w == 0 {
		w = 1
	}
	t.Weight = max(t.Weight, w)
	t.Optional = t.Optional && tok.optional
	if t.Group <= 0 {
		t.Group = tok.group
	}
}
