package script

import (
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/dop251/goja"

	"mrbench/internal/embedded/bsonx"
)

// list reads any array-like value element by element.
type list struct {
	values *Values
	obj    *goja.Object
	n      int
}

func (r *Runtime) listOf(v Value, what string) list {
	obj, ok := v.(*goja.Object)
	if !ok {
		r.throw("TypeError", "%s needs an array", what)
	}
	if obj.ExportType() == valuesType {
		if vs, ok := obj.Export().(*Values); ok {
			return list{values: vs, n: len(vs.items)}
		}
	}
	n := obj.Get("length")
	if n == nil {
		r.throw("TypeError", "%s needs an array", what)
	}
	return list{obj: obj, n: int(min(max(n.ToInteger(), 0), math.MaxInt32))}
}

// poll lets a helper's walk over a long array be interrupted.
func (r *Runtime) poll(i int) {
	if i&0xfff == 0xfff && r.watch.ctx.Err() != nil {
		r.vm.Interrupt(Interruption(r.watch.ctx))
		r.throw("Error", "interrupted")
	}
}

func (l list) at(i int) Value {
	if l.values != nil {
		return l.values.at(i)
	}
	if v := l.obj.Get(strconv.Itoa(i)); v != nil {
		return v
	}
	return goja.Undefined()
}

func (l list) number(i int) (float64, bool) {
	if l.values != nil {
		return l.values.items[i].number()
	}
	if v := l.obj.Get(strconv.Itoa(i)); v != nil && goja.IsNumber(v) {
		return v.ToFloat(), true
	}
	return 0, false
}

// sum adds as `s += x` does from the first element on; null for an empty array.
func (r *Runtime) sum(l list) Value {
	if l.n == 0 {
		return r.null
	}
	f, ok := l.number(0)
	i := 1
	for ; ok && i < l.n; i++ {
		r.poll(i)
		var x float64
		if x, ok = l.number(i); ok {
			f += x
		} else {
			i--
		}
	}
	if ok {
		return r.vm.ToValue(f)
	}
	// Not all numbers: from there on by JavaScript's own addition, which joins strings.
	var s Value
	if i == 1 {
		if first, isNumber := l.number(0); isNumber {
			s = r.vm.ToValue(first)
		} else {
			s = l.at(0)
		}
	} else {
		s = r.vm.ToValue(f)
	}
	for ; i < l.n; i++ {
		r.poll(i)
		v, err := r.strictAdd(r.undefined, s, l.at(i))
		if err != nil {
			r.rethrow(err)
		}
		s = v
	}
	return s
}

func (r *Runtime) equal(a, b Value) bool {
	v, err := r.looseEqual(r.undefined, a, b)
	if err != nil {
		r.rethrow(err)
	}
	return v.ToBoolean()
}

// defineArrayHelpers defines Array.sum and its family.
func (r *Runtime) defineArrayHelpers() {
	r.strictAdd = r.compiled("(function (a, b) { return a + b; })")
	r.looseEqual = r.compiled("(function (a, b) { return a == b; })")
	array := r.vm.Get("Array").(*goja.Object)
	r.native(array, "sum", func(call goja.FunctionCall) goja.Value {
		return r.sum(r.listOf(call.Argument(0), "Array.sum"))
	})
	r.native(array, "avg", func(call goja.FunctionCall) goja.Value {
		l := r.listOf(call.Argument(0), "Array.avg")
		if l.n == 0 {
			return r.null
		}
		return r.vm.ToValue(r.sum(l).ToFloat() / float64(l.n))
	})
	r.native(array, "stdDev", func(call goja.FunctionCall) goja.Value {
		l := r.listOf(call.Argument(0), "Array.stdDev")
		if l.n == 0 {
			return r.vm.ToValue(math.NaN())
		}
		avg := r.sum(l).ToFloat() / float64(l.n)
		sum := 0.0
		for i := range l.n {
			r.poll(i)
			d := l.at(i).ToFloat() - avg
			sum += d * d
		}
		return r.vm.ToValue(math.Sqrt(sum / float64(l.n)))
	})
	r.native(array, "contains", func(call goja.FunctionCall) goja.Value {
		l := r.listOf(call.Argument(0), "Array.contains")
		for i := range l.n {
			r.poll(i)
			if r.equal(l.at(i), call.Argument(1)) {
				return r.yes
			}
		}
		return r.no
	})
	r.native(array, "unique", func(call goja.FunctionCall) goja.Value {
		l := r.listOf(call.Argument(0), "Array.unique")
		var out []any
	next:
		for i := range l.n {
			r.poll(i)
			v := l.at(i)
			for j, o := range out {
				r.poll(j)
				if r.equal(o.(Value), v) {
					continue next
				}
			}
			out = append(out, v)
		}
		return r.vm.NewArray(out...)
	})
	r.native(array, "shuffle", func(call goja.FunctionCall) goja.Value {
		obj, ok := call.Argument(0).(*goja.Object)
		if !ok {
			r.throw("TypeError", "Array.shuffle needs an array")
		}
		l := r.listOf(obj, "Array.shuffle")
		for i := range l.n - 1 {
			j := i + rand.IntN(l.n-i)
			a, b := l.at(i), l.at(j)
			must2(r, obj.Set(strconv.Itoa(i), b))
			must2(r, obj.Set(strconv.Itoa(j), a))
		}
		return obj
	})
	r.native(array, "tojson", func(call goja.FunctionCall) goja.Value {
		w := jsonWriter{r: r, oneLine: call.Argument(2).ToBoolean()}
		return r.vm.ToValue(w.value(call.Argument(0), textOr(call.Argument(1), ""), 0))
	})
	r.native(array, "intersection", func(call goja.FunctionCall) goja.Value {
		a, b := r.listOf(call.Argument(0), "Array.intersection"), r.listOf(call.Argument(1), "Array.intersection")
		var out []any
		for i := range a.n {
			for j := range b.n {
				r.poll(j)
				if r.equal(a.at(i), b.at(j)) {
					out = append(out, a.at(i))
					break
				}
			}
		}
		return r.vm.NewArray(out...)
	})
}

func must2(r *Runtime, err error) {
	if err != nil {
		r.rethrow(err)
	}
}

func (r *Runtime) compiled(src string) goja.Callable {
	v, err := r.vm.RunScript(preludeName, src)
	must(err)
	f, ok := goja.AssertFunction(v)
	if !ok {
		panic("script: not a function: " + src)
	}
	return f
}

// compare orders two JavaScript values as BSON.
func (r *Runtime) compare(a, b Value) int {
	ta, da := r.appendValue(nil, a, 0)
	tb, db := r.appendValue(nil, b, 0)
	return bsonx.Compare(bsonx.Value{Type: ta, Data: da}, bsonx.Value{Type: tb, Data: db})
}
