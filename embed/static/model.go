package static

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"sync"
	"unicode/utf8"
)

// Header layout, format version 1. See FORMAT.md.
const (
	magic     = "STATVEC\n"
	version   = 1
	headerLen = 96
	bits      = 4

	maxDims    = 1 << 14
	maxTokens  = 1<<16 - 2
	maxBuckets = 1 << 20
	maxFolds   = 1 << 17
	maxMaxWord = 16

	denseLo = 0x3400 // fold targets of U+3400..U+9FFF are kept in a plain array
	denseHi = 0x9fff
)

// ErrFormat is wrapped by every error that [Load] returns for bad bytes.
var ErrFormat = errors.New("not a usable vector table")

func formatError(format string, a ...any) error {
	return fmt.Errorf("load static vectors: %w: %s", ErrFormat, fmt.Sprintf(format, a...))
}

// A Model is a loaded table. It is immutable and safe for concurrent use.
type Model struct {
	dims, tokens, buckets, maxWord int

	blob   string   // all tokens, sorted, without separators
	offs   []uint32 // tokens+1 offsets into blob
	index  []uint16 // open addressing; id+1, 0 is empty
	scale  []float32
	rows   []byte // dims/2 bytes a row
	share  []byte // share of general texts with the token: 2^(-share/8)
	dense  []uint16
	sparse map[rune]rune

	body []byte // what sum is the checksum of
	sum  uint32

	pool sync.Pool
}

// header holds the fields of a file's first bytes that sections depend on.
type header struct {
	dims, tokens, buckets, folds, maxWord uint32
}

func readHeader(data []byte) (h header, err error) {
	if len(data) < headerLen || string(data[:len(magic)]) != magic {
		return h, formatError("no header")
	}
	u := func(at int) uint32 { return binary.LittleEndian.Uint32(data[at:]) }
	if v := u(8); v != version {
		return h, formatError("version %d, want %d", v, version)
	}
	if n := u(12); n != headerLen {
		return h, formatError("header length %d", n)
	}
	h = header{dims: u(16), tokens: u(24), buckets: u(28), folds: u(32), maxWord: u(36)}
	switch {
	case h.dims == 0 || h.dims%16 != 0 || h.dims > maxDims:
		return h, formatError("%d dimensions", h.dims)
	case u(20) != bits:
		return h, formatError("%d bits", u(20))
	case h.tokens > maxTokens || h.buckets > maxBuckets || h.tokens+h.buckets == 0 || h.folds > maxFolds:
		return h, formatError("%d tokens, %d buckets, %d folds", h.tokens, h.buckets, h.folds)
	case h.maxWord < 1 || h.maxWord > maxMaxWord:
		return h, formatError("longest word %d", h.maxWord)
	}
	if n := binary.LittleEndian.Uint64(data[40:]); n != uint64(len(data)) {
		return h, formatError("%d bytes, header says %d", len(data), n)
	}
	return h, nil
}

// Load makes a Model of the bytes of a table file. The model reads its rows from
// data, which must not change afterwards. Load checks the structure, not the
// checksum of the rows; call [Model.Verify] for that. Its errors wrap
// [ErrFormat].
func Load(data []byte) (*Model, error) {
	h, err := readHeader(data)
	if err != nil {
		return nil, err
	}
	u := func(at int) uint32 { return binary.LittleEndian.Uint32(data[at:]) }
	section := func(at int, n uint64) []byte {
		off := uint64(u(at))
		if off < headerLen || off > uint64(len(data)) || n > uint64(len(data))-off {
			return nil
		}
		return data[off : off+n : off+n]
	}
	n := uint64(h.tokens) + uint64(h.buckets)
	offs, blob := section(48, 4*(uint64(h.tokens)+1)), section(52, uint64(u(56)))
	fold, scale := section(60, 8*uint64(h.folds)), section(64, 4*n)
	rows, share := section(68, n*uint64(h.dims)/2), section(76, n)
	for _, s := range [][]byte{offs, blob, fold, scale, rows, share} {
		if s == nil {
			return nil, formatError("a section lies outside the file")
		}
	}
	m := &Model{dims: int(h.dims), tokens: int(h.tokens), buckets: int(h.buckets), maxWord: int(h.maxWord),
		rows: rows, share: share, body: data[headerLen:], sum: u(72)}
	if err := m.loadTokens(offs, blob); err != nil {
		return nil, err
	}
	if err := m.loadScales(scale); err != nil {
		return nil, err
	}
	if err := m.loadFolds(fold); err != nil {
		return nil, err
	}
	return m, nil
}

func (m *Model) loadTokens(offs, blob []byte) error {
	m.blob = string(blob)
	m.offs = make([]uint32, m.tokens+1)
	for i := range m.offs {
		m.offs[i] = binary.LittleEndian.Uint32(offs[4*i:])
	}
	if m.offs[0] != 0 || uint64(m.offs[m.tokens]) != uint64(len(blob)) {
		return formatError("token offsets do not cover the blob")
	}
	size := 16
	for size < 2*m.tokens {
		size *= 2
	}
	m.index = make([]uint16, size)
	mask := uint32(size - 1)
	prev := ""
	for i := range m.tokens {
		a, b := m.offs[i], m.offs[i+1]
		if a >= b || uint64(b) > uint64(len(blob)) {
			return formatError("token %d has no text", i)
		}
		t := m.blob[a:b]
		if t <= prev {
			return formatError("token %d is out of order", i)
		}
		prev = t
		j := slot(fnv(blob[a:b])) & mask
		for m.index[j] != 0 {
			j = (j + 1) & mask
		}
		m.index[j] = uint16(i + 1)
	}
	return nil
}

func (m *Model) loadScales(scale []byte) error {
	m.scale = make([]float32, len(scale)/4)
	for i := range m.scale {
		f := math.Float32frombits(binary.LittleEndian.Uint32(scale[4*i:]))
		if !(f >= 0 && f <= math.MaxFloat32) { // NaN fails too
			return formatError("scale %d is %v", i, f)
		}
		m.scale[i] = f
	}
	return nil
}

func (m *Model) loadFolds(fold []byte) error {
	m.dense = make([]uint16, denseHi-denseLo+1)
	last := int64(-1)
	for i := 0; i < len(fold); i += 8 {
		from, to := binary.LittleEndian.Uint32(fold[i:]), binary.LittleEndian.Uint32(fold[i+4:])
		if int64(from) <= last || !validRune(from) || to == 0 || !validRune(to) {
			return formatError("fold %d", i/8)
		}
		last = int64(from)
		dense := from >= denseLo && from <= denseHi
		switch {
		case dense && to > math.MaxUint16:
			return formatError("fold %d leaves the basic plane", i/8)
		case dense:
			m.dense[from-denseLo] = uint16(to)
		case m.sparse == nil:
			m.sparse = map[rune]rune{rune(from): rune(to)}
		default:
			m.sparse[rune(from)] = rune(to)
		}
	}
	return nil
}

func validRune(u uint32) bool { return u <= utf8.MaxRune && utf8.ValidRune(rune(u)) }

// Verify compares the checksum of the file's body with the one in its header.
func (m *Model) Verify() error {
	if crc32.Checksum(m.body, crc32.MakeTable(crc32.Castagnoli)) != m.sum {
		return formatError("wrong checksum")
	}
	return nil
}

// Dims returns the number of dimensions of a vector.
func (m *Model) Dims() int { return m.dims }

// Size returns the number of vocabulary tokens and of hash buckets. Ids run from
// 0 to their sum; vocabulary entries come first.
func (m *Model) Size() (tokens, buckets int) { return m.tokens, m.buckets }

// slot mixes a hash so that its low bits depend on all of it.
func slot(h uint32) uint32 { return h ^ h>>15 }

// find returns the id of a vocabulary entry whose FNV-1a hash is h, or -1.
func (m *Model) find(t []byte, h uint32) int32 {
	mask := uint32(len(m.index) - 1)
	for j := slot(h) & mask; ; j = (j + 1) & mask {
		id := int32(m.index[j]) - 1
		if id < 0 {
			return -1
		}
		if m.blob[m.offs[id]:m.offs[id+1]] == string(t) {
			return id
		}
	}
}
