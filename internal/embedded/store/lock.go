package store

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// lockInfo is the lock file of a data directory: a line with the process id and
// one with the address where that process serves.
type lockInfo struct{ f *os.File }

func lockDir(dir, addr string) (*lockInfo, error) {
	path := filepath.Join(dir, "mrbench.lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	held, err := lockFile(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if held {
		defer f.Close()
		e := &LockedError{Dir: dir}
		s := bufio.NewScanner(f)
		if s.Scan() {
			e.PID, _ = strconv.Atoi(s.Text())
		}
		if s.Scan() {
			e.Address = s.Text()
		}
		return nil, e
	}
	l := &lockInfo{f}
	if err := l.write(addr); err != nil {
		f.Close()
		return nil, err
	}
	return l, nil
}

func (l *lockInfo) write(addr string) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%d\n%s\n", os.Getpid(), addr)
	if err := l.f.Truncate(0); err != nil {
		return fmt.Errorf("lock file: %w", err)
	}
	if _, err := l.f.WriteAt(b.Bytes(), 0); err != nil {
		return fmt.Errorf("lock file: %w", err)
	}
	return nil
}

// release gives the lock back; the file stays, emptied, so that nobody locks one that was removed.
func (l *lockInfo) release() {
	_ = l.f.Truncate(0)
	// Closing alone is not enough: a process that was started meanwhile has the file too, until it runs its own program.
	_ = unlockFile(l.f)
	_ = l.f.Close()
}
