package script

import (
	"strings"

	"github.com/dop251/goja"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
)

// ToJS converts a BSON value. The result does not depend on v.Data afterwards.
// Code becomes a function, so that a scope may hold functions; it panics with a
// JavaScript exception when that code does not compile, so use it inside a call only.
func (r *Runtime) ToJS(v bsonx.Value) Value { return r.toJS(v, false) }

// toJSChecked is ToJS outside of a call.
func (r *Runtime) toJSChecked(v bsonx.Value) (js Value, err error) {
	if ex := r.vm.Try(func() { js = r.toJS(v, false) }); ex != nil {
		return nil, r.failure("scope", ex)
	}
	return js, nil
}

// toJS converts v. owned says that v.Data belongs to JavaScript values already
// and stays as it is; otherwise what must be kept is copied.
func (r *Runtime) toJS(v bsonx.Value, owned bool) Value {
	switch v.Type {
	case bsonx.TypeDouble:
		return r.vm.ToValue(v.Double())
	case bsonx.TypeInt32:
		return r.vm.ToValue(int64(v.Int32()))
	case bsonx.TypeString, bsonx.TypeSymbol:
		return r.vm.ToValue(v.Str())
	case bsonx.TypeBoolean:
		if v.Bool() {
			return r.yes
		}
		return r.no
	case bsonx.TypeNull:
		return r.null
	case bsonx.Missing, bsonx.TypeUndefined:
		return r.undefined
	case bsonx.TypeEmbeddedDocument:
		return r.documentObject(v.Doc(), owned)
	case bsonx.TypeArray:
		if !owned {
			v = v.Clone()
		}
		return r.array(v)
	case bsonx.TypeDateTime:
		return r.newDate(v.Int64())
	case bsonx.TypeRegex:
		return r.newRegexp(v.Regex())
	case bsonx.TypeJavaScript:
		return r.codeToFunction(v)
	}
	if !owned {
		v = v.Clone()
	}
	return r.box(v)
}

// array makes a JavaScript array of an array whose bytes are owned.
func (r *Runtime) array(v bsonx.Value) *goja.Object {
	items := make([]any, 0, 8)
	it := v.Elems()
	for it.Next() {
		items = append(items, r.toJS(it.Value(), true))
	}
	return r.vm.NewArray(items...)
}

// newDate makes a Date; a time that JavaScript can't hold becomes an invalid date.
func (r *Runtime) newDate(ms int64) *goja.Object {
	obj, err := r.vm.New(r.kinds.date, r.vm.ToValue(ms))
	must(err)
	return obj
}

// newRegexp makes a RegExp with those options that JavaScript knows; a pattern that it
// does not understand stays a value without methods, so that it can still be passed on.
func (r *Runtime) newRegexp(pattern, options string) Value {
	flags := strings.Map(func(c rune) rune {
		if strings.ContainsRune("im", c) {
			return c
		}
		return -1
	}, options)
	obj, err := r.vm.New(r.kinds.regexp, r.vm.ToValue(pattern), r.vm.ToValue(flags))
	if err != nil || flags != options {
		return r.box(regexValue(pattern, options))
	}
	return obj
}

func regexValue(pattern, options string) bsonx.Value {
	return bsonx.Value{Type: bsonx.TypeRegex, Data: append(append(append([]byte(pattern), 0), options...), 0)}
}

// codeToFunction compiles code found in data. Code that is no function stays a Code object.
func (r *Runtime) codeToFunction(v bsonx.Value) Value {
	text, _, file, err := functionText("code", v.Str())
	if err != nil {
		return r.box(v.Clone())
	}
	f, err := r.vm.RunScript(file, text)
	if err != nil {
		return r.box(v.Clone())
	}
	return f
}

// Call runs f with this and arguments as BSON, and gives the result as BSON in
// fresh memory (undefined: Missing). Errors are *mongoerr.Error JSInterpreterFailure with
// the message, function, line and column, or the code of the context that stopped it.
func (r *Runtime) Call(f *Func, this bsonx.Value, args ...bsonx.Value) (bsonx.Value, error) {
	var out bsonx.Value
	err := r.run(f.name, func() error {
		js := make([]goja.Value, len(args))
		for i, a := range args {
			js[i] = r.toJS(a, false)
		}
		res, err := f.call(r.toJS(this, false), js...)
		if err != nil {
			return err
		}
		if res == nil || goja.IsUndefined(res) {
			return nil
		}
		out.Type, out.Data = r.appendRoot(nil, res)
		return nil
	})
	if err != nil {
		return bsonx.Value{}, err
	}
	return out, nil
}

// Invoke calls f with JavaScript values.
func (r *Runtime) Invoke(f *Func, this Value, args ...Value) (v Value, err error) {
	defer recovered(f.name, &err)
	v, err = f.call(this, args...)
	if err != nil {
		return nil, r.failure(f.name, err)
	}
	if v == nil {
		return r.undefined, nil
	}
	return v, nil
}

// run runs fn, which may throw, outside of any call. A fault of the interpreter itself becomes an error, too.
func (r *Runtime) run(name string, fn func() error) (err error) {
	defer recovered(name, &err)
	ex := r.vm.Try(func() { err = fn() })
	if ex != nil {
		err = ex
	}
	if err != nil {
		return r.failure(name, err)
	}
	return nil
}

// recovered makes an error of a fault of the interpreter, so that it ends one job and not the process.
func recovered(name string, err *error) {
	if x := recover(); x != nil {
		if stopped, ok := x.(*goja.InterruptedError); ok { // in a getter, say, while its object is converted
			if cause, ok := stopped.Value().(error); ok {
				*err = cause
				return
			}
		}
		*err = mongoerr.New(mongoerr.JSInterpreterFailure, "%s: the interpreter failed: %v", name, x)
	}
}

// Undefined is the value of that name.
func (r *Runtime) Undefined() Value { return r.undefined }

// Null is the value of that name.
func (r *Runtime) Null() Value { return r.null }

// tooDeep and tooLarge are a 4.0 server's errors of conversions.
func tooDeep() error {
	return mongoerr.New(17279, "exceeded depth limit of %d when converting js object to BSON. Do you have a cycle?", maxDepth)
}

func tooLarge() error {
	return mongoerr.New(17260, "converting from JavaScript to BSON failed: object size exceeds limit of %d bytes", maxBytes)
}

// Number makes a JavaScript number.
func (r *Runtime) Number(f float64) Value { return r.vm.ToValue(f) }

// String makes a JavaScript string.
func (r *Runtime) String(s string) Value { return r.vm.ToValue(s) }

// Array makes a JavaScript array.
func (r *Runtime) Array(items ...Value) Value {
	list := make([]any, len(items))
	for i, v := range items {
		list[i] = v
	}
	return r.vm.NewArray(list...)
}
