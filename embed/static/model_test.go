package static_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/memsearch/memsearch/embed/static"
)

// TestLoadRefusesDamage changes one field at a time; at is from FORMAT.md.
func TestLoadRefusesDamage(t *testing.T) {
	good, err := testTable().Encode()
	if err != nil {
		t.Fatal(err)
	}
	m, err := static.Load(good)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Verify(); err != nil {
		t.Fatal(err)
	}
	at := func(b []byte, field int) int { return int(binary.LittleEndian.Uint32(b[field:])) }
	for name, edit := range map[string]func(b []byte) []byte{
		"empty":       func([]byte) []byte { return nil },
		"short":       func(b []byte) []byte { return b[:50] },
		"cut":         func(b []byte) []byte { return b[:len(b)-1] },
		"longer":      func(b []byte) []byte { return append(b, 0) },
		"magic":       func(b []byte) []byte { b[0]++; return b },
		"version":     func(b []byte) []byte { b[8]++; return b },
		"header":      func(b []byte) []byte { b[12]++; return b },
		"dims":        func(b []byte) []byte { b[16]++; return b },
		"bits":        func(b []byte) []byte { b[20] = 8; return b },
		"tokens":      func(b []byte) []byte { b[26] = 255; return b },
		"max word":    func(b []byte) []byte { b[36] = 0; return b },
		"offset":      func(b []byte) []byte { b[51] = 255; return b },
		"no text":     func(b []byte) []byte { b[static.HeaderLen+4] = 0; return b },
		"not covered": func(b []byte) []byte { b[static.HeaderLen] = 1; return b },
		"order":       func(b []byte) []byte { b[at(b, 52)] = 'z'; return b },
		"bad scale":   func(b []byte) []byte { copy(b[at(b, 64):], "\xff\xff\xff\xff"); return b },
		"bad fold":    func(b []byte) []byte { copy(b[at(b, 60):], "\xff\xff\xff\xff"); return b },
		"fold to 0":   func(b []byte) []byte { copy(b[at(b, 60)+4:], "\x00\x00\x00\x00"); return b },
		"fold plane":  func(b []byte) []byte { b[at(b, 60)+6] = 2; return b },
	} {
		if _, err := static.Load(edit(bytes.Clone(good))); !errors.Is(err, static.ErrFormat) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	b := bytes.Clone(good)
	b[len(b)-1] ^= 1
	if m, err := static.Load(b); err != nil || !errors.Is(m.Verify(), static.ErrFormat) {
		t.Error("a changed row passes Verify")
	}
}

func TestEncodeRefusesBadTables(t *testing.T) {
	for name, edit := range map[string]func(*static.Table){
		"dims":     func(t *static.Table) { t.Dims = 20 },
		"rows":     func(t *static.Table) { t.Rows = t.Rows[1:] },
		"repeated": func(t *static.Table) { t.Tokens[1] = t.Tokens[0] },
		"empty":    func(t *static.Table) { t.Tokens[1] = "" },
		"fold":     func(t *static.Table) { t.Fold['a'] = 0 },
		"max word": func(t *static.Table) { t.MaxWord = 0 },
		"shares":   func(t *static.Table) { t.Share = []float64{1} },
		"buckets":  func(t *static.Table) { t.Buckets = -1 },
	} {
		tab := testTable()
		edit(tab)
		if _, err := tab.Encode(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestEncodeIsDeterministic: a file is written from a map of folds.
func TestEncodeIsDeterministic(t *testing.T) {
	a, err := testTable().Encode()
	if err != nil {
		t.Fatal(err)
	}
	b, err := testTable().Encode()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a, b) {
		t.Error("the same table gives two files")
	}
}
