package validity_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/memsearch/memsearch/index/validity"
)

// docs/format.md lists every column and index of the table.
func TestFormatDocument(t *testing.T) {
	raw, err := os.ReadFile("../../docs/format.md")
	if err != nil {
		t.Fatal(err)
	}
	_, doc, _ := strings.Cut(string(raw), "\n### validity.db")
	doc, _, ok := strings.Cut(doc, "\n### ")
	if !ok {
		t.Fatal("docs/format.md says nothing of validity.db")
	}
	path := filepath.Join(t.TempDir(), "validity.db")
	if err := validity.Write(t.Context(), path, "", nil, slices.Values([]validity.Row(nil))); err != nil {
		t.Fatal(err)
	}
	db, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s, _, err := db.Prepare("SELECT name FROM pragma_table_info('unit') UNION ALL SELECT name FROM pragma_index_list('unit')")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n := 0
	for ; s.Step(); n++ {
		if name := s.ColumnText(0); !strings.Contains(doc, "`"+name+"`") {
			t.Errorf("%s is missing", name)
		}
	}
	if err := s.Err(); err != nil || n == 0 {
		t.Errorf("%d names, %v", n, err)
	}
}
