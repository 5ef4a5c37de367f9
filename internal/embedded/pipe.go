package embedded

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// pipeBuffer is how many bytes a writer may be ahead of its reader.
const pipeBuffer = 256 << 10

// pipeAddr is the address of both ends of an in-memory connection.
type pipeAddr struct{}

func (pipeAddr) Network() string { return "memory" }
func (pipeAddr) String() string  { return "in-memory" }

// newPipe makes the two ends of a buffered connection in memory, with deadlines.
//
// net.Pipe has no buffer, so each write waits for its reads; here small writes never wait, and a large one
// is copied straight into the buffer of a reader that waits for it.
func newPipe() (a, b net.Conn) {
	ab, ba := newStream(), newStream()
	return &pipeEnd{in: ba, out: ab}, &pipeEnd{in: ab, out: ba}
}

// pipeEnd is one end: it reads one stream and writes the other.
type pipeEnd struct{ in, out *stream }

func (p *pipeEnd) Read(b []byte) (int, error)  { return p.in.read(b) }
func (p *pipeEnd) Write(b []byte) (int, error) { return p.out.write(b) }
func (p *pipeEnd) LocalAddr() net.Addr         { return pipeAddr{} }
func (p *pipeEnd) RemoteAddr() net.Addr        { return pipeAddr{} }

// Close ends both directions: the other end reads what was written before, then io.EOF.
func (p *pipeEnd) Close() error {
	p.in.closeReader()
	p.out.closeWriter()
	return nil
}

func (p *pipeEnd) SetDeadline(t time.Time) error {
	_ = p.SetReadDeadline(t)
	return p.SetWriteDeadline(t)
}

func (p *pipeEnd) SetReadDeadline(t time.Time) error { p.in.setDeadline(&p.in.readBy, t); return nil }

func (p *pipeEnd) SetWriteDeadline(t time.Time) error {
	p.out.setDeadline(&p.out.writeBy, t)
	return nil
}

// stream is one direction of a pipe: one reader, one writer.
type stream struct {
	mu    sync.Mutex
	can   sync.Cond // something changed
	buf   []byte    // a ring
	start int       // of the unread bytes
	n     int       // unread bytes

	waiting []byte // buffer of a reader that waits and may be filled directly
	filled  int    // bytes put there

	readerGone, writerGone bool
	readBy, writeBy        time.Time
}

func newStream() *stream {
	s := &stream{}
	s.can.L = &s.mu
	return s
}

func (s *stream) setDeadline(d *time.Time, t time.Time) {
	s.mu.Lock()
	*d = t
	s.mu.Unlock()
	s.can.Broadcast()
}

func (s *stream) closeReader() {
	s.mu.Lock()
	s.readerGone = true
	s.buf, s.n = nil, 0
	s.mu.Unlock()
	s.can.Broadcast()
}

func (s *stream) closeWriter() {
	s.mu.Lock()
	s.writerGone = true
	s.mu.Unlock()
	s.can.Broadcast()
}

// wait blocks until something changes or the deadline passes, and reports whether it has passed.
func (s *stream) wait(by *time.Time) (late bool) {
	if by.IsZero() {
		s.can.Wait()
		return false
	}
	left := time.Until(*by)
	if left <= 0 {
		return true
	}
	t := time.AfterFunc(left, func() {
		s.mu.Lock() // so that the waiter waits already
		defer s.mu.Unlock()
		s.can.Broadcast()
	})
	s.can.Wait()
	t.Stop()
	return false
}

func (s *stream) read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.readerGone {
		return 0, io.ErrClosedPipe
	}
	if expired(s.readBy) {
		return 0, os.ErrDeadlineExceeded
	}
	if len(b) == 0 {
		return 0, nil
	}
	if s.n > 0 {
		return s.take(b), nil
	}
	s.waiting, s.filled = b, 0
	defer func() { s.waiting = nil }()
	for s.filled == 0 {
		switch {
		case s.readerGone:
			return 0, io.ErrClosedPipe
		case s.n > 0:
			return s.take(b), nil
		case s.writerGone:
			return 0, io.EOF
		}
		if s.wait(&s.readBy) {
			return 0, os.ErrDeadlineExceeded
		}
	}
	return s.filled, nil
}

func expired(t time.Time) bool { return !t.IsZero() && !time.Now().Before(t) }

// take copies from the ring.
func (s *stream) take(b []byte) int {
	n := min(s.n, len(b), len(s.buf)-s.start)
	copy(b, s.buf[s.start:s.start+n])
	if n < len(b) && n < s.n { // it goes on at the ring's beginning
		n += copy(b[n:], s.buf[:s.n-n])
	}
	full := s.n == len(s.buf)
	s.start, s.n = (s.start+n)%len(s.buf), s.n-n
	if s.n == 0 {
		s.start = 0
	}
	if full {
		s.can.Broadcast()
	}
	return n
}

func (s *stream) write(b []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(b) > 0 {
		switch {
		case s.writerGone || s.readerGone:
			return n, io.ErrClosedPipe
		case expired(s.writeBy):
			return n, os.ErrDeadlineExceeded
		}
		k := s.put(b)
		n, b = n+k, b[k:]
		if k > 0 {
			s.can.Broadcast()
			continue
		}
		if s.wait(&s.writeBy) {
			return n, os.ErrDeadlineExceeded
		}
	}
	return n, nil
}

// put copies as much of b as there is room for: into the waiting reader's buffer when nothing is before it,
// then into the ring.
func (s *stream) put(b []byte) int {
	k := 0
	if s.n == 0 && s.filled < len(s.waiting) {
		k = copy(s.waiting[s.filled:], b)
		s.filled += k
	}
	if k < len(b) {
		k += s.store(b[k:])
	}
	return k
}

// store copies into the ring, which grows with what is sent at once.
func (s *stream) store(b []byte) int {
	if need := s.n + len(b); need > len(s.buf) && len(s.buf) < pipeBuffer {
		size := max(4096, len(s.buf))
		for size < need && size < pipeBuffer {
			size *= 2
		}
		grown := make([]byte, size)
		had := s.n
		s.unwrap(grown)
		s.buf, s.start, s.n = grown, 0, had
	}
	room := len(s.buf) - s.n
	b = b[:min(room, len(b))]
	at := (s.start + s.n) % max(len(s.buf), 1)
	k := copy(s.buf[at:], b)
	k += copy(s.buf, b[k:])
	s.n += k
	return k
}

// unwrap copies the unread bytes to the beginning of dst.
func (s *stream) unwrap(dst []byte) {
	k := min(s.n, len(s.buf)-s.start)
	copy(dst, s.buf[s.start:s.start+k])
	copy(dst[k:], s.buf[:s.n-k])
}
