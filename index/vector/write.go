package vector

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"slices"

	"github.com/memsearch/memsearch/internal/quant"
)

// Options says what the rows of a file are.
type Options struct {
	Dims        int
	Int8        bool   // store rows as int8 with one scale
	Vocabulary  int    // token ids run below it; 0: no tokens
	Fingerprint uint64 // hash of the model
}

// A Unit is what is written of a unit.
type Unit struct {
	// Rows are the row of the whole text and then those of its pieces, if it has
	// several. None: the unit has no vectors yet and scores 0.
	Rows [][]float32

	// Tokens are the token ids of the unit's text, in any order, repetitions
	// allowed.
	Tokens []int32

	// From, if not nil, is the file from which rows and tokens of the unit with
	// the ordinal Ord are copied as they are. It must have the same Dims, Int8
	// and at most the same Vocabulary. Rows and Tokens are not looked at.
	From *File
	Ord  uint32
}

// Write makes the file at path, which must not exist, of units in the order of
// their ordinals, and stops at the first error among them. When it returns nil
// the content survives a power failure; the directory entry is the caller's. On
// an error no file is left.
func Write(ctx context.Context, path string, opts Options, units iter.Seq2[Unit, error]) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write vectors: %w", err)
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(fmt.Errorf("write vectors: %w", err), os.Remove(path))
		}
	}()
	head, err := encode(ctx, f, opts, units)
	if err != nil {
		return err
	}
	// Only now are the counts known.
	if _, err := f.WriteAt(head, 0); err != nil {
		return err
	}
	return f.Sync()
}

// Memory makes a file of units in memory and opens it.
func Memory(ctx context.Context, opts Options, units iter.Seq2[Unit, error]) (*File, error) {
	var buf bytes.Buffer
	head, err := encode(ctx, &buf, opts, units)
	if err != nil {
		return nil, fmt.Errorf("make vectors: %w", err)
	}
	copy(buf.Bytes(), head)
	return FromBytes(buf.Bytes())
}

// An encoder writes the rows as they come and keeps the tables for the end.
type encoder struct {
	w      *bufio.Writer
	h      header
	scales []float32
	first  []uint32
	at     []uint32
	tokens []byte
	df     []uint32
	raw    []byte
	ids    []int32
}

// encode writes everything, with an empty header, and returns the header.
func encode(ctx context.Context, w io.Writer, opts Options, units iter.Seq2[Unit, error]) ([]byte, error) {
	if opts.Dims < 1 || opts.Dims > MaxDims || opts.Vocabulary < 0 || opts.Vocabulary > maxVoc {
		return nil, fmt.Errorf("dimensions %d or vocabulary %d out of range", opts.Dims, opts.Vocabulary)
	}
	e := &encoder{w: bufio.NewWriterSize(w, 1<<18), df: make([]uint32, opts.Vocabulary)}
	e.h = header{Version: Version, Dims: uint32(opts.Dims), Vocabulary: uint32(opts.Vocabulary), Fingerprint: opts.Fingerprint}
	copy(e.h.Magic[:], magic)
	if opts.Int8 {
		e.h.Int8 = 1
	}
	if _, err := e.w.Write(make([]byte, headerSize)); err != nil {
		return nil, err
	}
	e.first, e.at = append(e.first, 0), append(e.at, 0)
	for u, err := range units {
		if err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err := e.unit(&u); err != nil {
			return nil, fmt.Errorf("unit %d: %w", e.h.Units, err)
		}
	}
	e.h.TokenBytes = uint64(len(e.tokens))
	e.h.Size = e.h.size()
	if err := e.tables(); err != nil {
		return nil, err
	}
	return binary.Append(nil, binary.LittleEndian, &e.h)
}

func (e *encoder) unit(u *Unit) (err error) {
	if u.From != nil {
		err = e.carry(u.From, u.Ord)
	} else {
		err = e.fresh(u)
	}
	if err != nil {
		return err
	}
	e.h.Units++
	if e.h.Rows > math.MaxUint32 || e.h.Units >= math.MaxUint32 || uint64(len(e.tokens)) > math.MaxUint32 {
		return errors.New("too many rows or tokens for one file")
	}
	e.first = append(e.first, uint32(e.h.Rows))
	e.at = append(e.at, uint32(len(e.tokens)))
	return nil
}

func (e *encoder) fresh(u *Unit) error {
	for _, row := range u.Rows {
		raw, scale, err := appendRow(e.raw[:0], &e.h, row)
		if err != nil {
			return err
		}
		e.raw = raw
		if err := e.rows(raw, scale); err != nil {
			return err
		}
	}
	e.ids = append(e.ids[:0], u.Tokens...)
	slices.Sort(e.ids)
	return e.addTokens(slices.Compact(e.ids))
}

func (e *encoder) carry(from *File, ord uint32) error {
	if from.h.Dims != e.h.Dims || from.h.Int8 != e.h.Int8 {
		return errors.New("rows of the old file are of another shape")
	}
	if int64(ord) >= int64(from.Units()) {
		return fmt.Errorf("the old file has no unit %d", ord)
	}
	first, end := int(from.first[ord]), int(from.first[ord+1])
	var scales []float32
	if from.Int8() {
		scales = from.scales[first:end]
	}
	if err := e.rows(from.data[first*from.h.stride():end*from.h.stride()], scales...); err != nil {
		return err
	}
	ids, err := from.UnitTokens(e.ids[:0], ord)
	e.ids = ids
	if err == nil {
		err = e.count(ids)
	}
	e.tokens = append(e.tokens, from.tokens[from.at[ord]:from.at[ord+1]]...)
	return err
}

// rows writes stored rows. Without int8 the scales are not kept.
func (e *encoder) rows(raw []byte, scales ...float32) error {
	e.h.Rows += uint64(len(raw) / e.h.stride())
	if e.h.Int8 == 1 {
		e.scales = append(e.scales, scales...)
	}
	_, err := e.w.Write(raw)
	return err
}

// addTokens takes ids that ascend.
func (e *encoder) addTokens(ids []int32) error {
	if err := e.count(ids); err != nil {
		return err
	}
	last := int32(-1)
	for _, id := range ids {
		e.tokens = binary.AppendUvarint(e.tokens, uint64(id-last-1))
		last = id
	}
	return nil
}

// count notes that one more unit has the tokens ids.
func (e *encoder) count(ids []int32) error {
	for _, id := range ids {
		if id < 0 || int(id) >= len(e.df) {
			return fmt.Errorf("token id %d outside a vocabulary of %d", id, len(e.df))
		}
		e.df[id]++
	}
	return nil
}

// tables writes what follows the rows.
func (e *encoder) tables() error {
	at := uint64(headerSize)
	for i, n := range e.h.sections() {
		switch i {
		case 0: // the rows are there
		case 1, 2, 3, 4:
			table := [...]any{1: e.scales, 2: e.first, 3: e.at, 4: e.df}[i]
			if err := binary.Write(e.w, binary.LittleEndian, table); err != nil {
				return err
			}
		case 5:
			if _, err := e.w.Write(e.tokens); err != nil {
				return err
			}
		}
		pad := alignUp(at+n) - (at + n)
		if _, err := e.w.Write(make([]byte, pad)); err != nil {
			return err
		}
		at += n + pad
	}
	return e.w.Flush()
}

// appendRow appends row as it is stored, with its scale.
func appendRow(dst []byte, h *header, row []float32) ([]byte, float32, error) {
	if len(row) != int(h.Dims) {
		return dst, 0, fmt.Errorf("row of %d elements, want %d", len(row), h.Dims)
	}
	top := quant.Largest(row)
	if top > math.MaxFloat32 || top != top {
		return dst, 0, errors.New("row with an element that is not finite")
	}
	end := len(dst) + h.stride()
	scale := float32(0)
	if h.Int8 == 1 {
		dst, scale = quant.Append(dst, row, top)
	} else {
		for _, x := range row {
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
		}
	}
	return append(dst, make([]byte, end-len(dst))...), scale, nil
}
