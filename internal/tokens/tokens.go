// Package tokens bounds the number of o200k_base tokens of a text, for budgets.
// An exact count takes a vocabulary that takes tens of milliseconds to load.
//
//	text -> pieces (the tokenizer's own cuts) -> pairs merged -> bound
//
// [Bound] is never less than the exact count. The tokenizer cuts a text into pieces and
// counts each by itself; Bound makes the same cuts. Within a piece it starts
// from single bytes and merges, again and again, the two neighbours whose
// concatenation has the lowest rank in the vocabulary. Bound does the same with
// only the tokens of the lowest ranks that the piece can hold. As long as one of these can be merged the
// tokenizer chooses it, being the lowest, so it passes through the very state
// that Bound stops in; and whatever it merges afterwards makes fewer tokens. A
// piece that is a token by itself counts one for both.
//
// Pieces of Chinese have most of their tokens among the higher ranks. Bound knows
// all of these, and the ends they can come to: a split into tokens such that no
// two neighbours are a token together, for else they would have been merged. It
// takes the longest such split. That the borders of characters hold is no
// assumption: the few tokens that cross one are known too, and where one of them
// stands the characters count with all that can be left of them.
//
// Invalid UTF-8 is counted as if each bad byte were U+FFFD, as the tokenizer does.
package tokens

import (
	"sync"
	"unicode/utf8"
)

// Bound returns an upper bound of the number of o200k_base tokens of s. It takes
// time almost linear in the length of s, and is safe for concurrent use.
func Bound(s string) int {
	if s == "" {
		return 0
	}
	if !utf8.ValidString(s) {
		s = string([]rune(s))
	}
	v := vocabulary()
	m := mergers.Get().(*merger)
	defer mergers.Put(m)
	n := 0
	for s != "" {
		end := piece(s)
		n += v.count(s[:end], m)
		s = s[end:]
	}
	return n
}

var mergers = sync.Pool{New: func() any { return new(merger) }}
