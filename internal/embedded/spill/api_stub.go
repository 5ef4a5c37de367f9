// Package spill sorts more (key, value) pairs than fit in memory: sorted
// blocks go to temporary files and are merged once.
package spill

// This file is the agreed interface; it is replaced by the real files.

import "github.com/cockroachdb/pebble/v2/vfs"

// Options of a Sorter. MemoryLimit is in bytes of keys, values and bookkeeping.
type Options struct {
	FS          vfs.FS // where temporary files go
	Dir         string // an existing directory; files are named uniquely in it and removed by Close
	MemoryLimit int64
}

// Sorter collects pairs. Pairs with equal keys keep the order in which they were added.
// Not safe for concurrent use.
type Sorter struct{}

func NewSorter(o Options) *Sorter { panic("todo") }

// Add copies key and value.
func (s *Sorter) Add(key, value []byte) error { panic("todo") }

// Len is the number of pairs added; Spilled the bytes written to files so far.
func (s *Sorter) Len() int64     { panic("todo") }
func (s *Sorter) Spilled() int64 { panic("todo") }

// Sort ends adding and returns the pairs in key order. Without a spill nothing is written.
func (s *Sorter) Sort() (*Iter, error) { panic("todo") }

// Close removes the files. Idempotent.
func (s *Sorter) Close() error { panic("todo") }

// Iter walks the merged pairs; Key and Value are valid until the next Next.
type Iter struct{}

func (it *Iter) Next() bool    { panic("todo") }
func (it *Iter) Key() []byte   { panic("todo") }
func (it *Iter) Value() []byte { panic("todo") }
func (it *Iter) Err() error    { panic("todo") }
func (it *Iter) Close() error  { panic("todo") }
