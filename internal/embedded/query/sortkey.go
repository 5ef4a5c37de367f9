package query

import (
	"bytes"
	"slices"
	"strings"

	"mrbench/internal/embedded/bsonx"
)

// AppendKey appends the order-preserving key of doc: where a path meets arrays the smallest
// value (largest if descending) counts, an empty array counts as undefined. Fields on the same
// array take their values from the same element, as in MongoDB.
func (s *SortSpec) AppendKey(dst []byte, doc bsonx.Doc) []byte {
	plain := true
	start := len(dst)
	for _, f := range s.Fields {
		v, ok := plainPath(doc, f.Path)
		if !ok {
			plain = false
			break
		}
		dst = bsonx.AppendKey(dst, v, f.Desc)
	}
	if plain {
		return dst
	}
	dst = dst[:start]
	w := sortWalk{spec: s}
	vals := make([]sortCursor, len(s.Fields))
	for i, f := range s.Fields {
		vals[i] = sortCursor{v: bsonx.DocValue(doc), rest: strings.Split(f.Path, ".")}
	}
	w.expand(vals)
	return append(dst, w.best...)
}

// plainPath reads a path that meets no array; ok is false if it does.
func plainPath(d bsonx.Doc, path string) (v bsonx.Value, ok bool) {
	for {
		i := strings.IndexByte(path, '.')
		if i < 0 {
			v = d.Get(path)
			return v, v.Type != typeArray
		}
		v = d.Get(path[:i])
		if v.Type != typeObject {
			return bsonx.Value{}, v.Type != typeArray
		}
		d, path = v.Doc(), path[i+1:]
	}
}

// sortCursor is how far the path of one sort field has been followed.
type sortCursor struct {
	v    bsonx.Value
	rest []string
	done bool // v is a value to sort by, even if it is an array
}

// sortWalk makes the keys of all combinations that a document's arrays give, and keeps the first.
type sortWalk struct {
	spec      *SortSpec
	key, best []byte
}

func (w *sortWalk) expand(in []sortCursor) {
	cur := slices.Clone(in)
	var arr bsonx.Value
	at := -1
	for i := range cur {
		c := &cur[i]
		for !c.done && len(c.rest) > 0 && c.v.Type == typeObject {
			c.v, c.rest = c.v.Doc().Get(c.rest[0]), c.rest[1:]
		}
		switch {
		case c.done:
		case c.v.Type == typeArray:
			if at < 0 {
				arr, at = c.v, i
			}
		default:
			if len(c.rest) > 0 {
				c.v = bsonx.Value{}
			}
			c.done = true
		}
	}
	if at < 0 {
		w.emit(cur)
		return
	}
	// every field that stands at this very array goes on with the same element
	same := func(c *sortCursor) bool {
		return !c.done && c.v.Type == typeArray && &c.v.Data[0] == &arr.Data[0]
	}
	if idx := arrayIndexOf(cur[at].rest); idx >= 0 {
		if e := arr.Doc().Get(cur[at].rest[0]); !e.IsMissing() {
			cur[at].v, cur[at].rest = e, cur[at].rest[1:]
			if len(cur[at].rest) == 0 && e.Type != typeArray {
				cur[at].done = true
			}
			w.expand(cur)
			return
		}
	}
	n := 0
	step := func(e bsonx.Value) {
		next := slices.Clone(cur)
		for i := range next {
			if !same(&cur[i]) {
				continue
			}
			if len(cur[i].rest) == 0 || e.Type != typeObject {
				next[i].done = true
				next[i].v = e
				if len(cur[i].rest) > 0 {
					next[i].v = bsonx.Value{}
				}
			} else {
				next[i].v = e
			}
		}
		w.expand(next)
		n++
	}
	it := arr.Elems()
	for it.Next() {
		step(it.Value())
	}
	if n == 0 {
		step(bsonx.Undefined())
	}
}

func arrayIndexOf(rest []string) int {
	if len(rest) == 0 {
		return -1
	}
	return arrayIndex(rest[0])
}

func (w *sortWalk) emit(cur []sortCursor) {
	w.key = w.key[:0]
	for i, f := range w.spec.Fields {
		w.key = bsonx.AppendKey(w.key, cur[i].v, f.Desc)
	}
	if w.best == nil || bytes.Compare(w.key, w.best) < 0 {
		w.best = append(w.best[:0], w.key...)
	}
}
