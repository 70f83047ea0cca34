package recall_test

import (
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/recall"
	"github.com/memsearch/memsearch/rerank"
)

// A knower grades what stands in the file that a query is about 3, what stands in
// its folder 1, and nothing else. It shows a prompt of twelve candidates.
type knower struct{ target string }

func (k knower) Rerank(_ context.Context, t rerank.Task) (*rerank.Answer, error) {
	a := &rerank.Answer{Judged: min(len(t.Candidates), 12), Model: "knower", Prompt: "rerank@1"}
	for i, c := range t.Candidates[:a.Judged] {
		switch {
		case c.Path == k.target:
			a.Picks = append(a.Picks, rerank.Pick{Index: i, Grade: 3})
		case path.Dir(c.Path) == path.Dir(k.target):
			a.Picks = append(a.Picks, rerank.Pick{Index: i, Grade: 1})
		}
	}
	slices.SortStableFunc(a.Picks, func(x, y rerank.Pick) int { return int(y.Grade - x.Grade) })
	return a, nil
}

// TestReranking compares what a model that knows the answers makes of each ranking
// with testdata/reranking.txt. Run with -update to accept the new ones.
func TestReranking(t *testing.T) {
	scope, opts := vaultScope(t)
	var b strings.Builder
	for _, w := range queries(t) {
		o := *opts
		o.Reranker = knower{strings.TrimLeft(w.target, "!?")}
		e := recall.New([]recall.Scope{scope}, &o)
		q := memsearch.Query{Text: w.query, Explain: true, Rerank: memsearch.RerankNever}
		fused := ids(ask(t, e, q))
		q.Rerank = memsearch.RerankAuto
		gate := ask(t, e, q).Trace.Gate
		q.Rerank = memsearch.RerankAlways
		res := ask(t, e, q)
		reranked(&b, w, fused, gate, res)
		if !strings.ContainsAny(w.target[:1], "-!?") && (len(res.Hits) == 0 || res.Hits[0].Path != w.target) {
			t.Errorf("%s: a model that knows the answer did not put it first", w.name)
		}
	}
	const name = "testdata/reranking.txt"
	if *update {
		if err := os.WriteFile(name, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("reranking changed (-want +got):\n%s", diff)
	}
}

// reranked writes one ranking so that it can be read: what the gate says, what the
// model saw, and for each hit its place before and the model's word on it.
func reranked(b *strings.Builder, w wanted, fused []string, gate *memsearch.Gate, res *memsearch.Result) {
	fmt.Fprintf(b, "%s: %s\ngate: %v, %s (margin %.2f, agreement %.2f)\n%s by %s, confidence %.2f", w.name, w.query,
		gate.Ask, gate.Reason, gate.Margin, gate.Agree, res.Status, res.SelectedBy, res.Confidence)
	if m := res.Trace.Rerank; m != nil {
		fmt.Fprintf(b, ": %d shown, %d judged, %d picked", m.Shown, m.Judged, m.Picked)
	}
	for _, r := range res.Reasons {
		fmt.Fprintf(b, "; %s", r)
	}
	b.WriteByte('\n')
	for i, h := range res.Hits {
		fmt.Fprintf(b, "%d. %s:%d-%d", i+1, h.Path, h.Lines[0], h.Lines[1])
		if place := slices.Index(fused, h.ID); place >= 0 {
			fmt.Fprintf(b, ", fused %d", place+1)
		}
		if last := h.Trace[len(h.Trace)-1]; last.Stage == "rerank" {
			fmt.Fprintf(b, ", %s", last.Note)
		}
		if !slices.Contains(res.Injected, h.ID) {
			b.WriteString(", not in the context")
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
}
