//go:build !unix

package vector

import (
	"fmt"
	"os"
)

// Open reads the file at path into memory.
func Open(path string) (*File, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("open vectors: %w", err)
	}
	return FromBytes(b)
}
