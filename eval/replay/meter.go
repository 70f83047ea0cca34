package replay

import (
	"context"
	"fmt"
	"sync"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/llm"
)

// A meter counts what a replay spends, and lets no run begin that has no room.
type meter struct {
	maxCalls int
	maxMoney float64

	mu       sync.Mutex
	settled  *sync.Cond
	spent    memsearch.Cost
	reserved int // calls of runs that go on
}

func newMeter(maxCalls int, maxMoney float64) *meter {
	m := &meter{maxCalls: maxCalls, maxMoney: maxMoney}
	m.settled = sync.NewCond(&m.mu)
	return m
}

// reserve sets calls aside, or says why that cannot be. It waits for runs that go
// on where these may leave room: where a replay stops is no matter of how many go
// on at once.
func (m *meter) reserve(calls int) (why string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.maxCalls > 0 && m.reserved > 0 && m.spent.Calls+m.reserved+calls > m.maxCalls {
		m.settled.Wait()
	}
	switch {
	case m.maxCalls > 0 && m.spent.Calls+calls > m.maxCalls:
		return fmt.Sprintf("the cap of %d calls: %d are made, the next run may make up to %d", m.maxCalls, m.spent.Calls, calls)
	case m.maxMoney > 0 && m.spent.Money >= m.maxMoney:
		return fmt.Sprintf("the cap of %g money: %g is spent", m.maxMoney, m.spent.Money)
	}
	m.reserved += calls
	return ""
}

// settle gives back what was set aside and counts what was spent instead.
func (m *meter) settle(calls int, c memsearch.Cost) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reserved -= calls
	m.spent.Add(c)
	m.settled.Broadcast()
}

func (m *meter) add(c memsearch.Cost) { m.settle(0, c) }

func sum(costs ...memsearch.Cost) memsearch.Cost {
	var out memsearch.Cost
	for _, c := range costs {
		out.Add(c)
	}
	return out
}

// metered adds up what an asker costs.
type metered struct {
	llm.Asker

	mu   sync.Mutex
	cost memsearch.Cost
}

// Ask implements [llm.Asker].
func (m *metered) Ask(ctx context.Context, r llm.Request) (*llm.Reply, error) {
	reply, err := m.Asker.Ask(ctx, r)
	if reply != nil {
		m.mu.Lock()
		m.cost.Add(reply.Cost)
		m.mu.Unlock()
	}
	return reply, err
}

func (m *metered) spent() memsearch.Cost {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cost
}
