package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/memsearch/memsearch/core"
	"github.com/memsearch/memsearch/core/config"
	"github.com/memsearch/memsearch/embed/openai"
	"github.com/memsearch/memsearch/eval"
	"github.com/memsearch/memsearch/index"
	"github.com/memsearch/memsearch/internal/vault"
)

// Exit codes, as every command's help names them.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitEmpty       = 3
	exitDegraded    = 4
	exitBusy        = 5
	exitUnavailable = 6
	exitInterrupted = 130
)

// settingsHint goes with a setting that is unknown or wrong.
const settingsHint = "memsearch config --help lists every setting"

var errInterrupted = errors.New("interrupted")

// An exitErr ends the command with a code. A nil err prints nothing: the
// answer already says it.
type exitErr struct {
	code int
	err  error
	hint string
}

func (e *exitErr) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitErr) Unwrap() error { return e.err }

func usage(hint, format string, a ...any) error {
	return &exitErr{code: exitUsage, err: fmt.Errorf(format, a...), hint: hint}
}

// fail prints what went wrong and what to do next, and returns the exit code.
func (a *app) fail(err error) int {
	if err == nil {
		return exitOK
	}
	e, ok := errors.AsType[*exitErr](err)
	if !ok {
		e = classify(err)
	}
	if e.err != nil {
		fmt.Fprintf(a.err, "memsearch: error: %s\n", printableLines(e.err.Error()))
		if e.hint != "" {
			fmt.Fprintf(a.err, "hint: %s\n", printableLines(e.hint))
		}
	}
	return e.code
}

// classify gives errors of the packages below their code and a hint.
func classify(err error) *exitErr {
	e := &exitErr{code: exitFailure, err: err}
	_, unknown := errors.AsType[*config.UnknownKeyError](err)
	_, ambiguous := errors.AsType[*core.AmbiguousError](err)
	switch {
	case unknown:
		e.hint = settingsHint
	case ambiguous:
		e.hint = "--scope NAME picks one of them"
	case errors.Is(err, core.ErrNoScope):
		e.hint = "--scope takes the NAME of a --vault NAME=DIR"
	case errors.Is(err, core.ErrNotFound):
		e.hint = "memsearch list shows every memory with its id"
	case errors.Is(err, openai.ErrNoKey):
		e.hint = "set that variable; api_key_env names another one, or is empty for a server without keys"
	case errors.Is(err, openai.ErrNoDims):
		e.hint = "set dims in memsearch.yaml to the length of the model's vectors"
	case errors.Is(err, context.Canceled):
		e.code, e.err = exitInterrupted, errInterrupted
	case errors.Is(err, index.ErrBusy), errors.Is(err, vault.ErrBusy):
		e.code, e.hint = exitBusy, "another memsearch is writing; try again, or wait longer with MEMSEARCH_LOCK_WAIT=60s"
	case errors.Is(err, index.ErrReadOnly), errors.Is(err, vault.ErrReadOnly):
		e.hint = "give a writable folder with --index-dir; writing memories needs a writable vault"
	case errors.Is(err, index.ErrFull), errors.Is(err, syscall.ENOSPC):
		e.hint = "free some space, or put the index elsewhere with --index-dir"
	case errors.Is(err, eval.ErrOptions):
		e.code, e.hint = exitUsage, "memsearch eval --help"
	case errors.Is(err, eval.ErrNoNegatives):
		e.hint = "--against CORPUS names a corpus that answers none of the questions"
	case errors.Is(err, fs.ErrNotExist):
		e.hint = "check the path"
	}
	return e
}
