package pipeline

import (
	"bytes"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/query"
	"mrbench/internal/embedded/store"
)

const (
	// splitDepth is how often the scan is halved: 2^splitDepth pieces at most.
	splitDepth = 6
	// parallelFrom is the number of documents from where on several workers pay.
	parallelFrom = 50_000
)

// edges finds the first and the last key within a bound.
type edges func(b store.Bound) (first, last []byte, err error)

// recordEdges are those of a collection's records.
func recordEdges(snap *store.Snap, c *store.Collection) edges {
	end := func(b store.Bound, reverse bool) ([]byte, error) {
		it := snap.Records(c, []store.Bound{b}, reverse)
		defer it.Close()
		if !it.Next() {
			return nil, it.Err()
		}
		return append([]byte(nil), it.IDKey()...), nil
	}
	return bothEnds(end)
}

// entryEdges are those of an index, by its first field.
func entryEdges(snap *store.Snap, p *query.Plan) edges {
	end := func(b store.Bound, reverse bool) ([]byte, error) {
		it := snap.Entries(p.Collection, p.Index, []store.Bound{b}, reverse)
		defer it.Close()
		if !it.Next() {
			return nil, it.Err()
		}
		key := it.Key()
		n, err := bsonx.SkipKey(key, p.Index.Fields[0].Desc)
		if err != nil {
			return nil, err
		}
		return append([]byte(nil), key[:n]...), nil
	}
	return bothEnds(end)
}

func bothEnds(end func(b store.Bound, reverse bool) ([]byte, error)) edges {
	return func(b store.Bound) (first, last []byte, err error) {
		if first, err = end(b, false); err != nil || first == nil {
			return nil, nil, err
		}
		last, err = end(b, true)
		return first, last, err
	}
}

// split cuts a bound into pieces between keys that exist: each time in the middle of the key space that the
// keys take, which is even for keys that are spread evenly and good enough for a work queue when they are not.
// Every cut is a whole key, so equal keys are in one piece.
func split(b store.Bound, e edges, desc bool, depth int, out []store.Bound) ([]store.Bound, error) {
	if depth == 0 {
		return append(out, b), nil
	}
	first, last, err := e(b)
	if err != nil {
		return nil, err
	}
	if first == nil || bytes.Equal(first, last) {
		return append(out, b), nil
	}
	at, _, err := e(store.Bound{Lo: middle(first, last, desc), Hi: b.Hi})
	if err != nil {
		return nil, err
	}
	if at == nil || bytes.Compare(at, first) <= 0 {
		at = last
	}
	if out, err = split(store.Bound{Lo: b.Lo, Hi: at}, e, desc, depth-1, out); err != nil {
		return nil, err
	}
	return split(store.Bound{Lo: at, Hi: b.Hi}, e, desc, depth-1, out)
}

// middle is a key about halfway between two, a < b: by value between numbers, whose encoding is not
// linear, else by bytes.
func middle(a, b []byte, desc bool) []byte {
	if k := middleNumber(a, b, desc); bytes.Compare(a, k) < 0 && bytes.Compare(k, b) <= 0 {
		return k
	}
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	// 8 bytes behind the common prefix, as numbers, decide.
	x, y := prefix64(a[n:]), prefix64(b[n:])
	m := x + (y-x)/2
	out := append([]byte(nil), a[:n]...)
	for s := 56; s >= 0; s -= 8 {
		out = append(out, byte(m>>s))
	}
	return out
}

// middleNumber is nil when one of the keys is no number.
func middleNumber(a, b []byte, desc bool) []byte {
	x, _, _, err1 := bsonx.DecodeKey(a, nil, desc)
	y, _, _, err2 := bsonx.DecodeKey(b, nil, desc)
	if err1 != nil || err2 != nil || !x.IsNumber() || !y.IsNumber() {
		return nil
	}
	i, ok1 := x.AsInt64()
	j, ok2 := y.AsInt64()
	if ok1 && ok2 {
		return bsonx.AppendKeyInt64(nil, i/2+j/2+(i%2+j%2)/2, desc)
	}
	f, _ := x.AsFloat()
	g, _ := y.AsFloat()
	return bsonx.AppendKeyDouble(nil, f/2+g/2, desc)
}

func prefix64(b []byte) uint64 {
	var n uint64
	for i := range 8 {
		n <<= 8
		if i < len(b) {
			n |= uint64(b[i])
		}
	}
	return n
}

// splitAll cuts several bounds (nil: everything).
func splitAll(bounds []store.Bound, e edges, desc bool) ([]store.Bound, error) {
	depth := splitDepth
	if bounds == nil {
		bounds = []store.Bound{{}}
	}
	for n := len(bounds); n > 1 && depth > 0; n /= 2 {
		depth--
	}
	var out []store.Bound
	for _, b := range bounds {
		var err error
		if out, err = split(b, e, desc, depth, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}
