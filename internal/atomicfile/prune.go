package atomicfile

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
)

// Prune removes the oldest of the files in the directory whose names match, by when
// they were written, once there are more than most or they hold more than size bytes
// together; a size of 0 is any. It leaves three quarters of that, so that it has
// nothing to do for a while, and the newest file in any case. Other processes may do
// the same meanwhile.
func (d *Dir) Prune(match func(name string) bool, most int, size int64) error {
	f, err := d.Open(".")
	if err != nil {
		return err
	}
	defer f.Close() // read only
	names, err := f.Readdirnames(-1)
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !match(name) })
	if len(names) <= most && size == 0 {
		return nil
	}
	var files []fs.FileInfo
	var held int64
	for _, name := range names {
		if fi, err := d.Lstat(name); err == nil {
			files = append(files, fi)
			held += fi.Size()
		}
	}
	if len(files) <= most && (size == 0 || held <= size) {
		return nil
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	var errs []error
	for i, fi := range files[:len(files)-1] {
		if len(files)-i <= most*3/4 && (size == 0 || held <= size/4*3) {
			break
		}
		held -= fi.Size()
		if err := d.Remove(fi.Name()); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
