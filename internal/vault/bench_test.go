package vault_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/vault"
)

func BenchmarkWalk(b *testing.B) {
	for _, folders := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("files=10000/folders=%d", folders), func(b *testing.B) {
			dir := b.TempDir()
			for i := range 10000 {
				folder := filepath.Join(dir, fmt.Sprintf("project-%04d", i%folders))
				if err := os.MkdirAll(folder, 0o700); err != nil {
					b.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("decision-20261129-mem_%06d.md", i)), nil, 0o600); err != nil {
					b.Fatal(err)
				}
			}
			v, err := vault.Open(dir, nil)
			if err != nil {
				b.Fatal(err)
			}
			defer v.Close()
			b.ReportAllocs()
			for b.Loop() {
				entries, _, err := v.Walk(b.Context())
				if err != nil || len(entries) != 10000 {
					b.Fatal(len(entries), err)
				}
			}
		})
	}
}

// The first create of a process reads the whole vault, later ones what changed.
func BenchmarkCreate(b *testing.B) {
	const files = 2000
	dir := b.TempDir()
	for i := range files {
		text := fmt.Sprintf("---\nid: n%d\nsummary: Note %d\n---\nA line of text.\n", i, i)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.md", i)), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	v, err := vault.Open(dir, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer v.Close()
	w, err := v.Writer()
	if err != nil {
		b.Fatal(err)
	}
	n := vault.NewMemory{Body: "Production runs in eu-central-1."}
	n.Memory.Category, n.Memory.Summary, n.Memory.Source.Trust = memsearch.CategoryProject, "Production", memsearch.TrustUser
	for b.Loop() {
		if _, err := w.Create(b.Context(), n); err != nil {
			b.Fatal(err)
		}
	}
}
