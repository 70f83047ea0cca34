package static_test

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"github.com/memsearch/memsearch/embed/static"
)

func FuzzEmbed(f *testing.F) {
	for _, s := range []string{"", "the cat", "我們今天去醫院", "\xff\xfe", "e\u0301\u0301", "ﬁ½㎏", "y", strings.Repeat("y", 300),
		"\U00020000\u3099", "a\x00b", "ＡＢｃ，１２！カ゛か\u3099。", "a\uff5e\u0301ａ\u0301"} {
		f.Add(s)
	}
	m := load(f, testTable())
	f.Fuzz(func(t *testing.T, s string) {
		for _, v := range [][]float32{m.Vector(s), m.EmbedQuery(s, func(id int32) int { return int(id) - 2 }, 10)} {
			if n := norm2(v); math.Abs(n-1) > 1e-4 && n != 0 {
				t.Fatalf("norm² %v", n)
			}
		}
		for _, tok := range m.Tokens(s) {
			if _, ok := m.Lookup(tok); !ok {
				t.Fatalf("token %q is not in the table", tok)
			}
		}
		if a, b := m.Tokens(s), m.Tokens(norm.NFKC.String(s)); !slices.Equal(a, b) {
			t.Fatalf("tokens %q, after NFKC %q", a, b)
		}
		squeeze := strings.NewReplacer(" ", "", "\n", "").Replace
		if joined := squeeze(strings.Join(m.Chunks(s), "")); len(joined) > len(s) {
			t.Fatalf("%d bytes of chunks from %d", len(joined), len(s))
		}
	})
}

func FuzzLoad(f *testing.F) {
	b, err := testTable().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b, uint32(0), byte(0))
	f.Add(b[:static.HeaderLen], uint32(40), byte(static.HeaderLen))
	f.Fuzz(func(t *testing.T, b []byte, at uint32, x byte) {
		if len(b) > 0 {
			b = bytes.Clone(b)
			b[int(at)%len(b)] ^= x
		}
		m, err := static.Load(b)
		if err != nil {
			return
		}
		_ = m.Verify() // must not panic; most changes break the checksum
		if v := m.Vector("The cats 我們今天去醫院 unknownword 42 café"); len(v) != m.Dims() {
			t.Fatalf("%d elements", len(v))
		}
		m.Tokens("醫院 zzz")
	})
}
