package static

import (
	_ "embed" // for static.bin
	"sync"
)

//go:embed static.bin
var table []byte

var shared = sync.OnceValues(func() (*Model, error) { return Load(table) })

// Shared returns the built-in model. The first call loads it.
func Shared() (*Model, error) { return shared() }
