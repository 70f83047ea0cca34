package atomicfile

import (
	"io"
	"io/fs"
	"os"
)

// OpenRegular opens the regular file called name, wherever it is, for reading. What
// would make a reader wait, or never end, is [ErrNotRegular]: a pipe, a device, a
// socket.
func OpenRegular(name string) (*os.File, error) {
	return regular(name, func(flag int) (*os.File, error) { return os.OpenFile(name, flag, 0) })
}

// ReadRegular is [os.ReadFile] for what [OpenRegular] opens.
func ReadRegular(name string) ([]byte, error) {
	f, err := OpenRegular(name)
	if err != nil {
		return nil, err
	}
	return readClose(f)
}

func regular(name string, open func(flag int) (*os.File, error)) (*os.File, error) {
	f, err := open(os.O_RDONLY | noWait)
	if err != nil {
		return nil, err
	}
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: ErrNotRegular}
	}
	if err != nil {
		f.Close() // nothing was read
		return nil, err
	}
	return f, nil
}

func readClose(f *os.File) ([]byte, error) {
	defer f.Close() // read only
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	buf := make([]byte, 0, fi.Size()+1)
	for {
		n, err := f.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case err == io.EOF:
			return buf, nil
		case err != nil:
			return buf, err
		case len(buf) == cap(buf):
			buf = append(buf, 0)[:len(buf)]
		}
	}
}
