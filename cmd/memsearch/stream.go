package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
)

// An answer is buffered standard output that remembers what went wrong, so that a
// full disk or a reader that went away is told once, at the end.
type answer struct {
	dst io.Writer // for what must not wait in the buffer
	buf *bufio.Writer
}

func newAnswer(w io.Writer) *answer { return &answer{w, bufio.NewWriterSize(w, 64<<10)} }

func (a *answer) Write(p []byte) (int, error) { return a.buf.Write(p) }

func (a *answer) flush() error {
	if err := a.buf.Flush(); err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	return nil
}

// input returns standard input, whose reads end when ctx does: a terminal that
// nobody types at must not outlive an interrupt.
func (a *app) input(ctx context.Context) io.Reader { return &input{ctx: ctx, r: a.in} }

type input struct {
	ctx context.Context
	r   io.Reader
	buf []byte
}

func (in *input) Read(p []byte) (int, error) {
	if len(in.buf) > 0 {
		n := copy(p, in.buf)
		in.buf = in.buf[n:]
		return n, nil
	}
	type read struct {
		b   []byte
		err error
	}
	done := make(chan read, 1)
	go func() {
		b := make([]byte, max(len(p), 4096))
		n, err := in.r.Read(b)
		done <- read{b[:n], err}
	}()
	select {
	case r := <-done:
		n := copy(p, r.b)
		in.buf = r.b[n:]
		if len(in.buf) > 0 {
			return n, nil // the error comes again with the next read
		}
		return n, r.err
	case <-in.ctx.Done():
		return 0, context.Cause(in.ctx)
	}
}
