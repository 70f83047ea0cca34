package vault

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// IsMarkdown reports whether a file of this name holds a memory.
func IsMarkdown(name string) bool {
	ext := name[strings.LastIndexByte(name, '.')+1:]
	return len(ext) < len(name) && (strings.EqualFold(ext, "md") || strings.EqualFold(ext, "markdown"))
}

// Name returns the spelling in which the rest of the program knows a name of the
// file system: NFC, and each byte that is not UTF-8 as %XX.
func Name(os string) string {
	ascii := true
	for i := range len(os) {
		if os[i] >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	if ascii {
		return os
	}
	if utf8.ValidString(os) {
		return norm.NFC.String(os)
	}
	var b strings.Builder
	for rest := os; rest != ""; {
		r, n := utf8.DecodeRuneInString(rest)
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, "%%%02X", rest[0])
		} else {
			b.WriteString(rest[:n])
		}
		rest = rest[n:]
	}
	return norm.NFC.String(b.String())
}

// skipDir returns why a folder of this name is not entered, or "". Our own
// folders are not worth a word.
func skipDir(name string) (reason string, silent bool) {
	switch {
	case name == IndexDir || name == JournalDir:
		return ReasonHidden, true
	case strings.HasPrefix(name, "."):
		return ReasonHidden, false
	case name == "node_modules":
		return ReasonModules, false
	}
	return "", false
}

// linkReason says where the link called name leads.
func (v *Vault) linkReason(name string) string {
	if _, err := v.dir.Root().Stat(name); err == nil {
		return ReasonLink
	}
	if _, err := os.Stat(filepath.Join(v.path, filepath.FromSlash(name))); err == nil {
		return ReasonLinkOut
	}
	return ReasonDangling
}

// link returns the Skip of a link, or false when it is no one's business: a link
// that neither is named like a Markdown file nor leads to a folder.
func (v *Vault) link(name string) (Skip, bool) {
	if IsMarkdown(name) {
		return Skip{Name(name), v.linkReason(name)}, true
	}
	if fi, err := os.Stat(filepath.Join(v.path, filepath.FromSlash(name))); err == nil && fi.IsDir() {
		if reason, silent := skipDir(path.Base(name)); silent {
			return Skip{}, false
		} else if reason != "" {
			return Skip{Name(name) + "/", reason}, true
		}
		return Skip{Name(name) + "/", v.linkReason(name)}, true
	}
	return Skip{}, false
}

// arrange sorts entries by Path and gives those that share one, as a name in
// NFC and the same in NFD do, a Path each: the file that is spelt like the Path
// keeps it (without one, the first in byte order), the others take their own
// spelling, or the Path and a hash of that spelling when it is not UTF-8.
func arrange(entries []Entry) {
	slices.SortFunc(entries, func(a, b Entry) int {
		if c := cmp.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		return cmp.Compare(a.OSPath, b.OSPath)
	})
	moved := false
	for i := 1; i < len(entries); i++ {
		if entries[i].Path != entries[i-1].Path {
			continue
		}
		group := entries[i-1:]
		n := 2
		for n < len(group) && group[n].Path == group[0].Path {
			n++
		}
		separate(group[:n])
		moved = true
		i += n - 2
	}
	if moved {
		slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Path, b.Path) })
	}
}

func separate(group []Entry) {
	keeper := max(0, slices.IndexFunc(group, func(e Entry) bool { return e.OSPath == e.Path }))
	for i := range group {
		switch e := &group[i]; {
		case i == keeper:
		case utf8.ValidString(e.OSPath):
			e.Path = e.OSPath
		default:
			h := fnv.New32a()
			h.Write([]byte(e.OSPath)) // cannot fail
			ext := path.Ext(e.Path)
			e.Path = strings.TrimSuffix(e.Path, ext) + "~" + hex.EncodeToString(h.Sum(nil)) + ext
		}
	}
}

// A Notice is something odd about a file that is read all the same.
type Notice struct {
	Path, Message string
}

// Notices reports the files whose names other systems would take for one:
// they differ only in Unicode normalisation, or only in case.
func Notices(entries []Entry) []Notice {
	fold := cases.Fold()
	groups := map[string][]string{}
	for _, e := range entries {
		key := norm.NFC.String(fold.String(Name(e.OSPath)))
		groups[key] = append(groups[key], e.Path)
	}
	var out []Notice
	for _, paths := range groups {
		for i, p := range paths {
			if len(paths) == 1 {
				continue
			}
			others := slices.Delete(slices.Clone(paths), i, i+1)
			out = append(out, Notice{p, fmt.Sprintf("same name but for case or Unicode form: %q", others)})
		}
	}
	for _, e := range entries {
		if !utf8.ValidString(e.OSPath) {
			out = append(out, Notice{e.Path, "file name is not UTF-8"})
		}
	}
	slices.SortFunc(out, func(a, b Notice) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Message, b.Message))
	})
	return out
}
