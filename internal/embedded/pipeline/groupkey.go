package pipeline

import (
	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
)

// keyReader computes a group's _id: a missing value is null there, also in the fields of a document.
type keyReader struct {
	reader
	names []string
	parts []reader
	buf   []byte
}

func newKeyReader(e *expr.Expr) keyReader {
	k := keyReader{reader: newReader(e)}
	if names, parts, ok := e.Object(); ok {
		k.names = names
		for _, p := range parts {
			k.parts = append(k.parts, newReader(p))
		}
	}
	return k
}

func (k *keyReader) get(d bsonx.Doc) (bsonx.Value, error) {
	if k.parts == nil {
		return k.reader.get(d)
	}
	b := bsonx.BeginDoc(k.buf[:0])
	for i := range k.parts {
		v, err := k.parts[i].get(d)
		if err != nil {
			return null, err
		}
		b = bsonx.AppendElem(b, k.names[i], orNull(v))
	}
	k.buf = bsonx.EndDoc(b, 0)
	return bsonx.DocValue(k.buf), nil
}
