package index

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/memsearch/memsearch/internal/memfile"
	"github.com/memsearch/memsearch/internal/vault"
)

// A plan is what a sync has to do to bring an index up to its files.
type plan struct {
	skips   []vault.Skip  // what the walk did not list
	entries []vault.Entry // the walk
	stamp   int64         // a moment before the walk, on the clock of the files
	forgets int64         // what was forgotten before the walk

	keep    []source      // files whose content and dates are as indexed; may be the old list itself
	fresh   []vault.Entry // files to index from scratch
	redo    []source      // files whose units stay but whose rows do not: other ids, or another modification time
	dropped map[uint32]bool

	added, changed, removed int
	reread                  int // fresh files that are as they were; something else changed their meaning
	refreshed               int // kept files that look different and are not
	settled                 int // kept files whose times can be relied on from now on
}

// settleMany is how many settled files are worth a generation of their own: until
// one is written, every sync reads each of them again. A folder that was copied in
// and indexed at once has hundreds; one that is written to has one.
const settleMany = 64

// changes counts the files that differ from the index.
func (p *plan) changes() int { return p.added + p.changed + p.removed + len(p.redo) }

// idle reports whether there is nothing to write.
func (p *plan) idle() bool { return p.changes()+p.reread+p.refreshed == 0 }

// The racy windows: a file that changed within this time before it was read may
// be changed again without its times moving. Where times have digits below the
// millisecond the clock behind them ticks at least a hundred times a second;
// elsewhere they are taken to count in steps of two seconds, the coarsest there
// are.
const (
	racyFine   = 50 * time.Millisecond
	racyCoarse = 2 * time.Second
)

// changedAt is when e was last changed, as far as the system tells.
func changedAt(e vault.Entry) int64 { return max(e.CTime, e.MTime) }

func racy(e vault.Entry, stamp int64) bool {
	if stamp == 0 {
		return true
	}
	at := e.CTime
	if at == 0 {
		at = e.MTime
	}
	window := racyFine
	if at%int64(time.Millisecond) == 0 {
		window = racyCoarse
	}
	return at >= stamp-int64(window)
}

// walk lists the files and the moment before which nothing that happened to them
// can have been missed.
func (ix *Index) walk(ctx context.Context) (*plan, error) {
	p := &plan{dropped: map[uint32]bool{}}
	if f, ok := ix.src.(Forgetter); ok {
		p.forgets = f.Forgets()
	}
	if ix.opts.Now != nil {
		p.stamp = ix.opts.Now().UnixNano()
	}
	var err error
	if p.entries, p.skips, err = ix.src.Walk(ctx); err != nil {
		return nil, err
	}
	if ix.opts.Now == nil {
		// The walk ended after the newest change it saw.
		for i := range p.entries {
			p.stamp = max(p.stamp, changedAt(p.entries[i]))
		}
	}
	return p, nil
}

// A Walk lists the files in the background.
type Walk struct {
	pointer pointer // CURRENT before it began; zero in memory
	done    chan struct{}
	plan    *plan
	err     error
}

// BeginWalk begins to list the files, for a sync that is about to be asked for:
// meanwhile the index can be opened. Until [Walk.Wait] returned, the source is
// in use.
func (ix *Index) BeginWalk(ctx context.Context) *Walk {
	w := &Walk{done: make(chan struct{})}
	if !ix.opts.InMemory {
		// Without a readable pointer there is no generation that it could be taken for.
		w.pointer, _ = readPointer(ix.dir)
	}
	go func() {
		defer close(w.done)
		w.plan, w.err = ix.walk(ctx)
	}()
	return w
}

// Wait returns when the walk has ended. It does nothing for a nil Walk.
func (w *Walk) Wait() {
	if w != nil {
		<-w.done
	}
}

// walked returns what w found, if it may be compared with g: a walk that began
// before g was published may lack files that g has.
func (ix *Index) walked(ctx context.Context, w *Walk, g *generation) (*plan, error) {
	w.Wait()
	if w.err == nil && g != nil && g.held != nil && g.held.pointer != w.pointer {
		return ix.walk(ctx)
	}
	return w.plan, w.err
}

// A doubtful file may have changed since it was read.
type doubtful struct {
	was  source
	now  vault.Entry
	same bool // its content did not
}

// diff compares the walk with what was indexed. Files whose times or size differ,
// and those whose times prove nothing, are compared by content.
func (ix *Index) diff(ctx context.Context, p *plan, old []source) error {
	if p.unchanged(old) {
		p.keep = slices.Clip(old)
		return nil
	}
	doubt := p.match(old)
	err := parallel(ctx, len(doubt), func(i int) error {
		d := &doubt[i]
		if d.was.Size != d.now.Size {
			return nil
		}
		raw, err := ix.src.ReadEntry(d.now)
		if err != nil {
			reason, gone := unread(err)
			d.same = !gone && d.was.Unread && d.was.Skip == reason
			return nil
		}
		d.same = !d.was.Unread && xxhash.Sum64(raw) == d.was.Hash
		return nil
	})
	if err != nil {
		return err
	}
	for _, d := range doubt {
		p.decide(d)
	}
	p.relink()
	p.sort()
	return nil
}

// unchanged reports whether the walk shows no sign of a change since old: the
// usual case, which needs no list of its own.
func (p *plan) unchanged(old []source) bool {
	if len(old) != len(p.entries) {
		return false
	}
	for i := range old {
		if s := &old[i]; s.Racy || s.Path != p.entries[i].Path || !s.sameStat(&p.entries[i]) {
			return false
		}
	}
	return true
}

// match pairs the walk with old by path and returns the pairs that must be
// compared by content.
func (p *plan) match(old []source) []doubtful {
	var doubt []doubtful
	p.keep = make([]source, 0, len(old))
	i, j := 0, 0
	for i < len(old) || j < len(p.entries) {
		c := 1
		switch {
		case j == len(p.entries):
			c = -1
		case i < len(old):
			c = cmp.Compare(old[i].Path, p.entries[j].Path)
		}
		switch {
		case c < 0:
			p.drop(old[i])
			p.removed++
			i++
		case c > 0:
			p.fresh = append(p.fresh, p.entries[j])
			p.added++
			j++
		default:
			if old[i].sameStat(&p.entries[j]) && !old[i].Racy {
				p.keep = append(p.keep, old[i])
			} else {
				doubt = append(doubt, doubtful{was: old[i], now: p.entries[j]})
			}
			i, j = i+1, j+1
		}
	}
	return doubt
}

// decide says what becomes of a file once its content was compared.
func (p *plan) decide(d doubtful) {
	now := d.was
	now.Size, now.MTime, now.CTime, now.Inode, now.OSPath = d.now.Size, d.now.MTime, d.now.CTime, d.now.Inode, d.now.OSPath
	now.Racy = now.Unread || racy(d.now, p.stamp)
	switch {
	case !d.same:
		p.drop(d.was)
		p.fresh = append(p.fresh, d.now)
		p.changed++
	case d.was.Modified && d.was.MTime != d.now.MTime:
		p.redo = append(p.redo, now)
	default:
		p.keep = append(p.keep, now)
		if !d.was.sameStat(&d.now) {
			p.refreshed++
		} else if d.was.Racy && !now.Racy {
			p.settled++
		}
	}
}

func (p *plan) drop(s source) {
	if s.File != 0 {
		p.dropped[s.File] = true
	}
}

// relink indexes anew the files whose meaning depends on which other files
// there are, when that changed.
func (p *plan) relink() {
	if p.added+p.removed == 0 {
		return
	}
	p.again(func(s *source) bool { return s.Linked })
}

// again moves the kept files that which names to those indexed from scratch.
func (p *plan) again(which func(*source) bool) {
	move := func(s source) bool {
		if !which(&s) {
			return false
		}
		p.drop(s)
		p.fresh = append(p.fresh, s.entry())
		p.reread++
		return true
	}
	p.keep = slices.DeleteFunc(slices.Clone(p.keep), move)
	p.redo = slices.DeleteFunc(p.redo, move)
}

func (p *plan) sort() {
	slices.SortFunc(p.keep, bySourcePath)
	slices.SortFunc(p.redo, bySourcePath)
	slices.SortFunc(p.fresh, byEntryPath)
}

func bySourcePath(a, b source) int     { return cmp.Compare(a.Path, b.Path) }
func byEntryPath(a, b vault.Entry) int { return cmp.Compare(a.Path, b.Path) }

// findSource returns the place of path in list, which is sorted; -1 without one.
func findSource(list []source, path string) int {
	i, ok := slices.BinarySearchFunc(list, path, func(s source, path string) int { return cmp.Compare(s.Path, path) })
	if !ok {
		return -1
	}
	return i
}

// inVault reports whether there is a file of this path.
func (p *plan) inVault(path string) bool {
	_, ok := slices.BinarySearchFunc(p.entries, path, func(e vault.Entry, path string) int { return cmp.Compare(e.Path, path) })
	return ok
}

// assignIDs gives every memory its id: in the order of the paths, the one it
// declares, else the one its path gives; whoever comes second takes the id of
// its path. The result depends on nothing but paths and declared ids, so it is
// the same however the files came to be as they are. It calls moved for each
// file whose id changes.
func assignIDs(list []source, moved func(s *source)) {
	ids := make(assigner, len(list))
	for i := range list {
		if ids.assign(&list[i]) {
			moved(&list[i])
		}
	}
}

// An assigner gives ids to files that come in the order of their paths. It holds
// the ids that are taken.
type assigner map[string]bool

// assign sets the id of s and reports whether it was another one.
func (a assigner) assign(s *source) bool {
	if s.Skip != "" {
		return false
	}
	id := s.Declared
	if id == "" || a[id] {
		id = memfile.PathID(s.Path)
	}
	for n := 2; a[id]; n++ {
		id = memfile.PathID(s.Path) + "~" + strconv.Itoa(n)
	}
	a[id] = true
	moved := s.ID != id
	s.ID = id
	return moved
}

// unread returns why the file could not be read, and whether it is gone.
func unread(err error) (reason string, gone bool) {
	var skip *vault.SkipError
	if errors.As(err, &skip) {
		return skip.Skip.Reason, skip.Skip.Reason == vault.ReasonGone
	}
	return err.Error(), errors.Is(err, fs.ErrNotExist)
}
