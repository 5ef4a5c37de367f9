package mapreduce

import (
	"strings"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/store"
)

// outKind says what becomes of the results.
type outKind int

const (
	outInline outKind = iota
	outReplace
	outMerge
	outReduce
)

// output is the parsed `out`.
type output struct {
	kind      outKind
	ns        store.NS
	otherDB   bool // the command named a database, so the reply does
	nonAtomic bool
}

func parseOutput(dbName string, v bsonx.Value) (output, error) {
	o := output{ns: store.NS{DB: dbName}}
	switch v.Type {
	case bsonx.TypeString:
		o.kind, o.ns.Coll = outReplace, v.Str()
		return o, o.check()
	case bsonx.TypeEmbeddedDocument:
	default:
		return o, mongoerr.New(13606, "'out' has to be a string or an object")
	}
	d := v.Doc()
	found := false
	for _, form := range []struct {
		name string
		kind outKind
	}{{"normal", outReplace}, {"replace", outReplace}, {"merge", outMerge}, {"reduce", outReduce}, {"inline", outInline}} {
		f := d.Get(form.name)
		if f.IsMissing() {
			continue
		}
		found, o.kind = true, form.kind
		if form.kind != outInline {
			if f.Type != bsonx.TypeString {
				return o, wrongType(form.name, f.Type, bsonx.TypeString)
			}
			o.ns.Coll = f.Str()
		}
		break
	}
	if !found {
		return o, mongoerr.New(13522, "please specify one of [replace|merge|reduce|inline] in 'out' object")
	}
	if f := d.Get("db"); !f.IsMissing() {
		if f.Type != bsonx.TypeString {
			return o, wrongType("db", f.Type, bsonx.TypeString)
		}
		if f.Str() != "" {
			o.ns.DB, o.otherDB = f.Str(), true
		}
	}
	if f := d.Get("nonAtomic"); !f.IsMissing() {
		if f.Type != bsonx.TypeBoolean {
			return o, wrongType("nonAtomic", f.Type, bsonx.TypeBoolean)
		}
		o.nonAtomic = f.Bool()
		if o.nonAtomic && o.kind != outMerge && o.kind != outReduce {
			return o, mongoerr.New(15895, "nonAtomic option cannot be used with this output type")
		}
	}
	return o, o.check()
}

func wrongType(field string, got, want bsonx.Type) error {
	return mongoerr.New(13111, "wrong type for field (%s) %s != %s", field, bsonx.TypeName(got), bsonx.TypeName(want))
}

// check refuses names that no collection can have.
func (o output) check() error {
	if o.kind == outInline {
		return nil
	}
	bad := o.ns.Coll == "" || o.ns.DB == "" || strings.HasPrefix(o.ns.Coll, ".") || strings.HasSuffix(o.ns.Coll, ".") ||
		strings.ContainsAny(o.ns.Coll, "$\x00") || strings.HasPrefix(o.ns.Coll, "system.") ||
		strings.ContainsAny(o.ns.DB, "/\\. \"$\x00") || len(o.ns.DB) > 63
	if bad {
		return mongoerr.New(mongoerr.InvalidNamespace, "invalid 'out' collection name: %q", o.ns.DB+"."+o.ns.Coll)
	}
	return nil
}
