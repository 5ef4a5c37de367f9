package script

import (
	"math"
	"strconv"

	"github.com/dop251/goja"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"

	"mrbench/internal/embedded/bsonx"
)

// defineNumbers defines NumberLong, NumberInt and NumberDecimal.
func (r *Runtime) defineNumbers() {
	long := r.kind("NumberLong", bsonx.TypeInt64, func(args []goja.Value) bsonx.Value { return bsonx.Int64(r.longOf(args)) })
	num := func(v bsonx.Value) goja.Value { f, _ := v.AsFloat(); return r.vm.ToValue(f) }
	toNumber := func(name string, t bsonx.Type) func(goja.FunctionCall) goja.Value {
		return func(call goja.FunctionCall) goja.Value { return num(r.self(call, name, t)) }
	}
	text := func(name string, t bsonx.Type) func(goja.FunctionCall) goja.Value {
		return func(call goja.FunctionCall) goja.Value {
			return r.vm.ToValue(boxedText(r.self(call, name, t)))
		}
	}
	r.native(long, "toNumber", toNumber("NumberLong", bsonx.TypeInt64))
	r.native(long, "valueOf", toNumber("NumberLong", bsonx.TypeInt64))
	r.native(long, "toString", text("NumberLong", bsonx.TypeInt64))
	r.native(long, "tojson", text("NumberLong", bsonx.TypeInt64))
	r.native(long, "toJSON", func(call goja.FunctionCall) goja.Value {
		return r.plain("$numberLong", strconv.FormatInt(r.self(call, "NumberLong", bsonx.TypeInt64).Int64(), 10))
	})
	r.native(long, "compare", func(call goja.FunctionCall) goja.Value {
		a := r.self(call, "NumberLong", bsonx.TypeInt64).Int64()
		b, ok := unbox(call.Argument(0))
		if !ok || b.Type != bsonx.TypeInt64 {
			r.throw("TypeError", "NumberLong.compare needs a NumberLong")
		}
		return r.vm.ToValue(bsonx.Compare(bsonx.Int64(a), b))
	})
	r.getter(long, "floatApprox", toNumber("NumberLong", bsonx.TypeInt64))
	r.getter(long, "top", func(call goja.FunctionCall) goja.Value {
		return r.vm.ToValue(int64(uint64(r.self(call, "NumberLong", bsonx.TypeInt64).Int64()) >> 32))
	})
	r.getter(long, "bottom", func(call goja.FunctionCall) goja.Value {
		return r.vm.ToValue(int64(uint64(r.self(call, "NumberLong", bsonx.TypeInt64).Int64()) & 0xffffffff))
	})

	integer := r.kind("NumberInt", bsonx.TypeInt32, func(args []goja.Value) bsonx.Value { return bsonx.Int32(r.intOf(args)) })
	r.native(integer, "toNumber", toNumber("NumberInt", bsonx.TypeInt32))
	r.native(integer, "valueOf", toNumber("NumberInt", bsonx.TypeInt32))
	r.native(integer, "toString", text("NumberInt", bsonx.TypeInt32))
	r.native(integer, "tojson", text("NumberInt", bsonx.TypeInt32))
	r.native(integer, "toJSON", toNumber("NumberInt", bsonx.TypeInt32))

	decimal := r.kind("NumberDecimal", bsonx.TypeDecimal128, func(args []goja.Value) bsonx.Value { return r.decimalOf(args) })
	r.native(decimal, "toString", text("NumberDecimal", bsonx.TypeDecimal128))
	r.native(decimal, "tojson", text("NumberDecimal", bsonx.TypeDecimal128))
	r.native(decimal, "toJSON", func(call goja.FunctionCall) goja.Value {
		return r.plain("$numberDecimal", decimalText(r.self(call, "NumberDecimal", bsonx.TypeDecimal128)))
	})
}

// plain makes {name: text}.
func (r *Runtime) plain(name, text string) goja.Value {
	obj := r.vm.NewObject()
	must(obj.Set(name, text))
	return obj
}

// longOf reads NumberLong's arguments: none, a number, text, another number object, or (float, top, bottom).
func (r *Runtime) longOf(args []goja.Value) int64 {
	switch len(args) {
	case 0:
		return 0
	case 1:
	case 3:
		return int64(uint64(uint32(args[1].ToInteger()))<<32 | uint64(uint32(args[2].ToInteger())))
	default:
		r.throw("Error", "NumberLong needs 0, 1 or 3 arguments")
	}
	if v, ok := unbox(args[0]); ok && v.IsNumber() {
		if n, ok := v.TruncInt64(); ok {
			return n
		}
	}
	if s, ok := args[0].(goja.String); ok {
		n, err := strconv.ParseInt(s.String(), 10, 64)
		if err != nil {
			r.throw("Error", "could not convert string to long long: %q", s.String())
		}
		return n
	}
	f := args[0].ToFloat()
	switch {
	case math.IsNaN(f):
		return 0
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	}
	return int64(f)
}

func (r *Runtime) intOf(args []goja.Value) int32 {
	switch len(args) {
	case 0:
		return 0
	case 1:
	default:
		r.throw("Error", "NumberInt needs 0 or 1 arguments")
	}
	if v, ok := unbox(args[0]); ok && v.IsNumber() {
		if n, ok := v.TruncInt64(); ok {
			return int32(n)
		}
	}
	return int32(uint32(args[0].ToInteger()))
}

func (r *Runtime) decimalOf(args []goja.Value) bsonx.Value {
	text := "0"
	if len(args) > 0 {
		if v, ok := unbox(args[0]); ok {
			switch v.Type {
			case bsonx.TypeDecimal128:
				return v
			case bsonx.TypeInt32, bsonx.TypeInt64:
				n, _ := v.AsInt64()
				text = strconv.FormatInt(n, 10)
			}
		} else if goja.IsNumber(args[0]) {
			// Fifteen digits, as MongoDB turns a double into a decimal.
			text = strconv.FormatFloat(args[0].ToFloat(), 'G', 15, 64)
		} else {
			text = args[0].String()
		}
	}
	d, err := primitive.ParseDecimal128(text)
	if err != nil {
		r.throw("Error", "input is not a valid Decimal128 value: %q", text)
	}
	return bsonx.Value{Type: bsonx.TypeDecimal128, Data: bsoncore.AppendDecimal128(nil, d)}
}

func decimalText(v bsonx.Value) string {
	d, _, ok := bsoncore.ReadDecimal128(v.Data)
	if !ok {
		return "NaN"
	}
	return d.String()
}
