package vector_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch/index/vector"
)

var sampleDir = flag.String("sample", "", "write a sample of the present file to this new folder")

// TestBackcompat reads the float32 file that version 1 left; an int8 one is in
// the sample of package index. The file is derived: when [vector.Version] is
// raised, a folder v2 joins this one, and of v1 it is enough that it fails with
// [vector.ErrFormat]. A sample is never rewritten; go test -run Backcompat -sample
// testdata/backcompat/v2 makes the next one.
func TestBackcompat(t *testing.T) {
	const name = "float32.bin"
	if *sampleDir != "" {
		if err := os.Mkdir(*sampleDir, 0o755); err != nil {
			t.Fatal(err)
		}
		opts := vector.Options{Dims: 3, Vocabulary: 400, Fingerprint: 0x0123456789abcdef}
		err := vector.Write(t.Context(), filepath.Join(*sampleDir, name), opts, each(
			vector.Unit{Rows: [][]float32{{1, 0, 0}, {0.5, -0.5, 0}, {0, 0.25, 1}}, Tokens: []int32{0, 399, 7, 7}},
			vector.Unit{},
			vector.Unit{Rows: [][]float32{{0, 0, -1}}, Tokens: []int32{7, 300}},
		))
		if err != nil {
			t.Fatal(err)
		}
	}
	f, err := vector.Open(filepath.Join("testdata/backcompat/v1", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Units() != 3 || f.Rows() != 4 || f.Dims() != 3 || f.Int8() || f.Vocabulary() != 400 || f.Fingerprint() != 0x0123456789abcdef {
		t.Errorf("%d units, %d rows of %d, int8 %v, %d tokens, fingerprint %x",
			f.Units(), f.Rows(), f.Dims(), f.Int8(), f.Vocabulary(), f.Fingerprint())
	}
	rows := [][][]float32{{{1, 0, 0}, {0.5, -0.5, 0}, {0, 0.25, 1}}, nil, {{0, 0, -1}}}
	tokens := [][]int32{{0, 7, 399}, nil, {7, 300}}
	for ord := range uint32(3) {
		if d := cmp.Diff(rows[ord], f.UnitRows(ord)); d != "" {
			t.Errorf("rows of unit %d (-want +got):\n%s", ord, d)
		}
		got, err := f.UnitTokens(nil, ord)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tokens[ord], got); d != "" {
			t.Errorf("tokens of unit %d (-want +got):\n%s", ord, d)
		}
	}
	for id, want := range map[int32]int{0: 1, 7: 2, 300: 1, 399: 1, 8: 0, 400: 0} {
		if got := f.DF(id); got != want {
			t.Errorf("%d units have the token %d, want %d", got, id, want)
		}
	}
	// Unit 0: (1 + max(.5, 0)) / 2.
	if d := cmp.Diff([]float32{0.75, 0, 0}, scan(t, f, []float32{1, 0, 0})); d != "" {
		t.Errorf("scan (-want +got):\n%s", d)
	}
}
