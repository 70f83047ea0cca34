// Package quant rounds embedding rows to int8 with one scale: what the vector
// file, the cache and an index under construction store, so that a row that was
// rounded once stays as it is wherever it goes.
//
//	row -> Append -> bytes, scale -> Decode -> row
package quant

import (
	"math"
	"slices"
)

// Largest returns the largest magnitude in row, or NaN if there is one. Without
// their signs floats sort as their bits do, NaN last.
func Largest(row []float32) float32 {
	var bits uint32
	for _, x := range row {
		bits = max(bits, math.Float32bits(x)&^(1<<31))
	}
	return math.Float32frombits(bits)
}

// Append rounds row, whose [Largest] is top, to -127..127 and appends it as
// bytes. The scale gives the rounded row the length that row has, so that
// rounding turns it but does not stretch it; it is 0 for a row of zeros.
func Append(dst []byte, row []float32, top float32) ([]byte, float32) {
	at := len(dst)
	dst = slices.Grow(dst, len(row))[:at+len(row)]
	if top == 0 {
		clear(dst[at:])
		return dst, 0
	}
	steps := 127 / float64(top)
	var length, rounded float64
	for i, x := range row {
		v := math.RoundToEven(float64(x) * steps)
		dst[at+i] = byte(int8(v))
		length += float64(x) * float64(x)
		rounded += v * v
	}
	return dst, float32(min(math.Sqrt(length/rounded), math.MaxFloat32))
}

// Decode sets row to the stored bytes times scale. b has one byte for each
// element.
func Decode(row []float32, b []byte, scale float32) {
	for i := range row {
		row[i] = scale * float32(int8(b[i]))
	}
}
