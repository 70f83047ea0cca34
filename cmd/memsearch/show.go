package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/memsearch/memsearch"
	"github.com/memsearch/memsearch/internal/english"
)

// show prints a result in the wanted format.
func (a *app) show(res *memsearch.Result, f *recallFlags) error {
	switch {
	case a.json:
		return a.document(res)
	case f.format == "context":
		if res.Context != "" {
			fmt.Fprintln(a.out, res.Context)
		}
		a.reasons(res)
		return nil
	}
	places, err := a.places()
	if err != nil {
		return err
	}
	for i, h := range res.Hits {
		if len(places) < 2 {
			h.Scope = ""
		}
		printHit(a.out, i+1, h, f.explain)
	}
	printModel(a.out, res)
	if f.explain {
		printTrace(a.out, res)
	}
	a.reasons(res)
	return nil
}

// reasons tells on standard error what a person should know of the answer.
func (a *app) reasons(res *memsearch.Result) {
	if res.Status == memsearch.StateEmpty {
		fmt.Fprintln(a.err, "nothing found")
	} else if res.Status != memsearch.StateOK {
		fmt.Fprintf(a.err, "the answer is %s\n", res.Status)
	}
	for _, r := range res.Reasons {
		fmt.Fprintln(a.err, "  "+printable(r))
	}
	if len(res.Already) > 0 {
		fmt.Fprintf(a.err, "already recalled: %s\n", printable(strings.Join(res.Already, ", ")))
	}
	if res.Stale > 0 {
		fmt.Fprintf(a.err, "%s changed since indexing\n", english.Count(res.Stale, "file"))
	}
}

// printHit prints a hit, with the name of its vault if it is given.
func printHit(w io.Writer, n int, h memsearch.Hit, explain bool) {
	fmt.Fprintf(w, "%d. %s\n", n, printable(title(h)))
	meta := []string{fmt.Sprintf("%s:%d-%d", printable(h.Path), h.Lines[0], h.Lines[1])}
	if h.Scope != "" {
		meta = append(meta, "in "+printable(h.Scope))
	}
	if h.Date != "" {
		meta = append(meta, h.Date)
	}
	if h.Category != "" {
		meta = append(meta, string(h.Category))
	}
	meta = append(meta, fmt.Sprintf("score %.3f", h.Score), h.ID)
	fmt.Fprintf(w, "   %s\n", strings.Join(meta, " · "))
	for line := range strings.SplitSeq(strings.TrimSpace(clip(h.Text, 600)), "\n") {
		fmt.Fprintf(w, "   | %s\n", printable(line))
	}
	if explain {
		for _, s := range h.Trace {
			fmt.Fprintf(w, "   = %-10s %+.4f", s.Stage, s.Delta)
			if s.Rank > 0 {
				fmt.Fprintf(w, "  rank %d", s.Rank)
			}
			if s.Note != "" {
				fmt.Fprintf(w, "  %s", printable(s.Note))
			}
			fmt.Fprintln(w)
		}
	}
	fmt.Fprintln(w)
}

func printTrace(w io.Writer, res *memsearch.Result) {
	fmt.Fprintf(w, "status %s, confidence %.2f, %d of %d tokens, selected by %s, embedding model %s, zone %s\n",
		res.Status, res.Confidence, res.Tokens, res.Budget, res.SelectedBy, res.Model, res.Zone)
	t := res.Trace
	if t == nil {
		return
	}
	for _, d := range t.Dates {
		fmt.Fprintf(w, "date   %s\n", d)
	}
	for _, s := range t.Terms {
		fmt.Fprintf(w, "term   %s\n", printable(s))
	}
	for _, k := range sortedKeys(t.Dropped) {
		fmt.Fprintf(w, "left out  %s: %d\n", k, t.Dropped[k])
	}
	if t.Gate != nil {
		fmt.Fprintf(w, "gate   ask a model: %v, %s (margin %.3f, agreement %.2f)\n", t.Gate.Ask, t.Gate.Reason, t.Gate.Margin, t.Gate.Agree)
	}
	for _, k := range sortedKeys(res.Timings) {
		fmt.Fprintf(w, "time   %-8s %.2f ms\n", k, res.Timings[k])
	}
}

// printModel says what a model made of the candidates and what it cost; nothing when
// none was asked.
func printModel(w io.Writer, res *memsearch.Result) {
	if c := res.Cost; c.Calls > 0 {
		fmt.Fprintf(w, "cost   %s, %d tokens in, %d out, %.6g\n", english.Count(c.Calls, "call"), c.TokensIn, c.TokensOut, c.Money)
	}
	if res.Trace == nil || res.Trace.Rerank == nil {
		return
	}
	m, from := res.Trace.Rerank, ""
	if m.Cached {
		from = ", from an earlier answer"
	}
	by := strings.TrimSpace(printable(m.Model) + " " + m.Prompt) // a cross-encoder has no prompt
	fmt.Fprintf(w, "rerank selected by %s; %s: %d shown, %d judged, %d picked%s\n",
		res.SelectedBy, by, m.Shown, m.Judged, m.Picked, from)
	for _, n := range m.Notes {
		fmt.Fprintf(w, "       %s\n", printable(n))
	}
}

func title(h memsearch.Hit) string {
	if h.Summary != "" {
		return h.Summary
	}
	line, _, _ := strings.Cut(strings.TrimLeft(strings.TrimSpace(h.Text), "# "), "\n")
	return clip(line, 80)
}

// clip cuts s after n runes.
func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n]) + "…"
}
