package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/internal/english"
)

// A batchQuery is one line of a batch.
type batchQuery struct {
	Text       string               `json:"text"`
	Query      string               `json:"query"` // the same as text
	Request    string               `json:"request"`
	Recent     string               `json:"recent"`
	Session    string               `json:"session"`
	Turn       string               `json:"turn"`
	Now        string               `json:"now"`
	AsOf       string               `json:"as_of"`
	Since      string               `json:"since"`
	Until      string               `json:"until"`
	Categories []memsearch.Category `json:"categories"`
	K          int                  `json:"k"`
	Budget     int                  `json:"budget"`
	Surfaced   map[string]string    `json:"surfaced"`
	Tools      []string             `json:"tools"`
	Explain    bool                 `json:"explain"`
}

// errNoQuery says what a line of a batch must be.
var errNoQuery = errors.New("want one JSON object with a text and optional fields as recall --help names them")

// maxBatchLine bounds one line of a batch, in bytes.
const maxBatchLine = 16 << 20

// recallBatch answers every line. A line that is no query gets a result that says
// so; the others are answered all the same.
func (a *app) recallBatch(c *cobra.Command, f *recallFlags) error {
	in := a.input(c.Context())
	if f.batch != "-" {
		file, err := os.Open(f.batch)
		if err != nil {
			return fmt.Errorf("read batch: %w", err)
		}
		defer file.Close()
		in = file
	}
	m, cfg, err := a.open(c.Context())
	if err != nil {
		return a.unavailable(f, "", err)
	}
	defer m.Close()
	if err := a.checkPrompt(cfg); err != nil {
		return err
	}
	base, err := f.query(c, cfg.Zone)
	if err != nil {
		return err
	}
	sc := bufio.NewScanner(in)
	sc.Buffer(nil, maxBatchLine)
	bad, weak := 0, false
	for n := 1; sc.Scan(); n++ {
		if strings.TrimSpace(sc.Text()) == "" {
			continue
		}
		res, err := a.batchLine(c.Context(), m, sc.Bytes(), base, cfg.Zone)
		if err != nil {
			if c.Context().Err() != nil {
				return err
			}
			bad++
			fmt.Fprintf(a.err, "memsearch: line %d: %s\n", n, printableLines(err.Error()))
			res = noAnswer("", err)
		}
		weak = weak || res.Status == memsearch.StateDegraded
		if err := a.document(res); err != nil {
			return err
		}
	}
	if err := sc.Err(); err != nil {
		return fmt.Errorf("read batch: %w", err)
	}
	if bad > 0 {
		return usage(`a line is one JSON object such as {"text": "where does production run?", "k": 5}`, "%s of the batch could not be read as a query", english.Count(bad, "line"))
	}
	if weak && f.strict {
		return &exitErr{code: exitDegraded}
	}
	return nil
}

func (a *app) batchLine(ctx context.Context, m *core.Memory, line []byte, q memsearch.Query, zone *time.Location) (*memsearch.Result, error) {
	var b batchQuery
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(line, []byte("\ufeff"))))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&b); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoQuery, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("%w: more than one JSON value", errNoQuery)
	}
	if err := b.apply(&q); err != nil {
		return nil, err
	}
	times := recallFlags{now: b.Now, asOf: b.AsOf, since: b.Since, until: b.Until}
	if err := times.times(&q, zone); err != nil {
		return nil, err
	}
	return m.Recall(ctx, q)
}

// apply lays what the line says over what the flags say.
func (b *batchQuery) apply(q *memsearch.Query) error {
	switch {
	case b.K < 0:
		return fmt.Errorf("k %d: want 1 or more", b.K)
	case b.Budget < 0:
		return fmt.Errorf("budget %d: want 1 or more tokens", b.Budget)
	}
	for _, c := range b.Categories {
		if !c.Valid() {
			return fmt.Errorf("category %q is none of %s", c, join(memsearch.Categories))
		}
	}
	q.Text = cmp.Or(b.Text, b.Query)
	q.Request = cmp.Or(b.Request, q.Request)
	q.Recent = cmp.Or(b.Recent, q.Recent)
	q.Session = cmp.Or(b.Session, q.Session)
	q.Turn = cmp.Or(b.Turn, q.Turn)
	q.K = cmp.Or(b.K, q.K)
	q.Budget = cmp.Or(b.Budget, q.Budget)
	if b.Categories != nil {
		q.Categories = b.Categories
	}
	if b.Surfaced != nil {
		q.Surfaced = b.Surfaced
	}
	if b.Tools != nil {
		q.Tools = b.Tools
	}
	q.Explain = q.Explain || b.Explain
	return nil
}
