package llm

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/memsearch/memsearch/internal/atomicfile"
	"github.com/memsearch/memsearch/internal/journal"
)

// The states of an entry. A call is entered before it is made, at the most it may
// cost, and again with the same id when it is over. An entry that stays open is
// of a process that died: it counts as it stands.
const (
	StateOpen  = "open"
	StateOK    = "ok"
	StateError = "error"
)

// An Entry of the ledger is one call.
type Entry struct {
	ID        string    `json:"id"`
	Time      time.Time `json:"time"`
	Profile   string    `json:"profile"`
	Model     string    `json:"model"`
	Prompt    string    `json:"prompt,omitempty"`
	State     string    `json:"state"`
	Reason    string    `json:"reason,omitempty"` // kind of error
	Calls     int       `json:"calls"`            // 0: it was not made after all
	TokensIn  int       `json:"tokens_in"`
	TokensOut int       `json:"tokens_out"`
	Money     float64   `json:"money"`
	Counted   bool      `json:"counted,omitempty"` // tokens were counted here: the server did not say
}

func (e Entry) spent() spent { return spent{e.Calls, e.TokensIn + e.TokensOut, e.Money} }

// A Ledger records every call. It is safe for concurrent use, also by several
// processes that open the same folder.
type Ledger struct {
	dir     *atomicfile.Dir  // nil: in memory
	journal *journal.Journal // likewise

	mu      sync.Mutex
	entries []Entry // of a ledger in memory
}

// OpenLedger opens the ledger in the folder called name below parent, which must
// exist. Nothing is written before the first call.
func OpenLedger(parent, name string) (*Ledger, error) {
	dir, err := atomicfile.OpenDir(parent, nil)
	if err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	return &Ledger{dir: dir, journal: journal.New(dir, name)}, nil
}

// NewMemoryLedger returns a ledger that ends with the process.
func NewMemoryLedger() *Ledger { return &Ledger{} }

// Close releases the folder.
func (l *Ledger) Close() error {
	if l.dir == nil {
		return nil
	}
	return l.dir.Close()
}

// reserve enters e, unless allow, told what was spent on its day, refuses.
func (l *Ledger) reserve(ctx context.Context, e Entry, allow func(day spent) error) (err error) {
	if l.journal == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		if err := allow(total(l.entries, midnight(e.Time))); err != nil {
			return err
		}
		l.entries = append(l.entries, e)
		return nil
	}
	unlock, err := l.journal.Lock(ctx, journal.Ledger)
	if err != nil {
		return ledgerError(ctx, err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	entries, err := l.since(midnight(e.Time))
	if err != nil {
		return ledgerError(ctx, err)
	}
	if err := allow(total(entries, midnight(e.Time))); err != nil {
		return err
	}
	return ledgerError(ctx, l.journal.Append(journal.Ledger, e))
}

// ledgerError marks what keeps the ledger from being kept.
func ledgerError(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("%w: %w", ErrLedger, err)
}

// settle enters what a reserved call cost.
func (l *Ledger) settle(e Entry) error {
	if l.journal == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.entries = append(l.entries, e)
		return nil
	}
	return ledgerError(context.Background(), l.journal.Append(journal.Ledger, e))
}

// Add enters a call that was made elsewhere, for example an embedding.
func (l *Ledger) Add(e Entry) error {
	e.ID = cmp.Or(e.ID, newID())
	return l.settle(e)
}

func newID() string { return strings.ToLower(rand.Text()[:16]) }

func midnight(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// slack is how much older than a day's first entry one that is written after it
// may be: a call is settled under its own id, minutes later, and clocks differ.
const slack = time.Hour

// since returns the entries from the given time on, oldest first; several of one
// call are still apart. It reads the ledger from its end.
func (l *Ledger) since(from time.Time) ([]Entry, error) {
	if l.journal == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		return slices.Clone(l.entries), nil
	}
	var out []Entry
	err := l.journal.Last(journal.Ledger, func(raw json.RawMessage) (bool, error) {
		var e Entry
		if err := json.Unmarshal(raw, &e); err != nil {
			return false, fmt.Errorf("entry of the ledger: %w", err)
		}
		out = append(out, e)
		return e.Time.After(from.Add(-slack)), nil
	})
	slices.Reverse(out)
	return out, err
}

// last returns the final state of each call from the given time on.
func last(entries []Entry, from time.Time) []Entry {
	at := map[string]int{}
	var out []Entry
	for _, e := range entries {
		if e.Time.Before(from) {
			continue
		}
		if i, ok := at[e.ID]; ok {
			out[i] = e
			continue
		}
		at[e.ID] = len(out)
		out = append(out, e)
	}
	return out
}

func total(entries []Entry, from time.Time) (s spent) {
	for _, e := range last(entries, from) {
		s.calls += e.Calls
		s.tokens += e.TokensIn + e.TokensOut
		s.money += e.Money
	}
	return s
}

// A CostRow adds up the calls of one day, profile and model.
type CostRow struct {
	Day       string  `json:"day"` // UTC, 2026-11-30
	Profile   string  `json:"profile"`
	Model     string  `json:"model"`
	Calls     int     `json:"calls"`
	Failed    int     `json:"failed"` // of Calls
	TokensIn  int     `json:"tokens_in"`
	TokensOut int     `json:"tokens_out"`
	Money     float64 `json:"money"`
}

// Costs returns what was spent from the given time on (zero: ever), oldest day
// first.
func (l *Ledger) Costs(from time.Time) ([]CostRow, error) {
	entries, err := l.since(from)
	if err != nil {
		return nil, fmt.Errorf("read costs: %w", err)
	}
	type key struct{ day, profile, model string }
	rows := map[key]*CostRow{}
	for _, e := range last(entries, from) {
		k := key{e.Time.UTC().Format(time.DateOnly), e.Profile, e.Model}
		r := rows[k]
		if r == nil {
			r = &CostRow{Day: k.day, Profile: k.profile, Model: k.model}
			rows[k] = r
		}
		r.Calls += e.Calls
		r.TokensIn += e.TokensIn
		r.TokensOut += e.TokensOut
		r.Money += e.Money
		if e.State != StateOK {
			r.Failed += e.Calls
		}
	}
	out := make([]CostRow, 0, len(rows))
	for _, r := range rows {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b CostRow) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Profile, b.Profile), cmp.Compare(a.Model, b.Model))
	})
	return out, nil
}
