package script

import (
	"context"
	"fmt"

	"github.com/dop251/goja"

	"mrbench/internal/embedded/bsonx"
)

// Value is a JavaScript value of one Runtime.
type Value = goja.Value

// maxCallDepth bounds recursion, so that a runaway function is an error of that
// function and not the end of the process.
const maxCallDepth = 2500

// Runtime is one JavaScript world: its globals live as long as it does, as they
// do within one job of MongoDB. Not safe for concurrent use.
type Runtime struct {
	vm    *goja.Runtime
	watch watcher
	kinds kinds

	undefined, null Value
	yes, no         Value
	strictAdd       goja.Callable // (a, b) => a + b, for sums that are not all numbers
	looseEqual      goja.Callable // (a, b) => a == b

	enter    *Func // what Inside calls
	promised bool  // something waits for the end of the outermost call

	raised [8]raisedError // the latest errors of Go functions, next to be replaced first
}

// New makes a runtime with all helpers.
func New() *Runtime {
	r := &Runtime{vm: goja.New()}
	r.vm.SetMaxCallStackSize(maxCallDepth)
	r.watch = watcher{ctx: context.Background(), growth: maxGrowth}
	r.undefined, r.null = goja.Undefined(), goja.Null()
	r.yes, r.no = r.vm.ToValue(true), r.vm.ToValue(false)
	r.defineKinds()
	r.defineArrayHelpers()
	r.defineText()
	r.defineHelpers()
	r.defineMath()
	r.guardStrings()
	r.guardArrays()
	r.guardEval()
	r.defineInside()
	return r
}

// SetGlobal defines a global from a BSON value (mapReduce's scope).
func (r *Runtime) SetGlobal(name string, v bsonx.Value) error {
	js, err := r.toJSChecked(v)
	if err != nil {
		return err
	}
	if err := r.vm.GlobalObject().Set(name, js); err != nil {
		return fmt.Errorf("scope variable %q: %w", name, r.failure("scope", err))
	}
	return nil
}

// SetNative defines a global function that is written in Go. An error that it
// returns is thrown into the script; if the script lets it pass, Invoke returns
// that error, with its code. args are valid during the call only.
func (r *Runtime) SetNative(name string, fn func(args []Value) (Value, error)) {
	f := r.vm.ToValue(func(call goja.FunctionCall) goja.Value {
		v, err := fn(call.Arguments)
		if err != nil {
			panic(r.goError(err))
		}
		return v
	})
	// The global object is an ordinary one: defining a property on it cannot fail
	// unless a script has frozen it, and then the script keeps what it has.
	_ = r.vm.GlobalObject().Set(name, f)
}

// native registers a function property of an object.
func (r *Runtime) native(on *goja.Object, name string, fn func(call goja.FunctionCall) goja.Value) {
	must(on.DefineDataProperty(name, r.vm.ToValue(fn), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
}

// getter registers a computed property of an object.
func (r *Runtime) getter(on *goja.Object, name string, fn func(call goja.FunctionCall) goja.Value) {
	must(on.DefineAccessorProperty(name, r.vm.ToValue(fn), nil, goja.FLAG_TRUE, goja.FLAG_FALSE))
}

// throw raises a JavaScript error of the class ("Error", "TypeError", …).
func (r *Runtime) throw(class, format string, args ...any) {
	ctor := r.vm.Get(class)
	obj, err := r.vm.New(ctor, r.vm.ToValue(fmt.Sprintf(format, args...)))
	if err != nil {
		panic(r.vm.NewTypeError(fmt.Sprintf(format, args...)))
	}
	panic(obj)
}

// must guards set-up steps that can only fail by a fault of this package.
func must(err error) {
	if err != nil {
		panic(fmt.Sprintf("script: setting up the runtime: %v", err))
	}
}
