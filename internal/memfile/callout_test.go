package memfile_test

import (
	"testing"

	"github.com/memsearch/memsearch/internal/memfile"
)

func TestTrimCallout(t *testing.T) {
	for in, want := range map[string]string{
		"[!note] Terns nest here": "Terns nest here",
		"[!tip]- Folded":          "Folded",
		"[!warning]+ 注意":          "注意",
		"[!note]":                 "",
		"[!note":                  "[!note",
		"[!] odd":                 "[!] odd",
		"[! no kind] odd":         "[! no kind] odd",
		"see [!note] later":       "see [!note] later",
		"[link](a.md)":            "[link](a.md)",
	} {
		if got := memfile.TrimCallout(in); got != want {
			t.Errorf("TrimCallout(%q) = %q, want %q", in, got, want)
		}
	}
}
