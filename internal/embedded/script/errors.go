package script

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dop251/goja"

	"mrbench/internal/embedded/mongoerr"
)

// failure turns what the interpreter reports into a command error: the message,
// then function:line:column of the innermost frame that has a source, in the
// layout of a 4.0 server. fn names the function that was called.
func (r *Runtime) failure(fn string, err error) error {
	var stopped *goja.InterruptedError
	if errors.As(err, &stopped) {
		if cause, ok := stopped.Value().(error); ok {
			return cause
		}
		return mongoerr.New(mongoerr.Interrupted, "operation was interrupted")
	}
	var deep *goja.StackOverflowError
	if errors.As(err, &deep) {
		return mongoerr.New(mongoerr.JSInterpreterFailure, "InternalError: too much recursion :\n%s", place(fn, deep.Stack()))
	}
	var ex *goja.Exception
	if !errors.As(err, &ex) {
		var coded *mongoerr.Error
		if errors.As(err, &coded) {
			return coded
		}
		return mongoerr.New(mongoerr.JSInterpreterFailure, "%v", err)
	}
	var coded *mongoerr.Error
	if errors.As(r.raisedAs(ex.Value()), &coded) {
		return mongoerr.New(coded.Code, "Error: %s :\n%s", coded.Msg, place(fn, ex.Stack()))
	}
	return mongoerr.New(mongoerr.JSInterpreterFailure, "%s :\n%s", thrownText(ex.Value()), place(fn, ex.Stack()))
}

// raisedError is an error of a Go function as a script sees it, and what it really is.
type raisedError struct {
	seen *goja.Object
	err  error
}

// goError makes an error object of err. The interpreter's own way puts err itself into the object, whose fields and
// methods a script could then use.
func (r *Runtime) goError(err error) *goja.Object {
	obj := r.vm.NewGoError(err)
	must(obj.Delete("value"))
	copy(r.raised[:], r.raised[1:])
	r.raised[len(r.raised)-1] = raisedError{obj, err}
	return obj
}

// raisedAs is what an uncaught value was made from; nil if it is the script's own, or was kept for too long.
func (r *Runtime) raisedAs(v Value) error {
	obj, ok := v.(*goja.Object)
	if !ok {
		return nil
	}
	for _, e := range r.raised {
		if e.seen == obj {
			return e.err
		}
	}
	return nil
}

// thrownText is the message of a thrown value. It runs no script: a hostile
// toString must not get another turn.
func thrownText(v Value) string {
	obj, ok := v.(*goja.Object)
	if !ok {
		if v == nil {
			return "uncaught exception"
		}
		if _, sym := v.(*goja.Symbol); sym {
			return "uncaught exception: a symbol"
		}
		return "uncaught exception: " + v.String()
	}
	if obj.ClassName() != "Error" {
		return "uncaught exception: [object " + obj.ClassName() + "]"
	}
	text := func(name string) string {
		if s, ok := dataProperty(obj, name).(goja.String); ok {
			return s.String()
		}
		return ""
	}
	name, msg := text("name"), text("message")
	switch {
	case name == "":
		return "Error: " + msg
	case msg == "":
		return name
	default:
		return name + ": " + msg
	}
}

// dataProperty reads a property that an error is expected to have; a getter that throws counts as absent.
func dataProperty(obj *goja.Object, name string) (v Value) {
	defer func() {
		if recover() != nil {
			v = nil
		}
	}()
	return obj.Get(name)
}

// place is "fn@:line:column\n" of the innermost scripted frame.
func place(fn string, stack []goja.StackFrame) string {
	for i := range stack {
		if pos := stack[i].Position(); pos.Line > 0 && pos.Filename != "" {
			col := pos.Column
			if pos.Line == 1 {
				col = max(1, col-prefixLen(pos.Filename))
			}
			where := strings.TrimSuffix(pos.Filename, wrappedSuffix)
			if where == preludeName {
				continue
			}
			return fmt.Sprintf("%s@:%d:%d\n", where, pos.Line, col)
		}
	}
	return fn + "@\n"
}
