package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/gofrs/flock"

	"github.com/memsearch/memsearch/internal/atomicfile"
)

// A pointer is what CURRENT holds: which generation to read, and the checksum of
// its manifest.
type pointer struct {
	gen int
	sum uint64
}

func (p pointer) encode() []byte {
	return fmt.Appendf(nil, "%s %s\n", genName(p.gen), hexSum(p.sum))
}

func genName(n int) string { return "gen-" + strconv.Itoa(n) }

// parseGen returns the number of a generation's directory.
func parseGen(name string) (int, bool) {
	digits, ok := strings.CutPrefix(name, "gen-")
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && n > 0 && genName(n) == name
}

var errPointer = errors.New("names no generation")

func decodePointer(b []byte) (pointer, error) {
	name, sum, ok := strings.Cut(strings.TrimSuffix(string(b), "\n"), " ")
	n, okName := parseGen(name)
	v, err := strconv.ParseUint(sum, 16, 64)
	p := pointer{gen: n, sum: v}
	if !ok || !okName || err != nil || string(p.encode()) != string(b) {
		return pointer{}, fmt.Errorf("read %s: %w", currentName, errPointer)
	}
	return p, nil
}

// readPointer returns the zero pointer when there is no index in dir.
func readPointer(dir string) (pointer, error) {
	b, err := atomicfile.ReadRegular(filepath.Join(dir, currentName))
	if errors.Is(err, fs.ErrNotExist) {
		return pointer{}, nil
	}
	if notFile(err) {
		return pointer{}, fmt.Errorf("read %s: %w", currentName, errPointer)
	}
	if err != nil {
		return pointer{}, fmt.Errorf("read %s: %w", currentName, err)
	}
	return decodePointer(b)
}

// notFile reports whether something else stands where a file should be.
func notFile(err error) bool {
	return errors.Is(err, atomicfile.ErrNotRegular) || errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.ELOOP)
}

// generations lists the numbers of the generations in dir, ascending.
func generations(dir string) ([]int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var list []int
	for _, e := range entries {
		if n, ok := parseGen(e.Name()); ok {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list, nil
}

// A held generation cannot be deleted: its lock is held for reading.
type held struct {
	pointer
	dir      string // of the generation
	manifest *manifest
	lock     *flock.Flock // nil where the file system has no locks
}

func (h *held) release() error {
	if h == nil || h.lock == nil {
		return nil
	}
	return h.lock.Unlock()
}

// hold returns the current generation of dir, held, its manifest read but its
// files not verified. An error is an [*Unusable] one when the next sync can heal
// it.
func hold(ctx context.Context, dir string) (*held, error) {
	for {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		p, err := readPointer(dir)
		if errors.Is(err, errPointer) {
			return nil, &Unusable{State: StateCorrupt, Reason: err.Error()}
		}
		if err != nil {
			return nil, err
		}
		if p.gen == 0 {
			return nil, &Unusable{State: StateMissing, Reason: "there is no index yet"}
		}
		h, err := p.hold(dir)
		if err == nil {
			return h, nil
		}
		// A writer may have published the next generation and deleted this one
		// since CURRENT was read; otherwise the error is the answer.
		if q, again := readPointer(dir); again == nil && q != p {
			continue
		}
		return nil, err
	}
}

func (p pointer) hold(dir string) (*held, error) {
	h := &held{pointer: p, dir: filepath.Join(dir, genName(p.gen))}
	name := filepath.Join(h.dir, lockName)
	if fi, err := os.Lstat(name); err == nil && !fi.Mode().IsRegular() { // a pipe would be waited for
		return nil, &Unusable{State: StateCorrupt, Reason: genName(p.gen) + " has no lock"}
	}
	lock := flock.New(name, flock.SetFlag(os.O_RDONLY))
	switch ok, err := lock.TryRLock(); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &Unusable{State: StateCorrupt, Reason: genName(p.gen) + " is gone"}
	case err == nil && ok:
		h.lock = lock
	case err == nil:
		return nil, &Unusable{State: StateCorrupt, Reason: genName(p.gen) + " is being deleted"}
	}
	// Without locks (some network and read-only mounts) nothing guards against a
	// deletion; open files and mappings outlive it.

	// Held now, but CURRENT may have moved before that, and with it the right to
	// delete this generation.
	q, err := readPointer(dir)
	if err == nil && q != p {
		err = &Unusable{State: StateCorrupt, Reason: genName(p.gen) + " is not current any more"}
	}
	if err == nil {
		h.manifest, err = p.readManifest(h.dir)
	}
	if err != nil {
		return nil, errors.Join(err, h.release())
	}
	return h, nil
}

func (p pointer) readManifest(dir string) (*manifest, error) {
	b, err := atomicfile.ReadRegular(filepath.Join(dir, manifestName))
	if errors.Is(err, fs.ErrNotExist) || notFile(err) {
		return nil, &Unusable{State: StateCorrupt, Reason: genName(p.gen) + " has no manifest"}
	}
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	if xxhash.Sum64(b) != p.sum {
		return nil, &Unusable{State: StateCorrupt, Reason: "manifest: " + errManifestSum.Error()}
	}
	m, err := decodeManifest(b)
	if err != nil {
		return nil, &Unusable{State: StateCorrupt, Reason: err.Error()}
	}
	return m, nil
}

// lockPoll is how often a taken lock is tried again.
const lockPoll = 10 * time.Millisecond

// lockWriter takes the one lock of writers, waiting up to wait. The kernel frees
// it when the process dies.
func lockWriter(ctx context.Context, dir string, wait time.Duration) (*flock.Flock, error) {
	l := flock.New(filepath.Join(dir, lockName), flock.SetFlag(os.O_CREATE|os.O_RDWR))
	ok, err := l.TryLock()
	if err == nil && !ok && wait > 0 {
		limited, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		ok, err = l.TryLockContext(limited, lockPoll)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			err = nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("lock index: %w", err)
	}
	if !ok {
		return nil, ErrBusy
	}
	return l, nil
}

// sweep deletes every generation but keep that no reader holds, and leftover
// temporary files. The caller holds the writer's lock, so nobody is writing what
// is deleted here. It returns the generations that are still held.
func sweep(d *atomicfile.Dir, dir string, keep int) (busy []int, err error) {
	list, err := generations(dir)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, n := range list {
		if n == keep {
			continue
		}
		ok, err := deleteGeneration(d, dir, n)
		if err != nil {
			errs = append(errs, err)
		} else if !ok {
			busy = append(busy, n)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, atomicfile.TempPattern))
	errs = append(errs, err)
	for _, name := range left {
		errs = append(errs, d.Remove(filepath.Base(name)))
	}
	return busy, errors.Join(errs...)
}

func deleteGeneration(d *atomicfile.Dir, dir string, n int) (bool, error) {
	// Without O_CREATE: a generation that was never finished may have no lock.
	l := flock.New(filepath.Join(dir, genName(n), lockName), flock.SetFlag(os.O_RDWR))
	ok, err := l.TryLock()
	if err == nil && !ok {
		return false, nil
	}
	defer l.Unlock() // the file is gone by then, or stays for the next sweep
	return true, d.RemoveAll(genName(n))
}
