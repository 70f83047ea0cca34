package eval

import "math"

// Scores holds the metrics of one question or their means.
type Scores struct {
	NDCG   float64 `json:"ndcg"`   // at [Options.Cut]
	Recall float64 `json:"recall"` // at Cut
	R1     float64 `json:"r1"`
	R5     float64 `json:"r5"`
	R10    float64 `json:"r10"`
	R100   float64 `json:"r100"`
	MRR    float64 `json:"mrr"`  // reciprocal rank of the first relevant document within Cut, else 0
	Hit1   float64 `json:"hit1"` // 1 when the first document is relevant
	Hit    float64 `json:"hit"`  // 1 when any of the first Cut is relevant
}

// score computes the metrics of one ranking; rel must not be empty.
//
// nDCG is Järvelin and Kekäläinen's (2002) with linear gain, grade/log2(rank+1),
// as trec_eval has it, over the ideal order of the judged documents.
func score(ranking []string, rel map[string]int, cut int) Scores {
	recall := func(k int) float64 {
		n := 0
		for _, id := range ranking[:min(k, len(ranking))] {
			if rel[id] > 0 {
				n++
			}
		}
		return float64(n) / float64(len(rel))
	}
	s := Scores{Recall: recall(cut), R1: recall(1), R5: recall(5), R10: recall(10), R100: recall(100)}
	var dcg float64
	for i, id := range ranking[:min(cut, len(ranking))] {
		g := rel[id]
		if g <= 0 {
			continue
		}
		dcg += float64(g) / math.Log2(float64(i+2))
		if s.Hit == 0 {
			s.Hit, s.MRR = 1, 1/float64(i+1)
			if i == 0 {
				s.Hit1 = 1
			}
		}
	}
	s.NDCG = dcg / idealDCG(rel, cut)
	return s
}

func idealDCG(rel map[string]int, cut int) float64 {
	count := map[int]int{}
	top := 0
	for _, g := range rel {
		count[g]++
		top = max(top, g)
	}
	var dcg float64
	rank := 0
	for g := top; g > 0; g-- {
		for range count[g] {
			if rank == cut {
				return dcg
			}
			dcg += float64(g) / math.Log2(float64(rank+2))
			rank++
		}
	}
	return dcg
}

// metricNames are the metrics that get intervals, in the order of the tables.
var metricNames = []string{"ndcg", "r1", "r5", "r10", "r100", "mrr", "hit"}

func (s Scores) metric(name string) float64 {
	switch name {
	case "ndcg":
		return s.NDCG
	case "r1":
		return s.R1
	case "r5":
		return s.R5
	case "r10":
		return s.R10
	case "r100":
		return s.R100
	case "mrr":
		return s.MRR
	case "hit":
		return s.Hit
	}
	panic("eval: unknown metric " + name)
}

// mean averages over questions.
func mean(all []Scores) Scores {
	var m Scores
	if len(all) == 0 {
		return m
	}
	n := float64(len(all))
	for _, s := range all {
		m.NDCG += s.NDCG / n
		m.Recall += s.Recall / n
		m.R1 += s.R1 / n
		m.R5 += s.R5 / n
		m.R10 += s.R10 / n
		m.R100 += s.R100 / n
		m.MRR += s.MRR / n
		m.Hit1 += s.Hit1 / n
		m.Hit += s.Hit / n
	}
	return m
}
