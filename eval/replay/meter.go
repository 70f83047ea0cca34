package replay

import (
	"context"
	"fmt"
	"sync"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/llm"
)

// A meter counts what a replay spends.
type meter struct {
	maxCalls int
	maxMoney float64

	mu       sync.Mutex
	spent    memsearch.Cost
	reserved int // calls of runs that go on
}

// reserve sets calls aside, or says why that cannot be.
func (m *meter) reserve(calls int) (why string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.maxCalls > 0 && m.spent.Calls+m.reserved+calls > m.maxCalls:
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
	m.spent = sum(m.spent, c)
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
	meter meter
}

// Ask implements [llm.Asker].
func (m *metered) Ask(ctx context.Context, r llm.Request) (*llm.Reply, error) {
	reply, err := m.Asker.Ask(ctx, r)
	if reply != nil {
		m.meter.add(reply.Cost)
	}
	return reply, err
}

func (m *metered) spent() memsearch.Cost {
	m.meter.mu.Lock()
	defer m.meter.mu.Unlock()
	return m.meter.spent
}
