package prompt_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch/internal/prompt"
)

const good = `---
name: greet
version: 2
description: Says hello.
changelog:
  - "1: first version"
  - "2: shorter"
---
# System

Be {{.Mood}}.

# User

{{if .Name}}Hello {{.Name}}!{{end}}
## User
`

func TestParse(t *testing.T) {
	for name, file := range map[string]string{
		"plain":     good,
		"crlf":      strings.ReplaceAll(good, "\n", "\r\n"),
		"byte mark": "\ufeff" + good,
	} {
		t.Run(name, func(t *testing.T) {
			p, err := prompt.Parse([]byte(file))
			if err != nil {
				t.Fatal(err)
			}
			if hash := fmt.Sprintf("%x", sha256.Sum256([]byte(file)))[:12]; p.Hash != hash || p.ID() != "greet@2 "+hash {
				t.Errorf("hash %q, id %q, want hash %q", p.Hash, p.ID(), hash)
			}
			if p.Label() != "greet@2" || p.Description != "Says hello." {
				t.Errorf("label %q, description %q", p.Label(), p.Description)
			}
			if d := cmp.Diff([]string{"1: first version", "2: shorter"}, p.Changelog); d != "" {
				t.Error(d)
			}
			system, user, err := p.Render(map[string]string{"Mood": "kind", "Name": "<Ann> & 安"})
			if err != nil {
				t.Fatal(err)
			}
			if system != "Be kind." || user != "Hello <Ann> & 安!\n## User" {
				t.Errorf("system %q, user %q", system, user)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"empty":             {"", "no front matter"},
		"no front matter":   {"# System\na\n# User\nb\n", "no front matter"},
		"unclosed":          {"---\nname: a\n# System\na\n# User\nb\n", "no front matter"},
		"unknown key":       {strings.Replace(good, "description", "descripton", 1), "descripton"},
		"no version":        {strings.Replace(good, "version: 2\n", "", 1), "version 0"},
		"bad name":          {strings.Replace(good, "greet", "../greet", 1), "../greet"},
		"no system":         {strings.Replace(good, "# System\n", "", 1), `"# System"`},
		"no user":           {strings.Replace(good, "# User\n\n", "\n", 1), `"# User"`},
		"two users":         {good + "# User\nagain\n", "once each"},
		"wrong order":       {"---\nname: a\nversion: 1\n---\n# User\na\n# System\nb\n", "in this order"},
		"text before":       {strings.Replace(good, "# System", "Hi\n# System", 1), "want the parts"},
		"empty part":        {"---\nname: a\nversion: 1\n---\n# System\n\n# User\nb\n", "must not be empty"},
		"bad template":      {strings.Replace(good, "{{.Mood}}", "{{.Mood", 1), "read template"},
		"unknown function":  {strings.Replace(good, "{{.Mood}}", "{{env .Mood}}", 1), "env"},
		"larger than limit": {good + strings.Repeat("x", prompt.MaxBytes), "larger than"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := prompt.Parse([]byte(c.file)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestRenderOfUnknownValue(t *testing.T) {
	p, err := prompt.Parse([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Render(map[string]string{"Name": "Ann"}); err == nil || !strings.Contains(err.Error(), "greet@2") {
		t.Errorf("error %v, want one that names the prompt", err)
	}
}

func TestLoad(t *testing.T) {
	fsys := fstest.MapFS{
		"greet@2.md":  {Data: []byte(good)},
		"greet@10.md": {Data: []byte(strings.Replace(good, "version: 2", "version: 10", 1))},
		"part@1.md":   {Data: []byte(good)},
		"notes.md":    {Data: []byte("not a prompt")},
	}
	p, err := prompt.Load(fsys, "greet@10")
	if err != nil || p.Version != 10 {
		t.Fatalf("prompt %v, error %v", p, err)
	}
	const all = "there are greet@2, greet@10, part@1"
	for ref, want := range map[string]string{
		"greet@3":  all,
		"greet":    all,
		"":         all,
		"greet@0":  all,
		"../x@1":   all,
		"greet@02": all,
		"part@1":   "says that it is greet@2",
	} {
		if _, err := prompt.Load(fsys, ref); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Load(%q): error %v, want one with %q", ref, err, want)
		}
	}
	if _, err := prompt.Load(fstest.MapFS{}, "a@1"); err == nil || !strings.Contains(err.Error(), "there are none") {
		t.Errorf("error %v, want one that says there are none", err)
	}
}

func TestLoadFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "mine.md")
	if err := os.WriteFile(file, []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err := prompt.LoadFile(file); err != nil || p.Label() != "greet@2" {
		t.Fatalf("prompt %v, error %v", p, err)
	}
	if err := os.WriteFile(file, []byte("# System"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, filepath.Join(dir, "missing.md"), dir} {
		if _, err := prompt.LoadFile(name); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("LoadFile(%q): error %v, want one that names the file", name, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte("---\n---\n"))
	f.Add([]byte("---\nname: a\nversion: 1\n---\n# System\n{{range .}}{{end}}\n# User\n{{define \"x\"}}{{end}}x"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := prompt.Parse(data)
		if err != nil {
			return
		}
		if p.Label() == "@0" || len(p.Hash) != 12 {
			t.Errorf("label %q, hash %q", p.Label(), p.Hash)
		}
	})
}
