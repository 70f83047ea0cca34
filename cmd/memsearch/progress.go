package main

import (
	"os"
	"sync"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// A meter shows how far a long command is, on a terminal only.
type meter struct {
	mu   sync.Mutex
	what string
	bar  *progressbar.ProgressBar
	on   bool
	out  *os.File
}

func (a *app) progress(what string) *meter {
	f, ok := a.err.(*os.File)
	return &meter{what: what, out: f, on: ok && term.IsTerminal(int(f.Fd()))}
}

func (m *meter) update(done, total int) {
	if !m.on {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bar == nil {
		m.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(m.out), progressbar.OptionSetDescription(m.what),
			progressbar.OptionShowCount(), progressbar.OptionClearOnFinish())
	}
	m.bar.Set(done) // a bar that cannot be drawn is no reason to stop
}

func (m *meter) finish() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bar != nil {
		m.bar.Finish()
	}
}
