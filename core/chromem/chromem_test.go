package chromem_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	chromemgo "github.com/philippgille/chromem-go"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/core/chromem"
)

func open(t *testing.T, files map[string]string) *core.Memory {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m, err := core.Open(t.Context(), []core.Scope{{Name: "user", Dir: dir}}, &core.Options{
		Caller: core.Caller{Role: memsearch.RoleJob},
		Now:    func() time.Time { return time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// TestExport opens an export with the library itself: documents, metadata and
// vectors are there, what does not hold any more is not.
func TestExport(t *testing.T) {
	m := open(t, map[string]string{
		"tea.md": "---\nid: mem_tea\ncategory: user\nkind: preference\nsummary: Tea\ntags: [drinks]\nvalid_from: 2026-01-02\n---\nThe user drinks green tea.\n",
		"old.md": "---\nid: mem_old\nstatus: retired\n---\nThe user drinks coffee.\n",
	})
	var buf bytes.Buffer
	rep, err := chromem.Export(t.Context(), m, &buf)
	if err != nil {
		t.Fatal(err)
	}
	if rep.Collections != 1 || rep.Documents != 1 || rep.NoVector != 0 {
		t.Errorf("Export reports %+v, want one document in one collection", rep)
	}
	db := chromemgo.NewDB()
	if err := db.ImportFromReader(bytes.NewReader(buf.Bytes()), ""); err != nil {
		t.Fatal(err)
	}
	c := db.GetCollection("user", func(context.Context, string) ([]float32, error) { t.Fatal("asked for a vector"); return nil, nil })
	d, err := c.GetByID(t.Context(), "mem_tea")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"memory_id": "mem_tea", "path": "tea.md", "lines": "9-9", "category": "user", "kind": "preference",
		"summary": "Tea", "tags": "drinks", "valid_from": "2026-01-02"}
	if diff := cmp.Diff(want, d.Metadata); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	if strings.TrimSpace(d.Content) != "The user drinks green tea." || len(d.Embedding) != 512 {
		t.Errorf("document has %q and %d dimensions", d.Content, len(d.Embedding))
	}
}

// library writes a database with the library, as an export or as a folder.
func library(t *testing.T, folder bool, docs ...chromemgo.Document) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "db")
	db := chromemgo.NewDB()
	if folder {
		var err error
		if db, err = chromemgo.NewPersistentDB(dir, true); err != nil {
			t.Fatal(err)
		}
	}
	c, err := db.CreateCollection("notes", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AddDocuments(t.Context(), docs, 1); err != nil {
		t.Fatal(err)
	}
	if folder {
		return dir
	}
	if err := db.ExportToFile(dir+".gob", false, ""); err != nil {
		t.Fatal(err)
	}
	return dir + ".gob"
}

var vec = []float32{1, 0}

func TestImport(t *testing.T) {
	docs := []chromemgo.Document{
		{ID: "1", Embedding: vec, Content: "The quay crane is serviced in May.", Metadata: map[string]string{"category": "project", "tags": "cranes, port", "author": "Li", "created_at": "2026-03-04"}},
		{ID: "2", Embedding: vec, Content: "The gate code changes on Mondays."},
		{ID: "3", Embedding: vec, Content: "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYzT9dEXk2Qa"},
		{ID: "4", Embedding: vec},
	}
	for _, folder := range []bool{false, true} {
		m := open(t, map[string]string{"gate.md": "The gate code changes on Mondays.\n"})
		list, err := chromem.Read(library(t, folder, docs...))
		if err != nil {
			t.Fatal(err)
		}
		rep, err := chromem.Import(t.Context(), m, list, nil)
		if err != nil {
			t.Fatal(err)
		}
		if rep.Documents != 4 || len(rep.Created) != 1 || rep.Present != 1 || len(rep.Refused) != 2 || len(rep.Changed) != 0 {
			t.Fatalf("folder %v: import reports %+v, want 1 created, 1 present, 2 refused", folder, rep)
		}
		it, err := m.Show(t.Context(), rep.Created[0])
		if err != nil {
			t.Fatal(err)
		}
		if it.Category != memsearch.CategoryProject || !it.Current || it.Summary != "The quay crane is serviced in May." {
			t.Errorf("memory is %+v", it)
		}
		if diff := cmp.Diff([]string{"author=Li", "cranes", "port"}, it.Tags); diff != "" {
			t.Errorf("tags (-want +got):\n%s", diff)
		}
		again, err := chromem.Import(t.Context(), m, list, nil)
		if err != nil || len(again.Created) != 0 || again.Present != 2 {
			t.Errorf("folder %v: second import reports %+v, %v, want all present", folder, again, err)
		}
		list[0].Documents[0].Content = "The quay crane is serviced in June."
		third, err := chromem.Import(t.Context(), m, list, nil)
		if err != nil || len(third.Created) != 0 || len(third.Changed) != 1 {
			t.Errorf("folder %v: import of a changed document reports %+v, %v, want it named", folder, third, err)
		}
	}
}

// TestRoundTrip takes an export into an empty vault, and back into its own, where
// everything is known.
func TestRoundTrip(t *testing.T) {
	files := map[string]string{
		"a.md": "---\ncategory: feedback\nsummary: Short answers\n---\nThe user wants short answers.\n",
		"b.md": "# Port\n\n用户住在汉堡。\n",
	}
	m := open(t, files)
	name := filepath.Join(t.TempDir(), "out.gob.gz")
	var buf bytes.Buffer
	if _, err := chromem.Export(t.Context(), m, &buf); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, buf.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := chromem.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	if rep, err := chromem.Import(t.Context(), m, list, nil); err != nil || rep.Present != 2 || len(rep.Created) != 0 {
		t.Errorf("import into the same vault reports %+v, %v", rep, err)
	}
	other := open(t, nil)
	if rep, err := chromem.Import(t.Context(), other, list, nil); err != nil || len(rep.Created) != 2 {
		t.Fatalf("import into an empty vault reports %+v, %v", rep, err)
	}
	res, err := other.Recall(t.Context(), memsearch.Query{Text: "short answers", Categories: []memsearch.Category{memsearch.CategoryFeedback}})
	if err != nil || len(res.Hits) != 1 || res.Hits[0].Summary != "Short answers" {
		t.Errorf("recall of an imported memory: %+v, %v", res, err)
	}
}

func TestReadErrors(t *testing.T) {
	dir := t.TempDir()
	junk := filepath.Join(dir, "junk.gob")
	if err := os.WriteFile(junk, []byte("not a database"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{junk, dir, filepath.Join(dir, "none")} {
		if list, err := chromem.Read(name); err == nil {
			t.Errorf("Read(%s) = %v, want an error", name, list)
		}
	}
}
