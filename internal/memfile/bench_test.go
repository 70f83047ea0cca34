package memfile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/memsearch/memsearch/internal/memfile"
)

func BenchmarkParseNote(b *testing.B) {
	raw := []byte("---\nid: mem_20261129101500_k3f9a2\ncategory: reference\nkind: decision\nsummary: Production moved\ntags: [infra, aws]\n" +
		"status: active\ncreated_at: 2026-11-29T10:15:00Z\nvalid_from: 2026-11-01\n---\n# Where production runs\n\n" +
		strings.Repeat("The cluster runs in the region that is named in the runbook.\n", 10))
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		memfile.Parse("reference/n.md", raw, nil)
	}
}

func BenchmarkParseHeadings(b *testing.B) {
	var s strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&s, "## Section %d\n\nParagraph %d about a topic.\n\n", i, i)
	}
	raw := []byte(s.String())
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		memfile.Parse("n.md", raw, nil)
	}
}

func BenchmarkChunks(b *testing.B) {
	text := strings.Repeat("The cluster runs in the region that is named in the runbook. ", 20000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		memfile.Chunks(text, 0)
	}
}

func BenchmarkIndexable(b *testing.B) {
	text := strings.Repeat("The cluster runs in the region that is named in the runbook. ", 20000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		memfile.Indexable(text)
	}
}
