package script

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"strings"

	"github.com/dop251/goja"
	"github.com/google/uuid"

	"mrbench/internal/embedded/bsonx"
)

// binary builds a BSON binary value.
func binaryValue(subtype byte, data []byte) bsonx.Value {
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, 5+len(data)), uint32(len(data)))
	return bsonx.Value{Type: bsonx.TypeBinary, Data: append(append(b, subtype), data...)}
}

// defineBinData defines BinData, UUID, HexData and MD5.
func (r *Runtime) defineBinData() {
	proto := r.kind("BinData", bsonx.TypeBinary, func(args []goja.Value) bsonx.Value {
		if len(args) != 2 {
			r.throw("Error", "BinData takes 2 arguments: subtype, base64 text")
		}
		n := args[0].ToInteger()
		if n < 0 || n > 255 {
			r.throw("Error", "invalid BinData subtype %d: must be between 0 and 255", n)
		}
		data, err := base64.StdEncoding.DecodeString(args[1].String())
		if err != nil {
			r.throw("Error", "BinData text is not base64: %v", err)
		}
		return binaryValue(byte(n), data)
	})
	parts := func(call goja.FunctionCall) (byte, []byte) {
		return r.self(call, "BinData", bsonx.TypeBinary).Binary()
	}
	r.getter(proto, "len", func(call goja.FunctionCall) goja.Value {
		_, data := parts(call)
		return r.vm.ToValue(len(data))
	})
	r.getter(proto, "type", func(call goja.FunctionCall) goja.Value {
		sub, _ := parts(call)
		return r.vm.ToValue(int64(sub))
	})
	r.native(proto, "length", func(call goja.FunctionCall) goja.Value {
		_, data := parts(call)
		return r.vm.ToValue(len(data))
	})
	r.native(proto, "subtype", func(call goja.FunctionCall) goja.Value {
		sub, _ := parts(call)
		return r.vm.ToValue(int64(sub))
	})
	r.native(proto, "base64", func(call goja.FunctionCall) goja.Value {
		_, data := parts(call)
		return r.vm.ToValue(base64.StdEncoding.EncodeToString(data))
	})
	r.native(proto, "hex", func(call goja.FunctionCall) goja.Value {
		_, data := parts(call)
		return r.vm.ToValue(hex.EncodeToString(data))
	})
	text := func(call goja.FunctionCall) goja.Value {
		return r.vm.ToValue(boxedText(r.self(call, "BinData", bsonx.TypeBinary)))
	}
	r.native(proto, "toString", text)
	r.native(proto, "tojson", text)
	r.native(proto, "toJSON", func(call goja.FunctionCall) goja.Value {
		sub, data := parts(call)
		obj := r.vm.NewObject()
		must(obj.Set("$binary", base64.StdEncoding.EncodeToString(data)))
		must(obj.Set("$type", hex.EncodeToString([]byte{sub})))
		return obj
	})

	global := r.vm.GlobalObject()
	r.native(global, "HexData", func(call goja.FunctionCall) goja.Value {
		data, err := hex.DecodeString(call.Argument(1).String())
		if err != nil {
			r.throw("Error", "HexData text is not hexadecimal: %v", err)
		}
		return r.box(binaryValue(byte(call.Argument(0).ToInteger()), data))
	})
	fixed := func(name string, subtype byte) {
		r.native(global, name, func(call goja.FunctionCall) goja.Value {
			if name == "UUID" && len(call.Arguments) == 0 {
				id := uuid.New()
				return r.box(binaryValue(subtype, id[:]))
			}
			data, err := hex.DecodeString(strings.ReplaceAll(call.Argument(0).String(), "-", ""))
			if err != nil || len(data) != 16 {
				r.throw("Error", "%s needs 32 hexadecimal digits", name)
			}
			return r.box(binaryValue(subtype, data))
		})
	}
	fixed("UUID", 4)
	fixed("MD5", 5)
}
