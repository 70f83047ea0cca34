package tokens

import (
	_ "embed"
	"sync"
)

// merges holds the tokens of the lowest ranks, each as the ranks of the two it
// is made of. See gen/main.go.
//
//go:generate go run ./gen/main.go
//go:embed merges.bin
var merges []byte

// A vocab finds the rank of a token.
type vocab struct {
	text    []byte   // the tokens by rank, one after the other
	ends    []uint32 // of each token in text
	table   []uint16 // open addressing: rank+1, 0 free
	bytes   [256]uint16
	longest int
}

// noRank is above every rank.
const noRank = 1 << 16

const tableBits = 16

var vocabulary = sync.OnceValue(func() *vocab {
	n := 256 + (len(merges)-256)/4
	v := &vocab{text: make([]byte, 0, 8*n), ends: make([]uint32, 0, n), table: make([]uint16, 1<<tableBits)}
	for rank := range n {
		start := len(v.text)
		if rank < 256 {
			v.text = append(v.text, merges[rank])
			v.bytes[merges[rank]] = uint16(rank)
		} else {
			m := merges[256+4*(rank-256):]
			v.text = append(v.text, v.token(int(m[0])|int(m[1])<<8)...)
			v.text = append(v.text, v.token(int(m[2])|int(m[3])<<8)...)
		}
		v.ends = append(v.ends, uint32(len(v.text)))
		token := v.text[start:]
		v.longest = max(v.longest, len(token))
		slot := hash(string(token))
		for v.table[slot] != 0 {
			slot = (slot + 1) & (1<<tableBits - 1)
		}
		v.table[slot] = uint16(rank + 1)
	}
	return v
})

func (v *vocab) token(rank int) []byte {
	start := uint32(0)
	if rank > 0 {
		start = v.ends[rank-1]
	}
	return v.text[start:v.ends[rank]]
}

func hash(s string) uint32 {
	h := uint32(len(s))
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 0x01000193
	}
	return (h ^ h>>15) * 0x9e3779b1 >> (32 - tableBits)
}

// rank returns the rank of token s, or noRank.
func (v *vocab) rank(s string) uint32 {
	if len(s) > v.longest {
		return noRank
	}
	for slot := hash(s); ; slot = (slot + 1) & (1<<tableBits - 1) {
		entry := v.table[slot]
		if entry == 0 {
			return noRank
		}
		if string(v.token(int(entry-1))) == s {
			return uint32(entry - 1)
		}
	}
}

// count returns the number of tokens that piece merges into.
func (v *vocab) count(piece string, m *merger) int {
	if len(piece) == 1 || v.rank(piece) != noRank {
		return 1
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

// rate sets the rank of part i with the next one.
func (m *merger) rate(v *vocab, piece string, i int32, queued bool) {
	p := &m.parts[i]
	p.rank = noRank
	next := m.parts[p.next]
	if next.next < 0 {
		return
	}
	p.rank = v.rank(piece[p.start:m.parts[next.next].start])
	if queued && p.rank != noRank {
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
