package index

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/memsearch/memsearch/embed"
	"github.com/memsearch/memsearch/index/lexical"
	"github.com/memsearch/memsearch/index/validity"
	"github.com/memsearch/memsearch/internal/vault"
)

// The limits of a batch: what one worker parses and embeds at a time. A batch is
// small enough that a few of them in flight cost little memory and large enough
// for one call of an embedding server.
const (
	batchFiles = 64
	batchBytes = 1 << 20
)

// A build turns a plan into the parts of a generation. Files flow through it in
// batches, in order; what stays in memory of each is its rows and ids, and the
// vectors up to a limit.
type build struct {
	ix       *Index
	plan     *plan
	old      *generation // nil: from nothing
	next     uint32      // file number of the first fresh file
	progress func(done, total int)

	list  []source // of the new generation
	rows  []validity.Row
	refs  []unitRef
	spool *spool

	// In a build from nothing the files come in the order of their paths, so ids
	// are known at once and rows need not wait.
	ids assigner
	out chan []validity.Row

	missing int // units without vectors

	keep *keySet // of the texts that are there; nil: nothing was forgotten

	embedErr atomic.Pointer[error] // the first failure; no more texts are sent after it
	err      error
}

// docs yields the documents of the fresh files and collects the rest of what
// they turn into. After the sequence ended, b.err holds what went wrong.
func (b *build) docs(ctx context.Context) iter.Seq[lexical.Doc] {
	return func(yield func(lexical.Doc) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var wg sync.WaitGroup
		defer wg.Wait()
		defer cancel()
		// Results wait in the order of their batches; its capacity bounds how far
		// the workers run ahead of the consumer.
		order := make(chan chan *batch, 2*runtime.GOMAXPROCS(0))
		wg.Go(func() { b.dispatch(ctx, &wg, order) })
		done := 0
		b.list = make([]source, 0, len(b.plan.fresh)+len(b.plan.keep)+len(b.plan.redo))
		for result := range order {
			r := <-result
			if b.err = errors.Join(r.err, context.Cause(ctx)); b.err != nil {
				return
			}
			for i := range r.files {
				if !b.collect(&r.files[i], yield) {
					return
				}
			}
			done += len(r.files)
			if b.progress != nil {
				b.progress(done, len(b.plan.fresh))
			}
		}
		b.err = context.Cause(ctx)
	}
}

// A batch is a run of files on its way through a worker.
type batch struct {
	files []parsed
	err   error
}

func (b *build) dispatch(ctx context.Context, wg *sync.WaitGroup, order chan<- chan *batch) {
	defer close(order)
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	number := b.next
	for rest := b.plan.fresh; len(rest) > 0; {
		n := batchLen(rest)
		entries, first := rest[:n], number
		rest, number = rest[n:], number+uint32(n)
		result := make(chan *batch, 1)
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		wg.Go(func() {
			defer func() { <-slots }()
			result <- b.work(ctx, entries, first)
		})
		select {
		case order <- result:
		case <-ctx.Done():
			return
		}
	}
}

func batchLen(rest []vault.Entry) int {
	size := int64(0)
	for i := range rest {
		size += rest[i].Size
		if i > 0 && size > batchBytes || i == batchFiles {
			return i
		}
	}
	return len(rest)
}

// work parses the files of a batch and embeds their texts.
func (b *build) work(ctx context.Context, entries []vault.Entry, first uint32) *batch {
	out := &batch{files: make([]parsed, 0, len(entries))}
	for i, e := range entries {
		if err := context.Cause(ctx); err != nil {
			out.err = err
			return out
		}
		if p, ok := b.ix.parse(b.plan, e, first+uint32(i)); ok {
			out.files = append(out.files, p)
		}
	}
	out.err = b.embed(ctx, out.files)
	return out
}

// embed fills in the vectors of files. A failing embedder is remembered and
// leaves them out; an error means that ctx ended.
func (b *build) embed(ctx context.Context, files []parsed) error {
	e := b.ix.opts.Embedder
	if e == nil {
		return nil
	}
	var texts []string
	for i := range files {
		for j := range files[i].units {
			texts = append(texts, files[i].units[j].texts...)
		}
	}
	b.keep.add(texts)
	if len(texts) == 0 || b.embedErr.Load() != nil {
		return nil
	}
	rows, err := e.Embed(ctx, texts, embed.Passage)
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err == nil {
		err = checkRows(rows, len(texts), e.Fingerprint().Dims)
	}
	if err != nil {
		b.embedErr.CompareAndSwap(nil, &err)
		return nil
	}
	for i := range files {
		for j := range files[i].units {
			u := &files[i].units[j]
			n := len(u.texts)
			u.vectors, rows = rows[:n:n], rows[n:]
			u.texts = nil
		}
	}
	return nil
}

func checkRows(rows [][]float32, n, dims int) error {
	if len(rows) != n {
		return fmt.Errorf("embedder gave %d rows for %d texts", len(rows), n)
	}
	for _, r := range rows {
		if len(r) != dims {
			return fmt.Errorf("embedder gave a row of %d elements, want %d", len(r), dims)
		}
	}
	return nil
}

// collect takes in one file and yields its documents.
func (b *build) collect(p *parsed, yield func(lexical.Doc) bool) bool {
	rows := make([]validity.Row, 0, len(p.units))
	moved := b.ids != nil && b.ids.assign(&p.src)
	b.list = append(b.list, p.src)
	for i := range p.units {
		u := &p.units[i]
		if moved {
			rename(&u.row, p.src.ID)
		}
		rows = append(rows, u.row)
		if b.spool != nil {
			if b.err = b.spool.add(u); b.err != nil {
				return false
			}
		}
		for _, d := range u.docs {
			if !yield(d) {
				return false
			}
		}
	}
	b.keepRows(rows)
	return true
}

// keepRows passes the rows of a file on, or keeps them until all ids are known.
func (b *build) keepRows(rows []validity.Row) {
	if b.out == nil {
		b.rows = append(b.rows, rows...)
		return
	}
	for i := range rows {
		b.refs = append(b.refs, unitRef{rows[i].UnitID, rows[i].Key})
	}
	b.out <- rows
}

// stream lets write have the rows while the files are still being read. The
// returned function says that there are no more and waits for it.
func (b *build) stream(write func(iter.Seq[validity.Row]) error) (wait func() error) {
	b.ids, b.out = assigner{}, make(chan []validity.Row, 2*batchFiles)
	out, done := b.out, make(chan error, 1)
	go func() {
		err := write(func(yield func(validity.Row) bool) {
			for rows := range out {
				for i := range rows {
					if !yield(rows[i]) {
						return
					}
				}
			}
		})
		for range out { // after an error nobody must wait to get rid of rows
		}
		done <- err
	}()
	return func() error {
		close(out)
		return <-done
	}
}

// finish gives every memory its id, once all files are known, and makes the
// table of the units. It returns the numbers of the files whose old rows go.
func (b *build) finish() (*unitTable, []uint32, error) {
	if b.out != nil {
		units, err := newUnitTable(b.refs)
		b.refs = nil
		return units, nil, err
	}
	b.list = append(b.list, b.plan.keep...)
	b.list = append(b.list, b.plan.redo...)
	slices.SortFunc(b.list, bySourcePath)

	redo := map[string]bool{}
	for i := range b.plan.redo {
		redo[b.plan.redo[i].Path] = true
	}
	fresh := map[uint32]string{} // file number to id, for fresh files whose id is not the parsed one
	assignIDs(b.list, func(s *source) {
		if s.File >= b.next {
			fresh[s.File] = s.ID
		} else {
			redo[s.Path] = true
		}
	})
	for i := range b.rows {
		if id, ok := fresh[b.rows[i].Key.File()]; ok {
			rename(&b.rows[i], id)
		}
	}
	dropped := make([]uint32, 0, len(b.plan.dropped)+len(redo))
	for f := range b.plan.dropped {
		dropped = append(dropped, f)
	}
	again := map[uint32]bool{}
	for i := range b.list {
		s := &b.list[i]
		if !redo[s.Path] {
			continue
		}
		if err := b.redo(s); err != nil {
			return nil, nil, err
		}
		again[s.File] = true
		dropped = append(dropped, s.File)
	}
	slices.Sort(dropped)

	for i := range b.rows {
		b.refs = append(b.refs, unitRef{b.rows[i].UnitID, b.rows[i].Key})
	}
	if b.old != nil {
		for ord, k := range b.old.units.keys {
			if f := k.File(); !b.plan.dropped[f] && !again[f] {
				b.refs = append(b.refs, unitRef{b.old.units.id(uint32(ord)), k})
			}
		}
	}
	units, err := newUnitTable(b.refs)
	b.refs = nil
	return units, dropped, err
}

// errMoved is returned when a file changes while it is being indexed. The next
// sync sees it as it is then.
var errMoved = errors.New("file changed during the sync")

// redo makes the rows of s anew. Its content is as indexed, so its units and
// their keys are the same.
func (b *build) redo(s *source) error {
	p, ok := b.ix.parse(b.plan, s.entry(), s.File)
	if !ok || p.src.Hash != s.Hash || int(s.Units) != len(p.units) {
		return fmt.Errorf("read %s: %w", s.Path, errMoved)
	}
	for i := range p.units {
		row := &p.units[i].row
		rename(row, s.ID)
		b.rows = append(b.rows, *row)
	}
	return nil
}
