package store

import (
	"bytes"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"mrbench/internal/embedded/bsonx"
)

// scan walks the keys under a prefix that lie in one of several bounds.
type scan struct {
	it      *pebble.Iterator
	prefix  []byte
	end     []byte
	bounds  []Bound
	next    int // bounds not yet begun: bounds[next:], from the back when reverse
	reverse bool
	on      bool // it stands on a key of the bound before next
	err     error
	lo, hi  []byte
}

var allBounds = []Bound{{}}

func (s *Snap) newScan(prefix, end []byte, bounds []Bound, reverse bool) scan {
	sc := scan{prefix: prefix, end: end, bounds: bounds, reverse: reverse}
	if bounds == nil {
		sc.bounds = allBounds
	}
	if s.p == nil {
		sc.err = errClosed
	}
	if sc.err == nil && len(sc.bounds) > 0 {
		sc.setBound(0)
		sc.it, sc.err = s.p.NewIter(&pebble.IterOptions{LowerBound: sc.lo, UpperBound: sc.hi})
	}
	return sc
}

// setBound computes the keys of the n-th bound in scan direction.
func (sc *scan) setBound(n int) {
	if sc.reverse {
		n = len(sc.bounds) - 1 - n
	}
	b := sc.bounds[n]
	sc.lo = append(append(sc.lo[:0], sc.prefix...), b.Lo...)
	if b.Hi == nil {
		sc.hi = append(sc.hi[:0], sc.end...)
	} else {
		sc.hi = append(append(sc.hi[:0], sc.prefix...), b.Hi...)
	}
}

func (sc *scan) step() bool {
	if sc.err != nil || sc.it == nil {
		return false
	}
	if sc.on {
		if sc.reverse {
			sc.on = sc.it.Prev()
		} else {
			sc.on = sc.it.Next()
		}
		if sc.on {
			return true
		}
	}
	return sc.nextBound(nil)
}

// nextBound goes to the first key of the bounds not yet begun, at or past seek when given.
func (sc *scan) nextBound(seek []byte) bool {
	for {
		if err := sc.it.Error(); err != nil {
			sc.err = err
			return false
		}
		if sc.next >= len(sc.bounds) {
			return false
		}
		sc.setBound(sc.next)
		sc.next++
		if bytes.Compare(sc.lo, sc.hi) >= 0 {
			continue
		}
		if seek != nil && (!sc.reverse && bytes.Compare(sc.hi, seek) <= 0 || sc.reverse && bytes.Compare(sc.lo, seek) >= 0) {
			continue
		}
		sc.it.SetBounds(sc.lo, sc.hi)
		if sc.on = sc.position(seek); sc.on {
			return true
		}
	}
}

// position seeks in the present bound: forward to the first key >= seek, in reverse to the last < seek.
func (sc *scan) position(seek []byte) bool {
	switch {
	case sc.reverse && seek != nil:
		return sc.it.SeekLT(seek)
	case sc.reverse:
		return sc.it.Last()
	case seek != nil:
		return sc.it.SeekGE(seek)
	}
	return sc.it.First()
}

// seek goes on at full key k, which must not lie behind: forward to the first key >= k, in reverse to the last < k.
func (sc *scan) seek(k []byte) bool {
	if sc.err != nil || sc.it == nil {
		return false
	}
	if sc.on {
		if sc.on = sc.position(k); sc.on {
			return true
		}
	}
	return sc.nextBound(k)
}

func (sc *scan) key() []byte { return sc.it.Key()[len(sc.prefix):] }

func (sc *scan) value() []byte {
	v, err := sc.it.ValueAndErr()
	if err != nil {
		sc.err = err
		return nil
	}
	return v
}

func (sc *scan) close() error {
	if sc.it == nil {
		return nil
	}
	err := sc.it.Close()
	sc.it = nil
	if sc.err == nil && err != nil {
		sc.err = err
	}
	return err
}

// RecordIter hands out raw documents in _id order. Doc and IDKey are valid until the next Next.
type RecordIter struct {
	sc  scan
	ns  NS
	doc bsonx.Doc
}

// Records scans documents in _id order. bounds are of encoded _ids; nil: all.
func (s *Snap) Records(c *Collection, bounds []Bound, reverse bool) *RecordIter {
	return &RecordIter{sc: s.newScan(c.prefix, c.end, bounds, reverse), ns: c.NS}
}

// Next goes to the next document; false at the end or on an error.
func (it *RecordIter) Next() bool {
	if !it.sc.step() {
		return false
	}
	it.doc = it.sc.value()
	return it.sc.err == nil
}

// Doc is the document, valid until the next Next.
func (it *RecordIter) Doc() bsonx.Doc { return it.doc }

// IDKey is the encoded _id, valid until the next Next.
func (it *RecordIter) IDKey() []byte { return it.sc.key() }

// Err is what ended the scan early; a wrong byte on disk is an error here.
func (it *RecordIter) Err() error {
	if it.sc.err != nil {
		return fmt.Errorf("reading %s: %w", it.ns, it.sc.err)
	}
	return nil
}

// Close ends the scan.
func (it *RecordIter) Close() error { return it.sc.close() }
