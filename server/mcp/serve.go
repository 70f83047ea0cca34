package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Serve answers one client, a JSON-RPC message a line, until in ends or ctx is
// done. What was asked before in ended is still answered.
func Serve(ctx context.Context, s *sdk.Server, in io.Reader, out io.Writer) error {
	err := s.Run(ctx, &transport{sdk.IOTransport{Reader: io.NopCloser(in), Writer: writer{out}}})
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("serve MCP: %w", err)
	}
	return nil
}

type writer struct{ io.Writer }

func (writer) Close() error { return nil }

// A transport makes connections that end only when all is answered: the end of
// the input would otherwise cancel the calls that are under way, and a script that
// pipes its requests in would get no answer.
type transport struct{ sdk.IOTransport }

func (t *transport) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.IOTransport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &connection{Connection: c, closed: make(chan struct{})}, nil
}

type connection struct {
	sdk.Connection
	open   sync.WaitGroup // requests without an answer
	once   sync.Once
	closed chan struct{}
}

func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if req, ok := msg.(*jsonrpc.Request); ok && err == nil && req.IsCall() {
		c.open.Add(1)
	}
	if errors.Is(err, io.EOF) {
		answered := make(chan struct{})
		go func() {
			c.open.Wait()
			close(answered)
		}()
		select {
		case <-answered:
		case <-c.closed:
		}
	}
	return msg, err
}

func (c *connection) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := c.Connection.Write(ctx, msg)
	if _, ok := msg.(*jsonrpc.Response); ok {
		c.open.Done()
	}
	return err
}

func (c *connection) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Connection.Close()
}
