package recall

import (
	"context"
	"errors"
	"fmt"

	"github.com/memsearch/memsearch"
)

// A Judgement says how likely it is that some unit answers a query.
type Judgement struct {
	// Confidence is the largest of all hits, which the floor is compared with;
	// 0 when nothing speaks for any unit.
	Confidence float64

	// Features are what it rests on, by name.
	Features map[string]float64
}

// Judge returns the confidence of an answer to q by the given arms, whatever the
// floor. Of several scopes the surest counts.
func (e *Engine) Judge(ctx context.Context, q memsearch.Query, arms Arms) (Judgement, error) {
	var best Judgement
	if arms == 0 || arms&^ArmHybrid != 0 {
		return best, fmt.Errorf("%w: no such arms: %v", ErrQuery, arms)
	}
	a, err := e.prepare(q)
	if err != nil {
		return best, err
	}
	for i, sc := range e.scopes {
		s := e.searchScope(ctx, sc, a, arms)
		c := &collector{collection: newCollection(a.K), search: s, judge: newJudge(s, e.opts.Vocabulary), scope: i, plain: true}
		err := errors.Join(s.errs[:]...)
		if err == nil && !c.judge.nothing() {
			err = c.collect(ctx)
		}
		s.close()
		if err != nil {
			return best, fmt.Errorf("judge scope %s: %w", sc.Name, err)
		}
		for _, h := range c.hits {
			if best.Features == nil || h.confidence > best.Confidence {
				best = Judgement{h.confidence, h.features.named()}
			}
		}
	}
	return best, nil
}

// named returns the features by name.
func (f features) named() map[string]float64 {
	return map[string]float64{
		"mass": f.mass, "lex": f.lex, "cos": f.cos, "top": f.top, "agree": f.agree, "blind": f.blind, "short": f.short, "cjk": f.cjk,
		"exact": f.exact, "date": f.date, "pure": f.pure, "offDate": f.offDate, "unknown": f.unknown,
	}
}
