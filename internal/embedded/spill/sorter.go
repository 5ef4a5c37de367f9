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
	MemoryLimit int64  // bytes of keys, values and bookkeeping; at least 1 MiB is used, unless the disk is refused
	Refuse      error  // what Add answers instead of going to disk; nil: it may
	// Parallel lets the sorter use a second processor: runs are sorted and written while pairs are added, and merged
	// while they are read. It spills at half the limit, because the other half may still be on its way to disk.
	Parallel bool
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
	limit   int64 // of mem, bytes
	away    *writing
	runs    []string
	n       int64
	spilled int64
	err     error // of a failed spill; the sorter is of no more use
	iter    *Iter
}

// NewSorter returns an empty sorter. It does nothing on disk until memory is full.
func NewSorter(o Options) *Sorter {
	if o.Refuse == nil {
		o.MemoryLimit = max(o.MemoryLimit, minLimit)
	}
	s := &Sorter{
		o:     o,
		name:  fmt.Sprintf("spill-%016x", rand.Uint64()),
		block: int(min(max(o.MemoryLimit/128, minBlock), maxBlock)),
		limit: o.MemoryLimit,
	}
	if o.Parallel {
		s.limit /= 2
	}
	return s
}

// Add copies key and value. An error comes from writing a run, and stays.
func (s *Sorter) Add(key, value []byte) error {
	if s.err != nil {
		return s.err
	}
	if len(key) > maxLength || len(value) > maxLength {
		return fmt.Errorf("sort: a pair of %d and %d bytes is too large", len(key), len(value))
	}
	if s.mem.size()+int64(len(key)+len(value)) > s.limit && len(s.mem.refs) > 0 {
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

// spill writes what is in memory as a sorted run, or has it written.
func (s *Sorter) spill() error {
	if s.o.Refuse != nil {
		return s.o.Refuse
	}
	if err := s.settle(); err != nil {
		return err
	}
	path := s.o.FS.PathJoin(s.o.Dir, fmt.Sprintf("%s-%d", s.name, len(s.runs)))
	s.runs = append(s.runs, path) // before it exists, so that Close removes what a failure leaves
	if s.o.Parallel {
		s.mem = s.writeBeside(path)
		return nil
	}
	n, err := s.writeRun(path, &s.mem)
	s.spilled += n
	return err
}

// writeRun sorts an arena, writes it and empties it.
func (s *Sorter) writeRun(path string, a *arena) (n int64, err error) {
	a.sort()
	if n, err = writeRun(s.o.FS, path, a, s.block); err != nil {
		return n, fmt.Errorf("sort: write %s: %w", path, err)
	}
	a.reset()
	return n, nil
}

// Sort ends adding and returns the pairs in key order. It may be called once.
func (s *Sorter) Sort() (*Iter, error) {
	if s.err != nil {
		return nil, s.err
	}
	s.err = fmt.Errorf("sort: no more pairs can be added after sorting")
	s.mem.sort()
	err := s.settle()
	var it *Iter
	if err == nil {
		it, err = newIter(s)
	}
	if err != nil {
		s.err = err
		return nil, err
	}
	if s.o.Parallel && len(s.runs) > 0 {
		it.readAhead()
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
	_ = s.settle() // its error was told, or nobody asked for the pairs
	for _, path := range s.runs {
		err := s.o.FS.Remove(path)
		if err != nil && !vfsNotExist(err) && first == nil {
			first = fmt.Errorf("sort: remove %s: %w", path, err)
		}
	}
	s.runs = nil
	s.mem, s.away = arena{}, nil
	if s.err == nil {
		s.err = fmt.Errorf("sort: the sorter is closed")
	}
	return first
}
