package recall

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/index"
	"github.com/memsearch/memsearch/index/validity"
)

// maxUnits is how many units of one memory are collected.
const maxUnits = 3

// A hit is a unit that stays in the list.
type hit struct {
	row        validity.Row
	text       string
	scope      int // position of its scope
	ord        uint32
	score      float64
	own        float64 // score in its own scope
	parts      parts
	confidence float64
	features   features
	steps      []memsearch.Step // of the stages after fusion
	signals    memsearch.Signals
	picked     bool           // by a model, which the floors do not overrule
	verdict    memsearch.Step // of that model
}

// Why candidates leave the list.
const (
	dropInvalid   = "not valid"
	dropTurn      = "made in this turn"
	dropTools     = "tool in use"
	dropAlready   = "already recalled"
	dropDuplicate = "same text"
	dropCap       = "units of one memory"
	dropStale     = "stale"
	dropUnread    = "unreadable"
	dropFloor     = "confidence"
	dropModel     = "not relevant to the model"
)

// A collection is what is left of one or several lists.
type collection struct {
	hits       []hit
	already    []string
	dropped    map[string]int
	candidates int
	readErr    error // the first text that could not be read

	limit    int // memories
	memories map[memoryKey]int
	hashes   map[string]bool
	texts    map[string]bool
}

type memoryKey struct {
	scope int
	id    string
}

func newCollection(limit int) *collection {
	return &collection{limit: limit, dropped: map[string]int{}, memories: map[memoryKey]int{},
		hashes: map[string]bool{}, texts: map[string]bool{}}
}

// drop counts one candidate out.
func (c *collection) drop(why string) { c.dropped[why]++ }

// A collector walks the fused list of one scope, best first.
type collector struct {
	*collection
	search *search
	judge  *judge
	scope  int
	first  float64 // score of the best candidate
	plain  bool    // neither texts nor what the agent has play a part
	full   bool    // the list has all memories that it may hold, and there are more
}

// collect takes units until the list has its share of memories or ends. It asks
// for a longer list when what it got was dropped.
func (c *collector) collect(ctx context.Context) error {
	done := 0
	for n := 2*c.limit + 16; ; n *= 4 {
		list := c.search.best(n)
		c.candidates = len(list)
		if len(list) > 0 {
			c.first = list[0].score
		}
		for done < len(list) {
			block := list[done:min(done+c.limit+4, len(list))]
			done += len(block)
			full, err := c.take(ctx, block)
			if full || err != nil {
				c.full = full
				return err
			}
		}
		if len(list) < n {
			return nil
		}
	}
}

// take adds the units of one block. It reports whether the list is full.
func (c *collector) take(ctx context.Context, block []scored) (full bool, err error) {
	ords := make([]uint32, len(block))
	for i, b := range block {
		ords[i] = b.ord
	}
	rows, err := c.search.scope.Snapshot.Records(ctx, ords)
	if err != nil {
		return false, fmt.Errorf("read records: %w", err)
	}
	if len(rows) != len(ords) {
		return false, fmt.Errorf("read records: %d of %d", len(rows), len(ords))
	}
	for i, b := range block {
		h := hit{row: rows[i], scope: c.scope, ord: b.ord, score: b.score, own: b.score, parts: c.search.fusion.parts(b.ord)}
		h.features = c.judge.features(b.ord, b.score/c.first)
		h.confidence = c.judge.model().confidence(h.features)
		k := memoryKey{c.scope, h.row.MemoryID}
		if why := c.unwanted(&h, k); why != "" {
			c.drop(why)
			continue
		}
		if c.memories[k] == 0 && len(c.memories) == c.limit {
			return true, nil
		}
		if !c.plain && !c.read(ctx, &h) {
			continue
		}
		c.memories[k]++
		c.hits = append(c.hits, h)
	}
	return false, nil
}

// unwanted returns why a unit may not be shown, or "".
func (c *collector) unwanted(h *hit, k memoryKey) string {
	a := c.search.ask
	if c.search.fusion.mask == nil && !holds(&h.row, a) {
		return dropInvalid
	}
	if c.plain {
		if c.memories[k] >= maxUnits {
			return dropCap
		}
		return ""
	}
	if a.Turn != "" && h.row.Turn == a.Turn && (a.Session == "" || h.row.Session == "" || a.Session == h.row.Session) {
		return dropTurn
	}
	if hash, ok := a.Surfaced[h.row.UnitID]; ok && hash == h.row.Hash {
		c.already = append(c.already, h.row.UnitID)
		return dropAlready
	}
	if h.row.Kind != memsearch.KindWarning && slices.ContainsFunc(h.row.Tools, func(t string) bool {
		return slices.ContainsFunc(a.Tools, func(u string) bool { return strings.EqualFold(t, u) })
	}) {
		return dropTools
	}
	if c.hashes[h.row.Hash] {
		return dropDuplicate
	}
	if c.memories[k] >= maxUnits {
		return dropCap
	}
	return ""
}

// read fills the hit's text. It reports false for a text that cannot be shown,
// or that was shown in other clothes.
func (c *collector) read(ctx context.Context, h *hit) bool {
	text, err := c.search.scope.Snapshot.Text(ctx, h.row)
	switch {
	case errors.Is(err, index.ErrStale):
		c.drop(dropStale)
		return false
	case err != nil:
		c.drop(dropUnread)
		if c.readErr == nil {
			c.readErr = err
		}
		return false
	}
	h.text = text
	return c.fresh(h)
}

// fresh reports whether the text of h is new to the list, and notes it.
func (c *collection) fresh(h *hit) bool {
	plain := normalText(h.text)
	if h.row.Hash != "" && c.hashes[h.row.Hash] || plain != "" && c.texts[plain] {
		c.drop(dropDuplicate)
		return false
	}
	c.hashes[h.row.Hash] = h.row.Hash != ""
	c.texts[plain] = true
	return true
}

// normalText drops all but letters, digits and symbols, in lower case: two texts
// that differ in nothing else say the same.
func normalText(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsSymbol(r) || unicode.IsMark(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// holds decides by the record alone what the filter decides for a whole index.
// It stands in when the filter failed.
func holds(r *validity.Row, a *ask) bool {
	if a.AsOf.IsZero() && !r.CurrentAt(a.Now) || !a.AsOf.IsZero() && !r.ValidAt(a.AsOf) {
		return false
	}
	if len(a.Categories) > 0 && !slices.Contains(a.Categories, r.Category) {
		return false
	}
	if a.Since.IsZero() && a.Until.IsZero() {
		return true
	}
	asked := memsearch.Span{From: a.Since, Until: a.Until}
	switch r.Occurred.Source {
	case memsearch.DateNone, memsearch.DateModTime:
		return !r.CreatedAt.IsZero() && asked.Contains(r.CreatedAt)
	}
	return asked.Overlaps(r.Occurred.Span)
}
