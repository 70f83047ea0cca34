package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine bounds a message, in bytes.
const maxLine = 4 << 20

// Serve answers one client, a JSON-RPC message a line, until in ends or ctx is
// done. What was asked before in ended is still answered. A line that is no message
// is answered with an error, and the session goes on. A read of in or a write to out
// that hangs does not keep Serve from ending with ctx, but may go on behind it.
func Serve(ctx context.Context, s *sdk.Server, in io.Reader, out io.Writer) error {
	ends, stop := context.WithCancel(ctx)
	defer stop()
	c := &connection{in: in, out: out, lines: make(chan []byte), done: ends.Done(), stop: stop, open: map[jsonrpc.ID]bool{}}
	if err := s.Run(ctx, c); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("serve MCP: %w", err)
	}
	return nil
}

// A connection stands in for the transport of the SDK, which ends the session with
// the first line that it cannot read, and cancels the calls that are under way when
// the input ends, so that a script that pipes its requests in would get no answer.
type connection struct {
	in    io.Reader
	out   io.Writer
	lines chan []byte
	err   error // why there are no more lines, when they are closed
	batch []json.RawMessage
	done  <-chan struct{}
	stop  func()

	writing sync.Mutex

	mu   sync.Mutex
	open map[jsonrpc.ID]bool // requests without an answer
	idle chan struct{}       // non-nil when the input has ended; closed when none is open
}

// Connect implements [sdk.Transport].
func (c *connection) Connect(context.Context) (sdk.Connection, error) {
	go c.scan()
	return c, nil
}

func (c *connection) SessionID() string { return "" }

func (c *connection) Close() error {
	c.stop()
	return nil
}

// scan hands on the lines of the input. Of one that is too long it keeps no more
// than shows that.
func (c *connection) scan() {
	defer close(c.lines)
	r := bufio.NewReaderSize(c.in, 64<<10)
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line) <= maxLine {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			select {
			case c.lines <- line:
			case <-c.done:
			}
		}
		if line = nil; err != nil {
			c.err = err
			return
		}
	}
}

// Read returns the next message.
func (c *connection) Read(context.Context) (jsonrpc.Message, error) {
	for {
		for len(c.batch) > 0 {
			raw := c.batch[0]
			c.batch = c.batch[1:]
			if msg := c.accept(raw); msg != nil {
				return msg, nil
			}
		}
		select {
		case <-c.done:
			return nil, io.EOF
		case line, ok := <-c.lines:
			if !ok {
				c.drain()
				return nil, c.err
			}
			c.batch = c.split(line)
		}
	}
}

// split returns the messages of a line: one, or those of a batch, as an older
// protocol has them. Each is answered by itself.
func (c *connection) split(line []byte) []json.RawMessage {
	var batch []json.RawMessage
	switch {
	case len(line) > maxLine:
		c.refuse(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message is longer than %d MiB", maxLine>>20))
	case !json.Valid(line):
		c.refuse(nil, jsonrpc.CodeParseError, "the line is not JSON: a message is one line")
	case line[0] != '[':
		return []json.RawMessage{line}
	case json.Unmarshal(line, &batch) != nil || len(batch) == 0:
		c.refuse(nil, jsonrpc.CodeInvalidRequest, "the batch is empty")
	}
	return batch
}

// accept returns the message in raw, or answers that it is none and returns nil.
func (c *connection) accept(raw json.RawMessage) jsonrpc.Message {
	msg, err := jsonrpc.DecodeMessage(raw)
	if err != nil {
		var head struct{ ID any }
		_ = json.Unmarshal(raw, &head)   // of another type: no id
		id, _ := jsonrpc.MakeID(head.ID) // likewise
		c.refuse(id.Raw(), jsonrpc.CodeInvalidRequest, "this is no JSON-RPC 2.0 message")
		return nil
	}
	// A subscription is answered when the client ends it.
	if req, ok := msg.(*jsonrpc.Request); ok && req.IsCall() && req.Method != "subscriptions/listen" {
		c.mu.Lock()
		twice := c.open[req.ID]
		c.open[req.ID] = true
		c.mu.Unlock()
		if twice {
			c.refuse(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("the id %v is that of a request under way", req.ID.Raw()))
			return nil
		}
	}
	return msg
}

// refuse answers a line that is no message. That the answer cannot be written
// will be seen by the next one.
func (c *connection) refuse(id any, code int64, why string) {
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": &jsonrpc.Error{Code: code, Message: why}})
	if err == nil {
		_ = c.send(raw)
	}
}

// drain waits until every request has its answer.
func (c *connection) drain() {
	c.mu.Lock()
	c.idle = make(chan struct{})
	if len(c.open) == 0 {
		close(c.idle)
	}
	c.mu.Unlock()
	select {
	case <-c.idle:
	case <-c.done:
	}
}

// Write sends a message.
func (c *connection) Write(_ context.Context, msg jsonrpc.Message) error {
	if resp, ok := msg.(*jsonrpc.Response); ok {
		c.answered(resp.ID) // before the client can use the id again
	}
	raw, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	return c.send(raw)
}

func (c *connection) answered(id jsonrpc.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.open[id] {
		return
	}
	delete(c.open, id)
	if c.idle != nil && len(c.open) == 0 {
		close(c.idle)
	}
}

// send writes a line. A client that does not read keeps it waiting, until done.
func (c *connection) send(raw []byte) error {
	sent := make(chan error, 1)
	go func() {
		c.writing.Lock()
		defer c.writing.Unlock()
		_, err := c.out.Write(append(raw, '\n'))
		sent <- err
	}()
	select {
	case err := <-sent:
		return err
	case <-c.done:
		return errors.New("the session has ended")
	}
}
