package store

import (
	"strings"

	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// dupKeyOf is DuplicateKey for an encoded key.
func dupKeyOf(ns NS, ix *Index, key, bits []byte) error {
	var vals []bsonx.Value
	for _, f := range ix.Fields {
		v, k, b, err := bsonx.DecodeKey(key, bits, f.Desc)
		if err != nil {
			break
		}
		vals, key, bits = append(vals, v), k, b
	}
	return duplicate(ns, ix.Name, ix.Fields, vals)
}

// dupID is DuplicateKey for an _id.
func dupID(ns NS, id bsonx.Value) error {
	return duplicate(ns, "_id_", []IndexField{{Path: "_id"}}, []bsonx.Value{id})
}

// duplicate names the key in the text and, as servers since 4.2 do, in keyPattern and keyValue.
func duplicate(ns NS, index string, fields []IndexField, vals []bsonx.Value) error {
	var text strings.Builder
	patternAt, pattern := bsoncore.AppendDocumentStart(nil)
	valueAt, value := bsoncore.AppendDocumentStart(nil)
	for i, v := range vals {
		if i > 0 {
			text.WriteByte(',')
		}
		if v.IsMissing() {
			v = bsonx.Null()
		}
		path, direction := fields[i].Path, int32(1)
		if fields[i].Desc {
			direction = -1
		}
		text.WriteString(" " + path + ": " + v.String())
		pattern = bsoncore.AppendInt32Element(pattern, path, direction)
		value = bsonx.AppendElem(value, path, v)
	}
	pattern, _ = bsoncore.AppendDocumentEnd(pattern, patternAt) // fails for a wrong offset only
	value, _ = bsoncore.AppendDocumentEnd(value, valueAt)
	err := mongoerr.New(mongoerr.DuplicateKey, "E11000 duplicate key error collection: %s index: %s dup key: {%s }", ns, index, text.String())
	err.Info = bsoncore.AppendDocumentElement(err.Info, "keyPattern", pattern)
	err.Info = bsoncore.AppendDocumentElement(err.Info, "keyValue", value)
	return err
}
