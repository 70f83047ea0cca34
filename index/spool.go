package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/memsearch/memsearch/embed"
	"github.com/memsearch/memsearch/index/key"
	"github.com/memsearch/memsearch/internal/quant"
)

// spoolMemory is how many bytes of vectors wait in memory before they go to the
// file.
const spoolMemory = 4 << 20

// spoolName is the file of a spool in an unfinished generation.
const spoolName = "vectors.tmp"

// A spool keeps the vectors of the fresh units until all ids, and with them the
// order of the vector file, are known.
type spool struct {
	name string // of the file to go to; empty: stay in memory
	int8 bool
	dims int
	at   map[key.Key]spooled
	buf  []byte // what is not in the file
	base int64  // bytes in the file
	file *os.File

	// Reused when reading.
	raw    []byte
	all    []float32
	rows   [][]float32
	tokens []int32
}

type spooled struct {
	off          int64
	tokens, rows uint32
}

// newSpool returns nil without an embedder.
func newSpool(e embed.Embedder, name string) *spool {
	if e == nil {
		return nil
	}
	return &spool{name: name, int8: quantised(e), dims: e.Fingerprint().Dims, at: map[key.Key]spooled{}}
}

func quantised(e embed.Embedder) bool {
	q, ok := embed.As[embed.Quantised](e)
	return ok && q.Int8()
}

func (s *spool) rowSize() int {
	if s.int8 {
		return 4 + s.dims
	}
	return 4 * s.dims
}

// add takes the vectors over.
func (s *spool) add(u *parsedUnit) error {
	s.at[u.row.Key] = spooled{s.base + int64(len(s.buf)), uint32(len(u.tokens)), uint32(len(u.vectors))}
	for _, t := range u.tokens {
		s.buf = binary.LittleEndian.AppendUint32(s.buf, uint32(t))
	}
	for _, v := range u.vectors {
		s.buf = s.appendRow(s.buf, v)
	}
	u.vectors, u.tokens = nil, nil
	if len(s.buf) < spoolMemory || s.name == "" {
		return nil
	}
	return s.spill()
}

func (s *spool) spill() (err error) {
	if s.file == nil {
		if s.file, err = os.OpenFile(s.name, os.O_RDWR|os.O_CREATE|os.O_EXCL, filePerm); err != nil {
			return fmt.Errorf("spool vectors: %w", err)
		}
	}
	n, err := s.file.Write(s.buf)
	s.base += int64(n)
	s.buf = s.buf[:0]
	if err != nil {
		return fmt.Errorf("spool vectors: %w", err)
	}
	return nil
}

// appendRow encodes v. A row that was read back encodes to the same bytes again,
// here and in the vector file.
func (s *spool) appendRow(dst []byte, v []float32) []byte {
	if !s.int8 {
		for _, x := range v {
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
		}
		return dst
	}
	at := len(dst)
	dst, scale := quant.Append(append(dst, 0, 0, 0, 0), v, quant.Largest(v))
	binary.LittleEndian.PutUint32(dst[at:], math.Float32bits(scale))
	return dst
}

// get returns the vectors and token ids of a unit, valid until the next call;
// false when it has none here.
func (s *spool) get(k key.Key) (rows [][]float32, tokens []int32, ok bool, err error) {
	e, ok := s.at[k]
	if !ok {
		return nil, nil, false, nil
	}
	b, err := s.bytes(e.off, 4*int(e.tokens)+s.rowSize()*int(e.rows))
	if err != nil {
		return nil, nil, false, err
	}
	s.tokens, s.rows = s.tokens[:0], s.rows[:0]
	for i := range int(e.tokens) {
		s.tokens = append(s.tokens, int32(binary.LittleEndian.Uint32(b[4*i:])))
	}
	b = b[4*e.tokens:]
	if n := int(e.rows) * s.dims; len(s.all) < n {
		s.all = make([]float32, n)
	}
	for i := range int(e.rows) {
		row := s.all[i*s.dims : (i+1)*s.dims]
		s.decodeRow(row, b[i*s.rowSize():])
		s.rows = append(s.rows, row)
	}
	return s.rows, s.tokens, true, nil
}

func (s *spool) decodeRow(dst []float32, b []byte) {
	if !s.int8 {
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
		return
	}
	quant.Decode(dst, b[4:], math.Float32frombits(binary.LittleEndian.Uint32(b)))
}

// stored returns v as it is after it went through a spool.
func (s *spool) stored(v []float32) []float32 {
	out := make([]float32, len(v))
	s.decodeRow(out, s.appendRow(nil, v))
	return out
}

func (s *spool) bytes(off int64, n int) ([]byte, error) {
	if off >= s.base {
		at := int(off - s.base)
		return s.buf[at : at+n], nil
	}
	if cap(s.raw) < n {
		s.raw = make([]byte, n)
	}
	b := s.raw[:n]
	if _, err := s.file.ReadAt(b, off); err != nil {
		return nil, fmt.Errorf("read spooled vectors: %w", err)
	}
	return b, nil
}

// close removes the file. A second close, or one of nil, does nothing.
func (s *spool) close() error {
	if s == nil || s.file == nil {
		return nil
	}
	err := errors.Join(s.file.Close(), os.Remove(s.name))
	s.file = nil
	return err
}
