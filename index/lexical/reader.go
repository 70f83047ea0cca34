package lexical

import (
	"context"
	"errors"
	"iter"

	"github.com/memsearch/memsearch/index/key"
)

// A Reader searches one index. It is safe for concurrent use once [Reader.Bind]
// was called.
type Reader struct{}

// Open opens the index in dir for reading.
func Open(dir string) (*Reader, error) { return nil, errors.ErrUnsupported }

// Memory builds an index in memory.
func Memory(ctx context.Context, docs iter.Seq[Doc]) (*Reader, error) {
	return nil, errors.ErrUnsupported
}

// Write builds the index in dir, which must be absent or empty: what base holds
// (empty: nothing) without the files that drop names, and docs. Everything is on
// disk when it returns.
func Write(ctx context.Context, dir, base string, drop func(file uint32) bool, docs iter.Seq[Doc]) (Stats, error) {
	return Stats{}, errors.ErrUnsupported
}

// Dead is the key of a document number that is no longer in use.
const Dead = ^key.Key(0)

// Keys returns the key of every document number; [Dead] for deleted ones.
func (r *Reader) Keys() []key.Key { return nil }

// Stats returns what is live in the index.
func (r *Reader) Stats() Stats { return Stats{} }

// Bind says which unit ordinal, below n, each document number belongs to. What
// it says of dead numbers is ignored.
func (r *Reader) Bind(units []uint32, n int) error { return errors.ErrUnsupported }

// Search scores every unit for text. A nil p is [DefaultParams].
func (r *Reader) Search(ctx context.Context, text string, p *Params) (*Result, error) {
	return nil, errors.ErrUnsupported
}

// Dictionary calls fn with every term of every field, those of deleted documents
// too, until fn returns false.
func (r *Reader) Dictionary(fn func(term string) bool) error { return errors.ErrUnsupported }

// Close releases the files.
func (r *Reader) Close() error { return nil }
