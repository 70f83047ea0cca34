package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"

	"github.com/memsearch/memsearch/index/lexical"
)

// FormatVersion is the version of the layout of a generation. An index of
// another version is rebuilt.
//
//	1: the first
const FormatVersion = 1

// Names in the index directory and in a generation.
const (
	currentName  = "CURRENT"
	lockName     = "lock"
	ignoreName   = ".gitignore"
	manifestName = "manifest.json"
	sourcesName  = "sources.bin"
	unitsName    = "units.bin"
	lexicalName  = "lexical"
	vectorsName  = "vectors.bin"
	validityName = "validity.db"
)

// A manifest says what a generation is and what its files must look like. It is
// read on every start, so it stays small: what it says of each note is in
// sources.bin.
type manifest struct {
	Format   int           `json:"format"`
	Options  string        `json:"options"` // of everything but the model that decides what is indexed
	Model    string        `json:"model"`   // fingerprint; empty: no vectors
	Zone     string        `json:"zone"`
	NextFile uint32        `json:"next_file"`
	Indexed  int           `json:"indexed"` // files
	Skipped  int           `json:"skipped"` // files that were read and hold nothing to index
	Units    int           `json:"units"`
	Forgets  int64         `json:"forgets,omitempty"`
	Missing  int           `json:"vectors_missing"` // units that wait for their vectors
	Lexical  lexical.Stats `json:"lexical"`
	Derived  []derived     `json:"derived"` // sorted by name
}

// A derived is one file of a generation.
type derived struct {
	Name string `json:"name"` // below the generation, slash-separated
	Size int64  `json:"size"`
	Sum  string `json:"xxh64"`
}

// An envelope is what manifest.json holds. The sum is over the very bytes of the
// manifest in it.
type envelope struct {
	Sum      string          `json:"xxh64"`
	Manifest json.RawMessage `json:"manifest"`
}

func (m *manifest) encode() ([]byte, error) {
	inner, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode manifest: %w", err)
	}
	b, err := json.Marshal(envelope{Sum: hexSum(xxhash.Sum64(inner)), Manifest: inner})
	if err != nil {
		return nil, fmt.Errorf("encode manifest: %w", err)
	}
	return append(b, '\n'), nil
}

var errManifestSum = errors.New("checksum does not match")

func decodeManifest(b []byte) (*manifest, error) {
	var env envelope
	if err := json.Unmarshal(b, &env); err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	if hexSum(xxhash.Sum64(env.Manifest)) != env.Sum {
		return nil, fmt.Errorf("read manifest: %w", errManifestSum)
	}
	m := &manifest{}
	if err := json.Unmarshal(env.Manifest, m); err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	return m, nil
}

func hexSum(sum uint64) string {
	s := strconv.FormatUint(sum, 16)
	return strings.Repeat("0", 16-len(s)) + s
}

// scan lists the derived files of the generation in dir with their checksums.
func scan(ctx context.Context, dir string) ([]derived, error) {
	var list []derived
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if name == manifestName || name == lockName {
			return nil
		}
		list = append(list, derived{Name: name})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", filepath.Base(dir), err)
	}
	slices.SortFunc(list, func(a, b derived) int { return strings.Compare(a.Name, b.Name) })
	err = parallel(ctx, len(list), func(i int) error {
		size, sum, err := sumFile(filepath.Join(dir, filepath.FromSlash(list[i].Name)))
		list[i].Size, list[i].Sum = size, hexSum(sum)
		return err
	})
	return list, err
}

// verify reads every derived file and reports the first that is not as the
// manifest says.
func (m *manifest) verify(ctx context.Context, dir string) error {
	return parallel(ctx, len(m.Derived), func(i int) error {
		d := &m.Derived[i]
		if !filepath.IsLocal(filepath.FromSlash(d.Name)) {
			return fmt.Errorf("name %q leads out of the generation", d.Name)
		}
		size, sum, err := sumFile(filepath.Join(dir, filepath.FromSlash(d.Name)))
		switch {
		case err != nil:
			return err
		case size != d.Size:
			return fmt.Errorf("%s is %d bytes long, want %d", d.Name, size, d.Size)
		case hexSum(sum) != d.Sum:
			return fmt.Errorf("%s: %w", d.Name, errManifestSum)
		}
		return nil
	})
}

// has reports whether the generation was published with the file called name.
func (m *manifest) has(name string) bool {
	return slices.ContainsFunc(m.Derived, func(d derived) bool {
		return d.Name == name || path.Dir(d.Name) == name
	})
}

// sumBuffer is large enough that the system call costs little and small enough
// that the bytes are still in the second-level cache when they are summed.
const sumBuffer = 256 << 10

var sumBuffers = sync.Pool{New: func() any { b := make([]byte, sumBuffer); return &b }}

func sumFile(name string) (size int64, sum uint64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	buf := sumBuffers.Get().(*[]byte)
	defer sumBuffers.Put(buf)
	h := xxhash.New()
	for {
		n, err := f.Read(*buf)
		h.Write((*buf)[:n])
		size += int64(n)
		if errors.Is(err, io.EOF) {
			return size, h.Sum64(), nil
		}
		if err != nil {
			return size, 0, fmt.Errorf("read %s: %w", filepath.Base(name), err)
		}
	}
}

// parallel calls fn(0) to fn(n-1) on all processors, until one fails or ctx
// ends, and returns the error with the lowest index.
func parallel(ctx context.Context, n int, fn func(i int) error) error {
	var (
		mu    sync.Mutex
		next  int
		at    = n
		first error
		wg    sync.WaitGroup
	)
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next >= n || first != nil {
			return 0, false
		}
		next++
		return next - 1, true
	}
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				err := context.Cause(ctx)
				if err == nil {
					err = fn(i)
				}
				if err != nil {
					mu.Lock()
					if i < at {
						at, first = i, err
					}
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return first
}
