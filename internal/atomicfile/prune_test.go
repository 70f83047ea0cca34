package atomicfile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch/internal/atomicfile"
)

// TestPrune has files that are written a second apart, the first of them first, and a
// stranger that is older than all.
func TestPrune(t *testing.T) {
	for _, tt := range []struct {
		files, each, most int
		size              int64
		kept              int
	}{
		{0, 1, 8, 0, 0},
		{8, 1, 8, 0, 8},
		{9, 1, 8, 0, 6},
		{30, 1, 8, 0, 6},
		{8, 10, 8, 80, 8},
		{8, 10, 8, 79, 5}, // 50 of the 57 that three quarters are
		{3, 10, 8, 4, 1},  // the newest stays
		{20, 10, 8, 100, 6},
	} {
		at := t.TempDir()
		start := time.Unix(1_700_000_000, 0)
		write := func(name string, n int, when time.Time) {
			if err := os.WriteFile(filepath.Join(at, name), make([]byte, n), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(filepath.Join(at, name), when, when); err != nil {
				t.Fatal(err)
			}
		}
		write("stranger", 1000, start)
		var want []string
		for i := range tt.files {
			name := fmt.Sprintf("%02d.json", (i*7+3)%100) // names say nothing of the age
			write(name, tt.each, start.Add(time.Duration(i+1)*time.Second))
			want = append(want, name)
		}
		want = append(want[max(0, tt.files-tt.kept):], "stranger")
		slices.Sort(want)
		dir, err := atomicfile.OpenDir(at, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = dir.Prune(func(name string) bool { return strings.HasSuffix(name, ".json") }, tt.most, tt.size)
		dir.Close()
		var got []string
		entries, _ := os.ReadDir(at)
		for _, e := range entries {
			got = append(got, e.Name())
		}
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%+v: %v (-want +got):\n%s", tt, err, d)
		}
	}
}
