package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch/embed/static"
)

// material writes a vocabulary of four tokens and a map of one character.
func material(t *testing.T) (dir, vocab, t2s string) {
	t.Helper()
	dir = t.TempDir()
	vocab, t2s = filepath.Join(dir, "vocab.tsv"), filepath.Join(dir, "t2s.tsv")
	write(t, vocab, "run\t6\ncat\t2\n国\t1\n中国\t1\n")
	write(t, t2s, "國\t国\n")
	return dir, vocab, t2s
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func ints(b []byte) (out []int32) {
	for i := 0; i+4 <= len(b); i += 4 {
		out = append(out, int32(binary.LittleEndian.Uint32(b[i:])))
	}
	return out
}

func TestEncWritesTrainingIDs(t *testing.T) {
	_, vocab, t2s := material(t)
	var out bytes.Buffer
	if err := run([]string{"enc", vocab, t2s}, strings.NewReader("Cats running\n\n中國\n"), &out); err != nil {
		t.Fatal(err)
	}
	// A count, then ids: lines of vocab.tsv. 中 alone is not in it.
	if d := cmp.Diff([]int32{2, 1, 0, 0, 2, 2, 3}, ints(out.Bytes())); d != "" {
		t.Errorf("ids (-want +got):\n%s", d)
	}
}

func TestPairs(t *testing.T) {
	dir, vocab, t2s := material(t)
	write(t, filepath.Join(dir, "x.tsv"), "cat\trun cat\n...\tcat\n"+strings.Repeat("cat ", 100)+"\t"+strings.Repeat("run ", 100)+"\n")
	var out bytes.Buffer
	if err := run([]string{"pairs", vocab, t2s, dir, dir, "x"}, nil, &out); err != nil {
		t.Fatal(err)
	}
	if out.String() != "x 2\n" { // the second line has no token on its left
		t.Errorf("said %q", out.String())
	}
	b, err := os.ReadFile(filepath.Join(dir, "x.bin"))
	if err != nil {
		t.Fatal(err)
	}
	got := ints(b)
	if len(got) != 5+2+80+96 {
		t.Fatalf("%d numbers", len(got))
	}
	if d := cmp.Diff([]int32{1, 2, 1, 0, 1, 80, 96, 1}, got[:8]); d != "" {
		t.Errorf("pairs (-want +got):\n%s", d)
	}
}

func TestPack(t *testing.T) {
	dir, vocab, t2s := material(t)
	rows := filepath.Join(dir, "rows.f32")
	var b []byte
	for i := range 5 * 16 { // four tokens and a bucket; token i is all i
		b = binary.LittleEndian.AppendUint32(b, []uint32{0, 0x3f800000, 0x40000000, 0x40400000, 0x40800000}[i/16])
	}
	write(t, rows, string(b))
	var out bytes.Buffer
	if err := run([]string{"pack", vocab, t2s, rows, "16", "1"}, nil, &out); err != nil {
		t.Fatal(err)
	}
	m, err := static.Load(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	// Row of "run" is zero, row of "cat" is not.
	if v := m.Vector("run"); v[0] != 0 {
		t.Errorf("run: %v", v)
	}
	if v := m.Vector("cat"); v[0] != .25 {
		t.Errorf("cat: %v", v)
	}
}

func TestGoldenReproducesTheFile(t *testing.T) {
	want, err := os.ReadFile("../../testdata/golden.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run([]string{"golden"}, bytes.NewReader(want), &out); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), out.String()); d != "" {
		t.Errorf("golden (-want +got):\n%s", d)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"pack"}, {"nosuch"}, {"enc", "one"}, {"pack", "a", "b", "c", "x", "1"},
		{"pack", "a", "b", "c", "16", "x"}, {"pack", "a", "b", "c", "16", "1"}, {"enc", "nosuch", "nosuch"}} {
		if err := run(args, strings.NewReader(""), &bytes.Buffer{}); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}
