// Package vault is one scope's directory of Markdown files: it lists them, reads
// them, and is the only writer of user files.
//
//	directory -> Walk -> Entry -> Read
//	NewMemory -> guard -> Writer -> file, catalog, journal
//
// Reading is liberal and never leaves the directory: everything goes through an
// [os.Root], links are not followed, and a file that cannot be read is reported
// with a reason instead of failing the walk. Names become NFC here and nowhere
// else; an [Entry] keeps the spelling of the file system beside it.
//
// Writing is guarded: secrets, paths that escape, values outside the schema and
// missing provenance are refused with a [RefusedError], the disk unchanged and
// the reason in the journal. Each write is atomic; a supersede, which takes two
// files, is finished by the next writer when a crash cut it in half.
package vault

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"github.com/memsearch/memsearch/internal/atomicfile"
	"github.com/memsearch/memsearch/internal/journal"
	"github.com/memsearch/memsearch/internal/secrets"
)

// Names of the folders that are ours. No memory is read from them.
const (
	IndexDir   = ".memsearch"
	JournalDir = ".memsearch-journal"
)

// MaxFileSize is the size above which a file is not read.
const MaxFileSize = 64 << 20

// ErrReadOnly is returned by [Vault.Writer] on a vault opened for reading.
var ErrReadOnly = errors.New("vault is read-only")

// Options configures a [Vault]. The zero value works.
type Options struct {
	// ReadOnly makes [Vault.Writer] refuse. Nothing is written in any case
	// before a Writer is asked for.
	ReadOnly bool

	// Hook, if non-nil, sees every operation that changes the disk.
	Hook atomicfile.Hook

	// Logger, if nil, is silent.
	Logger *slog.Logger

	// Secrets finds what must not be written. If nil, it is [secrets.New].
	Secrets secrets.Scanner

	// Wait is how long a write waits for another writer before [ErrBusy].
	//
	// If zero, it is [DefaultWait].
	Wait time.Duration

	// Now is the clock of the Writer. If nil, it is [time.Now].
	Now func() time.Time

	// Rand is where new ids come from. If nil, it is [rand.Reader].
	Rand io.Reader
}

// DefaultWait is the default for [Options.Wait].
const DefaultWait = 5 * time.Second

// A Vault is safe for concurrent use.
type Vault struct {
	path    string
	dir     *atomicfile.Dir
	opts    Options
	journal *journal.Journal
	heads   headCache
}

// Open opens the vault in the directory called dir, which must exist. A nil opts
// is the same as a zero Options.
func Open(dir string, opts *Options) (*Vault, error) {
	v := &Vault{path: dir}
	if opts != nil {
		v.opts = *opts
	}
	if v.opts.Logger == nil {
		v.opts.Logger = slog.New(slog.DiscardHandler)
	}
	if v.opts.Secrets == nil {
		v.opts.Secrets = secrets.New()
	}
	if v.opts.Now == nil {
		v.opts.Now = time.Now
	}
	if v.opts.Rand == nil {
		v.opts.Rand = rand.Reader
	}
	v.opts.Wait = cmp.Or(v.opts.Wait, DefaultWait)
	var err error
	if v.dir, err = atomicfile.OpenDir(dir, v.opts.Hook); err != nil {
		return nil, fmt.Errorf("open vault: %w", err)
	}
	v.journal = journal.New(v.dir, JournalDir)
	return v, nil
}

// Journal returns the vault's journal.
func (v *Vault) Journal() *journal.Journal { return v.journal }

// Close releases the vault.
func (v *Vault) Close() error { return v.dir.Close() }

// Dir returns the directory that was opened.
func (v *Vault) Dir() string { return v.path }

// An Entry is a Markdown file that can be read, as far as a walk can tell.
type Entry struct {
	Path   string // slash-separated, NFC, valid UTF-8, unique in the vault
	OSPath string // the same in the file system's spelling
	Size   int64
	MTime  int64 // nanoseconds since 1970
	CTime  int64 // likewise; 0 where the system does not tell
	Inode  uint64
}

// A Skip is a file, or a folder when Path ends in a slash, that is not read.
type Skip struct {
	Path, Reason string
}

// Reasons for a [Skip].
const (
	ReasonLink       = "link"
	ReasonLinkOut    = "link out of the vault"
	ReasonDangling   = "link to nothing"
	ReasonHidden     = "hidden"
	ReasonModules    = "node_modules"
	ReasonNotFile    = "not a regular file"
	ReasonTooLarge   = "too large"
	ReasonPermission = "permission denied"
	ReasonGone       = "gone"
)

// A SkipError says why a listed file could not be read.
type SkipError struct {
	Skip Skip
	Err  error // nil when there is no more to say than the reason
}

func (e *SkipError) Error() string { return "read " + e.Skip.Path + ": " + e.Skip.Reason }

// Unwrap returns the cause.
func (e *SkipError) Unwrap() error { return e.Err }

func skipFor(path string, err error) Skip {
	reason := err.Error()
	var pe *fs.PathError
	switch {
	case errors.Is(err, fs.ErrPermission):
		reason = ReasonPermission
	case errors.Is(err, fs.ErrNotExist):
		reason = ReasonGone
	case errors.As(err, &pe):
		reason = pe.Err.Error()
	}
	return Skip{path, reason}
}

// Read returns the content of the Markdown file called path, in the spelling of
// [Entry.Path] or of the file system. The error is a [*SkipError] when the file
// is there but is not read.
func (v *Vault) Read(path string) ([]byte, error) {
	e, err := v.find(path)
	if err != nil {
		return nil, err
	}
	return v.ReadEntry(e)
}

// ReadEntry returns the content of a listed file. The error is a [*SkipError].
func (v *Vault) ReadEntry(e Entry) ([]byte, error) {
	fail := func(reason string, err error) ([]byte, error) {
		return nil, &SkipError{Skip: Skip{e.Path, reason}, Err: err}
	}
	f, err := v.dir.Root().OpenFile(e.OSPath, os.O_RDONLY|openFlags, 0)
	if err != nil {
		if v.isLink(e.OSPath) {
			return fail(v.linkReason(e.OSPath), nil)
		}
		return fail(skipFor(e.Path, err).Reason, err)
	}
	defer f.Close() // read only
	fi, err := f.Stat()
	switch {
	case err != nil:
		return fail(skipFor(e.Path, err).Reason, err)
	case !fi.Mode().IsRegular():
		return fail(ReasonNotFile, nil)
	case fi.Size() > MaxFileSize:
		return fail(ReasonTooLarge, nil)
	case (e.Inode == 0 || e.Inode != inode(fi)) && v.isLink(e.OSPath):
		return fail(v.linkReason(e.OSPath), nil) // since the walk
	}
	return readAll(f, e, fi.Size())
}

func (v *Vault) isLink(name string) bool {
	fi, err := v.dir.Lstat(name)
	return err == nil && fi.Mode()&fs.ModeSymlink != 0
}

// readAll is [io.ReadAll] that allocates once when size is right and gives up
// on a file that grows past the limit.
func readAll(f io.Reader, e Entry, size int64) ([]byte, error) {
	buf := make([]byte, 0, size+1)
	for {
		n, err := f.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case err == io.EOF:
			return buf, nil
		case err != nil:
			return nil, &SkipError{Skip: skipFor(e.Path, err), Err: err}
		case len(buf) > MaxFileSize:
			return nil, &SkipError{Skip: Skip{e.Path, ReasonTooLarge}}
		case len(buf) == cap(buf):
			buf = append(buf, 0)[:len(buf)]
		}
	}
}
