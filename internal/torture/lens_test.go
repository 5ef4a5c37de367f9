package torture

import (
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// lens is a file system through which reads come out wrong. Writes pass.
type lens struct {
	vfs.FS
	pick func(base string) bool // the files concerned
	// bend changes what was read at an offset, in place, and says how much of it to give and with which error.
	bend func(base string, p []byte, off int64) (int, error)
	on   atomic.Bool

	mu   sync.Mutex
	hits int // reads that were bent
}

func (l *lens) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	f, err := l.FS.Open(name, opts...)
	base := l.PathBase(name)
	if err != nil || !l.pick(base) {
		return f, err
	}
	return &lensFile{File: f, l: l, base: base}, nil
}

type lensFile struct {
	vfs.File
	l    *lens
	base string
	at   int64
}

func (f *lensFile) look(p []byte, n int, off int64, err error) (int, error) {
	if !f.l.on.Load() || n == 0 {
		return n, err
	}
	m, bent := f.l.bend(f.base, p[:n], off)
	if m != n || bent != nil {
		f.l.mu.Lock()
		f.l.hits++
		f.l.mu.Unlock()
		return m, bent
	}
	return n, err
}

func (f *lensFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	return f.look(p, n, off, err)
}

func (f *lensFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.at += int64(n)
	return f.look(p, n, f.at-int64(n), err)
}

func isTable(base string) bool { return strings.HasSuffix(base, ".sst") }

// The ways in which a read of a table goes wrong.
var badReads = map[string]func(string, []byte, int64) (int, error){
	"error":             func(string, []byte, int64) (int, error) { return 0, syscall.EIO },
	"short, said":       func(_ string, p []byte, _ int64) (int, error) { return len(p) / 2, io.ErrUnexpectedEOF },
	"short, end":        func(_ string, p []byte, _ int64) (int, error) { return len(p) - 1, io.EOF },
	"short, not said":   func(_ string, p []byte, _ int64) (int, error) { clear(p[len(p)/2:]); return len(p) / 2, nil },
	"nothing, not said": func(string, []byte, int64) (int, error) { return 0, nil },
}

// stuck makes writes fail while it is on.
type stuck struct {
	on  atomic.Bool
	err error
}

func (s *stuck) String() string { return "stuck" }

func (s *stuck) MaybeError(op errorfs.Op) error {
	if !s.on.Load() || op.Kind.ReadOrWrite() != errorfs.OpIsWrite {
		return nil
	}
	switch op.Kind {
	case errorfs.OpRemove, errorfs.OpRemoveAll, errorfs.OpFileClose, errorfs.OpFilePreallocate:
		return nil
	}
	return s.err
}
