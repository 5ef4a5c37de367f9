package translate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"

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

// ex renders v as an expression.
func (x *exec) ex(v *val) any {
	switch {
	case v.isConst:
		return literal(v.c)
	case v.stale:
		panic(conflict{})
	case v.path != "":
		for i, u := range x.unwound {
			if i >= v.depth {
				if u == v.path || strings.HasPrefix(u, v.path+".") || strings.HasPrefix(v.path, u+".") {
					panic(conflict{})
				}
			}
		}
		if x.plain {
			return v.path
		}
		var arrays []any
		anc := v.anc
		if k := x.kindsOf(v); !k.has(kUndef) {
			anc = nil // below an array it would be undefined
		}
		for _, a := range anc {
			if k, ok := x.st.known[a]; !ok || k.has(kArr) {
				arrays = append(arrays, doc("$isArray", bson.A{a}))
			}
		}
		return cond(any2(arrays...), "$$REMOVE", v.path)
	case v.obj != nil:
		return x.objectExpr(v.obj)
	case v.isArr:
		a := bson.A{}
		for _, item := range v.arr {
			e := x.ex(item)
			if e == "$$REMOVE" {
				e = nil
			}
			a = append(a, e)
		}
		return a
	case v.sp == spTypeof:
		return x.typeofExpr(v.of)
	case v.sp == spLength:
		x.refuse(v.at, RefuseLength, "reduce uses how many values it gets: results of an earlier reduce are among them, so that is not how often the key was emitted; emit a count and add it up")
	case v.e != nil:
		return v.e
	}
	x.refuse(nil, RefuseSyntax, "a %s can't be used as a value here", v.describe())
	return nil
}

func (v *val) describe() string {
	switch {
	case v.fn != nil:
		return "function"
	case v.sp == spThis:
		return "document as a whole"
	case v.sp == spPoison:
		return "value that changes from round to round of a loop"
	case v.sp == spGlobal:
		return "built-in (" + v.name + ")"
	case v.sp == spValues:
		return "list of values"
	case v.sp == spIndex:
		return "loop index"
	}
	return "thing of this kind"
}

func (x *exec) objectExpr(o *object) any {
	d := bson.D{}
	for _, name := range o.names {
		v := o.vals[name]
		e := x.ex(v)
		if x.kindsOf(v).has(kUndef) {
			e = orNull(e) // JavaScript keeps the field
		}
		d = append(d, bson.E{Key: name, Value: e})
	}
	if len(o.dyn) == 0 {
		if len(d) == 0 {
			return doc("$literal", d)
		}
		return d
	}
	pairs := bson.A{}
	for _, p := range o.dyn {
		pairs = append(pairs, bson.D{{Key: "k", Value: x.ex(p.k)}, {Key: "v", Value: x.ex(p.v)}})
	}
	dyn := doc("$arrayToObject", bson.A{pairs})
	if len(d) == 0 {
		return dyn
	}
	return call("$mergeObjects", d, dyn)
}

func orNull(e any) any {
	if e == "$$REMOVE" || e == nil {
		return nil
	}
	return call("$ifNull", e, nil)
}

// literal is a constant as an expression.
func literal(c any) any {
	switch c := c.(type) {
	case undefined:
		return "$$REMOVE"
	case string:
		if strings.HasPrefix(c, "$") {
			return doc("$literal", c)
		}
		return c
	case float64:
		if c == math.Trunc(c) && math.Abs(c) < 1<<31 && !(c == 0 && math.Signbit(c)) {
			return int32(c)
		}
		return c
	case bson.D, bson.A:
		return doc("$literal", c)
	}
	return c
}

func kindOfBSON(c any) kinds {
	switch c.(type) {
	case int32, float64:
		return kNum
	case int64:
		return kLong
	case primitive.Decimal128:
		return kDec
	case primitive.DateTime:
		return kDate
	case primitive.ObjectID:
		return kOID
	case primitive.Regex:
		return kRegex
	case bson.A:
		return kArr
	case bson.D:
		return kObj
	case string:
		return kStr
	case bool:
		return kBool
	case nil:
		return kNull
	case primitive.Undefined:
		return kUndef
	}
	return kOther
}

// simple expressions may be written twice.
func simple(e any) bool {
	switch e := e.(type) {
	case bson.D:
		return len(e) == 1 && e[0].Key == "$literal"
	case bson.A:
		return false
	}
	return true
}

// bind makes v cheap to use several times in what fn returns.
func (x *exec) bind(v *val, fn func(*val) any) any {
	e := x.ex(v)
	if simple(e) {
		return fn(v)
	}
	name := x.fresh("v")
	return doc("$let", bson.D{{Key: "vars", Value: doc(name, e)}, {Key: "in", Value: fn(&val{e: "$$" + name, k: x.kindsOf(v), small: v.small})}})
}

// cond, all2, any2 and not fold what is constant.
func cond(test, a, b any) any {
	switch test {
	case true:
		return a
	case false:
		return b
	}
	if a == true && b == false {
		return test
	}
	return call("$cond", test, a, b)
}

func all2(list ...any) any { return junction("$and", true, list) }
func any2(list ...any) any { return junction("$or", false, list) }

func junction(op string, neutral bool, list []any) any {
	var out bson.A
	for _, e := range list {
		switch e {
		case neutral:
			continue
		case !neutral:
			return !neutral
		}
		if d, ok := e.(bson.D); ok && len(d) == 1 && d[0].Key == op {
			out = append(out, d[0].Value.(bson.A)...)
			continue
		}
		out = append(out, e)
	}
	switch len(out) {
	case 0:
		return neutral
	case 1:
		return out[0]
	}
	return doc(op, out)
}

func not(e any) any {
	switch e {
	case true:
		return false
	case false:
		return true
	}
	if d, ok := e.(bson.D); ok && len(d) == 1 {
		if a, isArray := d[0].Value.(bson.A); isArray {
			switch d[0].Key {
			case "$not":
				return a[0]
			case "$eq":
				return doc("$ne", a)
			case "$ne":
				return doc("$eq", a)
			case "$or", "$and":
				var list []any
				for _, e := range a {
					list = append(list, not(e))
				}
				if d[0].Key == "$or" {
					return all2(list...)
				}
				return any2(list...)
			}
		}
	}
	return call("$not", e)
}

// isKind tests the type of an expression.
func (x *exec) isKind(v *val, k kinds) any {
	have := x.kindsOf(v)
	switch {
	case have.only(k):
		return true
	case !have.has(k):
		return false
	}
	e := x.ex(v)
	if have&k == have&kNullish && k&have == kNullish&have {
		return call("$eq", orNull(e), nil)
	}
	if have&k == kArr {
		return doc("$isArray", bson.A{e})
	}
	yes, no := typeNames(have&k), typeNames(have&^k)
	if len(no) < len(yes) {
		return not(inList(doc("$type", e), no))
	}
	return inList(doc("$type", e), yes)
}

func inList(e any, list []string) any {
	if len(list) == 1 {
		return call("$eq", e, list[0])
	}
	a := bson.A{}
	for _, s := range list {
		a = append(a, s)
	}
	return call("$in", e, a)
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
