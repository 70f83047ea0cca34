package index

import (
	"io/fs"
	"syscall"
)

// changeTime returns when the file or its description last changed.
func changeTime(fi fs.FileInfo) int64 {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return st.Ctim.Nano()
	}
	return 0
}
