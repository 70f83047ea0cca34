package atomicfile

import (
	"errors"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// exchange swaps the names of two files of one directory in one step. File
// systems that cannot do it answer [errors.ErrUnsupported].
func exchange(root *os.Root, a, b string) error {
	dir, err := root.Open(path.Dir(b))
	if err != nil {
		return err
	}
	defer dir.Close()
	fd := int(dir.Fd())
	err = unix.Renameat2(fd, path.Base(a), fd, path.Base(b), unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return errors.ErrUnsupported
	}
	return err
}
