package store

import (
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
)

// recordFilter is a bloom filter of all keys but index entries, which are read by ranges only.
type recordFilter struct{ pebble.FilterPolicy }

func newRecordFilter() pebble.FilterPolicy { return recordFilter{bloom.FilterPolicy(10)} }

func isEntry(key []byte) bool { return len(key) > 0 && key[0] == spaceEntry }

// Name implements pebble.FilterPolicy. It is kept in each table, whose filter only a policy of that name reads.
func (recordFilter) Name() string { return "mrbench.RecordFilter" }

// MayContain implements pebble.FilterPolicy.
func (f recordFilter) MayContain(t pebble.FilterType, filter, key []byte) bool {
	return isEntry(key) || f.FilterPolicy.MayContain(t, filter, key)
}

// NewWriter implements pebble.FilterPolicy.
func (f recordFilter) NewWriter(t pebble.FilterType) pebble.FilterWriter {
	return recordFilterWriter{f.FilterPolicy.NewWriter(t)}
}

type recordFilterWriter struct{ pebble.FilterWriter }

// AddKey implements pebble.FilterWriter.
func (w recordFilterWriter) AddKey(key []byte) {
	if !isEntry(key) {
		w.FilterWriter.AddKey(key)
	}
}
