package main

import (
	"os"
	"strings"
	"testing"
)

// asProgram, set in the environment, makes the test binary run as memsearch.
const asProgram = "TEST_AS_MEMSEARCH"

// coverDir is where programs that a test starts write what they covered, when the
// test binary was built to measure that.
func coverDir(t *testing.T) string {
	if dir := os.Getenv("GOCOVERDIR"); dir != "" {
		return dir
	}
	return t.TempDir()
}

// TestMain keeps the user's own settings out of the tests.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "MEMSEARCH_") || strings.HasPrefix(name, "OPENAI_") {
			os.Unsetenv(name)
		}
	}
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME"} {
		os.Setenv(name, "/no-such-home")
	}
	os.Exit(m.Run())
}
