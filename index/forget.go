package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/memsearch/memsearch/embed"
	"github.com/memsearch/memsearch/index/analysis"
	"github.com/memsearch/memsearch/internal/atomicfile"
	"github.com/memsearch/memsearch/internal/memfile"
)

// ForgetOptions says what [Index.Forget] looks for.
type ForgetOptions struct {
	// Texts are the files as they were before something was removed from them or
	// they were removed whole. What they share with the files that are left is
	// not looked for. They are stored nowhere.
	Texts []string

	// Wait is how long another writer, and then the readers of old generations,
	// are waited for.
	Wait time.Duration

	// Progress, if non-nil, is told how many of the files to index are done.
	Progress func(done, total int)
}

// A ForgetReport says what was looked for, where it was found before and what is
// left of it.
type ForgetReport struct {
	Generation int

	Needles int      // words, lines and vectors of the forgotten texts alone
	Before  Traces   // in the index as it was: proof that the search can see
	After   Traces   // in the index as it is; empty when all is gone
	Checked []string // files looked into afterwards, below the index directory
	Purged  bool     // there was a cache of vectors, and it was purged
	Held    []int    // generations that could not be deleted because they are read
}

// Clean reports whether nothing is left.
func (r *ForgetReport) Clean() bool { return r.After.none() && len(r.Held) == 0 }

// Traces are the places where a forgotten text was found.
type Traces struct {
	Terms   int      // of its words in the dictionary of the keyword index
	Files   []string // that hold some of its words or lines as they are
	Vectors int      // rows that point where its own vector does
}

func (t *Traces) none() bool { return t.Terms == 0 && len(t.Files) == 0 && t.Vectors == 0 }

// Forget makes an index that never saw what is no longer in the vault: all parts
// are built from nothing, every other generation is deleted and the cache of
// vectors is purged. It looks for the texts before and afterwards. The vault
// must have removed them already.
func (ix *Index) Forget(ctx context.Context, o ForgetOptions) (*ForgetReport, error) {
	r := &ForgetReport{}
	n, err := ix.needles(ctx, o.Texts)
	if err != nil {
		return nil, fmt.Errorf("forget: %w", err)
	}
	r.Needles = len(n.terms) + len(n.raw) + len(n.texts)
	if r.Before, _, err = ix.traces(ctx, n); err != nil {
		return nil, fmt.Errorf("forget: %w", err)
	}
	rebuild := SyncOptions{Rebuild: true, Wait: o.Wait, Progress: o.Progress}
	s, err := ix.Sync(ctx, rebuild)
	if errors.Is(err, ErrFull) && !ix.opts.InMemory {
		// Better no index than one that holds the text; without it there may be room.
		if err = ix.discard(ctx, o.Wait); err == nil {
			s, err = ix.Sync(ctx, rebuild)
		}
		if errors.Is(err, ErrFull) {
			s, err = &SyncReport{}, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("forget: %w", err)
	}
	r.Generation = s.Generation
	if !ix.opts.InMemory {
		if r.Held, err = ix.drop(ctx, s.Generation, o.Wait); err != nil {
			return nil, fmt.Errorf("forget: %w", err)
		}
	}
	if c, ok := embed.As[*embed.Cached](ix.opts.Embedder); ok && c.Cache() != nil {
		if err := c.Cache().Purge(ctx, func(k embed.Key) bool { return n.keep[k] }); err != nil {
			return nil, fmt.Errorf("forget: %w", err)
		}
		r.Purged = true
	}
	if r.After, r.Checked, err = ix.traces(ctx, n); err != nil {
		return nil, fmt.Errorf("forget: %w", err)
	}
	return r, nil
}

// unpurged stands in a manifest for a number of forgettings that the cache of
// vectors has not followed. It is none that there can be, so the next sync starts
// over.
const unpurged = -1

// forgotten reports whether the index that the job starts from, or one that is not
// there any more, may have been made before something was forgotten. Then all
// files are read.
func (j *job) forgotten() bool {
	return j.base == nil && j.plan.forgets > 0 && (j.cur == nil || j.cur.manifest.Forgets != j.plan.forgets)
}

// purge takes every text but those of keep out of the cache of vectors. A nil keep
// leaves it alone.
func (ix *Index) purge(ctx context.Context, keep *keySet) error {
	c, ok := embed.As[*embed.Cached](ix.opts.Embedder)
	if keep == nil || !ok || c.Cache() == nil {
		return nil
	}
	return c.Cache().Purge(ctx, func(k embed.Key) bool { return keep.keys[k] })
}

// A keySet collects the keys of texts that are embedded side by side.
type keySet struct {
	mu   sync.Mutex
	keys map[embed.Key]bool
}

func (s *keySet) add(texts []string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range texts {
		s.keys[embed.KeyOf(t)] = true
	}
}

// discard deletes the whole index but for what readers hold.
func (ix *Index) discard(ctx context.Context, wait time.Duration) (err error) {
	l, err := lockWriter(ctx, ix.dir, wait)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Unlock()) }()
	d, err := atomicfile.OpenDir(ix.dir, ix.opts.Hook)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := d.Remove(currentName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	ix.mu.Lock()
	ix.replace(nil)
	ix.mu.Unlock()
	_, err = sweep(d, ix.dir, 0)
	return err
}

// drop deletes every generation but keep, and waits for those who read one.
func (ix *Index) drop(ctx context.Context, keep int, wait time.Duration) (held []int, err error) {
	l, err := lockWriter(ctx, ix.dir, wait)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Unlock()) }()
	d, err := atomicfile.OpenDir(ix.dir, ix.opts.Hook)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	limit := time.NewTimer(wait)
	defer limit.Stop()
	for {
		held, err = sweep(d, ix.dir, keep)
		if err != nil || len(held) == 0 {
			return held, err
		}
		select {
		case <-ctx.Done():
			return held, context.Cause(ctx)
		case <-limit.C:
			return held, nil
		case <-time.After(lockPoll):
		}
	}
}

// Needles are what stood in the forgotten texts and stands in no file that is
// left.
type needles struct {
	terms map[string]bool    // of the keyword index
	raw   [][]byte           // words and lines
	texts map[string]bool    // whose vectors are looked for
	keep  map[embed.Key]bool // of the texts that are left; nil without a cache
}

// The bounds of a raw needle. A shorter one would be found by chance among the
// bytes of postings and vectors; more of them make the search slow and prove
// nothing more.
const (
	needleLen  = 6
	maxNeedles = 200
)

// needles reads all files that are left and strikes out what they hold too.
func (ix *Index) needles(ctx context.Context, texts []string) (*needles, error) {
	n := &needles{terms: map[string]bool{}, texts: map[string]bool{}}
	raw := map[string]bool{}
	for _, text := range texts {
		for _, t := range analysis.Terms(nil, memfile.Indexable(text)) {
			n.terms[t] = true
		}
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); len(line) >= needleLen {
				raw[line] = true
			}
			for word := range strings.FieldsSeq(line) {
				if word = strings.Trim(word, ".,;:!?()[]{}<>\"'`*_#。，；：！？（）「」"); len(word) >= needleLen {
					raw[word] = true
				}
			}
		}
		f := memfile.Parse("forgotten.md", []byte(text), &memfile.Options{Zone: ix.opts.Zone})
		for i := range f.Units {
			var u parsedUnit
			ix.texts(&u, &f.Memory, &f.Units[i], memfile.Indexable(f.Units[i].Text))
			for _, t := range u.texts {
				n.texts[t] = true
			}
		}
	}
	if _, ok := embed.As[*embed.Cached](ix.opts.Embedder); ok {
		n.keep = map[embed.Key]bool{}
	}
	p, err := ix.walk(ctx)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	err = parallel(ctx, len(p.entries), func(i int) error {
		ix.strike(p, i, n, raw, &mu)
		return nil
	})
	if err != nil {
		return nil, err
	}
	// The longest say most.
	list := slices.SortedFunc(maps.Keys(raw), func(a, b string) int {
		if d := len(b) - len(a); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	for _, s := range list[:min(len(list), maxNeedles)] {
		n.raw = append(n.raw, []byte(s))
	}
	return n, nil
}

// strike removes from the needles what the i-th file of p holds.
func (ix *Index) strike(p *plan, i int, n *needles, raw map[string]bool, mu *sync.Mutex) {
	f, ok := ix.parse(p, p.entries[i], 1)
	if !ok {
		return
	}
	content, err := ix.src.ReadEntry(p.entries[i])
	if err != nil {
		return
	}
	text, _ := memfile.Decode(content)
	text += "\n" + p.entries[i].Path
	terms := map[string]bool{}
	var keys []embed.Key
	for j := range f.units {
		for k := range f.units[j].docs {
			for _, field := range f.units[j].docs[k].Fields {
				for _, t := range analysis.Terms(nil, field) {
					terms[t] = true
				}
			}
		}
		if n.keep != nil {
			for _, t := range f.units[j].texts {
				keys = append(keys, embed.KeyOf(t))
			}
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for t := range terms {
		delete(n.terms, t)
	}
	for s := range raw {
		if strings.Contains(text, s) {
			delete(raw, s)
		}
	}
	for _, k := range keys {
		n.keep[k] = true
	}
	for j := range f.units {
		for _, t := range f.units[j].texts {
			delete(n.texts, t)
		}
	}
}

// traces looks for the needles in the current generation and in every file below
// the index directory.
func (ix *Index) traces(ctx context.Context, n *needles) (t Traces, checked []string, err error) {
	g, err := ix.acquire(ctx)
	if _, ok := errors.AsType[*Unusable](err); ok {
		g, err = nil, nil
	}
	if err != nil {
		return t, nil, err
	}
	if g != nil {
		err = ix.searchTraces(ctx, g, n, &t)
		if err := errors.Join(err, g.unref()); err != nil {
			return t, nil, err
		}
	}
	if ix.opts.InMemory {
		return t, nil, nil
	}
	err = filepath.WalkDir(ix.dir, func(name string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // no index yet, or a file of another process
		}
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
		rel, err := filepath.Rel(ix.dir, name)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		checked = append(checked, rel)
		if slices.ContainsFunc(n.raw, func(needle []byte) bool { return bytes.Contains(b, needle) }) {
			t.Files = append(t.Files, rel)
		}
		return nil
	})
	return t, checked, err
}

func (ix *Index) searchTraces(ctx context.Context, g *generation, n *needles, t *Traces) error {
	found := map[string]bool{}
	err := g.lexical.Dictionary(func(term string) bool {
		if n.terms[term] {
			found[strings.Clone(term)] = true
		}
		return true
	})
	if err != nil {
		return err
	}
	t.Terms = len(found)
	e := ix.opts.Embedder
	if e == nil || g.vectors == nil || g.manifest.Model != ix.model() {
		return nil
	}
	if cheap, ok := embed.As[embed.Cheap](e); !ok || !cheap.Cheap() {
		// Asking a server would send it the text that is to be forgotten.
		return nil
	}
	rows, err := e.Embed(ctx, slices.Sorted(maps.Keys(n.texts)), embed.Passage)
	if err != nil {
		return err
	}
	s := newSpool(e, "")
	for _, q := range rows {
		if dot(q, q) > 0 && g.vectors.Holds(s.stored(q)) {
			t.Vectors++
		}
	}
	return nil
}
