package translate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"go.mongodb.org/mongo-driver/bson"

	"mrbench/mr/jobfile"
)

// tr is one attempt at translating a job.
type tr struct {
	plain   bool // no guards
	caveats []Caveat
	scope   map[string]*val // the job's
	names   int
	version serverVersion // the oldest server that knows all operators in use
	mode    loopMode
	unwound []string // paths whose arrays a loop has replaced by an element
	used    []string // field paths that were read
}

// conflict says that this mode of loops does not do for the job.
type conflict struct{}

// source is where code of the job is.
type source = *jobfile.Parsed

// exec runs code of the job with symbols instead of values.
type exec struct {
	*tr
	src     source
	st      *state
	sc      *scope
	env     *env
	this    *val
	mapping bool  // emit is there
	conds   []any // of the expression under way: operands of && and ?: on the way to it
	first   *val  // values[0] of reduce
	item    *val  // a value of reduce
	depth   int
}

// state is what differs between branches.
type state struct {
	store map[int]*val
	live  []any // what has to hold for control to be here, since the scope began; all of them
	dead  bool
	known facts
	rets  *[]returned
}

type returned struct {
	live []any
	v    *val
	node ast.Node
}

func (s *state) fork() *state {
	c := *s
	c.store = make(map[int]*val, len(s.store))
	for k, v := range s.store {
		c.store[k] = v
	}
	c.live = slices.Clip(s.live)
	return &c
}

// env is where names are looked up.
type env struct {
	cells  map[string]int
	parent *env
}

func (e *env) find(name string) (int, bool) {
	for ; e != nil; e = e.parent {
		if c, ok := e.cells[name]; ok {
			return c, true
		}
	}
	return 0, false
}

func (x *exec) declare(name string, v *val) {
	x.names++
	x.env.cells[name] = x.names
	x.st.store[x.names] = v
}

// scope gathers what happens for each document, or each element of a loop.
type scope struct {
	parent *scope
	checks []check
	nodes  []node
}

// check is a place where JavaScript throws.
type check struct {
	bad  any
	fail any
}

// refuse gives up.
func (x *exec) refuse(n ast.Node, id, format string, args ...any) {
	panic(&Refusal{ID: id, Position: x.pos(n), Message: fmt.Sprintf(format, args...)})
}

func (x *exec) pos(n ast.Node) jobfile.Position {
	if n == nil {
		return x.src.Function.Position(1, 1)
	}
	return x.src.Position(n)
}

func (x *exec) text(n ast.Node) string {
	s := strings.Join(strings.Fields(x.src.Source(n)), " ")
	if r := []rune(s); len(r) > 40 {
		s = string(r[:39]) + "…"
	}
	return s
}

func (t *tr) caveat(p jobfile.Position, id, format string, args ...any) {
	c := Caveat{ID: id, Position: p, Message: fmt.Sprintf(format, args...)}
	for _, o := range t.caveats {
		if o.ID == c.ID && (o.Position == c.Position || o.Message == c.Message) {
			return
		}
	}
	t.caveats = append(t.caveats, c)
}

// fresh makes a variable's name that nothing else has.
func (t *tr) fresh(prefix string) string {
	t.names++
	return fmt.Sprintf("%s%d", prefix, t.names)
}

// kindsOf is what v may be here.
func (x *exec) kindsOf(v *val) kinds {
	if v.path != "" {
		if k, ok := x.st.known[v.path]; ok {
			return v.k & k
		}
	}
	return v.k
}

// learn narrows a path from here on.
func (x *exec) learn(v *val, k kinds) {
	if v.path != "" {
		x.st.known = x.st.known.with(facts{v.path: k})
	}
}

// under evaluates what JavaScript evaluates only when cond holds.
func (x *exec) under(cond any, f facts, fn func()) {
	conds, known := x.conds, x.st.known
	if cond != true {
		x.conds = append(slices.Clip(conds), cond)
	}
	x.st.known = known.with(f)
	fn()
	x.conds, x.st.known = conds, known
}

// throws notes that JavaScript throws when bad holds; v is what the message tells the type of.
func (x *exec) throws(n ast.Node, bad any, v any, format string, args ...any) {
	if bad == false {
		return
	}
	if x.plain {
		return
	}
	all := append(append(slices.Clone(x.st.live), x.conds...), bad)
	x.sc.checks = append(x.sc.checks, check{bad: all2(all...), fail: x.fail(n, v, format, args...)})
}

// fail is an expression that ends the pipeline with a message. It depends on data, so that no server
// computes it before it is reached.
func (x *exec) fail(n ast.Node, v any, format string, args ...any) any {
	x.needs(v40)
	text := fmt.Sprintf("mrbench: %s: %s, found ", x.pos(n), fmt.Sprintf(format, args...))
	x.caveat(x.pos(n), CaveatGuard, "%s, or the pipeline fails", fmt.Sprintf(format, args...))
	if isConstantExpr(v) {
		v = "$_id"
	}
	return doc("$toInt", call("$concat", text, doc("$type", v)))
}

func isConstantExpr(v any) bool {
	switch v := v.(type) {
	case string:
		return !strings.HasPrefix(v, "$") || v == "$$REMOVE"
	case bson.D, bson.A:
		return false
	}
	return true
}

// inline evaluates something whose checks can't wait for a stage of their own.
func (x *exec) inline(fn func() any) any {
	sc, conds, st := x.sc, x.conds, x.st
	x.sc, x.conds = &scope{parent: sc}, nil
	x.st = st.fork()
	x.st.live = nil
	e := fn()
	checks := x.sc.checks
	x.sc, x.conds = sc, conds
	st.store = x.st.store
	x.st = st
	for _, c := range slices.Backward(checks) {
		e = cond(c.bad, c.fail, e)
	}
	return e
}

// serverVersion is major*100+minor.
type serverVersion int

const (
	v36 serverVersion = 306
	v40 serverVersion = 400
	v42 serverVersion = 402
	v44 serverVersion = 404
)

func (v serverVersion) String() string { return fmt.Sprintf("%d.%d", v/100, v%100) }

func (t *tr) needs(v serverVersion) { t.version = max(t.version, v) }
