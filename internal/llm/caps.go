package llm

import (
	"context"
	"sync"

	"github.com/memsearch/memsearch"
)

// Caps bound what may be spent. A zero field is its default: nothing runs without
// a cap.
type Caps struct {
	CallTokens int // tokens of one call, prompt and output

	RunCalls, RunTokens int // of everything that shares a [Run]
	RunMoney            float64

	DayCalls, DayTokens int // since midnight UTC, by the ledger
	DayMoney            float64
}

// Defaults of [Caps]. Money is in the currency of the prices.
const (
	DefaultCallTokens = 64_000
	DefaultRunCalls   = 1_000
	DefaultRunTokens  = 5_000_000
	DefaultRunMoney   = 5.0
	DefaultDayCalls   = 5_000
	DefaultDayTokens  = 20_000_000
	DefaultDayMoney   = 20.0
)

func (c Caps) withDefaults() Caps {
	return Caps{
		CallTokens: positive(c.CallTokens, DefaultCallTokens),
		RunCalls:   positive(c.RunCalls, DefaultRunCalls),
		RunTokens:  positive(c.RunTokens, DefaultRunTokens),
		RunMoney:   positive(c.RunMoney, DefaultRunMoney),
		DayCalls:   positive(c.DayCalls, DefaultDayCalls),
		DayTokens:  positive(c.DayTokens, DefaultDayTokens),
		DayMoney:   positive(c.DayMoney, DefaultDayMoney),
	}
}

func positive[N int | float64](v, otherwise N) N {
	if v > 0 {
		return v
	}
	return otherwise
}

// spent is what was spent in a time.
type spent struct {
	calls, tokens int
	money         float64
}

// within returns a [CapError] if s and want together exceed a limit.
func (s spent) within(per string, want, limit spent) error {
	over := func(what string, used, more, most float64) error {
		if more > 0 && used+more > most {
			return &CapError{Per: per, What: what, Limit: most, Used: used, Want: more}
		}
		return nil
	}
	if err := over("calls", float64(s.calls), float64(want.calls), float64(limit.calls)); err != nil {
		return err
	}
	if err := over("tokens", float64(s.tokens), float64(want.tokens), float64(limit.tokens)); err != nil {
		return err
	}
	return over("money", s.money, want.money, limit.money)
}

// A Run adds up what the clients that share it spend. The zero Run is empty. It is
// safe for concurrent use.
type Run struct {
	mu sync.Mutex
	spent
}

// Add counts what was spent before.
func (r *Run) Add(c memsearch.Cost) {
	r.settle(spent{}, spent{c.Calls, c.TokensIn + c.TokensOut, c.Money})
}

// Call counts a call that no [Client] makes, for example that of a command, or
// returns a [CapError].
func (r *Run) Call(c Caps) error { return r.reserve(spent{calls: 1}, c.withDefaults()) }

// reserve counts want, or returns a [CapError].
func (r *Run) reserve(want spent, c Caps) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.within("run", want, spent{c.RunCalls, c.RunTokens, c.RunMoney}); err != nil {
		return err
	}
	r.calls += want.calls
	r.tokens += want.tokens
	r.money += want.money
	return nil
}

// settle replaces a reservation by what was charged; the call stays counted.
func (r *Run) settle(reserved, charged spent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls += charged.calls - reserved.calls
	r.tokens += charged.tokens - reserved.tokens
	r.money += charged.money - reserved.money
}

// A Purse pays for calls that no [Client] makes, such as embeddings: their money
// counts with that of the run and of the day, and is capped with it. Their number and
// their tokens are for others to bound.
type Purse struct {
	Run    *Run
	Ledger *Ledger
	Caps   Caps
}

// Reserve enters a call at the most that it may cost, unless that is over a cap of
// money ([CapError]) or the ledger cannot be kept ([ErrLedger]). The returned function
// enters what it cost in the end.
func (p Purse) Reserve(ctx context.Context, e Entry) (settle func(Entry) error, err error) {
	e.ID, e.State = newID(), StateOpen
	caps, reserved := p.Caps.withDefaults(), spent{money: e.Money}
	if err := p.Run.reserve(reserved, caps); err != nil {
		return nil, err
	}
	err = p.Ledger.reserve(ctx, e, func(day spent) error { return day.within("day", reserved, spent{money: caps.DayMoney}) })
	if err != nil {
		p.Run.settle(reserved, spent{})
		return nil, err
	}
	return func(end Entry) error {
		end.ID = e.ID
		p.Run.settle(reserved, spent{money: end.Money})
		return p.Ledger.settle(end)
	}, nil
}
