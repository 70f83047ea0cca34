package replay

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/core/config"
	"github.com/memsearch/memsearch/internal/atomicfile"
	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/internal/memfile"
	"github.com/memsearch/memsearch/internal/vault"
)

// A Trial is one run of one task in one arm, over copies of the vaults that are
// its own.
type Trial struct {
	Set   *Set
	Task  *Task
	State *State
	Rep   int    // from 0
	Seed  uint64 // of this task and repetition, the same in every arm
	Dir   string // for what the run needs; gone afterwards

	Settings *config.Config
	Budget   int // tokens of a context

	// Vault says that a command may search the copies itself; Env are settings
	// for it, as NAME=value. An arm sets both.
	Vault bool
	Env   []string

	run     *llm.Run // counts what recall asks
	vectors string   // folder of the vectors that all trials share
}

// seedOf mixes the seed of a replay with a task and a repetition.
func seedOf(seed uint64, task string, rep int) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d\x00%s\x00%d", seed, task, rep) // never fails
	return h.Sum64()
}

// indexDir is the folder of a trial for the indexes of its copies.
const indexDir = "index"

// dirs returns the folders of the copies.
func (t *Trial) dirs() []string {
	var out []string
	for _, sc := range t.State.Scopes {
		out = append(out, sc.Dir)
	}
	return out
}

// Query is what recall is asked for the task.
func (t *Trial) Query() memsearch.Query {
	turns := t.Task.Messages()
	return memsearch.Query{Text: t.Task.Question(), Request: turns[len(turns)-1].Text, Now: t.Task.Now.Time, Budget: t.Budget}
}

// Open opens and indexes the copies of the trial with its clock. A nil c is the
// settings of the trial.
func (t *Trial) Open(ctx context.Context, c *config.Config) (*core.Memory, error) {
	if c == nil {
		c = t.Settings
	}
	scopes := slices.Clone(t.State.Scopes)
	for i := range scopes {
		scopes[i].IndexDir = filepath.Join(t.Dir, indexDir, strconv.Itoa(i))
	}
	m, err := core.Open(ctx, scopes, &core.Options{Settings: c, Run: t.run, Vectors: t.vectors, Now: func() time.Time { return t.Task.Now.Time }})
	if err != nil {
		return nil, err
	}
	// A recall has little time for what changed, and here everything did.
	if _, err := m.Sync(ctx, core.SyncOptions{}); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// memories returns the ids of the memories that the copies hold.
func (t *Trial) memories() (map[string]bool, error) {
	ids := map[string]bool{}
	for _, sc := range t.State.Scopes {
		if err := memories(sc.Dir, func(m *memsearch.Memory) { ids[m.ID] = true }); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// splice rewrites the front matter of the memories of the copies for which
// change returns anything.
func (t *Trial) splice(change func(*memsearch.Memory) []memfile.Change) (err error) {
	for _, sc := range t.State.Scopes {
		dir, err := atomicfile.OpenDir(sc.Dir, nil)
		if err != nil {
			return err
		}
		err = walk(sc.Dir, func(rel string, d fs.DirEntry) error {
			if d.IsDir() || !vault.IsMarkdown(rel) || d.Name() == memfile.CatalogName {
				return nil
			}
			raw, err := dir.ReadFile(rel)
			if err != nil {
				return err
			}
			m := memfile.Parse(vault.Name(filepath.ToSlash(rel)), raw, nil).Memory
			changes := change(&m)
			if len(changes) == 0 {
				return nil
			}
			if raw, err = memfile.Splice(raw, changes); err != nil {
				return fmt.Errorf("change %s: %w", rel, err)
			}
			if err := dir.Write(rel, raw, 0o644); err != nil {
				return err
			}
			return dir.Root().Chtimes(rel, t.Task.Now.Time, t.Task.Now.Time)
		})
		if err = errors.Join(err, dir.Close()); err != nil {
			return err
		}
	}
	return nil
}

// memoryOf returns the id of the memory that a unit is of.
func memoryOf(unit string) string {
	id, _, _ := strings.Cut(unit, "#")
	return id
}

// memoriesOf returns the memories of units, each once, in order.
func memoriesOf(units []string) []string {
	out := []string{}
	for _, u := range units {
		if id := memoryOf(u); !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// among returns the members of list that stand in of.
func among(list, of []string) []string {
	out := []string{}
	for _, id := range list {
		if slices.Contains(of, id) {
			out = append(out, id)
		}
	}
	return out
}
