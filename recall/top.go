package recall

import (
	"cmp"
	"slices"
)

// A scored is a unit with its score in one list.
type scored struct {
	ord   uint32
	score float64
}

// better orders by score, and equal scores by ordinal, which is the order of
// unit ids.
func better(a, b scored) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.ord, b.ord))
}

// A top keeps the best n of the units offered to it in order of their ordinals.
type top struct {
	n    int
	heap []scored // the worst kept is first
}

func newTop(n int, buf []scored) *top { return &top{n: n, heap: buf[:0]} }

// takes reports whether a unit offered next with score would be kept.
func (t *top) takes(score float64) bool {
	return score > 0 && (len(t.heap) < t.n || t.n > 0 && score > t.heap[0].score)
}

// offer must be called with rising ordinals: a later unit with the score of the
// worst kept one is worse than it.
func (t *top) offer(ord uint32, score float64) {
	if !t.takes(score) {
		return
	}
	if len(t.heap) < t.n {
		t.heap = append(t.heap, scored{ord, score})
		for i := len(t.heap) - 1; i > 0; {
			p := (i - 1) / 2
			if better(t.heap[i], t.heap[p]) <= 0 {
				break
			}
			t.heap[i], t.heap[p] = t.heap[p], t.heap[i]
			i = p
		}
		return
	}
	t.heap[0] = scored{ord, score}
	for i := 0; ; {
		c := 2*i + 1
		if c >= len(t.heap) {
			return
		}
		if c+1 < len(t.heap) && better(t.heap[c+1], t.heap[c]) > 0 {
			c++
		}
		if better(t.heap[c], t.heap[i]) <= 0 {
			return
		}
		t.heap[i], t.heap[c] = t.heap[c], t.heap[i]
		i = c
	}
}

// sorted returns what was kept, best first.
func (t *top) sorted() []scored {
	slices.SortFunc(t.heap, better)
	return t.heap
}

// rankAmong returns the place of each of picked, which it sorts, among the n
// units of a list: one pass and no sorting of the list.
func rankAmong(n int, picked []scored, score func(ord uint32) float64) []int {
	slices.SortFunc(picked, better)
	ahead := make([]int, len(picked)+1) // by how many of picked stand before a unit
	least := picked[len(picked)-1].score
	for ord := range uint32(n) {
		v := score(ord)
		if v < least {
			continue
		}
		i, _ := slices.BinarySearchFunc(picked, scored{ord, v}, better)
		ahead[i]++
	}
	ranks := make([]int, len(picked))
	before := 0
	for i := range picked {
		// A picked unit counts itself at its own place, after all that are better.
		before += ahead[i]
		ranks[i] = before
	}
	return ranks
}
