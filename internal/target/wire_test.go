package target

import (
	"context"
	"net"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
)

type pipe struct{ far chan net.Conn }

func (p pipe) DialContext(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	p.far <- far
	return near, nil
}

func TestWire(t *testing.T) {
	p := pipe{make(chan net.Conn, 1)}
	w := newWire(p)
	c, err := w.DialContext(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	far := <-p.far
	go func() {
		b := make([]byte, 5)
		_, _ = far.Read(b)
		_, _ = far.Write([]byte("abc"))
	}()
	if _, err := c.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Read(make([]byte, 100)); n != 3 || err != nil {
		t.Fatal(n, err)
	}
	if out, in := w.sent.Load(), w.received.Load(); out != 5 || in != 3 {
		t.Errorf("sent %d, received %d", out, in)
	}
}

func TestBytesAreThoseOfTheClientAlone(t *testing.T) {
	target, err := Open(t.Context(), Config{DataDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	observer, err := target.Observer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer observer.Disconnect(context.Background())
	insert := func(c *mongo.Client) {
		if _, err := c.Database("d").Collection("c").InsertOne(t.Context(), bson.D{{Key: "x", Value: strings.Repeat("x", 100_000)}}); err != nil {
			t.Fatal(err)
		}
	}
	before, _ := target.Bytes()
	insert(observer)
	insert(observer)
	insert(target.Client)
	// The driver's heartbeats are in it too.
	if after, received := target.Bytes(); after-before < 100_000 || after-before > 150_000 || received == 0 {
		t.Errorf("%d bytes were sent and %d received", after-before, received)
	}
}
