package vault

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/memfile"
)

// Limits of the catalog block, its two marker lines included. Agents that load
// MEMORY.md read no further.
const (
	CatalogLines = 200
	CatalogBytes = 25_000
)

// catalogWidth is how many characters of a memory's text its line shows.
const catalogWidth = 150

// catalogText returns what the catalog says of a memory.
func catalogText(m memsearch.Memory) string {
	base := strings.TrimSuffix(path.Base(m.Path), path.Ext(m.Path))
	s := cmp.Or(m.Catalog, m.Summary, m.Title, base)
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || breaksLine(r) }), " ")
	if utf8.RuneCountInString(s) > catalogWidth {
		s = strings.TrimRight(string([]rune(s)[:catalogWidth-1]), " ") + "…"
	}
	return strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`).Replace(s)
}

// linkPath returns a path as the target of a Markdown link.
func linkPath(p string) string {
	var b strings.Builder
	for _, r := range p {
		if r <= ' ' || strings.ContainsRune(`%()<>#?\"`, r) || unicode.IsSpace(r) || breaksLine(r) {
			for _, c := range []byte(string(r)) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// catalogBlock returns the lines of the block: one for each memory that holds at
// now, newest first.
func catalogBlock(c *census, now time.Time) []string {
	current := c.current(now)
	current = slices.DeleteFunc(current, func(h head) bool { return h.off || path.Base(h.path) == memfile.CatalogName })
	slices.SortFunc(current, func(a, b head) int {
		return cmp.Or(b.created.Compare(a.created), cmp.Compare(a.path, b.path))
	})
	lines := []string{memfile.CatalogBegin}
	// Room is kept for the end marker and for the line that says what was cut.
	room := CatalogBytes - len(memfile.CatalogBegin) - len(memfile.CatalogEnd) - 2*2 - len(cutLine(len(current))) - 2
	for i, h := range current {
		line := "- [" + h.text + "](" + linkPath(h.path) + ")"
		room -= len(line) + 2
		last := i == len(current)-1
		if room < 0 || len(lines) == CatalogLines-2 && !last {
			lines = append(lines, cutLine(len(current)-i))
			break
		}
		lines = append(lines, line)
	}
	return append(lines, memfile.CatalogEnd)
}

func cutLine(n int) string {
	return fmt.Sprintf("- … and %d older memories that are not listed here", n)
}

// current returns the memories that are facts at now.
func (c *census) current(now time.Time) []head {
	by := c.superseded()
	return slices.DeleteFunc(slices.Clone(c.heads), func(h head) bool {
		newer, over := by[h.id]
		return h.status != memsearch.StatusActive || !h.valid.Holds(now) || over && !newer.from().After(now)
	})
}

// RefreshCatalog brings the catalog in MEMORY.md up to date. What stands outside
// its two markers stays as it is, byte for byte.
func (w *Writer) RefreshCatalog(ctx context.Context) error {
	return w.run(ctx, "refresh catalog of", func(ctx context.Context) error { return w.refreshCatalog(ctx) })
}

// refreshCatalog leaves out the files that are about to go.
func (w *Writer) refreshCatalog(ctx context.Context, going ...string) error {
	c, err := w.v.census(ctx)
	if err != nil {
		return err
	}
	c.leaveOut(going)
	block := catalogBlock(c, w.v.opts.Now())
	e := Entry{Path: memfile.CatalogName, OSPath: memfile.CatalogName}
	err = w.rewrite(ctx, e, func(raw []byte) ([]byte, error) {
		out, err := withCatalog(raw, block)
		if err != nil {
			return nil, err
		}
		return out, nil
	})
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	out, err := withCatalog(nil, block)
	if err != nil {
		return err
	}
	return w.v.dir.WriteNew(memfile.CatalogName, out, 0o644)
}

// errCatalogEncoding is returned for a MEMORY.md that is not UTF-8.
var errCatalogEncoding = errors.New("MEMORY.md is not UTF-8 text")

// withCatalog returns raw with its catalog replaced by block, or with block
// added at the end.
func withCatalog(raw []byte, block []string) ([]byte, error) {
	if !utf8.Valid(raw) || bytes.IndexByte(raw, 0) >= 0 {
		return nil, errCatalogEncoding
	}
	end := "\n"
	if i := bytes.IndexByte(raw, '\n'); i > 0 && raw[i-1] == '\r' {
		end = "\r\n"
	}
	text := strings.Join(block, end)
	blocks := catalogBlocks(raw)
	if len(blocks) == 0 {
		var gap string
		switch {
		case len(raw) == 0 || bytes.HasSuffix(raw, []byte(end+end)):
		case bytes.HasSuffix(raw, []byte(end)):
			gap = end
		default:
			gap = end + end
		}
		return slices.Concat(raw, []byte(gap+text+end)), nil
	}
	var out []byte
	from := 0
	for i, b := range blocks { // a copy of ours would only go stale
		out = append(out, raw[from:b[0]]...)
		if i == 0 {
			out = append(out, text...)
		}
		from = b[1]
	}
	return append(out, raw[from:]...), nil
}

// catalogBlocks returns the byte ranges of the blocks in raw, from the begin
// marker to the end of the end marker.
func catalogBlocks(raw []byte) (blocks [][2]int) {
	begin := -1
	for at := 0; at < len(raw); {
		next := nextLine(raw, at)
		line := raw[at:next]
		switch strings.TrimSpace(string(line)) {
		case memfile.CatalogBegin:
			begin = at + bytes.IndexByte(line, '<')
		case memfile.CatalogEnd:
			if begin >= 0 {
				blocks = append(blocks, [2]int{begin, at + len(bytes.TrimRight(line, " \t\r\n"))})
			}
			begin = -1
		}
		at = next
	}
	return blocks
}

// nextLine returns where the line after the one at at begins. LF, CRLF and CR
// end lines.
func nextLine(raw []byte, at int) int {
	i := bytes.IndexAny(raw[at:], "\n\r")
	switch {
	case i < 0:
		return len(raw)
	case bytes.HasPrefix(raw[at+i:], []byte("\r\n")):
		return at + i + 2
	}
	return at + i + 1
}

// CatalogStale reports whether the catalog differs from what the files say. A
// vault without a catalog has none that could be stale.
func (v *Vault) CatalogStale(ctx context.Context) (bool, error) {
	raw, err := v.Read(memfile.CatalogName)
	_, skipped := errors.AsType[*SkipError](err)
	if skipped || errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("check catalog: %w", err)
	}
	if len(catalogBlocks(raw)) == 0 {
		return false, nil
	}
	c, err := v.census(ctx)
	if err != nil {
		return false, fmt.Errorf("check catalog: %w", err)
	}
	want, err := withCatalog(raw, catalogBlock(c, v.opts.Now()))
	if err != nil {
		return false, fmt.Errorf("check catalog: %w", err)
	}
	return !bytes.Equal(want, raw), nil
}
