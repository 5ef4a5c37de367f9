package script

import (
	"strings"

	"github.com/dop251/goja"
)

// maxStringBytes is the longest text that one built-in may make; longer ones are a RangeError, as in other
// engines. It is far above what a document can hold.
const maxStringBytes = 64 << 20

// guardStrings bounds those built-ins that make a long text out of small arguments,
// and makes new Array(n).join(s), the old way to repeat a text, as quick as repeat.
func (r *Runtime) guardStrings() {
	text := r.vm.Get("String").(*goja.Object).Get("prototype").(*goja.Object)
	for _, name := range []string{"repeat", "padStart", "padEnd"} {
		original, _ := goja.AssertFunction(text.Get(name))
		r.native(text, name, func(call goja.FunctionCall) goja.Value {
			n := call.Argument(0).ToInteger()
			unit := int64(1)
			if s, ok := call.This.(goja.String); ok && name == "repeat" {
				unit = int64(s.Length())
			}
			r.limitText(n, unit)
			return r.callOriginal(original, call)
		})
	}
	array := r.vm.Get("Array").(*goja.Object).Get("prototype").(*goja.Object)
	original, _ := goja.AssertFunction(array.Get("join"))
	r.native(array, "join", func(call goja.FunctionCall) goja.Value {
		obj, ok := call.This.(*goja.Object)
		if !ok || obj.ClassName() != "Array" || isOurs(obj) {
			return r.callOriginal(original, call)
		}
		n := obj.Get("length").ToInteger()
		sep := textOr(call.Argument(0), ",")
		if goja.IsNull(call.Argument(0)) {
			sep = "null"
		}
		r.limitText(n-1, int64(len(sep)))
		if n > 1000 && len(obj.Keys()) == 0 && len(array.Keys()) == 0 {
			return r.vm.ToValue(strings.Repeat(sep, int(n-1)))
		}
		return r.callOriginal(original, call)
	})
}

// maxElements is the longest array that one built-in walks: such a walk can't be interrupted.
const maxElements = 1 << 25

// guardArrays bounds the built-ins that walk an array, or anything with a length, inside the interpreter.
func (r *Runtime) guardArrays() {
	array := r.vm.Get("Array").(*goja.Object)
	proto := array.Get("prototype").(*goja.Object)
	for _, name := range []string{
		"fill", "indexOf", "lastIndexOf", "includes", "reverse", "copyWithin", "splice", "slice", "concat", "sort",
		"flat", "shift", "unshift", "forEach", "map", "filter", "some", "every", "reduce", "reduceRight",
	} {
		original, ok := goja.AssertFunction(proto.Get(name))
		if !ok {
			continue
		}
		r.native(proto, name, func(call goja.FunctionCall) goja.Value {
			r.limitLength(call.This)
			return r.callOriginal(original, call)
		})
	}
	from, _ := goja.AssertFunction(array.Get("from"))
	r.native(array, "from", func(call goja.FunctionCall) goja.Value {
		r.limitLength(call.Argument(0))
		return r.callOriginal(from, call)
	})
	for _, name := range []string{
		"ArrayBuffer", "Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array",
		"Int32Array", "Uint32Array", "Float32Array", "Float64Array", "BigInt64Array", "BigUint64Array",
	} {
		if original, ok := r.vm.Get(name).(*goja.Object); ok {
			r.guardConstructor(name, original, func(args []goja.Value) {
				if len(args) > 0 && goja.IsNumber(args[0]) && args[0].ToFloat() > maxElements {
					r.throw("RangeError", "invalid array length")
				} else if len(args) > 0 {
					r.limitLength(args[0])
				}
			})
		}
	}
}

// guardConstructor puts a constructor that checks its arguments first in the place of original.
func (r *Runtime) guardConstructor(name string, original *goja.Object, check func(args []goja.Value)) {
	proto := original.Get("prototype").(*goja.Object)
	guarded := r.vm.ToValue(func(call goja.ConstructorCall) *goja.Object {
		check(call.Arguments)
		obj, err := r.vm.New(original, call.Arguments...)
		if err != nil {
			r.rethrow(err)
		}
		return obj
	}).(*goja.Object)
	must(guarded.SetPrototype(original)) // what original has besides, this has, too
	must(guarded.DefineDataProperty("name", r.vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	must(guarded.DefineDataProperty("prototype", proto, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE))
	must(proto.DefineDataProperty("constructor", guarded, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
	must(r.vm.Set(name, guarded))
}

// limitLength throws for an array, or what passes for one, that is too long.
func (r *Runtime) limitLength(v Value) {
	obj, ok := v.(*goja.Object)
	if !ok || obj.ExportType() == valuesType {
		return
	}
	if n := obj.Get("length"); n != nil && n.ToFloat() > maxElements {
		r.throw("RangeError", "invalid array length")
	}
}

// limitText throws for n repeats of unit characters that are too long together.
func (r *Runtime) limitText(n, unit int64) {
	if n > 0 && unit > 0 && n > maxStringBytes/unit {
		r.throw("RangeError", "invalid string length")
	}
}

func (r *Runtime) callOriginal(f goja.Callable, call goja.FunctionCall) goja.Value {
	v, err := f(call.This, call.Arguments...)
	if err != nil {
		r.rethrow(err)
	}
	return v
}
