package core

import (
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/memsearch/memsearch/core/config"
	"github.com/memsearch/memsearch/internal/llm"
	"github.com/memsearch/memsearch/recall"
	"github.com/memsearch/memsearch/rerank"
)

// A Judge is the models that the settings name, apart from any vault: what an
// evaluation compares. Its parts are nil when no model is named.
type Judge struct {
	Model        string
	Listwise     rerank.Reranker
	CrossEncoder rerank.Reranker
	Selector     recall.Selector

	models *models
}

// NewJudge returns the models that the settings name for reranking. What they cost
// goes into the ledger that the settings name, else into one in dir. Nothing is
// cached, so that every question is asked.
func NewJudge(c *config.Config, dir string, log *slog.Logger) (*Judge, error) {
	s := &shared{settings: c, log: log, now: time.Now, indexDirs: []string{dir}, ledgerDir: dir}
	m := newModels(s)
	j := &Judge{models: m}
	if !m.hasModel() {
		return j, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	m.judging = true
	client, err := m.client()
	if err != nil {
		return nil, errors.Join(err, m.close())
	}
	j.Model = client.Profile().Model
	if c.Rerank.Kind == config.RerankCrossEncoder {
		j.CrossEncoder = m.crossEncoder(client)
		return j, nil
	}
	if j.Listwise, err = m.listwise(client); err == nil {
		j.Selector, err = m.selection(client)
	}
	if err != nil {
		return nil, errors.Join(err, m.close())
	}
	return j, nil
}

// Close releases what the models hold.
func (j *Judge) Close() error { return j.models.close() }

// NewAsker returns the model of the profile called name, apart from any vault,
// with its name and what closes it. What it costs goes into the ledger that the
// settings name, else into one in dir; run, if it is not nil, counts it against the
// caps of a run. It is nil when the profile names no model.
func NewAsker(c *config.Config, name, dir string, run *llm.Run, log *slog.Logger) (a llm.Asker, model string, done func() error, err error) {
	p, err := c.Profile(name)
	if err != nil || !p.Usable() {
		return nil, "", nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, "", nil, err
	}
	m := newModels(&shared{settings: c, log: log, now: time.Now, run: run, indexDirs: []string{dir}, ledgerDir: dir})
	client, err := m.newClient(name)
	if err != nil {
		return nil, "", nil, errors.Join(err, m.close())
	}
	return client, p.Model, m.close, nil
}
