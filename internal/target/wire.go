package target

import (
	"context"
	"net"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/mongo/options"
)

// wire is a dialer that counts the bytes that go over its connections, below encryption and compression.
type wire struct {
	next           options.ContextDialer
	sent, received atomic.Int64
}

func newWire(next options.ContextDialer) *wire {
	if next == nil {
		next = &net.Dialer{}
	}
	return &wire{next: next}
}

// DialContext connects.
func (w *wire) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := w.next.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &countedConn{c, w}, nil
}

type countedConn struct {
	net.Conn
	w *wire
}

func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.w.received.Add(int64(n))
	return n, err
}

func (c *countedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.w.sent.Add(int64(n))
	return n, err
}
