package script

import "github.com/dop251/goja"

// Inside calls step until it gives false or an error, so that what step calls by Invoke runs inside of one call of a script. The
// interpreter gives up its stack at the end of each outermost call and makes another for the next, which costs as much as a
// small function. Promises that a step made are kept right behind that step, as they are behind an outermost call.
func (r *Runtime) Inside(step func() (more bool, err error)) (err error) {
	more := true
	run := r.vm.ToValue(func(goja.FunctionCall) goja.Value {
		for r.promised = false; more && err == nil && !r.promised; {
			more, err = step()
		}
		return r.undefined
	})
	for more && err == nil {
		if _, outer := r.Invoke(r.enter, r.undefined, run); err == nil {
			err = outer
		}
	}
	return err
}

// defineInside makes the call that steps are inside of. Its file's name keeps it out of the places that errors name.
func (r *Runtime) defineInside() {
	v, err := r.vm.RunScript(preludeName, "(function (run) { run(); })")
	must(err)
	call, _ := goja.AssertFunction(v)
	r.enter = &Func{name: "map", call: call}
	r.vm.SetAsyncContextTracker(promises{r})
}

// promises notes when something is to run behind the present call.
type promises struct{ r *Runtime }

func (p promises) Grab() any { p.r.promised = true; return nil }
func (promises) Resumed(any) {}
func (promises) Exited()     {}
