//go:build unix

package atomicfile

import "syscall"

// noWait keeps an open from waiting for the other end of a pipe.
const noWait = syscall.O_NONBLOCK
