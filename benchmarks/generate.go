package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// A pool is real sentences to build notes and questions from.
type pool struct{ sentences []string }

// Bounds of a sentence taken into a pool, in runes.
const (
	minSentence = 20
	maxSentence = 240
)

// readPool collects sentences from Markdown and JSON Lines files below each
// path, in a fixed order.
func readPool(paths ...string) (*pool, error) {
	var p pool
	seen := map[string]bool{}
	take := func(text string) {
		for s := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '。' }) {
			s = strings.Join(strings.Fields(strings.Trim(s, "#*->| \t")), " ")
			n := utf8.RuneCountInString(s)
			if n >= minSentence && n <= maxSentence && !strings.ContainsAny(s, "`|<>{}[]") && !seen[s] {
				seen[s] = true
				p.sentences = append(p.sentences, s)
			}
		}
	}
	for _, root := range paths {
		err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			switch filepath.Ext(name) {
			case ".md":
				b, err := os.ReadFile(name)
				take(string(b))
				return err
			case ".jsonl":
				return readLines(name, take)
			}
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read sentences: %w", err)
		}
	}
	if len(p.sentences) < 50 {
		return nil, fmt.Errorf("read sentences: only %d found below %s", len(p.sentences), strings.Join(paths, ", "))
	}
	return &p, nil
}

func readLines(name string, take func(string)) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	sc := bufio.NewScanner(bytes.NewReader(b))
	sc.Buffer(nil, len(b)+1)
	for sc.Scan() {
		var row struct{ Text string }
		if json.Unmarshal(sc.Bytes(), &row) == nil {
			take(row.Text)
		}
	}
	return sc.Err()
}

var (
	categories = []string{"user", "feedback", "project", "reference"}
	kinds      = []string{"fact", "decision", "preference", "procedure", "warning"}
	firstDay   = time.Date(2025, 1, 1, 8, 0, 0, 0, time.UTC)
)

// write makes n notes below dir, the same for the same pool, n and seed: two to
// six sentences each, seven in ten with front matter, one in twenty a daily note.
func (p *pool) write(dir string, n int, seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	for i := range n {
		day := firstDay.Add(time.Duration(i) * 600 * 24 * time.Hour / time.Duration(n))
		category := categories[rng.IntN(len(categories))]
		var b bytes.Buffer
		name := fmt.Sprintf("%s/%03d/note-%06d.md", category, i/200, i)
		title := p.words(rng, 6)
		switch {
		case i%20 == 19:
			name = fmt.Sprintf("daily/%03d-%s.md", i/2000, day.Format(time.DateOnly)+fmt.Sprintf("-%06d", i))
			fmt.Fprintf(&b, "# %s\n\n", day.Format(time.DateOnly))
		case i%10 < 7:
			fmt.Fprintf(&b, "---\nid: mem_%s_%06d\ncategory: %s\nkind: %s\nsummary: %q\ntags: [%s]\nstatus: active\ncreated_at: %s\n---\n",
				day.Format("20060102150405"), i, category, kinds[rng.IntN(len(kinds))], title, strings.ToLower(p.words(rng, 1)), day.Format(time.RFC3339))
		default:
			fmt.Fprintf(&b, "# %s\n\n", title)
		}
		for range 2 + rng.IntN(5) {
			b.WriteString(p.sentences[rng.IntN(len(p.sentences))])
			b.WriteString(".\n")
		}
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(full, b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// words returns the first n words of a sentence, without marks that YAML or a
// tag list would take amiss.
func (p *pool) words(rng *rand.Rand, n int) string {
	f := strings.Fields(strings.Map(func(r rune) rune {
		if strings.ContainsRune(`",:'()`, r) {
			return -1
		}
		return r
	}, p.sentences[rng.IntN(len(p.sentences))]))
	if len(f) == 0 {
		return "note"
	}
	return strings.Join(f[:min(n, len(f))], " ")
}

// questions returns n questions: three to eight words of a sentence, in order,
// some left out.
func (p *pool) questions(n int, seed uint64) []string {
	rng := rand.New(rand.NewPCG(seed, 99))
	out := make([]string, 0, n)
	for len(out) < n {
		f := strings.Fields(p.sentences[rng.IntN(len(p.sentences))])
		if len(f) < 3 {
			r := []rune(f[0])
			out = append(out, string(r[:min(len(r), 12)]))
			continue
		}
		var q []string
		for _, i := range rng.Perm(len(f))[:min(len(f), 3+rng.IntN(6))] {
			q = append(q, f[i])
		}
		out = append(out, strings.Join(q, " "))
	}
	slices.Sort(out)
	return slices.Compact(out)
}
