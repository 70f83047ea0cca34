package chromem

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	chromemgo "github.com/philippgille/chromem-go"

	"github.com/memsearch/memsearch/core"
)

// Metadata keys that an export writes and an import understands.
const (
	keyMemory    = "memory_id"
	keyPath      = "path"
	keyLines     = "lines"
	keyDate      = "date"
	keyCategory  = "category"
	keyKind      = "kind"
	keySummary   = "summary"
	keyTags      = "tags"
	keyCreated   = "created_at"
	keyValidFrom = "valid_from"
	keyValidTo   = "valid_to"
)

// exportBatch is how many texts are embedded at once.
const exportBatch = 256

// An ExportReport says what was written.
type ExportReport struct {
	Collections int    `json:"collections"`
	Documents   int    `json:"documents"`
	NoVector    int    `json:"no_vector"` // units left out: the model knows nothing of their text
	Model       string `json:"model"`
}

// Export writes every current unit of m to w as a gzipped chromem-go database. It
// fails with [core.ErrNoModel] without an embedding model: a document must have a
// vector.
func Export(ctx context.Context, m *core.Memory, w io.Writer) (*ExportReport, error) {
	r := &ExportReport{}
	db := chromemgo.NewDB()
	var batch []core.Passage
	flush := func() error {
		err := add(ctx, m, db, batch, r)
		batch = batch[:0]
		return err
	}
	err := m.Passages(ctx, core.ListOptions{Current: true}, func(p core.Passage) error {
		if strings.TrimSpace(p.Text) == "" {
			return nil
		}
		batch = append(batch, p)
		if len(batch) < exportBatch {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	if err == nil {
		err = db.ExportToWriter(w, true, "")
	}
	if err != nil {
		return nil, fmt.Errorf("export to chromem: %w", err)
	}
	r.Collections = len(db.ListCollections())
	return r, nil
}

// add embeds batch and puts it into the collections of its scopes.
func add(ctx context.Context, m *core.Memory, db *chromemgo.DB, batch []core.Passage, r *ExportReport) error {
	if len(batch) == 0 {
		return ctx.Err()
	}
	texts := make([]string, len(batch))
	for i, p := range batch {
		texts[i] = p.Text
	}
	rows, model, err := m.Embed(ctx, texts)
	if err != nil {
		return err
	}
	r.Model = model
	for i, p := range batch {
		if !slices.ContainsFunc(rows[i], func(x float32) bool { return x != 0 }) {
			r.NoVector++
			continue
		}
		c, err := db.GetOrCreateCollection(p.Scope, map[string]string{"source": "memsearch", "model": model}, refuseToEmbed)
		if err != nil {
			return err
		}
		// The library keeps the slice, the embedder may not let it.
		d := chromemgo.Document{ID: p.UnitID, Metadata: metadata(p), Embedding: slices.Clone(rows[i]), Content: p.Text}
		if err := c.AddDocument(ctx, d); err != nil {
			return err
		}
		r.Documents++
	}
	return nil
}

// refuseToEmbed stands for the library's own default, which calls a service.
func refuseToEmbed(context.Context, string) ([]float32, error) { return nil, core.ErrNoModel }

func metadata(p core.Passage) map[string]string {
	out := map[string]string{keyMemory: p.ID, keyPath: p.Path, keyLines: fmt.Sprintf("%d-%d", p.Lines[0], p.Lines[1])}
	for k, v := range map[string]string{
		keyDate: p.Date, keyCategory: string(p.Category), keyKind: string(p.Kind), keySummary: p.Summary,
		keyTags: strings.Join(p.Tags, ","), keyCreated: p.CreatedAt, keyValidFrom: p.ValidFrom, keyValidTo: p.ValidTo,
	} {
		if v != "" {
			out[k] = v
		}
	}
	return out
}
