package replay_test

import (
	"fmt"
	"os"
	"testing"
)

// TestMain puts what the tests write into memory where that can be had: hundreds of
// runs, each with vault and index of its own, need not wait for a disk.
func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" { // has the folder of its parent
		os.Exit(m.Run())
	}
	dir, err := os.MkdirTemp("/dev/shm", "replay-test-")
	if err != nil {
		os.Exit(m.Run())
	}
	if err := os.Setenv("TMPDIR", dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
