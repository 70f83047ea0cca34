package key_test

import (
	"bytes"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/memsearch/memsearch/index/key"
)

func TestMake(t *testing.T) {
	k := key.Make(7, 3, 2)
	if k != 0x0000000700030002 {
		t.Errorf("Make(7, 3, 2) = %#x", uint64(k))
	}
	if k.UnitKey() != 0x0000000700030000 {
		t.Errorf("UnitKey = %#x", uint64(k.UnitKey()))
	}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) key.Key {
			return key.Make(rapid.Uint32().Draw(t, name+"file"),
				uint16(rapid.IntRange(0, math.MaxUint16).Draw(t, name+"unit")),
				uint16(rapid.IntRange(0, math.MaxUint16).Draw(t, name+"chunk")))
		}
		a, b := draw("a"), draw("b")
		if key.Make(a.File(), a.Unit(), a.Chunk()) != a {
			t.Fatalf("parts of %#x do not make it again", uint64(a))
		}
		ab, bb := a.Append(nil), b.Append(nil)
		if got, ok := key.Parse(ab); !ok || got != a {
			t.Fatalf("Parse(%x) = %#x, %v", ab, uint64(got), ok)
		}
		if (a < b) != (bytes.Compare(ab, bb) < 0) {
			t.Fatalf("%#x and %#x sort differently as bytes", uint64(a), uint64(b))
		}
	})
}

func TestParseRefusesOtherLengths(t *testing.T) {
	for _, s := range []string{"", "1234567", "123456789"} {
		if _, ok := key.Parse(s); ok {
			t.Errorf("Parse(%q) is a key", s)
		}
	}
}
