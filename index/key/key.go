// Package key numbers what the indexes of one vault hold: every row of every
// index carries the [Key] of the file, unit and chunk it was made from.
package key

import "encoding/binary"

// A Key names a chunk of a unit of a file. Keys sort by file, then unit, then
// chunk.
type Key uint64

// Size is the length of an encoded key in bytes.
const Size = 8

// Make returns the key of a chunk. Chunk 0 stands for the unit.
func Make(file uint32, unit, chunk uint16) Key {
	return Key(file)<<32 | Key(unit)<<16 | Key(chunk)
}

// File returns the number of the file.
func (k Key) File() uint32 { return uint32(k >> 32) }

// Unit returns the number of the unit in its file.
func (k Key) Unit() uint16 { return uint16(k >> 16) }

// Chunk returns the number of the chunk in its unit.
func (k Key) Chunk() uint16 { return uint16(k) }

// UnitKey returns the key of the unit, which is that of its chunk 0.
func (k Key) UnitKey() Key { return k &^ 0xffff }

// Append appends k to dst as eight bytes that sort as keys do.
func (k Key) Append(dst []byte) []byte { return binary.BigEndian.AppendUint64(dst, uint64(k)) }

// Parse reads what [Key.Append] wrote. It reports whether b is a key.
func Parse[T ~string | ~[]byte](b T) (Key, bool) {
	if len(b) != Size {
		return 0, false
	}
	var k Key
	for i := range Size {
		k = k<<8 | Key(b[i])
	}
	return k, true
}
