package tokens

import (
	_ "embed"
	"sync"
	"unicode/utf8"
)

// merges holds the tokens of the lowest ranks, and further ones of ASCII alone,
// each as the places in this list of the two it is made of. See gen/main.go.
//
//go:generate go run gen/main.go
//go:embed merges.bin
var merges []byte

// A set finds the tokens of a text by their bytes.
type set struct {
	text  []byte
	spans []uint32 // of each token in text: its start and, in the low byte, length
	slots []uint16 // open addressing: index in spans + 1, 0 free
}

func newSet(bits int) set { return set{slots: make([]uint16, 1<<bits)} }

func (t *set) token(i int) []byte {
	start := t.spans[i] >> 8
	return t.text[start : start+t.spans[i]&0xff]
}

func (t *set) insert(start, end int) {
	t.spans = append(t.spans, uint32(start<<8|(end-start)))
	mask := uint32(len(t.slots) - 1)
	slot := hash(string(t.text[start:end])) & mask
	for t.slots[slot] != 0 {
		slot = (slot + 1) & mask
	}
	t.slots[slot] = uint16(len(t.spans))
}

// find returns the index of token s, or -1.
func (t *set) find(s string) int {
	mask := uint32(len(t.slots) - 1)
	for slot := hash(s) & mask; ; slot = (slot + 1) & mask {
		i := int(t.slots[slot]) - 1
		if i < 0 || string(t.token(i)) == s {
			return i
		}
	}
}

func (t *set) has(s string) bool { return t.find(s) >= 0 }

// A vocab finds the rank of a token: its place among those that are known, which
// is in the order of the vocabulary's own ranks.
type vocab struct {
	set
	pairs   []uint16 // rank+1 of each token of two bytes
	longest int
}

const (
	// allRanks is how many tokens of any bytes are known. The ones after are all
	// there are for a piece of ASCII, but not for any other.
	allRanks = 5000

	// noRank is above every rank.
	noRank = 1 << 16
)

var vocabulary = sync.OnceValue(func() *vocab {
	n := 256 + (len(merges)-256)/4
	v := &vocab{set: newSet(16), pairs: make([]uint16, 1<<16)}
	v.text, v.spans = make([]byte, 0, 8*n), make([]uint32, 0, n)
	for rank := range n {
		start := len(v.text)
		if rank < 256 {
			v.text = append(v.text, merges[rank])
		} else {
			m := merges[256+4*(rank-256):]
			v.text = append(v.text, v.token(int(m[0])|int(m[1])<<8)...)
			v.text = append(v.text, v.token(int(m[2])|int(m[3])<<8)...)
		}
		v.insert(start, len(v.text))
		token := v.text[start:]
		if len(token) == 2 {
			v.pairs[int(token[0])<<8|int(token[1])] = uint16(rank + 1)
		}
		v.longest = max(v.longest, len(token))
	}
	return v
})

// hash mixes the ends and the length of s.
func hash(s string) uint32 {
	var a, b uint64
	switch n := len(s); {
	case n >= 8:
		a, b = load8(s), load8(s[n-8:])
	case n >= 4:
		a, b = uint64(load4(s)), uint64(load4(s[n-4:]))
	case n > 0:
		a, b = uint64(s[0])|uint64(s[n/2])<<8, uint64(s[n-1])
	}
	h := (a ^ b*0x9e3779b97f4a7c15 ^ uint64(len(s))<<56) * 0xff51afd7ed558ccd
	h ^= h >> 32
	return uint32(h * 0xc4ceb9fe1a85ec53 >> 32)
}

func load8(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func load4(s string) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// rank returns the rank of token s, or noRank.
func (v *vocab) rank(s string) uint32 {
	switch {
	case len(s) == 2:
		if entry := v.pairs[int(s[0])<<8|int(s[1])]; entry != 0 {
			return uint32(entry - 1)
		}
		return noRank
	case len(s) > v.longest:
		return noRank
	}
	if i := v.find(s); i >= 0 {
		return uint32(i)
	}
	return noRank
}

// count returns the number of tokens that piece merges into.
func (v *vocab) count(piece string, m *merger) int {
	if len(piece) == 1 || v.rank(piece) != noRank {
		return 1
	}
	if last := piece[len(piece)-1]; last >= utf8.RuneSelf && len(piece) >= hanBytes {
		if n := hanVocabulary().bound(piece, m); n > 0 {
			return n
		}
	}
	return m.merge(v, piece)
}

// A part is a token of a piece, from its offset to that of the next.
type part struct {
	start      int32
	prev, next int32
	rank       uint32 // of this part and the next as one token
}

// A merger merges the parts of a piece. It is reused for its memory.
type merger struct {
	parts []part
	queue []candidate
	limit uint32 // of the ranks that may be merged
	chars []uint32
	loose []uint8
	rows  []hanRow
}

// A candidate is a pair that can be merged, unless its rank has changed since.
type candidate struct {
	rank uint32
	at   int32
}

func (c candidate) before(o candidate) bool {
	return c.rank < o.rank || c.rank == o.rank && c.at < o.at
}

// scanLimit is the piece length, in bytes, up to which looking through all parts
// for the lowest rank is faster than keeping a queue of them.
const scanLimit = 64

func (m *merger) merge(v *vocab, piece string) int {
	m.limit = noRank
	if !ascii7(piece) {
		m.limit = allRanks
	}
	n := int32(len(piece))
	m.parts = m.parts[:0]
	m.queue = m.queue[:0]
	for i := range n {
		m.parts = append(m.parts, part{start: i, prev: i - 1, next: i + 1, rank: noRank})
	}
	m.parts = append(m.parts, part{start: n, prev: n - 1, next: -1, rank: noRank})
	queued := n > scanLimit
	for i := range n - 1 {
		m.rate(v, piece, i, queued)
	}
	count := int(n)
	for {
		at := int32(-1)
		if queued {
			at = m.pop()
		} else {
			at = m.lowest()
		}
		if at < 0 {
			return count
		}
		p := &m.parts[at]
		gone := &m.parts[p.next]
		gone.rank = noRank
		p.next = gone.next
		m.parts[p.next].prev = at
		count--
		m.rate(v, piece, at, queued)
		if p.prev >= 0 {
			m.rate(v, piece, p.prev, queued)
		}
	}
}

func ascii7(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// rate sets the rank of part i with the next one.
func (m *merger) rate(v *vocab, piece string, i int32, queued bool) {
	p := &m.parts[i]
	p.rank = noRank
	next := m.parts[p.next]
	if next.next < 0 {
		return
	}
	rank := v.rank(piece[p.start:m.parts[next.next].start])
	if rank >= m.limit {
		return
	}
	if p.rank = rank; queued {
		m.push(candidate{p.rank, i})
	}
}

func (m *merger) lowest() int32 {
	at, best := int32(-1), uint32(noRank)
	for i := int32(0); i >= 0; i = m.parts[i].next {
		if r := m.parts[i].rank; r < best {
			at, best = i, r
		}
	}
	return at
}

func (m *merger) push(c candidate) {
	m.queue = append(m.queue, c)
	i := len(m.queue) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !m.queue[i].before(m.queue[up]) {
			break
		}
		m.queue[i], m.queue[up] = m.queue[up], m.queue[i]
		i = up
	}
}

// pop removes the lowest candidate that still stands, and returns its part.
func (m *merger) pop() int32 {
	for len(m.queue) > 0 {
		c := m.queue[0]
		last := len(m.queue) - 1
		m.queue[0] = m.queue[last]
		m.queue = m.queue[:last]
		for i := 0; ; {
			child := 2*i + 1
			if child >= last {
				break
			}
			if child+1 < last && m.queue[child+1].before(m.queue[child]) {
				child++
			}
			if !m.queue[child].before(m.queue[i]) {
				break
			}
			m.queue[i], m.queue[child] = m.queue[child], m.queue[i]
			i = child
		}
		if m.parts[c.at].rank == c.rank {
			return c.at
		}
	}
	return -1
}
