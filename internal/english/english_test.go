package english_test

import (
	"testing"

	"github.com/memsearch/memsearch/internal/english"
)

// TestCount guards against "1 files".
func TestCount(t *testing.T) {
	for _, c := range []struct {
		n    int
		one  string
		want string
	}{
		{0, "unit", "0 units"},
		{1, "file", "1 file"},
		{2, "file", "2 files"},
		{1, "memory", "1 memory"},
		{12, "memory", "12 memories"},
		{3, "index", "3 indexes"},
	} {
		if got := english.Count(c.n, c.one); got != c.want {
			t.Errorf("Count(%d, %q) = %q, want %q", c.n, c.one, got, c.want)
		}
	}
}
