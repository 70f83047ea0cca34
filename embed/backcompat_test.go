package embed_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch/embed"
)

var sample = flag.String("sample", "", "write a sample of the present cache file to this new folder")

// sampleSpaces are the rows of a sample, which int8 keeps exactly: the largest
// element of each is 127 steps of 1/128.
var sampleSpaces = []struct {
	space    embed.Fingerprint
	quantise bool
	rows     map[string][]float32
}{
	{embed.Fingerprint{Model: "sample", Dims: 3}, false, map[string][]float32{
		"where production runs": {0.5, -0.25, 0.125},
		"用户对花生过敏":               {0, 1, -1},
	}},
	{embed.Fingerprint{Model: "sample", Version: "2", Dims: 3, Prefixes: [2]string{"passage: ", "query: "}, Pooling: "mean"}, true,
		map[string][]float32{"where production runs": {127. / 128, -64. / 128, 1. / 128}, "nothing known": {0, 0, 0}}},
}

// TestBackcompat reads the cache file that version 1 left. The cache is derived:
// when its version is raised, a folder v2 joins this one, and of v1 it is enough
// that every row is a miss and the file is not taken for damaged. A sample is
// never rewritten; go test -run Backcompat -sample testdata/backcompat/v2 makes
// the next one.
func TestBackcompat(t *testing.T) {
	if *sample != "" {
		writeSample(t, filepath.Join(*sample, "embeddings.db"))
	}
	raw, err := os.ReadFile("testdata/backcompat/v1/embeddings.db")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "embeddings.db")
	if err := os.WriteFile(name, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	c := embed.OpenCache(name, &embed.CacheOptions{ReadOnly: true})
	defer c.Close()
	for _, s := range sampleSpaces {
		for text, want := range s.rows {
			got, err := c.Lookup(t.Context(), s.space, []embed.Key{embed.KeyOf(text)})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got[0]); d != "" {
				t.Errorf("%s %q (-want +got):\n%s", s.space, text, d)
			}
		}
	}
	other := embed.Fingerprint{Model: "sample", Dims: 3, Pooling: "mean"}
	if got, _ := c.Lookup(t.Context(), other, []embed.Key{embed.KeyOf("用户对花生过敏")}); got[0] != nil {
		t.Errorf("a row of another space: %v", got[0])
	}
	if err := c.Err(); err != nil {
		t.Error(err)
	}
}

func writeSample(t *testing.T, name string) {
	t.Helper()
	if err := os.Mkdir(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	c := embed.OpenCache(name, nil)
	for _, s := range sampleSpaces {
		for text, row := range s.rows {
			c.Store(t.Context(), s.space, []embed.Key{embed.KeyOf(text)}, [][]float32{row}, s.quantise)
		}
	}
	if err := c.Err(); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}
