package memsearch_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/memsearch/memsearch"

// layers lists the folders from the vocabulary up to the commands. A package
// may import only packages of an earlier layer, or of its own folder's tree.
var layers = []string{
	".",
	"internal/atomicfile",
	"internal/porter",
	"internal/english",
	"internal/escape",
	"internal/prompt",
	"internal/quant",
	"internal/when",
	"internal/tokens",
	"internal/secrets",
	"internal/memfile",
	"internal/journal",
	"internal/vault",
	"internal/httpapi",
	"internal/llm",
	"embed",
	"index",
	"rerank",
	"recall",
	"episode",
	"extract",
	"dreaming",
	"core",
	"eval",
	"server",
	"adapters",
	"cmd",
	"benchmarks",
}

// layerOf returns the position in layers of the folder that holds dir.
func layerOf(dir string) (int, bool) {
	for ; ; dir = path.Dir(dir) {
		if i := slices.Index(layers, dir); i >= 0 {
			return i, i > 0 || dir == "."
		}
		if dir == "." {
			return 0, true
		}
	}
}

// TestLayers parses every import and refuses those that point upwards.
func TestLayers(t *testing.T) {
	seen := 0
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && file != ".") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		seen++
		dir := filepath.ToSlash(filepath.Dir(file))
		from, _ := layerOf(dir)
		if from == 0 && dir != "." {
			t.Errorf("%s: folder %s is in no layer", file, dir)
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, im := range f.Imports {
			name, err := strconv.Unquote(im.Path.Value)
			if err != nil {
				return err
			}
			to, ours := strings.CutPrefix(name, module)
			if !ours {
				continue
			}
			to = strings.TrimPrefix(to, "/")
			if to == "" {
				to = "."
			}
			at, _ := layerOf(to)
			if at > from {
				t.Errorf("%s imports %s, which stands above it", file, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen == 0 {
		t.Fatal("no Go files seen")
	}
}
