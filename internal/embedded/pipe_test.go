package embedded

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"testing"
	"time"
)

// TestPipeCarriesEverything sends random pieces against random reads: the bytes come out as they went in.
func TestPipeCarriesEverything(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	want := make([]byte, 5<<20)
	for i := range want {
		want[i] = byte(rng.Uint32())
	}
	a, b := newPipe()
	var wg sync.WaitGroup
	wg.Go(func() {
		rest := want
		rng := rand.New(rand.NewPCG(3, 4))
		for len(rest) > 0 {
			n := min(len(rest), 1+rng.IntN(700_000)>>rng.IntN(16))
			if _, err := a.Write(rest[:n]); err != nil {
				t.Error(err)
				return
			}
			rest = rest[n:]
		}
		_ = a.Close()
	})
	var got []byte
	buf := make([]byte, 600_000)
	for {
		n, err := b.Read(buf[:1+rng.IntN(600_000)>>rng.IntN(16)])
		got = append(got, buf[:n]...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
	if !bytes.Equal(got, want) {
		t.Fatalf("%d bytes came out of %d, or others", len(got), len(want))
	}
}

func TestPipeDeadlines(t *testing.T) {
	a, b := newPipe()
	_ = a.SetReadDeadline(time.Now().Add(time.Millisecond))
	if _, err := a.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("read past its deadline: %v", err)
	}
	_ = a.SetWriteDeadline(time.Now().Add(time.Millisecond))
	if _, err := a.Write(make([]byte, 2*pipeBuffer)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("write past its deadline: %v", err)
	}
	var ne net.Error
	if !errors.As(os.ErrDeadlineExceeded, &ne) || !ne.Timeout() {
		t.Fatal("a missed deadline is no time-out to net")
	}
	// A deadline that is moved wakes a reader that waits.
	_ = a.SetReadDeadline(time.Time{})
	done := make(chan error)
	go func() {
		_, err := a.Read(make([]byte, 1))
		done <- err
	}()
	_ = a.SetReadDeadline(time.Unix(1, 0))
	if err := <-done; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("waiting read after its deadline moved: %v", err)
	}
	_ = b.Close()
}

func TestPipeClose(t *testing.T) {
	a, b := newPipe()
	if _, err := a.Write([]byte("last words")); err != nil {
		t.Fatal(err)
	}
	_ = a.Close()
	got, err := io.ReadAll(b)
	if string(got) != "last words" || err != nil {
		t.Fatalf("after the writer closed: %q, %v", got, err)
	}
	if _, err := b.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
		t.Fatalf("write to a closed reader: %v", err)
	}
	if _, err := a.Read(make([]byte, 1)); !errors.Is(err, io.ErrClosedPipe) {
		t.Fatalf("read of an end of one's own that is closed: %v", err)
	}
	// Closing wakes a writer that waits for room.
	c, d := newPipe()
	done := make(chan error)
	go func() {
		_, err := c.Write(make([]byte, 3*pipeBuffer))
		done <- err
	}()
	_ = d.Close()
	if err := <-done; !errors.Is(err, io.ErrClosedPipe) {
		t.Fatalf("waiting write after its reader closed: %v", err)
	}
}

// BenchmarkPipe compares an exchange (a request of size bytes, an answer of 64) with net.Pipe's and with a socket's.
func BenchmarkPipe(b *testing.B) {
	for _, size := range []int{200, 64 << 10, 4 << 20} {
		for _, kind := range []string{"memory", "net.Pipe", "tcp"} {
			b.Run(kind+"/"+byteSize(size), func(b *testing.B) {
				client, server := pair(b, kind)
				go func() {
					buf, answer := make([]byte, size), make([]byte, 64)
					for {
						if _, err := io.ReadFull(server, buf); err != nil {
							return
						}
						if _, err := server.Write(answer); err != nil {
							return
						}
					}
				}()
				request, answer := make([]byte, size), make([]byte, 64)
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := client.Write(request); err != nil {
						b.Fatal(err)
					}
					if _, err := io.ReadFull(client, answer); err != nil {
						b.Fatal(err)
					}
				}
				_ = client.Close()
				_ = server.Close()
			})
		}
	}
}

func byteSize(n int) string {
	if n >= 1<<20 {
		return string(rune('0'+n>>20)) + "MiB"
	}
	if n >= 1<<10 {
		return "64KiB"
	}
	return "200B"
}

func pair(b *testing.B, kind string) (client, server net.Conn) {
	switch kind {
	case "memory":
		return newPipe()
	case "net.Pipe":
		return net.Pipe()
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if client, err = net.Dial("tcp", l.Addr().String()); err != nil {
		b.Fatal(err)
	}
	if server, err = l.Accept(); err != nil {
		b.Fatal(err)
	}
	return client, server
}
