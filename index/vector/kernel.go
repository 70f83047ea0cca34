package vector

import (
	"encoding/binary"
	"math"
)

// The kernels take rows in whole steps of so many elements.
const (
	int8Step  = 64
	floatStep = 32
)

// genericInt8 sets dst[i] to the product of q with the i-th row of rows.
func genericInt8(dst []int32, q []int16, rows []byte) {
	n := len(q)
	for i := range dst {
		row := rows[i*n : (i+1)*n]
		var a, b, c, d int32
		for j := 0; j+4 <= len(row) && j+4 <= len(q); j += 4 {
			a += int32(q[j]) * int32(int8(row[j]))
			b += int32(q[j+1]) * int32(int8(row[j+1]))
			c += int32(q[j+2]) * int32(int8(row[j+2]))
			d += int32(q[j+3]) * int32(int8(row[j+3]))
		}
		dst[i] = a + b + c + d
	}
}

// genericFloat sets dst[i] to the product of q with the i-th row of rows.
func genericFloat(dst []float32, q []float32, rows []byte) {
	n := len(q)
	for i := range dst {
		row := rows[i*n*4 : (i+1)*n*4]
		var a, b, c, d float32
		for j := 0; j+4 <= len(q); j += 4 {
			r := row[j*4 : j*4+16]
			a += q[j] * float(r)
			b += q[j+1] * float(r[4:])
			c += q[j+2] * float(r[8:])
			d += q[j+3] * float(r[12:])
		}
		dst[i] = (a + b) + (c + d)
	}
}

func float(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }
