package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/core/config"
	"github.com/memsearch/memsearch/internal/memfile"
	"github.com/memsearch/memsearch/internal/tokens"
	"github.com/memsearch/memsearch/recall"
)

// The names of the arms.
const (
	ArmNone      = "none"          // no memory at all: what the others are compared with
	ArmMemory    = "memory"        // the product: recall, gate, reranking, packing
	ArmSelection = "llm-selection" // a model picks from the catalog
	ArmOracle    = "oracle"        // the right memories are handed over
	ArmStale     = "stale"         // memory, with superseded facts left in
	ArmRandom    = "random"        // as many memories as memory has, drawn at random
)

// allArms are the arms in the order in which they are named.
var allArms = []Arm{noneArm{}, memoryArm{}, selectionArm{}, oracleArm{}, staleArm{}, randomArm{}}

// ArmNames lists every arm.
func ArmNames() []string {
	var names []string
	for _, a := range allArms {
		names = append(names, a.Name())
	}
	return names
}

// An Arm decides what an agent is given beside its task. It may change the copy
// of the vault that the trial has. The result of the prepared context is never
// nil. It is safe for concurrent use.
type Arm interface {
	Name() string
	Context(ctx context.Context, t *Trial) (*core.Prepared, error)
}

// Arms returns the arms with the given names; none: all but llm-selection.
func Arms(names ...string) ([]Arm, error) {
	if len(names) == 0 {
		names = []string{ArmNone, ArmMemory, ArmOracle, ArmStale, ArmRandom}
	}
	var out []Arm
	for _, name := range names {
		i := slices.Index(ArmNames(), name)
		if i < 0 {
			return nil, fmt.Errorf("arm %q is none of %s", name, strings.Join(ArmNames(), ", "))
		}
		out = append(out, allArms[i])
	}
	return out, nil
}

// A readier is an arm that some settings do not allow.
type readier interface {
	ready(c *config.Config) error
}

// An asking arm asks models while it prepares a context.
type asking interface {
	// calls returns how many calls to models one context takes at most.
	calls(c *config.Config) int
}

type noneArm struct{}

func (noneArm) Name() string { return ArmNone }

func (noneArm) Context(_ context.Context, t *Trial) (*core.Prepared, error) {
	res := memsearch.NewResult(t.Task.Question(), memsearch.StateEmpty, "without memory")
	res.Budget = t.Budget
	return &core.Prepared{Result: res}, nil
}

// memoryArm is what a user of the product has.
type memoryArm struct{}

func (memoryArm) Name() string { return ArmMemory }

func (memoryArm) calls(c *config.Config) int {
	if p, err := c.Profile(c.RecallProfile); err != nil || !p.Usable() || c.Rerank.Mode == memsearch.RerankNever {
		return 0
	}
	return c.Rerank.MaxCalls
}

func (memoryArm) Context(ctx context.Context, t *Trial) (*core.Prepared, error) {
	t.Vault = true
	return t.prepare(ctx, nil)
}

// prepare has the product prepare a context.
func (t *Trial) prepare(ctx context.Context, c *config.Config) (_ *core.Prepared, err error) {
	m, err := t.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	return m.PrepareContext(ctx, t.Query(), nil)
}

// selectionArm searches nothing.
type selectionArm struct{}

const selectionKind = "llm-selection"

func (selectionArm) Name() string { return ArmSelection }

func (selectionArm) ready(c *config.Config) error {
	if p, err := c.Profile(c.RecallProfile); err != nil || !p.Usable() {
		return errors.Join(err, fmt.Errorf("the arm %s needs a model: set profiles.%s.model", ArmSelection, c.RecallProfile))
	}
	return nil
}

func (selectionArm) calls(c *config.Config) int { return c.Rerank.MaxCalls }

func (selectionArm) Context(ctx context.Context, t *Trial) (*core.Prepared, error) {
	t.Vault = true
	t.Env = []string{"MEMSEARCH_RERANK_KIND=" + selectionKind, "MEMSEARCH_RERANK_MODE=" + string(memsearch.RerankAlways)}
	c := *t.Settings
	c.Rerank.Kind, c.Rerank.Mode = selectionKind, memsearch.RerankAlways
	return t.prepare(ctx, &c)
}

// oracleArm is the ceiling of any retrieval.
type oracleArm struct{}

func (oracleArm) Name() string { return ArmOracle }

func (oracleArm) Context(ctx context.Context, t *Trial) (*core.Prepared, error) {
	return t.pack(ctx, ArmOracle, core.ListOptions{}, func([]string) []string { return t.State.Gold })
}

// staleArm prices staleness: what was superseded stands as a fact again.
type staleArm struct{ memoryArm }

func (staleArm) Name() string { return ArmStale }

func (a staleArm) Context(ctx context.Context, t *Trial) (*core.Prepared, error) {
	if len(t.State.Stale) > 0 {
		if err := t.splice(func(m *memsearch.Memory) []memfile.Change { return revive(m, t.State.Stale) }); err != nil {
			return nil, fmt.Errorf("put superseded facts back: %w", err)
		}
	}
	return a.memoryArm.Context(ctx, t)
}

// revive returns what makes a stale memory current, and lets others no longer
// take its place.
func revive(m *memsearch.Memory, stale []string) []memfile.Change {
	var out []memfile.Change
	if slices.Contains(stale, m.ID) {
		out = append(out, memfile.Change{Key: "status", Value: memsearch.StatusActive},
			memfile.Change{Key: "valid_to"}, memfile.Change{Key: "superseded_by"})
	}
	left := slices.DeleteFunc(slices.Clone(m.Supersedes), func(id string) bool { return slices.Contains(stale, id) })
	switch {
	case len(left) == len(m.Supersedes):
	case len(left) == 0:
		out = append(out, memfile.Change{Key: "supersedes"})
	default:
		out = append(out, memfile.Change{Key: "supersedes", Value: left})
	}
	return out
}

// randomArm is the negative control: it has as much context, but no reason to be
// right. Memories that the task names, as gold or as misleading, are never drawn.
type randomArm struct{ memoryArm }

func (randomArm) Name() string { return ArmRandom }

func (a randomArm) Context(ctx context.Context, t *Trial) (*core.Prepared, error) {
	real, err := a.memoryArm.Context(ctx, t)
	if err != nil {
		return nil, err
	}
	t.Vault = false
	n := len(memoriesOf(real.Result.Injected))
	p, err := t.pack(ctx, ArmRandom, core.ListOptions{Current: true}, func(ids []string) []string {
		named := slices.Concat(t.State.Gold, t.State.Stale, t.State.Wrong)
		ids = slices.DeleteFunc(ids, func(id string) bool { return slices.Contains(named, id) })
		slices.Sort(ids)
		rng := rand.New(rand.NewPCG(t.Seed, 0))
		rng.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		return ids[:min(n, len(ids))]
	})
	if err == nil {
		p.Result.Cost, p.Result.Reasons = real.Result.Cost, real.Result.Reasons
	}
	return p, err
}

// pack hands over the memories that choose picks among those that o lists, in
// its order, as a recall would have packed them.
func (t *Trial) pack(ctx context.Context, by string, o core.ListOptions, choose func(ids []string) []string) (_ *core.Prepared, err error) {
	m, err := t.Open(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	units := map[string][]core.Passage{}
	var ids []string
	err = m.Passages(ctx, o, func(p core.Passage) error {
		if units[p.ID] == nil {
			ids = append(ids, p.ID)
		}
		units[p.ID] = append(units[p.ID], p)
		return nil
	})
	if err != nil {
		return nil, err
	}
	res := memsearch.NewResult(t.Task.Question(), memsearch.StateEmpty)
	res.Budget, res.SelectedBy = t.Budget, by
	var pieces []recall.Piece
	for _, id := range choose(ids) {
		list := units[id]
		slices.SortStableFunc(list, func(a, b core.Passage) int { return cmp.Compare(a.Lines[0], b.Lines[0]) })
		for _, p := range list {
			pieces = append(pieces, t.piece(p))
			res.Hits = append(res.Hits, memsearch.Hit{ID: p.UnitID, MemoryID: id, Path: p.Path, Lines: p.Lines, Scope: p.Scope})
		}
	}
	fixed := tokens.Bound(recall.Instructions) + 1
	packed := recall.Pack(pieces, t.Budget-fixed)
	if by == ArmOracle && len(packed.Used) < len(pieces) {
		t.tellingFirst(pieces)
		packed = recall.Pack(pieces, t.Budget-fixed)
	}
	out := &core.Prepared{Result: res}
	if packed.Text != "" {
		res.Status, res.Context, res.Tokens, res.Injected = memsearch.StateOK, packed.Text, packed.Tokens, packed.Used
		out.Instructions, out.Content, out.Tokens = recall.Instructions, packed.Text, packed.Tokens+fixed
	}
	return out, nil
}

// tellingFirst orders passages of right memories that do not fit the budget: those
// that say a right answer come first, then those with most words of the question.
// A search finds the telling part of a long memory, and the oracle is its ceiling.
func (t *Trial) tellingFirst(pieces []recall.Piece) {
	asked := marks(t.Task.Question())
	rank := map[string]int{}
	for _, p := range pieces {
		n := 0
		for w := range marks(p.Text) {
			if asked[w] {
				n++
			}
		}
		said := func(s Sample) bool {
			words := plain(s.Answer)
			return words != "" && !slight(words) && strings.Contains(" "+plain(p.Text)+" ", " "+words+" ")
		}
		if slices.ContainsFunc(t.Task.Right, said) {
			n += len(asked) + 1
		}
		rank[p.ID] = n
	}
	slices.SortStableFunc(pieces, func(a, b recall.Piece) int { return cmp.Compare(rank[b.ID], rank[a.ID]) })
}

// piece is a passage as a context shows it.
func (t *Trial) piece(p core.Passage) recall.Piece {
	out := recall.Piece{Section: recall.SectionMemories, ID: p.UnitID, Category: p.Category, Date: p.Date,
		Source: fmt.Sprintf("%s:%d-%d", filepath.ToSlash(p.Path), p.Lines[0], p.Lines[1]), Summary: p.Summary, Text: p.Text}
	if len(t.State.Scopes) > 1 {
		out.Scope = p.Scope
	}
	return out
}
