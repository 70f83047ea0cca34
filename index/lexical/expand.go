package lexical

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/vellum"
	"github.com/blevesearch/vellum/levenshtein"

	"github.com/memsearch/memsearch/index/analysis"
)

// How misspelt words are found. The first letter must be right: others are
// rarely wrong, and it bounds the search.
const (
	minFuzzy   = 4 // letters of a word that may have one mistake
	minFuzzy2  = 9 // letters of one that may have two
	maxFuzzy   = 3 // words that stand in for a misspelt one
	maxHexes   = 16
	fuzzyOne   = .7 // what a word with one mistake counts
	fuzzyTwo   = .5
	maxLetters = 32 // of a word that is tried at all
)

var (
	oneMistake = sync.OnceValues(func() (*levenshtein.LevenshteinAutomatonBuilder, error) {
		return levenshtein.NewLevenshteinAutomatonBuilder(1, true)
	})
	twoMistakes = sync.OnceValues(func() (*levenshtein.LevenshteinAutomatonBuilder, error) {
		return levenshtein.NewLevenshteinAutomatonBuilder(2, true)
	})
)

// isWord reports whether t may be misspelt.
func isWord(t analysis.Term) bool {
	if t.Kind != analysis.KindWord && t.Kind != analysis.KindPart {
		return false
	}
	n := utf8.RuneCountInString(t.Text)
	if n < minFuzzy || n > maxLetters {
		return false
	}
	for _, r := range t.Text {
		if !unicode.IsLetter(r) {
			return false
		}
	}
	return true
}

// fuzzy returns the words of live documents that are nearest to text.
func (c *cursor) fuzzy(text string) ([]variant, error) {
	mistakes, get := 1, oneMistake
	if utf8.RuneCountInString(text) >= minFuzzy2 {
		mistakes, get = 2, twoMistakes
	}
	b, err := get()
	if err != nil {
		return nil, fmt.Errorf("build automaton: %w", err)
	}
	dfa, err := b.BuildDfa(text, uint8(mistakes))
	if err != nil {
		return nil, fmt.Errorf("build automaton: %w", err)
	}
	r, n := utf8.DecodeRuneInString(text)
	end := utf8.AppendRune(nil, r+1)
	words := map[string]*candidate{}
	if err := c.scan(dfa, []byte(text[:n]), end, words); err != nil {
		return nil, err
	}
	for w, k := range words {
		_, k.mistakes = dfa.MatchAndDistance(w)
	}
	all := make([]*candidate, 0, len(words))
	for _, k := range words {
		if k.live > 0 {
			all = append(all, k)
		}
	}
	slices.SortFunc(all, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(a.mistakes, b.mistakes), cmp.Compare(b.live, a.live), cmp.Compare(a.text, b.text))
	})
	var out []variant
	for _, k := range all {
		if len(out) == maxFuzzy || k.mistakes > all[0].mistakes {
			break
		}
		w := float32(fuzzyOne)
		if k.mistakes > 1 {
			w = fuzzyTwo
		}
		out = append(out, variant{k.text, w})
	}
	return out, nil
}

type candidate struct {
	text     string
	live     uint64 // documents, counted by field
	mistakes uint8
}

// scan collects the terms from start to before end that a accepts.
func (c *cursor) scan(a vellum.Automaton, start, end []byte, words map[string]*candidate) error {
	for i, s := range c.r.segs {
		for f := range fieldNames {
			if c.p.Weight[f] == 0 || analysis.Field(f) == analysis.FieldDate {
				continue
			}
			d, err := c.dict(i, f)
			if err != nil {
				return err
			}
			it := d.AutomatonIterator(a, start, end)
			for {
				e, err := it.Next()
				if err != nil {
					return fmt.Errorf("read dictionary: %w", err)
				}
				if e == nil {
					break
				}
				k := words[e.Term]
				if k == nil {
					k = &candidate{text: e.Term}
					words[e.Term] = k
				}
				live := e.Count
				if s.deleted != nil {
					list, err := d.PostingsList([]byte(e.Term), s.deleted, nil)
					if err != nil {
						return fmt.Errorf("read postings: %w", err)
					}
					live = list.Count()
				}
				k.live += live
			}
		}
	}
	return nil
}

// hex returns the hexadecimal ids that begin with the id in text (which has its
// mark before it), and those that it begins with.
func (c *cursor) hex(text string) ([]variant, error) {
	var out []variant
	for n := 1 + analysis.MinHex; n < len(text); n++ {
		if isHexID(text[:n]) {
			out = append(out, variant{text[:n], 1})
		}
	}
	words := map[string]*candidate{}
	if err := c.scan(&vellum.AlwaysMatch{}, []byte(text), []byte(text+"g"), words); err != nil {
		return nil, err
	}
	var longer []string
	for w, k := range words {
		if k.live > 0 && len(w) > len(text) && isHexID(w) {
			longer = append(longer, w)
		}
	}
	slices.Sort(longer)
	for _, w := range longer[:min(len(longer), maxHexes)] {
		out = append(out, variant{w, 1})
	}
	return out, nil
}

// isHexID reports whether the marked term w is hexadecimal digits alone.
func isHexID(w string) bool {
	for _, c := range []byte(w[1:]) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
