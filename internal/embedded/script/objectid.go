package script

import (
	"encoding/binary"
	"encoding/hex"

	"github.com/dop251/goja"
	"go.mongodb.org/mongo-driver/bson/primitive"

	"mrbench/internal/embedded/bsonx"
)

// defineObjectID defines ObjectId (also under its old name ObjectID).
func (r *Runtime) defineObjectID() {
	proto := r.kind("ObjectId", bsonx.TypeObjectID, func(args []goja.Value) bsonx.Value {
		if len(args) == 0 || goja.IsUndefined(args[0]) {
			return bsonx.ObjectID(primitive.NewObjectID())
		}
		if v, ok := unbox(args[0]); ok && v.Type == bsonx.TypeObjectID {
			return v
		}
		var oid [12]byte
		text := args[0].String()
		if n, err := hex.Decode(oid[:], []byte(text[:min(len(text), 24)])); err != nil || n != 12 || len(text) != 24 {
			r.throw("Error", "invalid object id: %q, need 24 hexadecimal digits", text)
		}
		return bsonx.ObjectID(oid)
	})
	must(r.vm.Set("ObjectID", r.vm.Get("ObjectId")))
	hexText := func(call goja.FunctionCall) goja.Value {
		oid := r.self(call, "ObjectId", bsonx.TypeObjectID).ObjectID()
		return r.vm.ToValue(hex.EncodeToString(oid[:]))
	}
	shellText := func(call goja.FunctionCall) goja.Value {
		return r.vm.ToValue(boxedText(r.self(call, "ObjectId", bsonx.TypeObjectID)))
	}
	r.getter(proto, "str", hexText)
	r.native(proto, "valueOf", hexText)
	r.native(proto, "toHexString", hexText)
	r.native(proto, "toString", shellText)
	r.native(proto, "tojson", shellText)
	r.native(proto, "toJSON", func(call goja.FunctionCall) goja.Value {
		oid := r.self(call, "ObjectId", bsonx.TypeObjectID).ObjectID()
		return r.plain("$oid", hex.EncodeToString(oid[:]))
	})
	r.native(proto, "getTimestamp", func(call goja.FunctionCall) goja.Value {
		oid := r.self(call, "ObjectId", bsonx.TypeObjectID).ObjectID()
		return r.newDate(int64(binary.BigEndian.Uint32(oid[:4])) * 1000)
	})
	r.native(proto, "equals", func(call goja.FunctionCall) goja.Value {
		a := r.self(call, "ObjectId", bsonx.TypeObjectID)
		b, ok := unbox(call.Argument(0))
		return r.vm.ToValue(ok && b.Type == a.Type && a.ObjectID() == b.ObjectID())
	})
}
