package store

import (
	"bytes"
	"strings"

	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

const maxIndexFields = 32 // MongoDB's limit for a compound index

// parseIndex reads an index specification {key, name, unique?, sparse?,
// partialFilterExpression?, …}. The Spec it gives is what listIndexes shows:
// v, unique, key, name, ns, then whatever else was given.
func (db *DB) parseIndex(ns NS, spec bsonx.Doc) (*Index, error) {
	ix := &Index{}
	var key bsonx.Value
	var rest []byte
	for it := spec.Iter(); it.Next(); {
		v := it.Value()
		switch name := string(it.Name()); name {
		case "v":
			if n, ok := v.AsInt64(); !ok || n < 1 || n > 2 {
				return nil, mongoerr.New(mongoerr.CannotCreateIndex, "invalid index version %s: use 2", v)
			}
		case "ns", "background":
			if name == "background" {
				rest = bsonx.AppendElem(rest, name, v)
			}
		case "key":
			if !isDocument(v) {
				return nil, mongoerr.New(mongoerr.TypeMismatch, "the field 'key' must be an object, but got %s", bsonx.TypeName(v.Type))
			}
			key = v
		case "name":
			if v.Type != bsonx.TypeString {
				return nil, mongoerr.New(mongoerr.TypeMismatch, "the field 'name' must be a string, but got %s", bsonx.TypeName(v.Type))
			}
			ix.Name = v.Str()
		case "unique":
			ix.Unique = v.Truthy()
		case "sparse":
			ix.Sparse = v.Truthy()
			rest = bsonx.AppendElem(rest, name, v)
		case "partialFilterExpression":
			if !isDocument(v) {
				return nil, mongoerr.New(mongoerr.TypeMismatch, "the field 'partialFilterExpression' must be an object, but got %s", bsonx.TypeName(v.Type))
			}
			ix.Partial = bsonx.Doc(bytes.Clone(v.Doc()))
			rest = bsonx.AppendElem(rest, name, v)
		case "collation":
			return nil, mongoerr.New(mongoerr.CannotCreateIndex, "an index with a collation is not supported")
		default:
			rest = bsonx.AppendElem(rest, name, v)
		}
	}
	if key.IsMissing() {
		return nil, mongoerr.New(mongoerr.FailedToParse, "the 'key' field is a required property of an index specification")
	}
	if ix.Name == "" || ix.Name == "*" || strings.IndexByte(ix.Name, 0) >= 0 { // it is a field's name in statistics
		return nil, mongoerr.New(mongoerr.CannotCreateIndex, "the index name %q is not valid", ix.Name)
	}
	if err := ix.parseKey(key.Doc()); err != nil {
		return nil, err
	}
	if ix.Partial != nil {
		if ix.Sparse {
			return nil, mongoerr.New(mongoerr.CannotCreateIndex, "cannot mix 'partialFilterExpression' and 'sparse' options")
		}
		if db.o.CompileFilter == nil {
			return nil, mongoerr.New(mongoerr.CannotCreateIndex, "index %s: partial indexes are not supported here", ix.Name)
		}
		pred, err := db.o.CompileFilter(ix.Partial)
		if err != nil {
			return nil, err
		}
		ix.pred = pred
	}
	ix.Spec = shownSpec(ns, ix, key, rest)
	return ix, nil
}

func shownSpec(ns NS, ix *Index, key bsonx.Value, rest []byte) bsonx.Doc {
	i, b := bsoncore.AppendDocumentStart(nil)
	b = bsoncore.AppendInt32Element(b, "v", 2)
	if ix.Unique {
		b = bsoncore.AppendBooleanElement(b, "unique", true)
	}
	b = bsonx.AppendElem(b, "key", key)
	b = bsoncore.AppendStringElement(b, "name", ix.Name)
	b = bsoncore.AppendStringElement(b, "ns", ns.String())
	b = append(b, rest...)
	b, _ = bsoncore.AppendDocumentEnd(b, i)
	return b
}

func (ix *Index) parseKey(key bsonx.Doc) error {
	bad := func(format string, args ...any) error {
		return mongoerr.New(mongoerr.CannotCreateIndex, format, args...)
	}
	for it := key.Iter(); it.Next(); {
		f, v := IndexField{Path: string(it.Name())}, it.Value()
		switch {
		case v.Type == bsonx.TypeString:
			return bad("index type %q is not supported; use 1 or -1", v.Str())
		case !v.IsNumber():
			return bad("values in the index key pattern must be 1 or -1, not %s", v)
		}
		n, _ := v.AsFloat()
		if n == 0 || n != n {
			return bad("values in the index key pattern cannot be 0")
		}
		f.Desc = n < 0
		parts := strings.Split(f.Path, ".")
		for _, p := range parts {
			if p == "" {
				return bad("index key %q has an empty field name", f.Path)
			}
			if p[0] == '$' && p != "$id" && p != "$ref" && p != "$db" {
				return bad("index key %q must not start with '$'", f.Path)
			}
		}
		for _, o := range ix.Fields {
			if o.Path == f.Path {
				return bad("index key names %q twice", f.Path)
			}
		}
		ix.Fields = append(ix.Fields, f)
		ix.paths = append(ix.paths, parts)
	}
	if len(ix.Fields) == 0 {
		return bad("index keys cannot be empty")
	}
	if len(ix.Fields) > maxIndexFields {
		return bad("an index may have at most %d fields", maxIndexFields)
	}
	ix.MultikeyFields = make([]bool, len(ix.Fields))
	return nil
}

// sameKey reports whether both indexes have the same fields in the same directions.
func sameKey(a, b *Index) bool {
	if len(a.Fields) != len(b.Fields) {
		return false
	}
	for i := range a.Fields {
		if a.Fields[i] != b.Fields[i] {
			return false
		}
	}
	return true
}

// sameOptions reports whether two indexes of one key mean the same.
func sameOptions(a, b *Index) bool {
	return a.Unique == b.Unique && a.Sparse == b.Sparse && bytes.Equal(a.Partial, b.Partial) &&
		bsonx.Equal(a.Spec.Get("expireAfterSeconds"), b.Spec.Get("expireAfterSeconds"))
}

// conflict compares a wanted index with those there are: existed, or why it can't be.
func conflict(c *Collection, want *Index) (existed bool, err error) {
	for _, ix := range c.Indexes {
		key, name := sameKey(ix, want), ix.Name == want.Name
		switch {
		case ix.IsID() && key:
			if want.Sparse || want.Partial != nil {
				return false, mongoerr.New(mongoerr.CannotCreateIndex, "_id index cannot be sparse or partial")
			}
			return true, nil
		case ix.IsID() && name:
			return false, mongoerr.New(mongoerr.CannotCreateIndex, "the index name %s is reserved for the index on _id", want.Name)
		case key && name && sameOptions(ix, want):
			return true, nil
		case key:
			return false, mongoerr.New(mongoerr.IndexOptionsConflict, "Index with the same key exists with another name or other options: %s", ix.Name)
		case name:
			return false, mongoerr.New(mongoerr.IndexKeySpecsConflict, "Index named %s exists with another key", ix.Name)
		}
	}
	return false, nil
}
