package spill

import (
	"fmt"
	"math/rand/v2"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options of a Sorter.
type Options struct {
	FS          vfs.FS // where temporary files go
	Dir         string // an existing directory; files are named uniquely in it and removed by Close
	MemoryLimit int64  // bytes of keys, values and bookkeeping; at least 1 MiB is used
}

// Block sizes of run files. A merge holds one block of every run.
const (
	minLimit  = 1 << 20
	minBlock  = 16 << 10
	maxBlock  = 256 << 10
	maxLength = 1<<31 - 1 // of a key or a value, bytes
)

// Sorter collects pairs. Not safe for concurrent use.
type Sorter struct {
	o       Options
	name    string // of the files, before their number
	block   int
	mem     arena
	runs    []string
	n       int64
	spilled int64
	err     error // of a failed spill; the sorter is of no more use
	iter    *Iter
}

// NewSorter returns an empty sorter. It does nothing on disk until memory is full.
func NewSorter(o Options) *Sorter {
	o.MemoryLimit = max(o.MemoryLimit, minLimit)
	return &Sorter{
		o:     o,
		name:  fmt.Sprintf("spill-%016x", rand.Uint64()),
		block: int(min(max(o.MemoryLimit/128, minBlock), maxBlock)),
	}
}

// Add copies key and value. An error comes from writing a run, and stays.
func (s *Sorter) Add(key, value []byte) error {
	if s.err != nil {
		return s.err
	}
	if len(key) > maxLength || len(value) > maxLength {
		return fmt.Errorf("sort: a pair of %d and %d bytes is too large", len(key), len(value))
	}
	if s.mem.size()+int64(len(key)+len(value)) > s.o.MemoryLimit && len(s.mem.refs) > 0 {
		if err := s.spill(); err != nil {
			s.err = err
			return err
		}
	}
	s.mem.add(key, value)
	s.n++
	return nil
}

// Len is the number of pairs added.
func (s *Sorter) Len() int64 { return s.n }

// Spilled is the number of bytes written to files so far.
func (s *Sorter) Spilled() int64 { return s.spilled }

// spill writes what is in memory as a sorted run.
func (s *Sorter) spill() error {
	s.mem.sort()
	path := s.o.FS.PathJoin(s.o.Dir, fmt.Sprintf("%s-%d", s.name, len(s.runs)))
	s.runs = append(s.runs, path) // before it exists, so that Close removes what a failure leaves
	n, err := writeRun(s.o.FS, path, &s.mem, s.block)
	s.spilled += n
	if err != nil {
		return fmt.Errorf("sort: write %s: %w", path, err)
	}
	s.mem.reset()
	return nil
}

// Sort ends adding and returns the pairs in key order. It may be called once.
func (s *Sorter) Sort() (*Iter, error) {
	if s.err != nil {
		return nil, s.err
	}
	s.err = fmt.Errorf("sort: no more pairs can be added after sorting")
	s.mem.sort()
	it, err := newIter(s)
	if err != nil {
		s.err = err
		return nil, err
	}
	s.iter = it
	return it, nil
}

// Close ends the iterator and removes the files. Idempotent.
func (s *Sorter) Close() error {
	var first error
	if s.iter != nil {
		first = s.iter.Close()
		s.iter = nil
	}
	for _, path := range s.runs {
		err := s.o.FS.Remove(path)
		if err != nil && !vfsNotExist(err) && first == nil {
			first = fmt.Errorf("sort: remove %s: %w", path, err)
		}
	}
	s.runs = nil
	s.mem = arena{}
	if s.err == nil {
		s.err = fmt.Errorf("sort: the sorter is closed")
	}
	return first
}
