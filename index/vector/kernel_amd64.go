//go:build !purego

package vector

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// dotInt8AVX2 sets out[i], for n rows of dims bytes each, to the sum of the
// products with q. dims is a positive multiple of int8Step, and the products
// must not overflow an int32 when added up.
//
//go:noescape
func dotInt8AVX2(q *int16, rows *byte, dims, n int, out *int32)

// dotFloatAVX2 sets out[i], for n rows of dims float32 each, to the sum of the
// products with q. dims is a positive multiple of floatStep.
//
//go:noescape
func dotFloatAVX2(q *float32, rows *byte, dims, n int, out *float32)

// dotInt8 sets dst[i] to the product of q with the i-th row of rows.
func dotInt8(dst []int32, q []int16, rows []byte) {
	if !cpu.X86.HasAVX2 {
		genericInt8(dst, q, rows)
		return
	}
	if len(dst) == 0 {
		return
	}
	_ = rows[len(dst)*len(q)-1] // the assembly reads so far
	dotInt8AVX2(unsafe.SliceData(q), unsafe.SliceData(rows), len(q), len(dst), unsafe.SliceData(dst))
}

// dotFloat sets dst[i] to the product of q with the i-th row of rows.
func dotFloat(dst, q []float32, rows []byte) {
	if !cpu.X86.HasAVX2 || !cpu.X86.HasFMA {
		genericFloat(dst, q, rows)
		return
	}
	if len(dst) == 0 {
		return
	}
	_ = rows[4*len(dst)*len(q)-1] // the assembly reads so far
	dotFloatAVX2(unsafe.SliceData(q), unsafe.SliceData(rows), len(q), len(dst), unsafe.SliceData(dst))
}
