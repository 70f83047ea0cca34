package index

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// errShort is returned for a file that ends before what its header promises.
var errShort = errors.New("file too short")

// errVersion is returned for a file of another version.
var errVersion = errors.New("file of another version")

// A decoder reads little-endian fields one after another. After the first error
// every read returns zero, so that a caller asks once, at the end.
type decoder struct {
	rest []byte
	err  error
}

func (d *decoder) take(n int) []byte {
	if d.err != nil || n < 0 || n > len(d.rest) {
		if d.err == nil {
			d.err = errShort
		}
		return nil
	}
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) u32() uint32 {
	if b := d.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (d *decoder) u64() uint64 {
	if b := d.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// u32s reads n numbers. The length is checked before anything is allocated.
func (d *decoder) u32s(n int) []uint32 {
	if n < 0 || n > len(d.rest)/4 {
		d.take(-1)
		return nil
	}
	b := d.take(4 * n)
	if b == nil {
		return nil
	}
	out := make([]uint32, n)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return out
}

// header reads a magic of eight bytes and a version, which must be as given.
func (d *decoder) header(magic string, version uint32) {
	if b := d.take(len(magic)); d.err == nil && string(b) != magic {
		d.err = fmt.Errorf("magic is %q, want %q", b, magic)
	}
	if v := d.u32(); d.err == nil && v != version {
		d.err = fmt.Errorf("%w: %d, want %d", errVersion, v, version)
	}
}

// end reports the first error, or that bytes were left over.
func (d *decoder) end() error {
	if d.err == nil && len(d.rest) > 0 {
		return fmt.Errorf("%d bytes after the end", len(d.rest))
	}
	return d.err
}

func appendU32s(dst []byte, v []uint32) []byte {
	for _, x := range v {
		dst = binary.LittleEndian.AppendUint32(dst, x)
	}
	return dst
}

// cut returns blob[from:to], or false when the bounds are not in it.
func cut(blob string, from, to uint64) (string, bool) {
	if from > to || to > uint64(len(blob)) {
		return "", false
	}
	return blob[from:to], true
}
