//go:build !linux

package vault

import (
	"context"
	"io/fs"
	"path"
)

const openFlags = 0

func inode(fs.FileInfo) uint64 { return 0 }

func (v *Vault) gather(ctx context.Context) (entries []Entry, skips []Skip, err error) {
	err = fs.WalkDir(v.dir.Root().FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		switch {
		case name == ".":
			return err
		case err != nil:
			skips = append(skips, skipFor(Name(name)+"/", err))
			return fs.SkipDir
		case d.IsDir():
			reason, silent := skipDir(path.Base(name))
			if reason == "" {
				return nil
			}
			if !silent {
				skips = append(skips, Skip{Name(name) + "/", reason})
			}
			return fs.SkipDir
		case d.Type()&fs.ModeSymlink != 0:
			if s, ok := v.link(name); ok {
				skips = append(skips, s)
			}
			return nil
		case !IsMarkdown(name):
			return nil
		case !d.Type().IsRegular():
			skips = append(skips, Skip{Name(name), ReasonNotFile})
			return nil
		}
		fi, err := d.Info()
		if err != nil {
			skips = append(skips, skipFor(Name(name), err))
			return nil
		}
		e := Entry{Path: Name(name), OSPath: name, Size: fi.Size(), MTime: fi.ModTime().UnixNano()}
		if s, ok := classify(e); ok {
			skips = append(skips, s)
		} else {
			entries = append(entries, e)
		}
		return nil
	})
	return entries, skips, err
}
