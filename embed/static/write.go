package static

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// neverSeen is the share byte of a token that general text has not shown.
const neverSeen = 255

// A Table is what a file is written from.
type Table struct {
	Dims    int           // a multiple of 16
	Tokens  []string      // vocabulary, in the order of Rows; any order
	Buckets int           // hash buckets; their rows follow those of Tokens
	Rows    []float32     // (len(Tokens)+Buckets) * Dims
	Fold    map[rune]rune // traditional to simplified
	Share   []float64     // share of general texts with the token, by token; may be nil
	MaxWord int           // longest vocabulary word of CJK characters, in runes
}

// Encode sorts the vocabulary, quantises the rows to 4 bits and returns the bytes
// of a file.
func (t *Table) Encode() ([]byte, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	order, err := t.order()
	if err != nil {
		return nil, err
	}
	folds, err := t.folds()
	if err != nil {
		return nil, err
	}
	b := make([]byte, headerLen)
	copy(b, magic)
	for i, v := range []int{version, headerLen, t.Dims, bits, len(t.Tokens), t.Buckets, len(folds), t.MaxWord} {
		binary.LittleEndian.PutUint32(b[8+4*i:], uint32(v))
	}
	b = t.appendTokens(b, order)
	b = section(b, 60, 8)
	for _, p := range folds {
		b = binary.LittleEndian.AppendUint32(b, uint32(p.from))
		b = binary.LittleEndian.AppendUint32(b, uint32(p.to))
	}
	b = t.appendRows(b, order)
	if len(b) > math.MaxUint32 {
		return nil, errors.New("encode static vectors: over 4 GiB")
	}
	binary.LittleEndian.PutUint64(b[40:], uint64(len(b)))
	binary.LittleEndian.PutUint32(b[72:], crc32.Checksum(b[headerLen:], crc32.MakeTable(crc32.Castagnoli)))
	return b, nil
}

func (t *Table) check() error {
	n := len(t.Tokens) + t.Buckets
	switch {
	case t.Dims <= 0 || t.Dims%16 != 0 || t.Dims > maxDims:
		return fmt.Errorf("encode static vectors: %d dimensions", t.Dims)
	case len(t.Tokens) > maxTokens || t.Buckets < 0 || t.Buckets > maxBuckets || n == 0:
		return fmt.Errorf("encode static vectors: %d tokens, %d buckets", len(t.Tokens), t.Buckets)
	case len(t.Rows) != n*t.Dims:
		return fmt.Errorf("encode static vectors: %d values for %d rows of %d", len(t.Rows), n, t.Dims)
	case t.Share != nil && len(t.Share) != len(t.Tokens):
		return fmt.Errorf("encode static vectors: %d shares for %d tokens", len(t.Share), len(t.Tokens))
	case t.MaxWord < 1 || t.MaxWord > maxMaxWord:
		return fmt.Errorf("encode static vectors: longest word %d", t.MaxWord)
	}
	return nil
}

// order returns the places of the tokens in byte order.
func (t *Table) order() ([]int, error) {
	order := make([]int, len(t.Tokens))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(t.Tokens[a], t.Tokens[b]) })
	for i, k := range order {
		if t.Tokens[k] == "" || i > 0 && t.Tokens[k] == t.Tokens[order[i-1]] {
			return nil, fmt.Errorf("encode static vectors: empty or repeated token %q", t.Tokens[k])
		}
	}
	return order, nil
}

type foldPair struct{ from, to rune }

func (t *Table) folds() ([]foldPair, error) {
	var folds []foldPair
	for from, to := range t.Fold {
		if !utf8.ValidRune(from) || !utf8.ValidRune(to) || to == 0 {
			return nil, fmt.Errorf("encode static vectors: fold of %q to %q", from, to)
		}
		if from >= denseLo && from <= denseHi && to > math.MaxUint16 {
			continue // version 1 cannot hold it
		}
		folds = append(folds, foldPair{from, to})
	}
	slices.SortFunc(folds, func(a, b foldPair) int { return int(a.from - b.from) })
	return folds, nil
}

// section pads b to a multiple of align and writes its length, where the next
// section begins, into the header field at.
func section(b []byte, at, align int) []byte {
	for len(b)%align != 0 {
		b = append(b, 0)
	}
	binary.LittleEndian.PutUint32(b[at:], uint32(len(b)))
	return b
}

// appendTokens appends the token offsets and the token blob.
func (t *Table) appendTokens(b []byte, order []int) []byte {
	b = section(b, 48, 8)
	off := 0
	for _, k := range order {
		b = binary.LittleEndian.AppendUint32(b, uint32(off))
		off += len(t.Tokens[k])
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(off))
	b = section(b, 52, 8)
	binary.LittleEndian.PutUint32(b[56:], uint32(off))
	for _, k := range order {
		b = append(b, t.Tokens[k]...)
	}
	return b
}

// appendRows appends the scales, the shares and the rows.
func (t *Table) appendRows(b []byte, order []int) []byte {
	n := len(order) + t.Buckets
	b = section(b, 64, 8)
	packed := make([]byte, 0, n*t.Dims/2)
	for i := range n {
		k := i
		if i < len(order) {
			k = order[i]
		}
		var s float32
		s, packed = quantise(packed, t.Rows[k*t.Dims:(k+1)*t.Dims])
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(s))
	}
	b = section(b, 76, 1)
	for i := range n {
		s := byte(neverSeen)
		if i < len(order) && t.Share != nil {
			s = byte(max(0, min(neverSeen, math.RoundToEven(-8*math.Log2(t.Share[order[i]])))))
		}
		b = append(b, s)
	}
	return append(section(b, 68, 64), packed...)
}

// quantise appends the packed row, two values a byte, low half first, each value
// in -7..7 plus 8, and returns the scale: of 11 tried, from 0.5 to 1 times the one
// that reaches the largest value, the one with the least squared error.
func quantise(dst []byte, row []float32) (float32, []byte) {
	var top float64
	for _, x := range row {
		top = max(top, math.Abs(float64(x)))
	}
	level := func(x float32, s float64) float64 {
		return max(-7, min(7, math.RoundToEven(float64(x)/s)))
	}
	scale, least := 0.0, math.Inf(1)
	if top > 0 && top <= math.MaxFloat32 {
		for k := 10; k <= 20; k++ {
			s, e := float64(float32(top/7*float64(k)/20)), 0.0
			for _, x := range row {
				d := float64(x) - level(x, s)*s
				e += d * d
			}
			if e < least {
				scale, least = s, e
			}
		}
	}
	for i := 0; i < len(row); i += 2 {
		lo, hi := 8, 8
		if scale > 0 {
			lo, hi = 8+int(level(row[i], scale)), 8+int(level(row[i+1], scale))
		}
		dst = append(dst, byte(lo|hi<<4))
	}
	return float32(scale), dst
}
