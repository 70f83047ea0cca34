package rerank

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"

	"github.com/memsearch/memsearch/internal/atomicfile"
)

// CacheEntries is how many verdicts a [Cache] keeps. Beyond it the oldest quarter
// goes.
const CacheEntries = 4096

// entryVersion is that of the files of a [Cache].
//
//	1  {"v", "picks": [{"n", "grade"}], "unknown", "twice"}
const entryVersion = 1

// An entry is a verdict as it is kept: numbers only, no text.
type entry struct {
	Version int         `json:"v"`
	Picks   []entryPick `json:"picks"`             // best first
	Unknown int         `json:"unknown,omitempty"` // numbers that were of no line
	Twice   int         `json:"twice,omitempty"`   // numbers that came again
}

// An entryPick is one line that was picked, by its number from 1.
type entryPick struct {
	N     int     `json:"n"`
	Grade float64 `json:"grade"`
}

// A Cache keeps the verdicts of models in a folder, one small file each, under a
// hash of everything that the model was shown. It holds no text. Several processes
// may use the folder at once. Looking up and keeping never fail: a damaged file is
// a miss, and what cannot be kept is asked again. A nil Cache is always empty.
type Cache struct{ dir string }

// OpenCache returns the cache in the folder dir, which is made when there is
// something to keep.
func OpenCache(dir string) *Cache { return &Cache{dir: dir} }

// cacheKey returns the name of a verdict.
func cacheKey(kind, model string, sample int, parts ...string) string {
	b, _ := json.Marshal(append([]string{kind, model, strconv.Itoa(sample)}, parts...)) // strings cannot fail
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

var entryName = regexp.MustCompile(`^[0-9a-f]{64}\.json$`)

// get returns the verdict on n lines that is kept under key, or nil.
func (c *Cache) get(key string, n int) *entry {
	if c == nil {
		return nil
	}
	dir, err := atomicfile.OpenDir(c.dir, nil)
	if err != nil {
		return nil
	}
	defer dir.Close() // read only
	data, err := dir.ReadFile(key + ".json")
	if err != nil {
		return nil
	}
	return parseEntry(data, n)
}

// parseEntry returns nil for what is no verdict on n lines.
func parseEntry(data []byte, n int) *entry {
	var e entry
	if json.Unmarshal(data, &e) != nil || e.Version != entryVersion || e.Picks == nil || e.Unknown < 0 || e.Twice < 0 {
		return nil
	}
	if whole := collect(n, e.Picks); len(whole.Picks) != len(e.Picks) {
		return nil
	}
	if slices.ContainsFunc(e.Picks, func(p entryPick) bool { return math.IsNaN(p.Grade) || math.IsInf(p.Grade, 0) }) {
		return nil
	}
	return &e
}

// put keeps a verdict.
func (c *Cache) put(key string, e *entry) {
	if c == nil {
		return
	}
	data, err := json.Marshal(e)
	if err != nil {
		return
	}
	if os.MkdirAll(c.dir, 0o700) != nil {
		return
	}
	dir, err := atomicfile.OpenDir(c.dir, nil)
	if err != nil {
		return
	}
	defer dir.Close() // what was written is synced
	if dir.Write(key+".json", append(data, '\n'), 0o600) == nil {
		_ = dir.Prune(isEntry, CacheEntries, 0) // whoever is next tries again
	}
}

// isEntry reports whether name is of a file of a cache: an entry, or what an
// interrupted write left.
func isEntry(name string) bool {
	temp, _ := path.Match(atomicfile.TempPattern, name) // the pattern is well-formed
	return temp || entryName.MatchString(name)
}
