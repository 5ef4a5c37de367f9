package pipeline

import (
	"strconv"

	"mrbench/internal/embedded/bsonx"
)

// appendRaw appends an element under a name that comes from a document.
func appendRaw(dst, name []byte, v bsonx.Value) []byte {
	dst = append(dst, byte(v.Type))
	dst = append(dst, name...)
	dst = append(dst, 0)
	return append(dst, v.Data...)
}

// appendHeader begins a field that is a document.
func appendHeader(dst []byte, name string) []byte {
	dst = append(dst, byte(tDoc))
	dst = append(dst, name...)
	return append(dst, 0)
}

// smallIndexes spares the conversion of the positions that nearly all arrays stay within.
var smallIndexes = func() (s [100]string) {
	for i := range s {
		s[i] = strconv.Itoa(i)
	}
	return s
}()

func indexName(i int) string {
	if i < len(smallIndexes) {
		return smallIndexes[i]
	}
	return strconv.Itoa(i)
}

// appendSet appends d with the value at a path set, in its place or at the end. A missing value
// removes the field. A value on the way that is no document is replaced by one.
func appendSet(dst []byte, d bsonx.Doc, path []string, v bsonx.Value) []byte {
	start := len(dst)
	dst = bsonx.BeginDoc(dst)
	done := false
	it := d.Iter()
	for it.Next() {
		if done || string(it.Name()) != path[0] {
			dst = appendRaw(dst, it.Name(), it.Value())
			continue
		}
		done = true
		old := bsonx.Empty
		if it.Value().Type == tDoc {
			old = it.Value().Doc()
		} else if v.IsMissing() && len(path) > 1 {
			dst = appendRaw(dst, it.Name(), it.Value())
			continue
		}
		dst = appendAt(dst, old, path, v)
	}
	if !done {
		dst = appendAt(dst, bsonx.Empty, path, v)
	}
	return bsonx.EndDoc(dst, start)
}

func appendAt(dst []byte, old bsonx.Doc, path []string, v bsonx.Value) []byte {
	if len(path) > 1 {
		if v.IsMissing() && len(old) == len(bsonx.Empty) {
			return dst
		}
		dst = appendHeader(dst, path[0])
		return appendSet(dst, old, path[1:], v)
	}
	if v.IsMissing() {
		return dst
	}
	return bsonx.AppendElem(dst, path[0], v)
}

// getPath reads a path through documents only.
func getPath(d bsonx.Doc, path []string) bsonx.Value {
	v := bsonx.DocValue(d)
	for _, p := range path {
		if v.Type != tDoc {
			return bsonx.Value{}
		}
		v = v.Doc().Get(p)
	}
	return v
}
