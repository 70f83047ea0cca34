package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Walk lists the Markdown files of the vault, sorted by Path, and what it does
// not read. Each file named *.md or *.markdown is in one of the two lists; a
// folder that is not entered stands for all that is in it. An error means that
// the vault itself could not be read, or that ctx was cancelled.
func (v *Vault) Walk(ctx context.Context) ([]Entry, []Skip, error) {
	entries, skips, err := v.gather(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("walk vault: %w", err)
	}
	arrange(entries)
	slices.SortFunc(skips, func(a, b Skip) int { return cmp.Compare(a.Path, b.Path) })
	return entries, skips, nil
}

// find returns the entry of the file called path. Most files are spelt on disk
// as their Path is; the walk for the others is worth its time.
func (v *Vault) find(name string) (Entry, error) {
	local := filepath.IsLocal(filepath.FromSlash(name)) && path.Clean(name) == name
	if !local || !IsMarkdown(name) {
		return Entry{}, &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid}
	}
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		if reason, _ := skipDir(part); reason != "" && part != "." {
			return Entry{}, &SkipError{Skip: Skip{name, reason}}
		}
	}
	if strings.HasPrefix(path.Base(name), ".") {
		return Entry{}, &SkipError{Skip: Skip{name, ReasonHidden}}
	}
	fi, err := v.dir.Lstat(name)
	if err == nil {
		return Entry{Path: Name(name), OSPath: name, Size: fi.Size(), MTime: fi.ModTime().UnixNano()}, v.unlinked(name)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return Entry{}, err
	}
	entries, _, werr := v.Walk(context.Background())
	if werr != nil {
		return Entry{}, errors.Join(err, werr)
	}
	i, ok := slices.BinarySearchFunc(entries, name, func(e Entry, p string) int { return cmp.Compare(e.Path, p) })
	if !ok {
		return Entry{}, err
	}
	return entries[i], nil
}

// unlinked reports an error when name, or a folder on the way to it, is a link.
func (v *Vault) unlinked(name string) error {
	for p := name; p != "."; p = path.Dir(p) {
		if fi, err := v.dir.Lstat(p); err != nil {
			return err
		} else if fi.Mode()&fs.ModeSymlink != 0 {
			return &SkipError{Skip: Skip{Name(name), v.linkReason(p)}}
		}
	}
	return nil
}

// classify sorts a regular file into one of the two lists.
func classify(e Entry) (Skip, bool) {
	switch {
	case strings.HasPrefix(path.Base(e.Path), "."):
		return Skip{e.Path, ReasonHidden}, true
	case e.Size > MaxFileSize:
		return Skip{e.Path, ReasonTooLarge}, true
	}
	return Skip{}, false
}
