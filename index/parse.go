package index

import (
	"cmp"
	"path"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/embed"
	"github.com/memsearch/memsearch/index/analysis"
	"github.com/memsearch/memsearch/index/key"
	"github.com/memsearch/memsearch/index/lexical"
	"github.com/memsearch/memsearch/index/validity"
	"github.com/memsearch/memsearch/internal/memfile"
	"github.com/memsearch/memsearch/internal/tokens"
	"github.com/memsearch/memsearch/internal/vault"
	"github.com/memsearch/memsearch/internal/when"
)

// A parsed is what one file turns into.
type parsed struct {
	src   source
	units []parsedUnit
}

// A parsedUnit is what one unit turns into.
type parsedUnit struct {
	row     validity.Row
	docs    []lexical.Doc
	texts   []string    // to embed: the whole, then its pieces
	vectors [][]float32 // one for each text; nil until they are there
	tokens  []int32     // distinct token ids of the whole, ascending; nil without an [embed.Weigher]
}

// parse reads and cuts a file. It returns false when the file is gone.
func (ix *Index) parse(p *plan, e vault.Entry, number uint32) (parsed, bool) {
	src := source{
		Path: e.Path, OSPath: e.OSPath, Size: e.Size, MTime: e.MTime, CTime: e.CTime, Inode: e.Inode,
		File: number, Racy: racy(e, p.stamp),
	}
	raw, err := ix.src.ReadEntry(e)
	if err != nil {
		reason, gone := unread(err)
		src.Skip, src.Unread, src.Racy, src.File = reason, true, true, 0
		return parsed{src: src}, !gone
	}
	src.Hash = xxhash.Sum64(raw)
	f := ix.file(e.Path, raw, &memfile.Options{
		ModTime: time.Unix(0, e.MTime).In(ix.opts.Zone),
		Zone:    ix.opts.Zone,
		InVault: func(name string) bool {
			src.Linked = true
			return p.inVault(name)
		},
	})
	if len(f.Units) == 0 {
		src.File, src.Skip = 0, cmp.Or(f.Skip, "nothing to index")
		return parsed{src: src}, true
	}
	m := &f.Memory
	src.ID = strings.Clone(m.ID)
	if !m.DerivedID {
		src.Declared = src.ID
	}
	src.Units = uint32(len(f.Units))
	out := parsed{units: make([]parsedUnit, len(f.Units))}
	shared := ix.shared(m, e.Path, hexSum(src.Hash))
	for i := range f.Units {
		u := &f.Units[i]
		if u.Occurred.Source == memsearch.DateModTime {
			src.Modified = true
		}
		k := key.Make(number, uint16(i), 0)
		body := memfile.Indexable(u.Text)
		out.units[i] = parsedUnit{row: ix.row(shared, m, u, k), docs: ix.docs(m, u, body, k)}
		ix.texts(&out.units[i], m, u, body)
	}
	out.src = src
	return out, true
}

// shared is what all rows of a memory have in common. Its strings are copies:
// a row outlives the text of its file.
func (ix *Index) shared(m *memsearch.Memory, path, hash string) validity.Row {
	return validity.Row{
		MemoryID: strings.Clone(m.ID), Path: path, FileHash: hash,
		Category: memsearch.Category(strings.Clone(string(m.Category))),
		Kind:     memsearch.Kind(strings.Clone(string(m.Kind))),
		Status:   memsearch.Status(strings.Clone(string(m.Status))),
		Summary:  strings.Clone(m.Summary), Title: strings.Clone(m.Title),
		CanonicalKey: strings.Clone(m.CanonicalKey),
		Tags:         clones(m.Tags), Tools: clones(m.Tools),
		Trust:      memsearch.Trust(strings.Clone(string(m.Source.Trust))),
		Confidence: m.Confidence,
		Session:    strings.Clone(m.Source.SessionID), Turn: strings.Clone(m.Source.TurnID),
		Pinned: m.Pinned, Packable: m.Packable, Valid: m.Valid,
		CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt, ConfirmedAt: m.LastConfirmedAt,
		Supersedes: clones(m.Supersedes), SupersededBy: clones(m.SupersededBy),
	}
}

func clones(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = strings.Clone(s)
	}
	return out
}

func (ix *Index) row(shared validity.Row, m *memsearch.Memory, u *memsearch.Unit, k key.Key) validity.Row {
	r := shared
	r.Key, r.Hash = k, strings.Clone(u.Hash)
	r.UnitID = r.MemoryID + strings.TrimPrefix(u.ID, m.ID)
	r.Lines, r.Bytes, r.Occurred = u.Lines, u.Bytes, u.Occurred
	r.Tokens = tokens.Bound(u.Text)
	return r
}

// rename gives the row of a unit the id that its memory has.
func rename(r *validity.Row, id string) {
	r.UnitID = id + strings.TrimPrefix(r.UnitID, r.MemoryID)
	r.MemoryID = id
}

// maxChunk is the size in bytes from which the body of a unit is indexed in
// pieces. A unit scores as its best piece.
const maxChunk = 4096

// docs makes the documents of a unit: one for each chunk of its body, each with
// all of what stands around it.
func (ix *Index) docs(m *memsearch.Memory, u *memsearch.Unit, body string, k key.Key) []lexical.Doc {
	var d lexical.Doc
	d.Fields[analysis.FieldTitle] = lines(append([]string{m.Summary, m.Title}, m.Aliases...))
	d.Fields[analysis.FieldTags] = lines(m.Tags)
	d.Fields[analysis.FieldHeadings] = lines(u.Headings)
	d.Fields[analysis.FieldPath] = pathWords(m)
	d.Fields[analysis.FieldDate] = when.Words(u.Occurred, ix.opts.Zone)
	chunks := [][2]int{{0, len(body)}}
	if len(body) > maxChunk {
		chunks = memfile.Chunks(body, maxChunk)
	}
	docs := make([]lexical.Doc, len(chunks))
	for i, c := range chunks {
		docs[i] = d
		docs[i].Key = key.Make(k.File(), k.Unit(), uint16(i))
		docs[i].Fields[analysis.FieldBody] = body[c[0]:c[1]]
	}
	return docs
}

// pathWords is the path without its ending, and the id that the file declares,
// which a question may name.
func pathWords(m *memsearch.Memory) string {
	words := strings.TrimSuffix(m.Path, path.Ext(m.Path))
	if words == "" { // a document that is no file
		return ""
	}
	if !m.DerivedID && !strings.Contains(words, m.ID) {
		words = lines([]string{words, m.ID})
	}
	return words
}

// lines joins the strings that are not empty, each once.
func lines(list []string) string {
	var b strings.Builder
	for i, s := range list {
		if s == "" || i > 0 && s == list[i-1] {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(s)
	}
	return b.String()
}

// texts sets what is embedded of a unit.
func (ix *Index) texts(p *parsedUnit, m *memsearch.Memory, u *memsearch.Unit, body string) {
	e := ix.opts.Embedder
	if e == nil {
		return
	}
	whole := body
	if title := lines([]string{m.Summary, m.Title}); !strings.Contains(body, title) {
		whole = title + "\n" + body
	}
	p.texts = []string{whole}
	if c, ok := embed.As[embed.Chunker](e); ok {
		if pieces := c.Chunks(whole); len(pieces) > 1 {
			p.texts = append(p.texts, pieces...)
		}
	}
	if w, ok := embed.As[embed.Weigher](e); ok {
		p.tokens = distinct(w.AppendTokenIDs(nil, whole))
	}
}
