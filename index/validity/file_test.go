package validity_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/memsearch/memsearch/index/key"
	"github.com/memsearch/memsearch/index/validity"
)

func TestWriteRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "v.db")
	twice := []validity.Row{{Key: key.Make(1, 0, 0)}, {Key: key.Make(1, 0, 0)}}
	chunk := []validity.Row{{Key: key.Make(1, 0, 1)}}
	garbage := filepath.Join(dir, "garbage")
	if err := os.WriteFile(garbage, []byte(strings.Repeat("not a database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, tt := range []struct {
		name string
		ctx  context.Context
		base string
		rows []validity.Row
		want error
	}{
		{"a key twice", t.Context(), "", twice, nil},
		{"the key of a chunk", t.Context(), "", chunk, nil},
		{"a base that is missing", t.Context(), path + "x", nil, os.ErrNotExist},
		{"a base that is none", t.Context(), garbage, nil, validity.ErrFormat},
		{"cancelled", stopped, "", []validity.Row{full()}, context.Canceled},
	} {
		err := validity.Write(tt.ctx, path, tt.base, nil, slices.Values(tt.rows))
		if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: a file was left", tt.name)
		}
	}
	if err := validity.Write(t.Context(), garbage, "", nil, slices.Values([]validity.Row{})); !errors.Is(err, os.ErrExist) {
		t.Errorf("over a file: %v", err)
	}
	if _, err := validity.Open(garbage); !errors.Is(err, validity.ErrFormat) {
		t.Errorf("open garbage: %v", err)
	}
}

func TestVerifySeesDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v.db")
	rows := make([]validity.Row, 500)
	for i := range rows {
		rows[i].Key = key.Make(uint32(i), 0, 0)
		rows[i].UnitID = strings.Repeat("u", i)
	}
	if err := validity.Write(t.Context(), path, "", nil, slices.Values(rows)); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, damaged := range [][]byte{b[:len(b)/2], b[:100], nil, slices.Concat(b[:4096], make([]byte, 4096), b[8192:])} {
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := validity.Verify(t.Context(), path); !errors.Is(err, validity.ErrFormat) {
			t.Errorf("%d bytes: %v", len(damaged), err)
		}
	}
}

func TestForgottenTextIsGone(t *testing.T) {
	dir := t.TempDir()
	canary := "the canary sings " + strings.Repeat("tralala ", 1500)
	first, second := filepath.Join(dir, "1.db"), filepath.Join(dir, "2.db")
	rows := []validity.Row{{Key: key.Make(1, 0, 0), UnitID: "a", Summary: canary}, {Key: key.Make(2, 0, 0), UnitID: "b"},
		{Key: key.Make(3, 0, 0), UnitID: "c", Tags: []string{"still here"}}}
	if err := validity.Write(t.Context(), first, "", nil, slices.Values(rows)); err != nil {
		t.Fatal(err)
	}
	if err := validity.Write(t.Context(), second, first, []uint32{1}, slices.Values([]validity.Row{})); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		path, text string
		want       bool
	}{
		{first, "the canary sings", true},
		{first, "tralala", true},
		{second, "the canary sings", false},
		{second, "tralala", false},
		{second, "still here", true},
	} {
		raw, err := os.ReadFile(tt.path)
		if got := bytes.Contains(raw, []byte(tt.text)); err != nil || got != tt.want {
			t.Errorf("%q in %s: %v, %v", tt.text, filepath.Base(tt.path), got, err)
		}
	}
}

func TestConcurrentReaders(t *testing.T) {
	r := memory(t, full())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if _, err := r.Excluded(t.Context(), validity.Filter{Now: at("2026-01-01T00:00:00Z"), Turn: "x"}); err != nil {
					t.Error(err)
				}
				if rows, err := r.List(t.Context(), validity.ListFilter{}); err != nil || len(rows) != 1 {
					t.Error(rows, err)
				}
			}
		})
	}
	wg.Wait()
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := r.List(stopped, validity.ListFilter{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := r.List(t.Context(), validity.ListFilter{}); !errors.Is(err, validity.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}
