//go:build unix

package replay

import (
	"os/exec"
	"syscall"
)

// group makes cmd the leader of a process group, which ends with its context: a
// command line agent starts others.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		killGroup(cmd)
		return nil
	}
}

// killGroup ends what is left of the group of cmd.
func killGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // there may be nothing left
	}
}
