package memfile

import (
	"net/url"
	"path"
	"strings"
)

// CatalogName is the base name of the file that holds the catalog.
const CatalogName = "MEMORY.md"

// The lines between which the catalog stands. Everything outside them belongs to
// the user.
const (
	CatalogBegin = "<!-- memsearch:catalog:begin -->"
	CatalogEnd   = "<!-- memsearch:catalog:end -->"
)

// hideCatalog hides our block and the lines that begin with a link to a file of
// the vault: they repeat what the files say.
func (p *parser) hideCatalog(dir string) {
	begin := -1
	for i := range p.scan.class {
		t := strings.TrimSpace(p.lines[p.scan.from+i].of(p.text))
		switch {
		case t == CatalogBegin:
			begin = i
		case t == CatalogEnd && begin >= 0:
			for j := begin; j <= i; j++ {
				p.scan.mark[j] |= markHidden
			}
			begin = -1
		case t != "" && p.scan.class[i] != classCode && p.linksInside(t, dir):
			p.scan.mark[i] |= markHidden
		}
	}
	if begin >= 0 {
		p.scan.mark[begin] |= markHidden
		p.problem(ProblemUnterminated, p.scan.from+begin+1, false, "the catalog block is never closed")
	}
	p.scan.unhidden()
}

// unhidden drops the headings that are hidden.
func (s *scan) unhidden() {
	kept := s.headings[:0]
	for _, h := range s.headings {
		if s.mark[h.first-s.from]&markHidden == 0 {
			kept = append(kept, h)
		}
	}
	s.headings = kept
}

// CatalogLink returns where the link leads that begins a line of a catalog, as it
// is written there, behind bullet, check box and emphasis. It is empty when none
// does, or when it leads to an address of the net. wiki tells [[x]] from [y](x).
func CatalogLink(line string) (target string, wiki bool) {
	t := strings.TrimSpace(line)
	if n := markerLen(t); n > 0 {
		t = strings.TrimLeft(t[n:], " \t")
	}
	target, wiki = linkTarget(strings.TrimLeft(trimBox(t), "*_"))
	if i := strings.IndexAny(target, "#?"); i >= 0 {
		target = target[:i]
	}
	if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
		return "", false
	}
	return target, wiki
}

// linksInside reports whether a line begins with a link to a file of the vault.
func (p *parser) linksInside(t, dir string) bool {
	target, wiki := CatalogLink(t)
	if target == "" {
		return false
	}
	names := []string{target}
	if s, err := url.PathUnescape(target); err == nil && s != target && !wiki {
		names = append(names, s)
	}
	ext := strings.ToLower(path.Ext(target))
	markdown := ext == ".md" || ext == ".markdown"
	if p.opts.InVault == nil {
		return wiki || markdown
	}
	for _, name := range names {
		if p.inVault(name, dir) || !markdown && (p.inVault(name+".md", dir) || p.inVault(name+".markdown", dir)) {
			return true
		}
	}
	return false
}

// inVault tries a link target against the folder of the catalog and the vault's.
func (p *parser) inVault(name, dir string) bool {
	for _, full := range []string{path.Join(dir, name), path.Join(".", name)} {
		full = strings.TrimPrefix(full, "/")
		if full != "." && !strings.HasPrefix(full, "..") && p.opts.InVault(full) {
			return true
		}
	}
	return false
}

// linkTarget returns where the link that opens t leads.
func linkTarget(t string) (target string, wiki bool) {
	if rest, ok := strings.CutPrefix(t, "[["); ok {
		inner, _, ok := strings.Cut(rest, "]]")
		if !ok {
			return "", false
		}
		inner, _, _ = strings.Cut(inner, "|")
		return strings.TrimSpace(inner), true
	}
	if !strings.HasPrefix(t, "[") {
		return "", false
	}
	_, rest, ok := strings.Cut(t, "](")
	if !ok {
		return "", false
	}
	if inner, ok := strings.CutPrefix(rest, "<"); ok {
		inner, _, _ = strings.Cut(inner, ">")
		return strings.TrimSpace(inner), false
	}
	// A target may hold balanced parentheses, and a title may follow it.
	depth := 0
	for i := range len(rest) {
		switch rest[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				rest = rest[:i]
				target, _, _ = strings.Cut(strings.TrimSpace(rest), ` "`)
				return strings.TrimSpace(target), false
			}
		}
	}
	return "", false
}
