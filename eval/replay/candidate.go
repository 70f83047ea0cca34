package replay

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/internal/atomicfile"
	"github.com/memsearch/memsearch/internal/memfile"
	"github.com/memsearch/memsearch/internal/secrets"
	"github.com/memsearch/memsearch/internal/vault"
)

// The arms that [Candidate] compares: the product without and with a memory.
const (
	ArmWithout = "without"
	ArmWith    = "with"
)

// A CandidateReport says what one memory does to the tasks of a set. Unless the arm
// [ArmWith] is better or worse by the verdict of its comparison, chance could have
// made what was seen.
type CandidateReport struct {
	ID       string `json:"id"`
	Verdict  string `json:"verdict"`  // [EffectHelpful], [EffectHarmful] or [EffectNeutral]
	Injected int    `json:"injected"` // runs of with whose context had it
}

// Candidate runs every task with and without the memory in the file called name,
// as if it had been accepted, and says in [Report.Candidate] what it does: it is
// harmful when at least as many tasks go worse as go better, neutral when none
// changes. A memory of the same id in the vaults gives way to it. The arms of the
// records are [ArmWithout] and [ArmWith].
func Candidate(ctx context.Context, set *Set, name string, runner Runner, o *Options) (*Report, error) {
	raw, err := atomicfile.ReadRegular(name)
	if err != nil {
		return nil, fmt.Errorf("read candidate: %w", err)
	}
	c, err := newCandidate(filepath.Base(name), raw)
	if err != nil {
		return nil, fmt.Errorf("candidate %s: %w", name, err)
	}
	// Tasks that leave out an arm say nothing about a memory.
	all := *set
	all.Tasks = append([]Task(nil), set.Tasks...)
	for i := range all.Tasks {
		all.Tasks[i].Arms = nil
	}
	arms := []Arm{candidateArm{candidate: c}, candidateArm{candidate: c, with: true}}
	if err := runAll(ctx, &all, arms, runner, o, c.id+" "+hashOf(string(raw))); err != nil {
		return nil, err
	}
	h, records, err := ReadRecords(o.Out)
	if err != nil {
		return nil, err
	}
	return Analyse(h, records)
}

// A candidate is a memory that is not accepted yet.
type candidate struct {
	id, name string
	raw      []byte // with the status active
}

func newCandidate(name string, raw []byte) (*candidate, error) {
	if !vault.IsMarkdown(name) {
		return nil, errors.New("it is no Markdown file")
	}
	if strings.HasPrefix(name, ".") {
		return nil, errors.New("a vault does not read hidden files: give it another name")
	}
	if found := secrets.New().Scan(string(raw)); len(found) > 0 {
		return nil, fmt.Errorf("it holds a secret (%s), which no vault takes and no model must see: take it out", found[0].Rule)
	}
	f := memfile.Parse(vault.Name(name), raw, nil)
	if strings.TrimSpace(f.Text[f.Body[0]:f.Body[1]]) == "" {
		return nil, errors.New("it says nothing")
	}
	m := f.Memory
	changes := []memfile.Change{{Key: "status", Value: memsearch.StatusActive}}
	if m.DerivedID { // which another path would change
		changes = append(changes, memfile.Change{Key: "id", Value: m.ID})
	}
	active, err := memfile.Splice(raw, changes)
	if err != nil {
		return nil, err
	}
	return &candidate{id: m.ID, name: name, raw: active}, nil
}

// candidate says what the tried memory did; nil when none was tried.
func (a *analysis) candidate(r *Report) *CandidateReport {
	with := slices.Index(a.h.Arms, ArmWith)
	at := strings.LastIndexByte(a.h.Candidate, ' ')
	if at < 0 || with < 0 || r.Arms[with].Against == nil {
		return nil
	}
	out := &CandidateReport{ID: a.h.Candidate[:at], Verdict: EffectNeutral}
	switch better, worse := len(r.Arms[with].Against.Helpful), len(r.Arms[with].Against.Harmful); {
	case better > worse:
		out.Verdict = EffectHelpful
	case worse > 0:
		out.Verdict = EffectHarmful
	}
	a.each(with, func(_ *TaskTag, rec *Record) {
		if slices.Contains(rec.Injected, out.ID) {
			out.Injected++
		}
	})
	return out
}

// candidateArm is the arm memory over a vault with, or without, a candidate.
type candidateArm struct {
	memoryArm
	candidate *candidate
	with      bool
}

func (a candidateArm) Name() string {
	if a.with {
		return ArmWith
	}
	return ArmWithout
}

func (a candidateArm) Context(ctx context.Context, t *Trial) (*core.Prepared, error) {
	if err := a.put(t); err != nil {
		return nil, fmt.Errorf("put candidate: %w", err)
	}
	return a.memoryArm.Context(ctx, t)
}

// candidateDir is the folder of a copy that a candidate is put into, so that it
// takes no other memory's place.
const candidateDir = "candidate"

// put takes what has the candidate's id out of the copies, and puts it into the
// first.
func (a candidateArm) put(t *Trial) error {
	for _, sc := range t.State.Scopes {
		var gone []string
		if err := memories(sc.Dir, func(m *memsearch.Memory) {
			if m.ID == a.candidate.id {
				gone = append(gone, m.Path)
			}
		}); err != nil {
			return err
		}
		for _, p := range gone {
			if err := os.Remove(filepath.Join(sc.Dir, filepath.FromSlash(p))); err != nil {
				return err
			}
		}
	}
	if !a.with {
		return nil
	}
	name := filepath.Join(t.State.Scopes[0].Dir, candidateDir, a.candidate.name)
	return errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, a.candidate.raw, 0o644), os.Chtimes(name, t.Task.Now.Time, t.Task.Now.Time))
}
