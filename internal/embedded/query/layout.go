package query

import (
	"slices"
	"strings"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/store"
)

// layout builds documents of the needed paths from index entries: _id first, the others in
// index order. Nested paths make nested documents.
type layout struct {
	id      bool // _id is needed
	fields  []layoutField
	flat    bool // no nested path is needed
	root    []*layoutNode
	scratch []byte
	ends    []int
}

// layoutField is one index field up to the last needed one.
type layoutField struct {
	name   string // last component
	desc   bool
	needed bool
}

// layoutNode is a document of the result, or the value of an index field.
type layoutNode struct {
	name  string
	field int // -1: a document of kids
	kids  []*layoutNode
}

func newLayout(ix *store.Index, needs []string) *layout {
	l := &layout{flat: true}
	for _, n := range needs {
		l.id = l.id || covers("_id", n)
	}
	for i, f := range ix.Fields {
		needed := f.Path != "_id" && slices.ContainsFunc(needs, func(n string) bool { return covers(f.Path, n) })
		parts := strings.Split(f.Path, ".")
		l.fields = append(l.fields, layoutField{parts[len(parts)-1], f.Desc, needed})
		if needed {
			l.flat = l.flat && len(parts) == 1
			l.root = place(l.root, parts, i)
		}
	}
	for n := len(l.fields); n > 0 && !l.fields[n-1].needed; n = len(l.fields) {
		l.fields = l.fields[:n-1]
	}
	return l
}

func place(nodes []*layoutNode, parts []string, field int) []*layoutNode {
	if len(parts) == 1 {
		return append(nodes, &layoutNode{name: parts[0], field: field})
	}
	for _, n := range nodes {
		if n.name == parts[0] && n.field < 0 {
			n.kids = place(n.kids, parts[1:], field)
			return nodes
		}
	}
	return append(nodes, &layoutNode{name: parts[0], field: -1, kids: place(nil, parts[1:], field)})
}

func (l *layout) clone() *layout {
	c := *l
	c.scratch, c.ends = nil, nil
	return &c
}

// appendDoc appends the document of an entry. ok is false when the entry can't tell: a nested
// field is missing, and whether the documents around it are there is not in the index.
func (l *layout) appendDoc(dst []byte, it *store.EntryIter) (_ []byte, ok bool, err error) {
	start := len(dst)
	dst = bsonx.BeginDoc(dst)
	if l.id {
		if dst, _, _, err = bsonx.AppendDecodedElem(dst, "_id", it.IDKey(), it.IDTypeBits(), false); err != nil {
			return dst, false, err
		}
	}
	if len(l.fields) == 0 {
		return bsonx.EndDoc(dst, start), true, nil
	}
	key, tb := it.FullKey(), it.TypeBits()
	l.scratch, l.ends = l.scratch[:0], l.ends[:0]
	for i := range l.fields {
		f := &l.fields[i]
		switch {
		case l.flat && !f.needed && len(tb) == 0:
			var n int
			if n, err = bsonx.SkipKey(key, f.desc); err == nil {
				key = key[n:]
			}
		case l.flat && f.needed:
			dst, key, tb, err = bsonx.AppendDecodedElem(dst, f.name, key, tb, f.desc)
		default:
			l.scratch, key, tb, err = bsonx.AppendDecodedElem(l.scratch, f.name, key, tb, f.desc)
			l.ends = append(l.ends, len(l.scratch))
		}
		if err != nil {
			return dst, false, err
		}
	}
	if !l.flat {
		if dst, ok = l.appendNodes(dst, l.root, false); !ok {
			return dst[:start], false, nil
		}
	}
	return bsonx.EndDoc(dst, start), true, nil
}

func (l *layout) appendNodes(dst []byte, nodes []*layoutNode, nested bool) (_ []byte, ok bool) {
	for _, n := range nodes {
		if n.field < 0 {
			var start int
			dst, start = bsonx.BeginElem(dst, typeObject, n.name)
			if dst, ok = l.appendNodes(dst, n.kids, true); !ok {
				return dst, false
			}
			dst = bsonx.EndDoc(dst, start)
			continue
		}
		from := 0
		if n.field > 0 {
			from = l.ends[n.field-1]
		}
		elem := l.scratch[from:l.ends[n.field]]
		if len(elem) == 0 && nested {
			return dst, false
		}
		dst = append(dst, elem...)
	}
	return dst, true
}
