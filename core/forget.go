package core

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/index"
	"github.com/memsearch/memsearch/internal/memfile"
	"github.com/memsearch/memsearch/internal/vault"
)

// A ForgetReport says what was removed, where it was looked for and what is left.
// Seen is what the same search found before: proof that it can see.
type ForgetReport struct {
	Scope      string   `json:"scope"`
	DryRun     bool     `json:"dry_run"`
	Removed    []string `json:"removed"` // files that are gone
	Edited     []string `json:"edited"`  // files that lost lines
	Needles    int      `json:"needles"` // words and lines looked for
	SeenTerms  int      `json:"seen_terms"`
	SeenFiles  []string `json:"seen_files"`
	LeftTerms  int      `json:"left_terms"`
	LeftFiles  []string `json:"left_files"`
	LeftRows   int      `json:"left_vectors"`
	Checked    []string `json:"checked"` // derived files looked into afterwards
	Purged     []string `json:"purged"`  // of what language models left: folders that are gone, cassettes that lost replies
	Held       []int    `json:"held_generations"`
	OtherFiles []string `json:"other_files"` // of the vault, that hold a line of the text or the name of its file too
	GitCommits []string `json:"git_commits"` // that still hold the text
	Clean      bool     `json:"clean"`
}

// ErrForget is returned with a report that is not clean: something still holds
// the text.
var ErrForget = errors.New("the text is not gone everywhere")

// Forget removes the memories or units called ids from the files, the catalog,
// every index generation and the caches, and proves it. Ids that do not exist
// stop it before anything is touched. It returns one report per scope, also with
// [ErrForget].
func (m *Memory) Forget(ctx context.Context, dryRun bool, ids ...string) ([]ForgetReport, error) {
	if err := m.mayWrite(); err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return nil, errors.New("forget: no id given")
	}
	targets := map[*scope][]vault.Target{}
	for _, id := range ids {
		f, err := m.find(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("forget %s: %w", id, err)
		}
		t := vault.Target{Path: f.row.Path}
		if id != f.row.MemoryID {
			t.UnitID = id
		}
		targets[f.scope] = append(targets[f.scope], t)
	}
	done, err := m.begin()
	if err != nil {
		return nil, err
	}
	defer done()
	var out []ForgetReport
	var errs []error
	for _, s := range m.scopes {
		if len(targets[s]) == 0 {
			continue
		}
		r, err := s.forget(ctx, targets[s], dryRun)
		if err != nil {
			errs = append(errs, fmt.Errorf("forget in scope %s: %w", s.name, err))
			continue
		}
		out = append(out, *r)
		if !r.Clean {
			errs = append(errs, fmt.Errorf("forget in scope %s: %w", s.name, ErrForget))
		}
	}
	return out, errors.Join(errs...)
}

func (s *scope) forget(ctx context.Context, targets []vault.Target, dryRun bool) (*ForgetReport, error) {
	w, err := s.vault.Writer()
	if err != nil {
		return nil, err
	}
	gone, err := w.Forget(ctx, targets, dryRun)
	if err != nil {
		return nil, err
	}
	r := &ForgetReport{Scope: s.name, DryRun: dryRun, Removed: list(gone.Removed), Edited: list(gone.Edited), SeenFiles: []string{},
		LeftFiles: []string{}, Checked: []string{}, Purged: []string{}, Held: []int{}, OtherFiles: []string{}, GitCommits: []string{}, Clean: true}
	if dryRun {
		return r, nil
	}
	// From here on nothing stops half-way: the files are gone, the rest must follow.
	ctx = context.WithoutCancel(ctx)
	if err := s.dropStandIn(); err != nil {
		return nil, err
	}
	var left error
	if r.Purged, left = s.core.models.forget(ctx, gone.Texts); left != nil {
		left = fmt.Errorf("the files are removed, what language models left is not: %w", left)
	}
	f, err := s.disk.Forget(ctx, index.ForgetOptions{Texts: gone.Texts, Wait: s.core.settings.LockWait})
	if err != nil {
		return nil, errors.Join(left, fmt.Errorf("the files are removed, the index still holds them: %w", err))
	}
	if left != nil {
		return nil, left
	}
	r.Needles, r.SeenTerms, r.SeenFiles = f.Needles, f.Before.Terms, list(f.Before.Files)
	r.LeftTerms, r.LeftFiles, r.LeftRows = f.After.Terms, list(f.After.Files), f.After.Vectors
	r.Checked = list(f.Checked)
	r.Held = append(r.Held, f.Held...)
	if r.OtherFiles, err = otherFiles(s.vault.Dir(), gone.Texts, gone.Removed); err != nil {
		return nil, fmt.Errorf("the files are removed, but not all others could be searched: %w", err)
	}
	r.GitCommits = gitCommits(ctx, s.vault.Dir(), append(gone.Removed, gone.Edited...), gone.Texts)
	r.Clean = f.Clean() && len(r.OtherFiles) == 0 && len(r.GitCommits) == 0
	return r, nil
}

// minNeedle is how long a line must be, in bytes, to be looked for in other files:
// shorter ones stand there by chance.
const minNeedle = 20

// needles are the lines of the bodies of texts, and their summaries.
func needles(texts []string) [][]byte {
	var out [][]byte
	for _, t := range texts {
		f := memfile.Parse("forgotten.md", []byte(t), nil)
		for line := range strings.Lines(f.Memory.Summary + "\n" + f.Text[f.Body[0]:f.Body[1]]) {
			if line = strings.TrimSpace(strings.TrimLeft(line, "-*#> \t")); len(line) >= minNeedle {
				out = append(out, []byte(line))
			}
		}
	}
	return out
}

// minName is how long the name of a removed file must be, in bytes, to be looked
// for in other files.
const minName = 9

// A dated name ends in the day and the id that a writer adds.
var dated = regexp.MustCompile(`^(.*?)(?:-\d{8})?(?:-mem_\d{14}_[0-9a-z]+)?$`)

// names are the base names of removed files as far as they say something: without
// ending, day and id, and not the kind or category that a writer takes for want
// of a name.
func names(removed []string) []string {
	var out []string
	for _, p := range removed {
		stem := dated.FindStringSubmatch(strings.TrimSuffix(path.Base(p), path.Ext(p)))[1]
		said := strings.ContainsFunc(stem, unicode.IsLetter) && !strings.HasPrefix(stem, "mem_") &&
			!slices.Contains(memsearch.Kinds, memsearch.Kind(stem)) && !slices.Contains(memsearch.Categories, memsearch.Category(stem))
		if said && len(stem) >= minName {
			out = append(out, stem)
		}
	}
	return out
}

// mentions reports whether text has name as words of their own.
func mentions(text, name string) bool {
	word := func(r rune) bool { return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) }
	for {
		before, after, ok := strings.Cut(text, name)
		if !ok {
			return false
		}
		last, _ := utf8.DecodeLastRuneInString(before)
		next, _ := utf8.DecodeRuneInString(after)
		if !word(last) && !word(next) {
			return true
		}
		text = after
	}
}

// otherFiles returns the files below dir, the journal and files that are no
// memories among them, that still hold a needle or the name of a removed file. The
// index looks into its own, and git's are searched apart.
func otherFiles(dir string, texts, removed []string) ([]string, error) {
	out := []string{}
	list, named := needles(texts), names(removed)
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == vault.IndexDir || d.Name() == ".git"):
			return filepath.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		raw, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		text, _ := memfile.Decode(raw)
		if slices.ContainsFunc(list, func(n []byte) bool { return bytes.Contains(raw, n) || strings.Contains(text, string(n)) }) ||
			slices.ContainsFunc(named, func(n string) bool { return mentions(text, n) }) {
			rel, err := filepath.Rel(dir, name)
			out = append(out, filepath.ToSlash(rel))
			return err
		}
		return nil
	})
	return out, err
}

// dropStandIn forgets an index in memory; the next recall makes a new one.
func (s *scope) dropStandIn() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	mem := s.memory
	s.memory = nil
	if mem == nil {
		return nil
	}
	return mem.Close()
}

// gitCommits returns the commits of the vault's repository, if it is in one, whose
// files still hold one of the texts. History cannot be rewritten from here.
func gitCommits(ctx context.Context, dir string, paths, texts []string) []string {
	out := []string{}
	git, err := exec.LookPath("git")
	if err != nil {
		return out
	}
	run := func(args ...string) []byte {
		b, err := exec.CommandContext(ctx, git, append([]string{"--literal-pathspecs", "-C", dir}, args...)...).Output()
		if err != nil {
			return nil // not a repository, or nothing of that name in it
		}
		return b
	}
	seen := map[string]bool{}
	for _, p := range paths {
		for hash := range strings.FieldsSeq(string(run("log", "--all", "--format=%H", "--", filepath.FromSlash(p)))) {
			if !seen[hash] && holds(run("show", hash+":./"+p), texts) {
				seen[hash] = true
				out = append(out, hash[:min(12, len(hash))])
			}
		}
	}
	return out
}

func holds(raw []byte, texts []string) bool {
	text, _ := memfile.Decode(raw)
	for _, t := range texts {
		if t = strings.TrimSpace(t); t != "" && (strings.Contains(text, t) || bytes.Contains(raw, []byte(t))) {
			return true
		}
	}
	return false
}
