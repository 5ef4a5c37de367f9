package script

import (
	"encoding/binary"

	"github.com/dop251/goja"
	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"

	"mrbench/internal/embedded/bsonx"
)

// defineTimestamp defines Timestamp(seconds, increment).
func (r *Runtime) defineTimestamp() {
	proto := r.kind("Timestamp", bsonx.TypeTimestamp, func(args []goja.Value) bsonx.Value {
		if len(args) != 0 && len(args) != 2 {
			r.throw("Error", "Timestamp needs 0 or 2 arguments")
		}
		var parts [2]uint32
		for i, a := range args {
			n := a.ToInteger()
			if n < 0 || n > 0xffffffff {
				r.throw("Error", "Timestamp parts must be between 0 and 4294967295")
			}
			parts[i] = uint32(n)
		}
		b := binary.LittleEndian.AppendUint32(nil, parts[1])
		return bsonx.Value{Type: bsonx.TypeTimestamp, Data: binary.LittleEndian.AppendUint32(b, parts[0])}
	})
	text := func(call goja.FunctionCall) goja.Value {
		return r.vm.ToValue(boxedText(r.self(call, "Timestamp", bsonx.TypeTimestamp)))
	}
	r.native(proto, "toString", text)
	r.native(proto, "tojson", text)
	r.native(proto, "getTime", func(call goja.FunctionCall) goja.Value {
		return r.vm.ToValue(int64(uint64(r.self(call, "Timestamp", bsonx.TypeTimestamp).Int64()) >> 32))
	})
	r.native(proto, "getInc", func(call goja.FunctionCall) goja.Value {
		return r.vm.ToValue(int64(uint64(r.self(call, "Timestamp", bsonx.TypeTimestamp).Int64()) & 0xffffffff))
	})
	r.native(proto, "toJSON", func(call goja.FunctionCall) goja.Value {
		u := uint64(r.self(call, "Timestamp", bsonx.TypeTimestamp).Int64())
		in := r.vm.NewObject()
		must(in.Set("t", int64(u>>32)))
		must(in.Set("i", int64(u&0xffffffff)))
		out := r.vm.NewObject()
		must(out.Set("$timestamp", in))
		return out
	})
}

// defineKeysAndCode defines MinKey, MaxKey and Code.
func (r *Runtime) defineKeysAndCode() {
	for name, v := range map[string]bsonx.Value{"MinKey": bsonx.MinKey(), "MaxKey": bsonx.MaxKey()} {
		proto := r.kind(name, v.Type, func([]goja.Value) bsonx.Value { return v })
		json := func(goja.FunctionCall) goja.Value { return r.plainNumber("$"+lowerFirst(name), 1) }
		text := func(goja.FunctionCall) goja.Value { return r.vm.ToValue(boxedText(v)) }
		r.native(proto, "toJSON", json)
		r.native(proto, "tojson", text)
		r.native(proto, "toString", func(goja.FunctionCall) goja.Value { return r.vm.ToValue("[object " + name + "]") })
		// The constructor itself also stands for the value, as in {a: MinKey}.
		r.native(r.vm.Get(name).(*goja.Object), "tojson", text)
		r.native(r.vm.Get(name).(*goja.Object), "toJSON", json)
	}
	proto := r.kind("Code", bsonx.TypeJavaScript, func(args []goja.Value) bsonx.Value {
		code := ""
		if len(args) > 0 {
			code = args[0].String()
		}
		if len(args) < 2 || goja.IsUndefined(args[1]) {
			return bsonx.Value{Type: bsonx.TypeJavaScript, Data: bsoncore.AppendString(nil, code)}
		}
		typ, scope := r.appendValue(nil, args[1], 0)
		if typ != bsonx.TypeEmbeddedDocument {
			r.throw("TypeError", "the scope of Code must be an object")
		}
		return bsonx.Value{Type: bsonx.TypeCodeWithScope, Data: bsoncore.AppendCodeWithScope(nil, code, scope)}
	})
	text := func(call goja.FunctionCall) goja.Value {
		v, ok := unbox(call.This)
		if !ok {
			r.throw("TypeError", "not a Code")
		}
		return r.vm.ToValue(boxedText(v))
	}
	r.native(proto, "toString", text)
	r.native(proto, "tojson", text)
}

func lowerFirst(s string) string { return string(s[0]|0x20) + s[1:] }

func (r *Runtime) plainNumber(name string, n int64) goja.Value {
	obj := r.vm.NewObject()
	must(obj.Set(name, n))
	return obj
}

// defineReferences defines DBRef, which is a plain document, and DBPointer.
func (r *Runtime) defineReferences() {
	r.native(r.vm.GlobalObject(), "DBRef", func(call goja.FunctionCall) goja.Value {
		if len(call.Arguments) < 2 {
			r.throw("Error", "DBRef needs 2 or 3 arguments")
		}
		obj := r.vm.NewObject()
		must(obj.Set("$ref", call.Arguments[0]))
		must(obj.Set("$id", call.Arguments[1]))
		if len(call.Arguments) > 2 {
			must(obj.Set("$db", call.Arguments[2]))
		}
		return obj
	})
	proto := r.kind("DBPointer", bsonx.TypeDBPointer, func(args []goja.Value) bsonx.Value {
		if len(args) != 2 {
			r.throw("Error", "DBPointer needs 2 arguments")
		}
		id, ok := unbox(args[1])
		if !ok || id.Type != bsonx.TypeObjectID {
			r.throw("TypeError", "2nd DBPointer argument must be an ObjectId")
		}
		return bsonx.Value{Type: bsonx.TypeDBPointer, Data: bsoncore.AppendDBPointer(nil, args[0].String(), id.ObjectID())}
	})
	text := func(call goja.FunctionCall) goja.Value {
		return r.vm.ToValue(boxedText(r.self(call, "DBPointer", bsonx.TypeDBPointer)))
	}
	r.native(proto, "toString", text)
	r.native(proto, "tojson", text)
}
