// Package vector is an exact search over the embedding rows of one vault, kept
// in one file that is memory-mapped and never changes.
//
//	units -> Write -> file -> Open -> Scan -> a cosine for each unit
//
// A unit has the row of its whole text and, when it is long, rows of its pieces.
// Rows are float32, or int8 with one scale each: at 512 dimensions of normal
// spread an int8 row keeps a cosine of .9999 and more to the row it was made of,
// and a scan is off by about 3e-4. Every row is looked at, so a scan takes time
// in proportion to the file: it is limited by memory bandwidth.
//
// The file also holds, for embedders that weigh query tokens by rarity, in how
// many units each token occurs, and which tokens each unit has, so that units
// are carried over to the next generation without their text.
//
// A file that is cut or damaged fails in [Open] or gives wrong numbers, but no
// panic. To notice damage inside the rows is left to checksums.
package vector

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/memsearch/memsearch/internal/quant"
)

// Version is the format of the file.
//
//	1  first
const Version = 1

// Limits of a file.
const (
	MaxDims = 1 << 16
	maxVoc  = 1 << 28
)

// ErrFormat is returned for a file that is not a vector file of this version, or
// whose parts do not fit together.
var ErrFormat = errors.New("not a vector file of this version")

// A File is an open vector file. It is safe for concurrent use.
type File struct {
	h      header
	data   []byte    // rows of h.stride() bytes
	scales []float32 // int8 only: cosine = scale of the query * scale * integer product
	first  []uint32  // row of the first row of a unit; one more than units
	at     []uint32  // offset of a unit's tokens; one more than units
	tokens []byte    // ascending ids as varint differences
	df     []uint32  // by token id
	close  func() error
}

const magic = "MSVECTOR"

// header is the beginning of the file, little-endian. The sections follow in
// the order of sections, each at the next multiple of align.
type header struct {
	Magic       [8]byte
	Version     uint32
	Dims        uint32
	Int8        uint32 // 0 or 1
	Vocabulary  uint32 // length of the df table
	Fingerprint uint64
	Rows        uint64
	Units       uint64
	TokenBytes  uint64
	Size        uint64 // of the file
}

const (
	headerSize = 64
	align      = 64
)

// padded is how many elements a row is stored with: the kernels take whole steps.
func (h *header) padded() int {
	step := floatStep
	if h.Int8 == 1 {
		step = int8Step
	}
	return (int(h.Dims) + step - 1) / step * step
}

// stride is the length of a row in bytes.
func (h *header) stride() int {
	if h.Int8 == 1 {
		return h.padded()
	}
	return h.padded() * 4
}

// sections returns the lengths of the sections in bytes: rows, scales, first,
// at, df, tokens.
func (h *header) sections() [6]uint64 {
	s := [6]uint64{h.Rows * uint64(h.stride()), 0, (h.Units + 1) * 4, (h.Units + 1) * 4, uint64(h.Vocabulary) * 4, h.TokenBytes}
	if h.Int8 == 1 {
		s[1] = h.Rows * 4
	}
	return s
}

func alignUp(n uint64) uint64 { return (n + align - 1) / align * align }

// size returns the length of the whole file.
func (h *header) size() uint64 {
	n := uint64(headerSize)
	for _, s := range h.sections() {
		n = alignUp(n + s)
	}
	return n
}

// check refuses headers whose sizes are absurd, so that sizes do not overflow.
func (h *header) check(size int) error {
	switch {
	case string(h.Magic[:]) != magic:
		return fmt.Errorf("%w: no magic number", ErrFormat)
	case h.Version != Version:
		return fmt.Errorf("%w: version %d, want %d", ErrFormat, h.Version, Version)
	case h.Dims == 0 || h.Dims > MaxDims || h.Int8 > 1 || h.Vocabulary > maxVoc,
		h.Rows > math.MaxUint32, h.Units >= math.MaxUint32, h.TokenBytes > math.MaxUint32:
		return fmt.Errorf("%w: header out of range", ErrFormat)
	case h.Size != uint64(size) || h.size() != h.Size:
		return fmt.Errorf("%w: %d bytes, want %d", ErrFormat, size, h.size())
	}
	return nil
}

// FromBytes opens a file that is in memory. b must not change.
func FromBytes(b []byte) (*File, error) {
	f := &File{close: func() error { return nil }}
	if len(b) < headerSize {
		return nil, fmt.Errorf("open vectors: %w: %d bytes", ErrFormat, len(b))
	}
	if _, err := binary.Decode(b, binary.LittleEndian, &f.h); err != nil {
		return nil, fmt.Errorf("open vectors: %w", err)
	}
	if err := f.h.check(len(b)); err != nil {
		return nil, fmt.Errorf("open vectors: %w", err)
	}
	var part [6][]byte
	at := uint64(headerSize)
	for i, n := range f.h.sections() {
		part[i] = b[at : at+n : at+n]
		at = alignUp(at + n)
	}
	f.data, f.tokens = part[0], part[5]
	f.scales, f.first, f.at, f.df = view[float32](part[1]), view[uint32](part[2]), view[uint32](part[3]), view[uint32](part[4])
	if err := f.checkTables(); err != nil {
		return nil, fmt.Errorf("open vectors: %w", err)
	}
	return f, nil
}

func (f *File) checkTables() error {
	for _, t := range []struct {
		name string
		v    []uint32
		end  uint64
	}{{"rows", f.first, f.h.Rows}, {"tokens", f.at, f.h.TokenBytes}} {
		if t.v[0] != 0 || uint64(t.v[len(t.v)-1]) != t.end || !slices.IsSorted(t.v) {
			return fmt.Errorf("%w: %s of the units are not in order", ErrFormat, t.name)
		}
	}
	for i, s := range f.scales {
		if !(s >= 0 && s <= math.MaxFloat32) {
			return fmt.Errorf("%w: scale of row %d is %v", ErrFormat, i, s)
		}
	}
	return nil
}

// Close ends the mapping. No other call may be running or follow.
func (f *File) Close() error { return f.close() }

// Units returns the number of units.
func (f *File) Units() int { return len(f.first) - 1 }

// Rows returns the number of rows.
func (f *File) Rows() int { return int(f.h.Rows) }

// Dims returns the length of a row.
func (f *File) Dims() int { return int(f.h.Dims) }

// Int8 reports whether rows are stored as int8.
func (f *File) Int8() bool { return f.h.Int8 == 1 }

// Fingerprint returns the hash of the model that made the rows.
func (f *File) Fingerprint() uint64 { return f.h.Fingerprint }

// Vocabulary returns the number of token ids that are counted.
func (f *File) Vocabulary() int { return len(f.df) }

// DF returns in how many units the token occurs; 0 for an unknown one.
func (f *File) DF(id int32) int {
	if id < 0 || int(id) >= len(f.df) {
		return 0
	}
	return int(f.df[id])
}

// UnitRows returns copies of the rows of the unit with the ordinal ord, the one
// of the whole text first; none if it has no vectors or there is no such unit.
func (f *File) UnitRows(ord uint32) [][]float32 {
	if int64(ord) >= int64(f.Units()) {
		return nil
	}
	var out [][]float32
	for r := f.first[ord]; r < f.first[ord+1]; r++ {
		out = append(out, f.row(int(r)))
	}
	return out
}

func (f *File) row(r int) []float32 {
	raw := f.data[r*f.h.stride():][:f.h.stride()]
	out := make([]float32, f.h.Dims)
	if f.Int8() {
		quant.Decode(out, raw, f.scales[r])
		return out
	}
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return out
}

// UnitTokens appends the token ids of the unit with the ordinal ord to dst,
// ascending. It fails with [ErrFormat] when they are damaged.
func (f *File) UnitTokens(dst []int32, ord uint32) ([]int32, error) {
	if int64(ord) >= int64(f.Units()) {
		return dst, nil
	}
	id := int64(-1)
	for b := f.tokens[f.at[ord]:f.at[ord+1]]; len(b) > 0; {
		d, n := binary.Uvarint(b)
		if n <= 0 || d >= uint64(len(f.df)) || id+1+int64(d) >= int64(len(f.df)) {
			return dst, fmt.Errorf("read tokens of unit %d: %w", ord, ErrFormat)
		}
		id += 1 + int64(d)
		dst = append(dst, int32(id))
		b = b[n:]
	}
	return dst, nil
}

// Holds reports whether a row that is stored as row would be is in the file. It
// is how forgetting is checked.
func (f *File) Holds(row []float32) bool {
	raw, _, err := appendRow(nil, &f.h, row)
	if err != nil {
		return false
	}
	for r := range f.Rows() {
		if string(f.data[r*len(raw):][:len(raw)]) == string(raw) {
			return true
		}
	}
	return false
}
