package index

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// A State says how an index stands to its files.
type State int

// The states of an index. In all but the last two it is rebuilt by the next
// sync.
const (
	StateMissing State = iota // nothing was indexed yet
	StateCorrupt              // a derived file is not as it was written
	StateVersion              // written in another format, or by another analyzer
	StateOptions              // analysed, cut or dated in another way
	StateModel                // embedded by another model: only the vectors are unusable
	StateContent              // files were added, changed or removed since
	StateEqual                // index and files agree
)

var stateNames = [...]string{"missing", "corrupt", "version", "options", "model", "content", "equal"}

// String returns the state in one lower-case word.
func (s State) String() string {
	if s < 0 || int(s) >= len(stateNames) {
		return fmt.Sprintf("State(%d)", int(s))
	}
	return stateNames[s]
}

// Errors of this package that callers branch on.
var (
	// ErrBusy is returned when another writer held the index for the whole wait.
	ErrBusy = errors.New("index is busy: another writer holds it")

	// ErrReadOnly is returned when the index directory cannot be written. The
	// last generation stays usable; [Options].InMemory needs no directory.
	ErrReadOnly = errors.New("index directory is not writable")

	// ErrFull is returned when the disk has no room for a new generation. The
	// last one stays usable.
	ErrFull = errors.New("no space left for the index")

	// ErrStale is returned for a unit whose file no longer holds its text.
	ErrStale = errors.New("file changed since it was indexed")

	// ErrModel is returned when the vectors of the index come from another
	// model than the one that is asked.
	ErrModel = errors.New("vectors are of another model")

	// ErrClosed is returned by a closed [Index] or [Snapshot].
	ErrClosed = errors.New("index is closed")
)

// An Unusable error says why an index cannot be read. The next sync rebuilds it.
type Unusable struct {
	State  State
	Reason string
}

// Error implements error.
func (u *Unusable) Error() string { return fmt.Sprintf("index is %s: %s", u.State, u.Reason) }

// unwritable marks the errors of a directory that cannot take a new generation,
// so that a caller can go on with the last one or in memory.
func unwritable(err error) error {
	switch {
	case err == nil, errors.Is(err, ErrReadOnly), errors.Is(err, ErrFull):
		return err
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w: %w", ErrFull, err)
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	return err
}
