package pipeline

import (
	"bytes"
	"encoding/binary"
	"slices"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
	"mrbench/internal/embedded/query"
)

// pickMode says which n values of a group a pickColumn keeps.
type pickMode uint8

const (
	pickFirst  pickMode = iota // $firstN
	pickLast                   // $lastN
	pickTop                    // the first in key order: $topN, $minN, $maxN
	pickBottom                 // the last in key order: $bottomN
)

// pickColumn keeps n values of each group.
type pickColumn struct {
	r      reader
	mode   pickMode
	n      int
	single bool // $top, $bottom: the value itself, not an array
	// The key: of the value ($minN, $maxN), or of the document.
	byValue bool
	desc    bool
	sort    *query.SortSpec
	groups  [][]picked
	held    int64
	key     []byte
	buf     []byte
}

type picked struct {
	key []byte
	val []byte // putValue
}

func (c *pickColumn) resize(n int) { c.groups = grow(c.groups, n) }
func (c *pickColumn) bytes() int64 { return 24*int64(cap(c.groups)) + c.held }
func (c *pickColumn) reset()       { c.groups, c.held = wipe(c.groups), 0 }
func (c *pickColumn) clone() column {
	n := *c
	n.r, n.groups, n.held, n.key, n.buf = c.r.clone(), nil, 0, nil, nil
	return &n
}

func (c *pickColumn) update(ids []uint32, docs []bsonx.Doc) error {
	for i, g := range ids {
		v, err := c.r.get(docs[i])
		if err != nil {
			return err
		}
		c.key = c.key[:0]
		switch {
		case c.byValue:
			if v.IsNullish() {
				continue
			}
			c.key = bsonx.AppendKey(c.key, v, c.desc)
		case c.sort != nil:
			c.key = c.sort.AppendKey(c.key, docs[i])
		}
		c.add(g, c.key, orNull(v))
	}
	return nil
}

func (c *pickColumn) add(g uint32, key []byte, v bsonx.Value) {
	items := c.groups[g]
	full := len(items) >= c.n
	at := len(items)
	switch c.mode {
	case pickFirst:
		if full {
			return
		}
	case pickLast:
	case pickTop, pickBottom:
		// behind its equals: the earlier one comes first
		at, _ = slices.BinarySearchFunc(items, key, func(p picked, k []byte) int {
			if bytes.Compare(p.key, k) <= 0 {
				return -1
			}
			return 1
		})
		if full && (c.mode == pickTop && at == c.n || c.mode == pickBottom && at == 0) {
			return
		}
	}
	p := picked{slices.Clone(key), putValue(nil, v)}
	c.held += int64(len(p.key)+len(p.val)) + 48
	items = slices.Insert(items, at, p)
	if full {
		drop := 0
		if c.mode == pickTop {
			drop = len(items) - 1
		}
		c.held -= int64(len(items[drop].key)+len(items[drop].val)) + 48
		items = slices.Delete(items, drop, drop+1)
	}
	c.groups[g] = items
}

func (c *pickColumn) result(g uint32) (bsonx.Value, error) {
	if c.single {
		if len(c.groups[g]) == 0 {
			return null, nil
		}
		v, _, err := takeValue(c.groups[g][0].val)
		return v, err
	}
	b := bsonx.BeginDoc(c.buf[:0])
	for i, p := range c.groups[g] {
		v, _, err := takeValue(p.val)
		if err != nil {
			return null, err
		}
		b = bsonx.AppendElem(b, indexName(i), v)
	}
	c.buf = bsonx.EndDoc(b, 0)
	return bsonx.Value{Type: tArray, Data: c.buf}, nil
}

func (c *pickColumn) partial(dst []byte, g uint32) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(c.groups[g])))
	for _, p := range c.groups[g] {
		dst = binary.AppendUvarint(dst, uint64(len(p.key)))
		dst = append(append(dst, p.key...), p.val...)
	}
	return dst
}

func (c *pickColumn) merge(g uint32, src []byte) ([]byte, error) {
	n, rest, err := takeUvarint(src)
	for ; err == nil && n > 0; n-- {
		var l uint64
		if l, rest, err = takeUvarint(rest); err != nil || l > uint64(len(rest)) {
			return nil, errPartial
		}
		key := rest[:l]
		var v bsonx.Value
		if v, rest, err = takeValue(rest[l:]); err == nil {
			c.add(g, key, v)
		}
	}
	return rest, err
}

// parsePick parses the argument of $firstN and its relatives.
func parsePick(ps *parser, name string, arg bsonx.Value) (column, error) {
	if arg.Type != tDoc {
		return nil, errf(5787900, "specification must be an object; found %s: %s", name, arg)
	}
	c := &pickColumn{n: 1}
	sorted := false
	switch name {
	case "$firstN":
		c.mode = pickFirst
	case "$lastN":
		c.mode = pickLast
	case "$minN", "$maxN":
		c.mode, c.byValue, c.desc = pickTop, true, name == "$maxN"
	case "$top", "$topN":
		c.mode, sorted, c.single = pickTop, true, name == "$top"
	case "$bottom", "$bottomN":
		c.mode, sorted, c.single = pickBottom, true, name == "$bottom"
	}
	var n, in bsonx.Value
	for it := arg.Elems(); it.Next(); {
		v := it.Value()
		switch field := string(it.Name()); {
		case field == "n" && !c.single:
			n = v
		case field == "input" && !sorted, field == "output" && sorted:
			in = v
		case field == "sortBy" && sorted:
			if v.Type != tDoc {
				return nil, errf(5788604, "%s: 'sortBy' must be an object", name)
			}
			s, err := sortSpec(v.Doc())
			if err != nil {
				return nil, err
			}
			c.sort = s
		default:
			return nil, errf(5787901, "Unknown argument to %s '%s'", name, field)
		}
	}
	switch {
	case in.IsMissing() && sorted:
		return nil, errf(5788004, "Missing value for 'output'")
	case in.IsMissing():
		return nil, errf(5787907, "Missing value for 'input'")
	case sorted && c.sort == nil:
		return nil, errf(5788005, "Missing value for 'sortBy'")
	case n.IsMissing() && !c.single:
		return nil, errf(5787906, "Missing value for 'n'")
	}
	if !c.single {
		e, err := ps.compile(n)
		if err != nil {
			return nil, err
		}
		v, ok := e.Constant()
		if !ok {
			return nil, errf(115, "%s: this engine supports a constant 'n' only", name)
		}
		k, err := expr.CheckN(name, v)
		if err != nil {
			return nil, err
		}
		c.n = int(min(k, 1<<31-1))
	}
	e, err := ps.compile(in)
	if err != nil {
		return nil, err
	}
	c.r = newReader(e)
	return c, nil
}
