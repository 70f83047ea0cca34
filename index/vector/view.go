package vector

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/cpu"
)

// view reads b as little-endian values, without a copy where the machine can.
func view[T float32 | uint32](b []byte) []T {
	n := len(b) / 4
	if n == 0 {
		return nil
	}
	p := unsafe.Pointer(unsafe.SliceData(b))
	if !cpu.IsBigEndian && uintptr(p)%4 == 0 {
		// The bytes are never written to, and the slice keeps them alive.
		return unsafe.Slice((*T)(p), n)
	}
	out := make([]T, n)
	// Decode fails only when b is too short.
	_, _ = binary.Decode(b, binary.LittleEndian, out)
	return out
}
