package main

import (
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// coverDir is where programs that a test starts write what they covered, when the
// test binary was built to measure that.
func coverDir(t *testing.T) string {
	if dir := os.Getenv("GOCOVERDIR"); dir != "" {
		return dir
	}
	return t.TempDir()
}

// TestMain puts a program memsearch, which is this binary, into $PATH.
func TestMain(m *testing.M) {
	testscript.Main(apart{m}, map[string]func(){"memsearch": main})
}

// apart keeps the user's own settings out of the tests.
type apart struct{ m *testing.M }

func (a apart) Run() int {
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "MEMSEARCH_") || strings.HasPrefix(name, "OPENAI_") {
			os.Unsetenv(name)
		}
	}
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME"} {
		os.Setenv(name, "/no-such-home")
	}
	return a.m.Run()
}
