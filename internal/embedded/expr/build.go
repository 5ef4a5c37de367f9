package expr

import (
	"encoding/binary"
	"strconv"

	"mrbench/internal/embedded/bsonx"
)

// builder makes one document or array in a buffer borrowed from the state;
// done copies it into the arena and gives the buffer back. Nested builders
// may be open at the same time.
type builder struct {
	st  *state
	b   []byte
	n   int
	typ bsonx.Type
}

func (st *state) build(t bsonx.Type) builder {
	var b []byte
	if n := len(st.spare); n > 0 {
		b, st.spare = st.spare[n-1][:0], st.spare[:n-1]
	}
	return builder{st: st, b: append(b, 0, 0, 0, 0), typ: t}
}

// elem appends a named value; a missing one is left out.
func (w *builder) elem(name string, v bsonx.Value) {
	if v.Type == tMissing {
		return
	}
	w.b = append(w.b, byte(v.Type))
	w.b = append(w.b, name...)
	w.b = append(w.b, 0)
	w.b = append(w.b, v.Data...)
}

// push appends the next array element; a missing one becomes null.
func (w *builder) push(v bsonx.Value) {
	if v.Type == tMissing {
		v = null
	}
	w.b = append(w.b, byte(v.Type))
	w.b = strconv.AppendInt(w.b, int64(w.n), 10)
	w.b = append(w.b, 0)
	w.b = append(w.b, v.Data...)
	w.n++
}

// done ends the value and keeps it in the arena.
func (w *builder) done() bsonx.Value {
	w.b = append(w.b, 0)
	binary.LittleEndian.PutUint32(w.b, uint32(len(w.b)))
	v := w.st.keep(w.typ, w.b)
	w.drop()
	return v
}

// drop gives the buffer back without a result.
func (w *builder) drop() { w.st.spare = append(w.st.spare, w.b) }

func (st *state) array(vals []bsonx.Value) bsonx.Value {
	w := st.build(tArray)
	for _, v := range vals {
		w.push(v)
	}
	return w.done()
}

// elems collects an array's elements.
func elems(v bsonx.Value) []bsonx.Value {
	out := make([]bsonx.Value, 0, 8)
	for it := v.Elems(); it.Next(); {
		out = append(out, it.Value())
	}
	return out
}
