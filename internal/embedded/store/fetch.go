package store

import (
	"bytes"
	"cmp"
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
	first, last := idKeys[order[0].i], idKeys[order[len(order)-1].i]
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
	for _, o := range order {
		i := o.i
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

// keyOrder is a key's place in the list given and the first bytes in which keys differ.
type keyOrder struct {
	head uint64
	i    int
}

// sortedOrder is the order in which the keys ascend, equal keys as given.
func sortedOrder(keys [][]byte) []keyOrder {
	common := len(keys[0])
	ordered := true
	for n := 1; n < len(keys); n++ {
		k := keys[n]
		common = min(common, len(k))
		if !bytes.Equal(keys[0][:common], k[:common]) {
			common = commonLen(keys[0][:common], k)
		}
		ordered = ordered && bytes.Compare(keys[n-1], k) <= 0
	}
	order := make([]keyOrder, len(keys))
	for i, k := range keys {
		order[i] = keyOrder{head(k[common:]), i}
	}
	if !ordered {
		slices.SortFunc(order, func(a, b keyOrder) int {
			if a.head != b.head {
				return cmp.Compare(a.head, b.head)
			}
			if c := bytes.Compare(keys[a.i][common:], keys[b.i][common:]); c != 0 {
				return c
			}
			return a.i - b.i
		})
	}
	return order
}

func commonLen(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
