package query

import (
	"slices"

	"mrbench/internal/embedded/bsonx"
)

// tree is a document or an array that is being changed. Values stay raw until a path leads into them.
type tree struct {
	array bool
	elems []treeElem
}

type treeElem struct {
	name string
	val  bsonx.Value
	sub  *tree // in place of val once it was opened
}

func newTree(v bsonx.Value) *tree {
	t := &tree{array: v.Type == typeArray}
	it := v.Elems()
	for it.Next() {
		t.elems = append(t.elems, treeElem{name: string(it.Name()), val: it.Value()})
	}
	return t
}

// index finds an element by name; in an array by position.
func (t *tree) index(name string) int {
	if t.array {
		if i := arrayIndex(name); i >= 0 && i < len(t.elems) {
			return i
		}
		return -1
	}
	return slices.IndexFunc(t.elems, func(e treeElem) bool { return e.name == name })
}

// open gives the tree of an element that is a document or array, nil for other values.
func (t *tree) open(i int) *tree {
	e := &t.elems[i]
	if e.sub == nil && (e.val.Type == typeObject || e.val.Type == typeArray) {
		e.sub = newTree(e.val)
	}
	return e.sub
}

// value encodes an element.
func (t *tree) value(i int) bsonx.Value {
	e := &t.elems[i]
	if e.sub == nil {
		return e.val
	}
	if e.sub.array {
		return bsonx.ArrayValue(e.sub.encode())
	}
	return bsonx.DocValue(e.sub.encode())
}

func (t *tree) set(i int, v bsonx.Value) { t.elems[i].val, t.elems[i].sub = v, nil }

// add appends an element; in an array nulls fill the gap before position name. ok is false for
// an array position that is none or too far out.
func (t *tree) add(name string, e treeElem) (ok bool) {
	if t.array {
		i := arrayIndex(name)
		if i < 0 || i > len(t.elems)+maxArrayGap {
			return false
		}
		for len(t.elems) < i {
			t.elems = append(t.elems, treeElem{val: bsonx.Null()})
		}
	}
	e.name = name
	t.elems = append(t.elems, e)
	return true
}

// A $set may lengthen an array by so many elements at once, as in MongoDB.
const maxArrayGap = 1_500_000

// remove takes an element out; in an array it leaves null behind, as positions must not move.
func (t *tree) remove(i int) {
	if t.array {
		t.set(i, bsonx.Null())
		return
	}
	t.elems = slices.Delete(t.elems, i, i+1)
}

func (t *tree) encode() bsonx.Doc {
	return t.appendTo(nil)
}

func (t *tree) appendTo(dst []byte) []byte {
	start := len(dst)
	dst = bsonx.BeginDoc(dst)
	for i := range t.elems {
		e := &t.elems[i]
		typ := e.val.Type
		if e.sub != nil {
			typ = typeObject
			if e.sub.array {
				typ = typeArray
			}
		}
		dst = append(dst, byte(typ))
		if t.array {
			dst = bsonx.AppendIndex(dst, i)
		} else {
			dst = append(dst, e.name...)
		}
		dst = append(dst, 0)
		if e.sub != nil {
			dst = e.sub.appendTo(dst)
		} else {
			dst = append(dst, e.val.Data...)
		}
	}
	return bsonx.EndDoc(dst, start)
}
