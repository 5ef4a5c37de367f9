package store

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"mrbench/internal/embedded/bsonx"
)

// Fetch reads documents by encoded _id: the keys may come in any order, are sorted, and one iterator walks them.
// fn(i, doc) is called for each found one in ASCENDING KEY order; doc is valid during fn only.
func (s *Snap) Fetch(c *Collection, idKeys [][]byte, fn func(i int, doc bsonx.Doc) error) (err error) {
	if len(idKeys) == 0 {
		return nil
	}
	if s.p == nil {
		return errClosed
	}
	order := sortedOrder(idKeys)
	first, last := idKeys[order[0]], idKeys[order[len(order)-1]]
	it, err := s.p.NewIter(&pebble.IterOptions{
		LowerBound: c.recordKey(nil, first),
		UpperBound: append(c.recordKey(nil, last), 0),
	})
	if err != nil {
		return err
	}
	defer func() {
		if err2 := it.Close(); err == nil {
			err = err2
		}
		if err != nil {
			err = fmt.Errorf("reading %s: %w", c.NS, err)
		}
	}()
	var key []byte
	ok := it.First()
	for _, i := range order {
		key = c.recordKey(key[:0], idKeys[i])
		if !ok {
			return it.Error()
		}
		cmp := bytes.Compare(it.Key(), key)
		if cmp < 0 {
			// The next one is often the one wanted when an index follows the order of insertion.
			if ok = it.Next(); ok && bytes.Compare(it.Key(), key) < 0 {
				ok = it.SeekGE(key)
			}
			if !ok {
				return it.Error()
			}
			cmp = bytes.Compare(it.Key(), key)
		}
		if cmp > 0 {
			continue
		}
		v, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		if err := fn(i, v); err != nil {
			return err
		}
	}
	return it.Error()
}

// sortedOrder is the order in which the keys ascend, equal keys as given.
func sortedOrder(keys [][]byte) []int {
	order := make([]int, len(keys))
	for i := range order {
		order[i] = i
	}
	byKey := func(a, b int) int { return bytes.Compare(keys[a], keys[b]) }
	if !slices.IsSortedFunc(order, byKey) {
		slices.SortStableFunc(order, byKey)
	}
	return order
}
