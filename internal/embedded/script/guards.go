package script

import (
	"strings"

	"github.com/dop251/goja"
)

// maxStringBytes is the longest text that one built-in may make; longer ones are a RangeError, as in other
// engines. It is far above what a document can hold.
const maxStringBytes = 256 << 20

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
