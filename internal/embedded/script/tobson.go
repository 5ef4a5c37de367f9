package script

import (
	"encoding/binary"
	"math"
	"strconv"
	"time"

	"github.com/dop251/goja"
	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"

	"mrbench/internal/embedded/bsonx"
)

const (
	maxDepth = 150                  // levels of nesting, as in MongoDB
	maxBytes = 16*1024*1024 + 16384 // of one converted value: a document and its command's overhead
)

// AppendValue appends the BSON of v (its data, without type and name) to dst.
// Numbers become doubles; undefined stays BSON undefined. Errors: those that a getter or toJSON of the
// script throws, 17279 for a cycle, 17260 for more than 16 MiB.
func (r *Runtime) AppendValue(dst []byte, v Value) (typ bsonx.Type, out []byte, err error) {
	if t, b, ok := r.appendScalar(dst, v); ok {
		return t, b, nil
	}
	err = r.run("toBSON", func() error {
		typ, out = r.appendValue(dst, v, 0)
		return nil
	})
	return typ, out, err
}

// AppendResult is AppendValue for what a function returns: an _id of the outermost document comes first.
func (r *Runtime) AppendResult(dst []byte, v Value) (typ bsonx.Type, out []byte, err error) {
	if t, b, ok := r.appendScalar(dst, v); ok {
		return t, b, nil
	}
	err = r.run("toBSON", func() error {
		typ, out = r.appendRoot(dst, v)
		return nil
	})
	return typ, out, err
}

// ThrowValue is AppendValue inside of a native function, where exceptions pass through as panics.
func (r *Runtime) ThrowValue(dst []byte, v Value) (bsonx.Type, []byte) {
	if t, b, ok := r.appendScalar(dst, v); ok {
		return t, b
	}
	return r.appendValue(dst, v, 0)
}

// appendScalar converts what is not an object; ok is false for objects.
func (r *Runtime) appendScalar(dst []byte, v Value) (bsonx.Type, []byte, bool) {
	if v == nil {
		return bsonx.TypeUndefined, dst, true
	}
	if goja.IsNumber(v) {
		return bsonx.TypeDouble, binary.LittleEndian.AppendUint64(dst, math.Float64bits(v.ToFloat())), true
	}
	switch v {
	case r.undefined:
		return bsonx.TypeUndefined, dst, true
	case r.null:
		return bsonx.TypeNull, dst, true
	case r.yes:
		return bsonx.TypeBoolean, append(dst, 1), true
	case r.no:
		return bsonx.TypeBoolean, append(dst, 0), true
	}
	if s, ok := v.(goja.String); ok {
		return bsonx.TypeString, bsoncore.AppendString(dst, s.String()), true
	}
	if _, ok := v.(*goja.Object); ok {
		return 0, dst, false
	}
	if goja.IsBigInt(v) {
		// A 4.0 server has none; int64 is what is nearest.
		n, err := strconv.ParseInt(v.String(), 10, 64)
		if err != nil {
			return bsonx.TypeString, bsoncore.AppendString(dst, v.String()), true
		}
		return bsonx.TypeInt64, binary.LittleEndian.AppendUint64(dst, uint64(n)), true
	}
	return bsonx.TypeUndefined, dst, true // a symbol
}

func (r *Runtime) appendRoot(dst []byte, v Value) (bsonx.Type, []byte) {
	obj, ok := v.(*goja.Object)
	if !ok || obj.ClassName() != "Object" || isOurs(obj) {
		return r.appendValue(dst, v, 0)
	}
	return bsonx.TypeEmbeddedDocument, r.appendObject(dst, obj, 0, true)
}

func isOurs(obj *goja.Object) bool {
	t := obj.ExportType()
	return t == boxedType || t == documentType || t == valuesType
}

// appendValue converts any value; it panics with JavaScript exceptions.
func (r *Runtime) appendValue(dst []byte, v Value, depth int) (bsonx.Type, []byte) {
	if t, b, ok := r.appendScalar(dst, v); ok {
		if len(b) > maxBytes && len(b)-len(dst) > maxBytes {
			panic(r.goError(tooLarge()))
		}
		return t, b
	}
	if depth >= maxDepth {
		panic(r.goError(tooDeep()))
	}
	obj := v.(*goja.Object)
	switch obj.ExportType() {
	case boxedType:
		if b, ok := obj.Export().(*boxed); ok {
			return b.v.Type, append(dst, b.v.Data...)
		}
	case documentType:
		if d, ok := obj.Export().(*document); ok {
			return bsonx.TypeEmbeddedDocument, d.appendTo(dst, depth)
		}
	case valuesType:
		if vs, ok := obj.Export().(*Values); ok {
			return bsonx.TypeArray, vs.appendTo(dst, depth)
		}
	}
	switch obj.ClassName() {
	case "Array":
		return bsonx.TypeArray, r.appendArray(dst, obj, depth)
	case "Date":
		if t, ok := obj.Export().(time.Time); ok {
			return bsonx.TypeDateTime, binary.LittleEndian.AppendUint64(dst, uint64(t.UnixMilli()))
		}
		return bsonx.TypeNull, dst // an invalid date is no date
	case "RegExp":
		re := regexValue(obj.Get("source").String(), sortedFlags(obj.Get("flags").String()))
		return bsonx.TypeRegex, append(dst, re.Data...)
	case "Function":
		switch {
		case obj.SameAs(r.vm.Get("MinKey")):
			return bsonx.TypeMinKey, dst
		case obj.SameAs(r.vm.Get("MaxKey")):
			return bsonx.TypeMaxKey, dst
		}
		return bsonx.TypeJavaScript, bsoncore.AppendString(dst, obj.String())
	case "Number", "String", "Boolean":
		t, b, _ := r.appendScalar(dst, primitiveOf(obj))
		return t, b
	}
	return bsonx.TypeEmbeddedDocument, r.appendObject(dst, obj, depth, false)
}

// primitiveOf unwraps new Number(1) and the like.
func primitiveOf(obj *goja.Object) Value {
	switch obj.ClassName() {
	case "Number":
		return obj.ToNumber()
	case "Boolean":
		if f, ok := goja.AssertFunction(obj.Get("valueOf")); ok {
			if v, err := f(obj); err == nil {
				return v
			}
		}
	}
	return obj.ToString()
}

// sortedFlags keeps the flags that BSON knows; JavaScript gives them in alphabetical order.
func sortedFlags(flags string) string {
	out := make([]byte, 0, len(flags))
	for i := range len(flags) {
		switch flags[i] {
		case 'i', 'm', 's', 'u', 'x', 'l':
			out = append(out, flags[i])
		}
	}
	return string(out)
}

// appendArray walks the indexes; holes are undefined.
func (r *Runtime) appendArray(dst []byte, obj *goja.Object, depth int) []byte {
	n := obj.Get("length").ToInteger()
	if n > maxBytes/3 {
		panic(r.goError(tooLarge()))
	}
	start := len(dst)
	idx, dst := bsoncore.AppendDocumentStart(dst)
	for i := range n {
		name := strconv.FormatInt(i, 10)
		dst = r.appendField(dst, start, name, obj.Get(name), depth)
	}
	return finish(dst, idx)
}

// appendObject walks the object's own enumerable properties in their order. idFirst moves _id to the front.
func (r *Runtime) appendObject(dst []byte, obj *goja.Object, depth int, idFirst bool) []byte {
	start := len(dst)
	keys := obj.Keys()
	idx, dst := bsoncore.AppendDocumentStart(dst)
	hasID := false
	if idFirst {
		for _, k := range keys {
			hasID = hasID || k == "_id"
		}
		if hasID {
			dst = r.appendField(dst, start, "_id", obj.Get("_id"), depth)
		}
	}
	for _, k := range keys {
		if hasID && k == "_id" {
			continue
		}
		dst = r.appendField(dst, start, k, obj.Get(k), depth)
	}
	return finish(dst, idx)
}

func finish(dst []byte, idx int32) []byte {
	dst, err := bsoncore.AppendDocumentEnd(dst, idx)
	must(err)
	return dst
}

// appendField appends type, name and data of one field; start is where the outer value began.
func (r *Runtime) appendField(dst []byte, start int, name string, v Value, depth int) []byte {
	at := len(dst)
	dst = append(dst, 0)
	for i := range len(name) {
		if name[i] == 0 {
			panic(r.vm.NewTypeError("a field name can't contain a null character"))
		}
	}
	dst = append(append(dst, name...), 0)
	t, dst := r.appendValue(dst, v, depth+1)
	dst[at] = byte(t)
	if len(dst)-start > maxBytes {
		panic(r.goError(tooLarge()))
	}
	return dst
}
