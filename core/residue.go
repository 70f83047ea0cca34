package core

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/internal/memfile"
	"github.com/memsearch/memsearch/internal/vault"
)

// forget removes what language models left behind about texts: all verdicts and
// debug files of every scope, and the recorded replies that hold a piece of them,
// from the cassette of the settings and from those in the folders of all scopes.
// It returns what it touched, also with an error.
func (m *models) forget(ctx context.Context, texts []string) ([]string, error) {
	purged, errs := []string{}, []error{}
	for _, dir := range m.core.indexDirs {
		for _, name := range []string{verdictDir, debugDir} {
			at := filepath.Join(dir, name)
			if _, err := os.Lstat(at); err != nil {
				continue
			}
			if err := os.RemoveAll(at); err != nil {
				errs = append(errs, err)
				continue
			}
			purged = append(purged, at)
		}
	}
	cassettes, err := m.cassettes(ctx)
	errs = append(errs, err)
	pieces := newPieces(texts)
	for _, path := range cassettes {
		n, err := llm.PurgeCassette(path, pieces.in)
		if n > 0 {
			purged = append(purged, path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return purged, errors.Join(errs...)
}

// cassettes returns the cassette of the settings and those in the folders of the
// scopes that are written to.
func (m *models) cassettes(ctx context.Context) ([]string, error) {
	var out []string
	if path := m.core.settings.Cassette; path != "" {
		out = append(out, path)
	}
	for _, s := range m.core.scopes {
		if s.readOnly {
			continue
		}
		err := filepath.WalkDir(s.vault.Dir(), func(name string, d fs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case d.IsDir() && slices.Contains([]string{vault.IndexDir, vault.JournalDir, ".git"}, d.Name()):
				return filepath.SkipDir
			case d.Type().IsRegular() && strings.EqualFold(filepath.Ext(name), ".jsonl"):
				out = append(out, name)
			}
			return nil
		})
		if err != nil {
			return out, fmt.Errorf("look for cassettes: %w", err)
		}
	}
	return out, nil
}

// A prompt holds a text cut, quoted and with its marks replaced, so what a
// cassette recorded of it is looked for by pieces of its letters and digits.
const (
	pieceRunes = 24 // any run of twice as many holds one
	pieceBytes = 8  // a line with fewer stands anywhere by chance
)

// pieces are what a text is recognized by, and how many runes they have.
type pieces struct {
	set     map[string]bool
	lengths []int
}

// newPieces takes the lines of texts apart; of a text that has only short lines it
// takes all of it.
func newPieces(texts []string) *pieces {
	p := &pieces{set: map[string]bool{}}
	for _, t := range texts {
		f := memfile.Parse("forgotten.md", []byte(t), nil)
		text := f.Text[f.Body[0]:f.Body[1]]
		before := len(p.set)
		for line := range strings.Lines(f.Memory.Summary + "\n" + text) {
			if l := letters(line); len(l) >= pieceBytes {
				p.add(l)
			}
		}
		if all := letters(text); len(p.set) == before && all != "" {
			p.add(all)
		}
	}
	return p
}

func (p *pieces) add(s string) {
	runes := []rune(s)
	n := min(len(runes), pieceRunes)
	for i := 0; i+n <= len(runes); i += n {
		p.set[string(runes[i:i+n])] = true
	}
	if !slices.Contains(p.lengths, n) {
		p.lengths = append(p.lengths, n)
	}
}

// in reports whether text has one of the pieces.
func (p *pieces) in(text string) bool {
	text = letters(text)
	for _, n := range p.lengths {
		end := 0
		for range n {
			_, size := utf8.DecodeRuneInString(text[end:])
			end += size
		}
		if n > utf8.RuneCountInString(text) {
			continue
		}
		for start := 0; ; {
			if p.set[text[start:end]] {
				return true
			}
			if end == len(text) {
				break
			}
			_, first := utf8.DecodeRuneInString(text[start:])
			_, next := utf8.DecodeRuneInString(text[end:])
			start, end = start+first, end+next
		}
	}
	return false
}

// What quoting puts into a text: escapes of JSON, and in them the marks that take
// the place of brackets.
var (
	quoted = regexp.MustCompile(`\\u[0-9a-fA-F]{4}|\\[nrtbf]`)
	marks  = strings.NewReplacer("&lt;", "", "&#91;", "")
)

// letters returns the letters and digits of s, in lower case.
func letters(s string) string {
	s = quoted.ReplaceAllStringFunc(s, func(q string) string {
		n, err := strconv.ParseUint(q[2:], 16, 16)
		if err != nil {
			return "" // a line break or the like
		}
		return string(rune(n))
	})
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, marks.Replace(s))
}
