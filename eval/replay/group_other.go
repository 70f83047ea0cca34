//go:build !unix

package replay

import "os/exec"

// group does nothing: only the command itself ends with its context.
func group(*exec.Cmd) {}

func killGroup(*exec.Cmd) {}
