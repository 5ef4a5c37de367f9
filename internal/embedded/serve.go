package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"
)

// Serve accepts connections on l until ctx ends or Close, and closes l. It returns nil then, after the
// connections that it accepted have ended; another error means that l failed.
func (e *Engine) Serve(ctx context.Context, l net.Listener) error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		_ = l.Close()
		return net.ErrClosed
	}
	e.running.Add(1)
	e.mu.Unlock()
	defer e.running.Done()

	s := &serving{e: e}
	stopped := make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() {
		select {
		case <-ctx.Done():
		case <-e.commands.Context().Done():
		case <-stopped:
		}
		_ = l.Close()
	})
	err := s.accept(ctx, l)
	close(stopped)
	watcher.Wait()
	s.end()
	if ctx.Err() != nil || e.commands.Context().Err() != nil {
		return nil
	}
	return err
}

// serving is the connections of one Serve.
type serving struct {
	e  *Engine
	wg sync.WaitGroup
}

func (s *serving) accept(ctx context.Context, l net.Listener) error {
	pause := time.Millisecond
	for {
		nc, err := l.Accept()
		if err != nil {
			var ne net.Error
			if errors.As(err, &ne) && ne.Timeout() || isTemporary(err) {
				s.e.log("accept on %s: %v", l.Addr(), err)
				if !sleep(ctx, pause) {
					return nil
				}
				pause = min(2*pause, time.Second)
				continue
			}
			return fmt.Errorf("accept on %s: %w", l.Addr(), err)
		}
		pause = time.Millisecond
		s.add(nc)
	}
}

// isTemporary: out of file descriptors, or a connection that went away before it was accepted.
func isTemporary(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ECONNABORTED)
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *serving) add(nc net.Conn) {
	s.wg.Add(1)
	if err := s.e.start(&trackedConn{Conn: nc, s: s}, s); err != nil {
		s.e.log("connection from %s refused: %v", nc.RemoteAddr(), err)
	}
}

// end closes what is still open and waits.
func (s *serving) end() {
	s.e.mu.Lock()
	for c := range s.e.conns {
		if c.served == s {
			c.finish()
		}
	}
	s.e.mu.Unlock()
	s.wg.Wait()
}

// trackedConn tells its serving when it is closed.
type trackedConn struct {
	net.Conn
	s    *serving
	once sync.Once
}

func (c *trackedConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(c.s.wg.Done)
	return err
}
