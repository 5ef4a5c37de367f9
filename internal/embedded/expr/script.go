package expr

import (
	"context"
	"sync"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/script"
)

// Scripts owns the JavaScript runtimes of all expressions compiled under one
// scope, so that whoever runs them can stop them. The zero value is ready.
type Scripts struct {
	mu    sync.Mutex
	all   []*script.Runtime
	ctx   context.Context
	stops []func()
	used  bool
}

// WithScripts returns a scope in which $function may be used.
func (s *Scope) WithScripts(x *Scripts) *Scope { return &Scope{parent: s, scripts: x} }

// Scripts finds what WithScripts gave, nil if nothing did.
func (s *Scope) Scripts() *Scripts {
	for ; s != nil; s = s.parent {
		if s.scripts != nil {
			return s.scripts
		}
	}
	return nil
}

// Use notes that JavaScript was compiled under the scope.
func (x *Scripts) Use() { x.used = true }

// Used reports whether there is anything to watch.
func (x *Scripts) Used() bool { return x.used }

// Watch interrupts running scripts when ctx ends, until stop is called; stop must be
// called when no script runs. Scripts begun meanwhile are watched too. A Watch within another does nothing.
func (x *Scripts) Watch(ctx context.Context) (stop func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ctx != nil || !x.used {
		return func() {}
	}
	x.ctx = ctx
	for _, r := range x.all {
		x.stops = append(x.stops, r.Watch(ctx))
	}
	return func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		for _, s := range x.stops {
			s()
		}
		x.ctx, x.stops = nil, nil
	}
}

// Runtime makes a runtime for one goroutine.
func (x *Scripts) Runtime() *script.Runtime {
	x.mu.Lock()
	defer x.mu.Unlock()
	r := script.New()
	x.all = append(x.all, r)
	if x.ctx != nil {
		x.stops = append(x.stops, r.Watch(x.ctx))
	}
	return r
}

// functionNode is $function. The state keeps one runtime and the compiled functions.
type functionNode struct {
	scripts *Scripts
	src     string
	args    []node
	slot    int
}

func (n *functionNode) kids() []node { return n.args }

func (n *functionNode) eval(st *state) (bsonx.Value, error) {
	if st.js == nil {
		st.js = n.scripts.Runtime()
		st.funcs = map[int]*script.Func{}
	}
	f := st.funcs[n.slot]
	if f == nil {
		var err error
		if f, err = st.js.Function("$function", n.src); err != nil {
			return missing, err
		}
		st.funcs[n.slot] = f
	}
	base := len(st.stack)
	for _, k := range n.args {
		v, err := k.eval(st)
		if err != nil {
			st.stack = st.stack[:base]
			return missing, err
		}
		st.stack = append(st.stack, v)
	}
	v, err := st.js.Call(f, missing, st.stack[base:]...)
	st.stack = st.stack[:base]
	return v, err
}

func parseFunction(c *compiler, name string, arg bsonx.Value) (node, error) {
	f, err := rawFields(arg, name, 4660800, 4660801, "body", "args", "lang")
	if err != nil {
		return nil, err
	}
	body, ok := f["body"]
	if !ok {
		return nil, errf(4660802, "The body function must be specified.")
	}
	if body.Type != tString && body.Type != tCode {
		return nil, errf(4660803, "The body function must evaluate to type string or code")
	}
	args, ok := f["args"]
	if !ok || args.Type != tArray {
		return nil, errf(4660804, "The args field must be specified, as an array.")
	}
	if lang, ok := f["lang"]; !ok || lang.Type != tString || lang.Str() != "js" {
		return nil, errf(4660805, "The lang field must be specified: only 'js' is supported.")
	}
	x := c.scope.Scripts()
	if x == nil {
		return nil, errf(mongoerr.CommandNotSupported, "%s is not supported in this place by this engine: it may stand in a filter's $expr, a projection and in stages", name)
	}
	x.Use()
	n := &functionNode{scripts: x, src: body.Str(), slot: c.functions}
	c.functions++
	n.args, err = c.list(args)
	return n, err
}
