//go:build unix

package vector

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Open maps the file at path into memory. The file must not be written to or cut
// while it is open.
func Open(path string) (f *File, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open vectors: %w", err)
	}
	// The mapping outlives the descriptor.
	defer func() { err = errors.Join(err, file.Close()) }()
	fi, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("open vectors: %w", err)
	}
	if !fi.Mode().IsRegular() || fi.Size() < headerSize || int64(int(fi.Size())) != fi.Size() {
		return nil, fmt.Errorf("open vectors: %w: %s of %d bytes", ErrFormat, fi.Mode(), fi.Size())
	}
	b, err := unix.Mmap(int(file.Fd()), 0, int(fi.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("open vectors: map: %w", err)
	}
	f, err = FromBytes(b)
	if err != nil {
		return nil, errors.Join(err, unix.Munmap(b))
	}
	f.close = func() error { return unix.Munmap(b) }
	return f, nil
}
