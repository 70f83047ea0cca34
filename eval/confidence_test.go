package eval_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memsearch/memsearch/eval"
)

// sure judges as a table says: by the conversation searched and the question.
type sure struct {
	fixed
	conversation string
	table        map[string]float64
	now          map[string]time.Time
}

func (s sure) Judge(_ context.Context, q eval.Question, _ string) (eval.Judgement, error) {
	s.now[s.conversation+"/"+q.ID] = q.Now
	return eval.Judgement{Confidence: s.table[s.conversation+"/"+q.ID]}, nil
}

func sureBuilder(table map[string]float64, now map[string]time.Time) eval.Builder {
	return func(_ context.Context, docs []eval.Document) (eval.Ranker, error) {
		return sure{conversation: docs[0].Conversation, table: table, now: now}, nil
	}
}

var day1 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// two conversations with two questions each, and what is asked of them.
func twoConversations() ([]eval.Document, []eval.Question, eval.Qrels) {
	docs := []eval.Document{{ID: "a", Conversation: "A"}, {ID: "b", Conversation: "B"}}
	qs := []eval.Question{
		{ID: "a1", Text: "x", Conversation: "A", Now: day1}, {ID: "a2", Text: "x", Conversation: "A", Now: day1.AddDate(0, 0, 9)},
		{ID: "b1", Text: "x", Conversation: "B", Now: day1.AddDate(0, 0, 3)}, {ID: "b2", Text: "x", Conversation: "B", Now: day1},
		{ID: "trap", Text: "x", Conversation: "A", Category: eval.Adversarial}, {ID: "unjudged", Text: "x", Conversation: "A"},
	}
	return docs, qs, eval.Qrels{"a1": {"a": 1}, "a2": {"a": 1}, "b1": {"b": 1}, "b2": {"b": 1}, "trap": {"a": 1}}
}

// Answerable .9 .8 .35 .25, others .35 .15 .05 .05. Of the 16 pairs 14 are in
// order, (.35, .35) is a tie, (.25, .35) is not: AUC 14.5/16.
func TestConfidence(t *testing.T) {
	table := map[string]float64{"A/a1": .9, "A/a2": .35, "B/b1": .8, "B/b2": .25, "A/b1": .15, "A/b2": .35, "B/a1": .05, "B/a2": .05}
	now := map[string]time.Time{}
	docs, qs, qrels := twoConversations()
	var dump bytes.Buffer
	r, err := eval.Confidence(t.Context(), sureBuilder(table, now), docs, qs, qrels, &eval.ConfidenceOptions{MaxLost: .25, Floor: .2, Dump: &dump})
	if err != nil {
		t.Fatal(err)
	}
	if r.Positives != 4 || r.Negatives != 4 || math.Abs(r.AUC.Mean-14.5/16) > 1e-12 || r.AUC.Low > r.AUC.Mean || r.AUC.High < r.AUC.Mean {
		t.Errorf("%d, %d, AUC %+v", r.Positives, r.Negatives, r.AUC)
	}
	// A quarter may be lost: .25 lies below .35, and so do three of four others.
	if diff := cmp.Diff(eval.FloorReport{Floor: .35, Lost: .25, Emptied: .75}, r.Floor); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(&eval.FloorReport{Floor: .2, Lost: 0, Emptied: .75}, r.Given); diff != "" {
		t.Error(diff)
	}
	// Each weighs 1/8. The parts from 0, .1, .2, .3, .8 and .9 miss by .1, .15,
	// .75, |.7 - 1|, .2 and .1: 1.6 eighths.
	if math.Abs(r.ECE-1.6/8) > 1e-12 {
		t.Errorf("calibration error %v, want .2", r.ECE)
	}
	if b := r.Bins[3]; b.N != 2 || math.Abs(b.Confidence-.35) > 1e-12 || b.Answerable != .5 {
		t.Errorf("part from .3: %+v", b)
	}
	if len(r.Sources) != 1 || r.Sources[0].Source != eval.ElsewhereSource || r.Sources[0].N != 4 {
		t.Errorf("sources %+v", r.Sources)
	}
	// Asked elsewhere, a question gets the time of the latest question there.
	if !now["A/b1"].Equal(day1.AddDate(0, 0, 9)) || !now["B/a2"].Equal(day1.AddDate(0, 0, 3)) || !now["A/a1"].Equal(day1) {
		t.Errorf("times %v", now)
	}
	lines := slices.Collect(strings.Lines(dump.String()))
	var row struct {
		ID         string
		Answerable bool
		Confidence float64
	}
	if len(lines) != 8 || json.Unmarshal([]byte(lines[0]), &row) != nil || row.ID != "a1" || !row.Answerable || row.Confidence != .9 {
		t.Errorf("%d lines, first %+v", len(lines), row)
	}
	if !strings.Contains(r.Text(), "AUC 0.906") {
		t.Error(r.Text())
	}
}

// The same seed gives the same report; another corpus is a source of its own.
func TestConfidenceAgainst(t *testing.T) {
	table := map[string]float64{"A/a1": .9, "A/a2": .8, "C/a1": .1, "C/a2": .85}
	docs, qs, qrels := twoConversations()
	o := &eval.ConfidenceOptions{Seed: 7, Resamples: 50, Against: []eval.NamedDocs{{Name: "C", Docs: []eval.Document{{ID: "c", Conversation: "C"}}}}}
	var reports []*eval.ConfidenceReport
	for range 2 {
		r, err := eval.Confidence(t.Context(), sureBuilder(table, map[string]time.Time{}), docs[:1], qs[:2], qrels, o)
		if err != nil {
			t.Fatal(err)
		}
		reports = append(reports, r)
	}
	if diff := cmp.Diff(reports[0], reports[1]); diff != "" {
		t.Error(diff)
	}
	if s := reports[0].Sources; len(s) != 1 || s[0].Source != "C" || s[0].AUC.Mean != .75 {
		t.Errorf("sources %+v", s)
	}
	o.Against = nil
	if _, err := eval.Confidence(t.Context(), sureBuilder(table, nil), docs[:1], qs[:2], qrels, o); !errors.Is(err, eval.ErrNoData) {
		t.Errorf("without negatives: %v", err)
	}
}
