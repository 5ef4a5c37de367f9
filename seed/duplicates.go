package seed

import (
	"sync"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/mongo"
)

// sampleKeys is how many duplicate keys a report names.
const sampleKeys = 5

// duplicates counts documents that were left out because their key was there.
type duplicates struct {
	count atomic.Int64
	mu    sync.Mutex
	keys  []string
}

// take counts the duplicate keys among a batch's errors and returns the others.
func (d *duplicates) take(list []mongo.WriteError) (others []mongo.WriteError) {
	for _, e := range list {
		if !isDuplicate(e) {
			others = append(others, e)
			continue
		}
		d.count.Add(1)
		d.mu.Lock()
		if len(d.keys) < sampleKeys {
			key := e.Message // of servers that don't name the key by itself
			if v, ok := e.Raw.Lookup("keyValue").DocumentOK(); ok {
				key = v.String()
			}
			d.keys = append(d.keys, key)
		}
		d.mu.Unlock()
	}
	return others
}

func isDuplicate(e mongo.WriteError) bool {
	return e.Code == 11000 || e.Code == 11001 || e.Code == 12582
}
