package embedded

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
)

// peekReader lets one byte be read ahead, in the background, while nobody reads: the only way to learn that the
// peer has gone while a command runs. The byte is given out by the next Read.
type peekReader struct {
	r io.Reader

	mu      sync.Mutex
	idle    sync.Cond // reading has become false
	reading bool      // by a Read or a peek
	ahead   sync.WaitGroup
	have    bool
	b       [1]byte
	err     error
}

func newPeekReader(r io.Reader) *peekReader {
	p := &peekReader{r: r}
	p.idle.L = &p.mu
	return p
}

// peek starts to read ahead, unless a Read or another peek is under way. gone runs when the peer has left.
func (p *peekReader) peek(gone func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reading || p.have || p.err != nil {
		return
	}
	p.reading = true
	p.ahead.Go(func() {
		n, err := p.r.Read(p.b[:])
		p.mu.Lock()
		p.reading = false
		p.have, p.err = n == 1, err
		p.idle.Broadcast()
		p.mu.Unlock()
		// A deadline is the engine closing; it stops commands by itself.
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			gone()
		}
	})
}

// end waits for a peek, which the caller has made return by closing the connection, and allows no other.
func (p *peekReader) end() {
	p.mu.Lock()
	if p.err == nil {
		p.err = net.ErrClosed
	}
	p.mu.Unlock()
	p.ahead.Wait()
}

func (p *peekReader) Read(b []byte) (int, error) {
	p.mu.Lock()
	for p.reading {
		p.idle.Wait()
	}
	if p.have && len(b) > 0 {
		b[0] = p.b[0]
		p.have = false
		p.mu.Unlock()
		return 1, nil
	}
	if err := p.err; err != nil {
		p.mu.Unlock()
		return 0, err
	}
	p.reading = true
	p.mu.Unlock()
	n, err := p.r.Read(b)
	p.mu.Lock()
	p.reading = false
	p.mu.Unlock()
	return n, err
}
