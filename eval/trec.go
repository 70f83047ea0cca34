package eval

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// runs collects TREC run files: question, Q0, document, rank, score, arm.
type runs struct {
	dir   string
	depth int
	lines map[string]map[string][]Ranked // arm -> question -> ranking
}

func newRuns(o Options) *runs {
	return &runs{dir: o.RunDir, depth: o.RunDepth, lines: map[string]map[string][]Ranked{}}
}

func (r *runs) add(arm, question string, list []Ranked) {
	if r.dir == "" {
		return
	}
	if r.lines[arm] == nil {
		r.lines[arm] = map[string][]Ranked{}
	}
	r.lines[arm][question] = slices.Clone(list[:min(r.depth, len(list))])
}

// write makes one file per arm, questions in order of id, and returns their
// names. Scores fall strictly, as evaluators sort by them: a score that does not
// is lowered to just below the one before it.
func (r *runs) write() ([]string, error) {
	if r.dir == "" {
		return nil, nil
	}
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return nil, fmt.Errorf("write run files: %w", err)
	}
	var names []string
	for _, arm := range Arms {
		if r.lines[arm] == nil {
			continue
		}
		var b bytes.Buffer
		ids := make([]string, 0, len(r.lines[arm]))
		for id := range r.lines[arm] {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		for _, id := range ids {
			last := 0.0
			for i, d := range r.lines[arm][id] {
				s := d.Score
				if i > 0 && s >= last-1e-6 {
					s = last - 1e-6
				}
				last = s
				fmt.Fprintf(&b, "%s Q0 %s %d %.6f %s\n", column1(id), column1(d.ID), i+1, s, arm)
			}
		}
		name := filepath.Join(r.dir, arm+".trec")
		if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
			return nil, fmt.Errorf("write run files: %w", err)
		}
		names = append(names, name)
	}
	return names, nil
}

// column1 keeps an id one column wide: white space becomes an underscore.
func column1(id string) string {
	return strings.Join(strings.Fields(id), "_")
}
