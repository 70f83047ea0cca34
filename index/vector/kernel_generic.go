//go:build !amd64 || purego

package vector

func dotInt8(dst []int32, q []int16, rows []byte) { genericInt8(dst, q, rows) }

func dotFloat(dst, q []float32, rows []byte) { genericFloat(dst, q, rows) }
