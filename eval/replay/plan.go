package replay

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/memsearch/memsearch/core/config"
	"github.com/memsearch/memsearch/rerank"
)

// A planned run.
type planned struct {
	task   *Task
	arm    Arm
	rep    int
	key    string
	judges int
}

// calls returns how many calls a run may make.
func (p *planned) calls(c *config.Config) int {
	n := 1 + p.judges
	if a, ok := p.arm.(asking); ok {
		n += a.calls(c)
	}
	return n
}

// judges counts the checks of t that ask a model.
func judges(t *Task) int {
	n := 0
	for _, c := range t.Checks {
		if c.Judged() {
			n++
		}
	}
	return n
}

// takesPart reports whether t is run in the arm called name.
func (t *Task) takesPart(name string) bool { return len(t.Arms) == 0 || slices.Contains(t.Arms, name) }

// describe fills the header and the plan.
func (r *replay) describe(candidate string) error {
	settings, given, err := fingerprint(r.opts.Settings)
	if err != nil {
		return err
	}
	r.header = Header{V: RecordVersion, Set: r.set.Name, Runner: r.runner.Name(), Settings: settings, Given: given, JudgeModel: r.opts.JudgeName,
		Repetitions: r.opts.Repetitions, Seed: r.opts.Seed, Budget: r.opts.Budget, Candidate: candidate}
	for _, a := range r.arms {
		if slices.Contains(r.header.Arms, a.Name()) {
			return fmt.Errorf("the arm %s is there twice", a.Name())
		}
		r.header.Arms = append(r.header.Arms, a.Name())
	}
	vaults := map[string]string{}
	whole := sha256.New()
	for i := range r.set.Tasks {
		t := &r.set.Tasks[i]
		task, err := taskHash(r.set, t, vaults)
		if err != nil {
			return err
		}
		fmt.Fprintln(whole, task) // never fails
		tag := TaskTag{ID: t.ID, Tags: t.Tags, Turns: userTurns(t)}
		reps := max(1, cmp.Or(r.opts.Repetitions, t.Repetitions, r.set.Repetitions))
		for _, a := range r.arms {
			if !t.takesPart(a.Name()) {
				continue
			}
			for rep := range reps {
				p := planned{task: t, arm: a, rep: rep, judges: judges(t)}
				p.key = hashOf(RecordVersion, task, a.Name(), rep, r.opts.Seed, r.opts.Budget, r.header.Runner, r.header.JudgeModel, settings, candidate)
				r.plan = append(r.plan, p)
				tag.Planned++
			}
		}
		r.header.Tasks = append(r.header.Tasks, tag)
	}
	r.header.SetHash = hex.EncodeToString(whole.Sum(nil))[:hashDigits]
	if len(r.plan) == 0 {
		return fmt.Errorf("no task takes part in the arms %s", strings.Join(r.header.Arms, ", "))
	}
	return nil
}

func userTurns(t *Task) int {
	n := 0
	for _, turn := range t.Messages() {
		if turn.Role == "user" {
			n++
		}
	}
	return n
}

// hashDigits is how much of a hash is kept: enough for no two to meet.
const hashDigits = 32

// hashOf hashes values that JSON can write.
func hashOf(parts ...any) string {
	raw, err := json.Marshal(parts)
	if err != nil {
		panic("replay: hash: " + err.Error()) // of strings and numbers
	}
	h := sha256.Sum256(raw)
	return hex.EncodeToString(h[:])[:hashDigits]
}

// taskHash hashes all that a task says and the vaults that it reads; vaults
// remembers these.
func taskHash(s *Set, t *Task, vaults map[string]string) (string, error) {
	raw, err := yaml.Marshal(t)
	if err != nil {
		return "", fmt.Errorf("task %s: %w", t.ID, err)
	}
	parts := []any{string(raw)}
	for _, name := range t.Scopes {
		if vaults[name] == "" {
			if vaults[name], err = treeHash(filepath.Join(s.Dir, name)); err != nil {
				return "", fmt.Errorf("vault %s: %w", name, err)
			}
		}
		parts = append(parts, name, vaults[name])
	}
	return hashOf(parts...), nil
}

// treeHash hashes the names and contents of what [Materialise] copies.
func treeHash(dir string) (string, error) {
	h := sha256.New()
	err := walk(dir, func(rel string, d fs.DirEntry) (err error) {
		switch {
		case d.IsDir():
			return nil
		case !d.Type().IsRegular():
			return fmt.Errorf("%s is no regular file", rel)
		}
		f, err := os.Open(filepath.Join(dir, rel))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		one := sha256.New()
		if _, err := io.Copy(one, f); err != nil {
			return err
		}
		fmt.Fprintf(h, "%q %x\n", filepath.ToSlash(rel), one.Sum(nil)) // never fails
		return nil
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

// unrelated are the settings that change no outcome: where things are, how long
// they may take and what they may cost.
var unrelated = []string{"cassette", "cassette_mode", "debug", "index_dir", "llm.", "base_url", "api_key_env", ".timeout", ".retries", ".stream", ".base_url", ".api_key_env", "lock_wait"}

// fingerprint hashes the settings that outcomes depend on, and the prompt that
// they name, and returns those that somebody gave.
func fingerprint(c *config.Config) (hash string, given map[string]string, err error) {
	given = map[string]string{}
	parts := []any{c.Rerank.Kind, c.Rerank.Mode, c.Rerank.Candidates, c.K, c.InjectThreshold, c.Mode}
	for _, e := range c.Entries() {
		if !slices.ContainsFunc(unrelated, func(u string) bool {
			return e.Key == u || strings.HasSuffix(u, ".") && strings.HasPrefix(e.Key, u) || strings.HasPrefix(u, ".") && strings.HasSuffix(e.Key, u)
		}) {
			parts = append(parts, e.Key, e.Value)
			if e.Source != config.SourceDefault {
				given[e.Key] = fmt.Sprint(e.Value)
			}
		}
	}
	if ref := c.Rerank.Prompt; ref != "" {
		p, err := rerank.LoadPrompt(ref)
		if err != nil {
			return "", nil, err
		}
		parts = append(parts, p.ID())
		given["rerank.prompt"] = p.ID()
	}
	return hashOf(parts...), given, nil
}

// join makes h the header of a folder that holds a replay with the header old:
// everything but the arms must be the same.
func (h *Header) join(old *Header) error {
	for _, c := range []struct {
		what     string
		now, was any
	}{
		{"version", h.V, old.V}, {"set", h.Set, old.Set}, {"choice of tasks or content of the set", h.SetHash, old.SetHash}, {"runner", h.Runner, old.Runner},
		{"judge", h.JudgeModel, old.JudgeModel}, {"repetitions", h.Repetitions, old.Repetitions},
		{"seed", h.Seed, old.Seed}, {"budget", h.Budget, old.Budget}, {"candidate", h.Candidate, old.Candidate},
	} {
		if c.now != c.was {
			return fmt.Errorf("its %s is not the same (%v, now %v); use a folder of its own", c.what, c.was, c.now)
		}
	}
	if c := changedSettings(old, h); len(c) > 0 {
		return fmt.Errorf("its %s is not the same (%s, now %s); use a folder of its own", c[0].What, c[0].Before, c[0].After)
	}
	h.Judge = old.Judge
	for _, a := range old.Arms {
		if !slices.Contains(h.Arms, a) {
			return fmt.Errorf("it has the arm %s too; name all of %s and any others", a, strings.Join(old.Arms, ", "))
		}
	}
	return nil
}
