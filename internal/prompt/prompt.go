// Package prompt reads prompts that are kept as Markdown files.
//
//	name@version.md -> front matter, "# System", "# User" -> templates -> two messages
//
// A prompt is data: it has a version, says what changed in each, and is named in
// results by a hash of its file, so that two runs can be compared. A template sees
// only the values it is given; that these cannot pass for a part of the prompt is
// up to whoever renders it.
package prompt

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"gopkg.in/yaml.v3"

	"github.com/memsearch/memsearch/internal/atomicfile"
)

// MaxBytes bounds a prompt's file.
const MaxBytes = 64 << 10

// hashDigits is how much of the hash is shown: enough to tell files apart.
const hashDigits = 12

// A Prompt is one version of a prompt. It is safe for concurrent use.
type Prompt struct {
	Name        string
	Version     int
	Description string
	Changelog   []string // newest last
	Hash        string   // the first 12 hex digits of the SHA-256 of the file

	system, user *template.Template
}

// Label returns name and version, for example "rerank@1".
func (p *Prompt) Label() string { return p.Name + "@" + strconv.Itoa(p.Version) }

// ID returns the label and the hash: what was used, exactly.
func (p *Prompt) ID() string { return p.Label() + " " + p.Hash }

var refPattern = regexp.MustCompile(`^([a-z][a-z0-9-]*)@([1-9][0-9]{0,5})$`)

// Load reads the prompt that ref names, as "name@version", from fsys. The error
// for one that is not there names those that are.
func Load(fsys fs.FS, ref string) (*Prompt, error) {
	if !refPattern.MatchString(ref) {
		return nil, fmt.Errorf("prompt %q: want name@version or the path of a .md file; there are %s", ref, known(fsys))
	}
	data, err := fs.ReadFile(fsys, ref+".md")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("prompt %q: unknown; there are %s", ref, known(fsys))
	}
	if err != nil {
		return nil, fmt.Errorf("read prompt %s: %w", ref, err)
	}
	p, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("prompt %s: %w", ref, err)
	}
	if p.Label() != ref {
		return nil, fmt.Errorf("prompt %s: its file says that it is %s", ref, p.Label())
	}
	return p, nil
}

// LoadFile reads a prompt of the user's own.
func LoadFile(path string) (*Prompt, error) {
	f, err := atomicfile.OpenRegular(path)
	if err != nil {
		return nil, fmt.Errorf("read prompt: %w", err)
	}
	defer f.Close() // read only
	data, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read prompt %s: %w", path, err)
	}
	p, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("prompt %s: %w", path, err)
	}
	return p, nil
}

// known lists the prompts of fsys by name and version.
func known(fsys fs.FS) string {
	names, _ := fs.Glob(fsys, "*.md") // the pattern is well-formed
	names = slices.DeleteFunc(names, func(n string) bool { return !refPattern.MatchString(strings.TrimSuffix(n, ".md")) })
	if len(names) == 0 {
		return "none"
	}
	slices.SortFunc(names, func(a, b string) int {
		ma, mb := refPattern.FindStringSubmatch(strings.TrimSuffix(a, ".md")), refPattern.FindStringSubmatch(strings.TrimSuffix(b, ".md"))
		if c := strings.Compare(ma[1], mb[1]); c != 0 {
			return c
		}
		va, _ := strconv.Atoi(ma[2])
		vb, _ := strconv.Atoi(mb[2])
		return va - vb
	})
	for i, n := range names {
		names[i] = strings.TrimSuffix(n, ".md")
	}
	return strings.Join(names, ", ")
}

// head is the front matter of a prompt's file.
type head struct {
	Name        string   `yaml:"name"`
	Version     int      `yaml:"version"`
	Description string   `yaml:"description"`
	Changelog   []string `yaml:"changelog"`
}

// Parse reads a prompt from the bytes of its file: YAML front matter, then the
// templates of the two messages below the headings "# System" and "# User".
func Parse(data []byte) (*Prompt, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("larger than %d bytes", MaxBytes)
	}
	sum := sha256.Sum256(data)
	text := strings.ReplaceAll(string(bytes.TrimPrefix(data, []byte("\ufeff"))), "\r\n", "\n")
	front, body, ok := strings.Cut(strings.TrimPrefix(text, "---\n"), "\n---\n")
	if !ok || !strings.HasPrefix(text, "---\n") {
		return nil, errors.New(`no front matter between lines of "---"`)
	}
	var h head
	d := yaml.NewDecoder(strings.NewReader(front))
	d.KnownFields(true)
	if err := d.Decode(&h); err != nil {
		return nil, fmt.Errorf("read front matter: %w", err)
	}
	p := &Prompt{Name: h.Name, Version: h.Version, Description: h.Description, Changelog: h.Changelog, Hash: hex.EncodeToString(sum[:])[:hashDigits]}
	if !refPattern.MatchString(p.Label()) {
		return nil, fmt.Errorf("name %q, version %d: want a name of a-z, 0-9 and -, and a version from 1", h.Name, h.Version)
	}
	system, user, err := parts(body)
	if err != nil {
		return nil, err
	}
	if p.system, err = parse("system", system); err != nil {
		return nil, err
	}
	if p.user, err = parse("user", user); err != nil {
		return nil, err
	}
	return p, nil
}

func parse(name, text string) (*template.Template, error) {
	t, err := template.New(name).Option("missingkey=error").Parse(text)
	if err != nil {
		return nil, fmt.Errorf("read template: %w", err)
	}
	return t, nil
}

// parts returns the texts below the two headings, which must stand once each, in
// this order, with nothing before them.
func parts(body string) (system, user string, err error) {
	var at []int // where the headings' lines begin
	start := 0
	for l := range strings.SplitAfterSeq(body, "\n") {
		if h := strings.TrimRight(l, " \t\n"); h == systemHeading || h == userHeading {
			at = append(at, start)
		}
		start += len(l)
	}
	if len(at) != 2 || !strings.HasPrefix(body[at[0]:], systemHeading) || !strings.HasPrefix(body[at[1]:], userHeading) ||
		strings.TrimSpace(body[:at[0]]) != "" {
		return "", "", fmt.Errorf("want the parts %q and %q, once each and in this order", systemHeading, userHeading)
	}
	system = strings.TrimSpace(body[at[0]+len(systemHeading) : at[1]])
	user = strings.TrimSpace(body[at[1]+len(userHeading):])
	if system == "" || user == "" {
		return "", "", fmt.Errorf("the parts %q and %q must not be empty", systemHeading, userHeading)
	}
	return system, user, nil
}

const (
	systemHeading = "# System"
	userHeading   = "# User"
)

// Render returns the two messages for data. White space around them is left out.
func (p *Prompt) Render(data any) (system, user string, err error) {
	var s, u strings.Builder
	if err := p.system.Execute(&s, data); err != nil {
		return "", "", fmt.Errorf("render prompt %s: %w", p.Label(), err)
	}
	if err := p.user.Execute(&u, data); err != nil {
		return "", "", fmt.Errorf("render prompt %s: %w", p.Label(), err)
	}
	return strings.TrimSpace(s.String()), strings.TrimSpace(u.String()), nil
}
