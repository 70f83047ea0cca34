package static

import (
	"encoding/binary"
	"math"
)

const (
	fixBits   = 20  // fixed-point weights, relative to the largest of the text
	flushEach = 256 // rows added before a 32-bit lane could overflow
	bias      = 8   // added to every stored value
	lanes     = 0x0000000f0000000f
)

// scratch is what embedding one text needs.
type scratch struct {
	word, run, pad []byte
	at             []int
	ids            []int32
	weight         []float32
	fix            []uint64
	acc            []uint64
	sum            []int64
	val            []float64
}

// maxKept is the largest buffer that is kept for the next text.
const maxKept = 1 << 16

func (m *Model) get() *scratch {
	if s, ok := m.pool.Get().(*scratch); ok {
		s.ids = s.ids[:0]
		return s
	}
	return &scratch{word: make([]byte, 0, 128), run: make([]byte, 0, 256), pad: make([]byte, 0, 128),
		acc: make([]uint64, m.dims/2), sum: make([]int64, m.dims), val: make([]float64, m.dims)}
}

func (m *Model) put(s *scratch) {
	if max(cap(s.ids), cap(s.word), cap(s.run), cap(s.pad)) <= maxKept {
		m.pool.Put(s)
	}
}

// Vector returns the vector of a passage: length 1, or all zero for a text
// without tokens.
func (m *Model) Vector(text string) []float32 {
	return m.VectorTo(make([]float32, m.dims), text)
}

// VectorTo is [Model.Vector] into dst, which must have Dims elements. It returns
// dst and allocates nothing.
func (m *Model) VectorTo(dst []float32, text string) []float32 {
	s := m.get()
	defer m.put(s)
	m.tokenize(s, text)
	m.sumRows(s, dst, s.ids, nil)
	return dst
}

// VectorIDs writes the vector of a list of token ids into dst, which must have
// Dims elements, and returns it. weight may be nil, or as long as ids; only
// ratios matter, negative values and NaN count as 0. Ids outside the table are
// skipped.
func (m *Model) VectorIDs(dst []float32, ids []int32, weight []float32) []float32 {
	s := m.get()
	defer m.put(s)
	m.sumRows(s, dst, ids, weight)
	return dst
}

// sumRows adds the weighted rows in fixed point and writes the unit vector.
func (m *Model) sumRows(s *scratch, dst []float32, ids []int32, weight []float32) {
	if len(dst) != m.dims {
		panic("static: dst has the wrong length")
	}
	clear(dst)
	if !m.fixWeights(s, ids, weight) {
		return
	}
	total := m.accumulate(s, ids)
	// Explicit conversions keep the compiler from fusing products and sums, so
	// that the result is the same everywhere.
	sum, val := s.sum, s.val
	var n [4]float64
	total *= bias
	for i := 0; i+4 <= len(sum); i += 4 {
		p, q := sum[i:i+4:i+4], val[i:i+4:i+4]
		for j := range 4 {
			v := float64(p[j] - total)
			q[j] = v
			n[j] += float64(v * v)
		}
	}
	ss := (n[0] + n[1]) + (n[2] + n[3])
	if ss == 0 {
		return
	}
	inv := 1 / math.Sqrt(ss)
	for i, v := range val {
		dst[i] = float32(v * inv)
	}
}

// fixWeights fills s.fix with scale times weight of every id, the largest being
// 1<<fixBits. It reports whether any is positive.
func (m *Model) fixWeights(s *scratch, ids []int32, weight []float32) bool {
	rows := int32(m.tokens + m.buckets)
	weigh := func(k int, id int32) float64 {
		if id < 0 || id >= rows {
			return 0
		}
		f := float64(m.scale[id])
		if weight != nil {
			w := float64(weight[k])
			if !(w > 0) { // NaN too
				return 0
			}
			f *= min(w, math.MaxFloat32)
		}
		return f
	}
	var top float64
	for k, id := range ids {
		top = max(top, weigh(k, id))
	}
	if top == 0 {
		return false
	}
	s.fix = s.fix[:0]
	for k, id := range ids {
		s.fix = append(s.fix, uint64(float64(weigh(k, id)/top*(1<<fixBits))+.5))
	}
	return true
}

// accumulate adds the stored rows of ids, each times its s.fix, into s.sum and
// returns the sum of the weights.
func (m *Model) accumulate(s *scratch, ids []int32) (total int64) {
	acc, sum, fix := s.acc, s.sum, s.fix
	clear(acc)
	clear(sum)
	half := m.dims / 2
	row := func(k int) ([]byte, uint64) {
		if fix[k] == 0 { // also covers ids outside the table
			return m.rows[:half:half], 0
		}
		o := int(ids[k]) * half
		return m.rows[o : o+half : o+half], fix[k]
	}
	for from := 0; from < len(ids); from += flushEach {
		to := min(from+flushEach, len(ids))
		k := from
		for ; k+4 <= to; k += 4 {
			a, wa := row(k)
			b, wb := row(k + 1)
			c, wc := row(k + 2)
			d, wd := row(k + 3)
			total += int64(wa + wb + wc + wd)
			add4(acc, a, b, c, d, wa, wb, wc, wd)
		}
		for ; k < to; k++ {
			a, wa := row(k)
			total += int64(wa)
			add1(acc, a, wa)
		}
		for i := 0; i+8 <= len(acc); i += 8 {
			p, q := acc[i:i+8:i+8], sum[2*i:2*i+16:2*i+16]
			for j := range 8 {
				q[j] += int64(p[j] & 0xffffffff)
				q[j+8] += int64(p[j] >> 32)
			}
		}
		if to < len(ids) {
			clear(acc)
		}
	}
	return total
}

// add1 adds w times the sixteen nibbles of every 8 bytes of a to 32-bit lanes:
// acc[8i+j] holds dimension 16i+j in its low and 16i+j+8 in its high half.
func add1(acc []uint64, a []byte, w uint64) {
	for i := 0; i+8 <= len(a) && i+8 <= len(acc); i += 8 {
		x := binary.LittleEndian.Uint64(a[i : i+8 : i+8])
		p := acc[i : i+8 : i+8]
		p[0] += (x & lanes) * w
		p[1] += (x >> 4 & lanes) * w
		p[2] += (x >> 8 & lanes) * w
		p[3] += (x >> 12 & lanes) * w
		p[4] += (x >> 16 & lanes) * w
		p[5] += (x >> 20 & lanes) * w
		p[6] += (x >> 24 & lanes) * w
		p[7] += (x >> 28 & lanes) * w
	}
}

// add4 is add1 for four rows at once.
func add4(acc []uint64, a, b, c, d []byte, wa, wb, wc, wd uint64) {
	b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
	for i := 0; i+8 <= len(a) && i+8 <= len(acc); i += 8 {
		x := binary.LittleEndian.Uint64(a[i : i+8 : i+8])
		y := binary.LittleEndian.Uint64(b[i : i+8 : i+8])
		z := binary.LittleEndian.Uint64(c[i : i+8 : i+8])
		u := binary.LittleEndian.Uint64(d[i : i+8 : i+8])
		p := acc[i : i+8 : i+8]
		p[0] += (x&lanes)*wa + (y&lanes)*wb + (z&lanes)*wc + (u&lanes)*wd
		p[1] += (x>>4&lanes)*wa + (y>>4&lanes)*wb + (z>>4&lanes)*wc + (u>>4&lanes)*wd
		p[2] += (x>>8&lanes)*wa + (y>>8&lanes)*wb + (z>>8&lanes)*wc + (u>>8&lanes)*wd
		p[3] += (x>>12&lanes)*wa + (y>>12&lanes)*wb + (z>>12&lanes)*wc + (u>>12&lanes)*wd
		p[4] += (x>>16&lanes)*wa + (y>>16&lanes)*wb + (z>>16&lanes)*wc + (u>>16&lanes)*wd
		p[5] += (x>>20&lanes)*wa + (y>>20&lanes)*wb + (z>>20&lanes)*wc + (u>>20&lanes)*wd
		p[6] += (x>>24&lanes)*wa + (y>>24&lanes)*wb + (z>>24&lanes)*wc + (u>>24&lanes)*wd
		p[7] += (x>>28&lanes)*wa + (y>>28&lanes)*wb + (z>>28&lanes)*wc + (u>>28&lanes)*wd
	}
}

// Dot returns the dot product of two vectors of the same length: the cosine, for
// vectors that this package made.
func Dot(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	for len(a) >= 8 && len(b) >= 8 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		s4 += a[4] * b[4]
		s5 += a[5] * b[5]
		s6 += a[6] * b[6]
		s7 += a[7] * b[7]
		a, b = a[8:], b[8:]
	}
	for i := range a {
		s0 += a[i] * b[i]
	}
	return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
}
