//go:build !unix

package atomicfile

const noWait = 0
