package vault

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/journal"
	"github.com/memsearch/memsearch/internal/memfile"
)

// A head is what a writer must know of each memory of the vault.
type head struct {
	id           string
	path         string
	status       memsearch.Status
	supersedes   []string
	supersededBy []string
	valid        memsearch.Validity
	created      time.Time
	text         string // of the catalog line
	off          bool   // keep out of the catalog
	skip         bool   // nothing of it is indexed
	body         uint64 // sum of the normal form of the body
}

// from returns when h starts to hold: what it supersedes ends there.
func (h head) from() memsearch.Bound {
	if !h.valid.From.IsZero() {
		return h.valid.From
	}
	return memsearch.Bound{Time: h.created}
}

// A headCache keeps the heads of files that did not change, so that a process
// that writes much reads each file once.
type headCache struct {
	mu    sync.Mutex
	known map[Entry]head
}

// A census is the state of the vault that one write starts from.
type census struct {
	heads []head // by path
	byID  map[string]int
}

func (c *census) get(id string) (head, bool) {
	i, ok := c.byID[id]
	if !ok {
		return head{}, false
	}
	return c.heads[i], true
}

func (c *census) at(path string) (head, bool) {
	i, ok := slices.BinarySearchFunc(c.heads, path, func(h head, p string) int { return cmp.Compare(h.path, p) })
	if !ok {
		return head{}, false
	}
	return c.heads[i], true
}

// census reads the front matter of every memory. Files that cannot be read are
// left out, as everywhere.
func (v *Vault) census(ctx context.Context) (*census, error) {
	entries, _, err := v.Walk(ctx)
	if err != nil {
		return nil, err
	}
	v.heads.mu.Lock()
	defer v.heads.mu.Unlock()
	found := make([]*head, len(entries))
	workers := runtime.GOMAXPROCS(0)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(entries) && ctx.Err() == nil; i += workers {
				if h, ok := v.heads.known[entries[i]]; ok {
					found[i] = &h
				} else if raw, err := v.ReadEntry(entries[i]); err == nil {
					found[i] = headOf(memfile.Parse(entries[i].Path, raw, nil))
				}
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}

	c := &census{heads: make([]head, 0, len(entries)), byID: make(map[string]int, len(entries))}
	known := make(map[Entry]head, len(entries))
	for i, h := range found {
		if h == nil {
			continue
		}
		known[entries[i]] = *h
		if _, taken := c.byID[h.id]; taken { // the first path in byte order keeps it
			h.id = memfile.PathID(h.path)
		}
		c.byID[h.id] = len(c.heads)
		c.heads = append(c.heads, *h)
	}
	v.heads.known = known
	return c, nil
}

// head returns what is known of the memory that a caller named by its path, and
// the census it is from.
func (v *Vault) head(ctx context.Context, name string) (*census, head, error) {
	e, err := v.locate(name)
	if err != nil {
		return nil, head{}, err
	}
	c, err := v.census(ctx)
	if err != nil {
		return nil, head{}, err
	}
	h, ok := c.at(e.Path)
	if !ok {
		return nil, head{}, refuse(RuleMissing, "path", "there is no such memory")
	}
	return c, h, nil
}

func headOf(f *memfile.File) *head {
	m := f.Memory
	return &head{
		id: m.ID, path: m.Path, status: m.Status, supersedes: m.Supersedes, supersededBy: m.SupersededBy,
		valid: m.Valid, created: m.CreatedAt, text: catalogText(m), off: m.CatalogOff || f.Skip != "", skip: f.Skip != "",
		body: bodySum(f.Text[f.Body[0]:f.Body[1]]),
	}
}

// bodySum returns a sum of the words of a body, in the form in which forgotten
// texts are recognised; 0 for none.
func bodySum(text string) uint64 {
	n := journal.Normal(text)
	if n == "" {
		return 0
	}
	return xxhash.Sum64String(n)
}

// double returns a memory that holds at now, and not only while m does not, and
// whose body has the words of body. What m supersedes is none.
func (c *census) double(m *memsearch.Memory, body string, now time.Time) (head, bool) {
	sum := bodySum(body)
	for _, h := range c.current(now) {
		if h.body == sum && sum != 0 && !h.skip && !slices.Contains(m.Supersedes, h.id) && !endsBefore(h.valid, m.Valid) && !endsBefore(m.Valid, h.valid) {
			return h, true
		}
	}
	return head{}, false
}

// endsBefore reports whether a is over when b begins.
func endsBefore(a, b memsearch.Validity) bool {
	return !a.Until.IsZero() && !b.From.IsZero() && !b.From.Time.Before(a.Until.Time)
}

// reaches reports whether following supersedes from id leads to target.
func (c *census) reaches(id, target string) bool {
	seen := map[string]bool{}
	for queue := []string{id}; len(queue) > 0; queue = queue[1:] {
		if queue[0] == target {
			return true
		}
		if seen[queue[0]] {
			continue
		}
		seen[queue[0]] = true
		if h, ok := c.get(queue[0]); ok {
			queue = append(queue, h.supersedes...)
		}
	}
	return false
}

// leaveOut takes the memories at some paths out.
func (c *census) leaveOut(paths []string) {
	if len(paths) == 0 {
		return
	}
	c.heads = slices.DeleteFunc(c.heads, func(h head) bool { return slices.Contains(paths, h.path) })
	clear(c.byID)
	for i, h := range c.heads {
		c.byID[h.id] = i
	}
}

// superseded returns the ids that an active memory supersedes, with that
// memory. Whoever is on a cycle supersedes nobody.
func (c *census) superseded() map[string]head {
	out := map[string]head{}
	suspect := c.suspects()
	for _, h := range c.heads {
		if h.status != memsearch.StatusActive {
			continue
		}
		for _, old := range h.supersedes {
			if !suspect[h.id] || !c.reaches(old, h.id) {
				out[old] = h
			}
		}
	}
	return out
}

// suspects returns the memories from which supersedes leads to a cycle: those
// that are left when the ends of all chains are taken off, again and again.
func (c *census) suspects() map[string]bool {
	open := map[string]int{} // memory -> how many it supersedes that are not taken off
	by := map[string][]string{}
	var ends []string
	for _, h := range c.heads {
		for _, old := range h.supersedes {
			if _, ok := c.byID[old]; ok {
				open[h.id]++
				by[old] = append(by[old], h.id)
			}
		}
	}
	for old := range by {
		if open[old] == 0 {
			ends = append(ends, old)
		}
	}
	for ; len(ends) > 0; ends = ends[1:] {
		for _, id := range by[ends[0]] {
			if open[id]--; open[id] == 0 {
				ends = append(ends, id)
				delete(open, id)
			}
		}
	}
	left := map[string]bool{}
	for id := range open {
		left[id] = true
	}
	return left
}
