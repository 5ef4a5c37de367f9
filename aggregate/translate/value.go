package translate

import (
	"github.com/dop251/goja/ast"
	"go.mongodb.org/mongo-driver/bson"
)

// val is what the translator knows of a JavaScript value: a constant, a path, an expression, an object or array
// written out, a function, or one of the special things below.
type val struct {
	k       kinds
	isConst bool
	c       any // of a constant: string, float64, bool, nil, undefined{}, or another BSON value
	e       any // an expression
	path    string
	anc     []string // paths above, none of which may be an array for the path to mean what JavaScript means
	obj     *object
	arr     []*val
	isArr   bool
	fn      *closure
	sp      special
	of      *val
	name    string // of a special
	op      string // how it was computed, for recognizing what reduce does
	args    []*val
	elem    bool // of a path: it begins at an element of a loop
	depth   int  // how many loops had taken the place of their arrays
	small   bool // a whole number that the server has as an int
	nonzero bool // a number that is never 0
	stale   bool // computed before a loop took the place of what it reads
	shaped  bool // of an object: it has these fields and no others
	bag     bool // an object whose fields are sums under names found in the data
	fold    *fold
	at      ast.Node // of values.length
	// What is known of paths when the value is true, and when it is false.
	yes, no facts
	test    any // whether it is true, when that is known better than from e; nil otherwise
}

// facts narrow the kinds of values at paths.
type facts map[string]kinds

func (f facts) with(g facts) facts {
	if len(g) == 0 {
		return f
	}
	out := facts{}
	for p, k := range f {
		out[p] = k
	}
	for p, k := range g {
		if old, ok := out[p]; ok {
			k &= old
		}
		out[p] = k
	}
	return out
}

// either keeps what both know.
func (f facts) either(g facts) facts {
	out := facts{}
	for p, k := range f {
		if other, ok := g[p]; ok {
			out[p] = k | other
		}
	}
	return out
}

type undefined struct{}

// fold is what a loop over reduce's values makes of one variable.
type fold struct{ init, acc, step *val }

type special uint8

const (
	spNone   special = iota
	spThis           // the document
	spValues         // reduce's second parameter
	spPoison         // differs from round to round of a loop
	spTypeof         // typeof of
	spIndex          // position in a loop over of
	spKeys           // Object.keys(of)
	spGlobal         // Math, Array, Object, …
	spLength         // values.length
)

// object is an object literal: fields in order, and fields under computed names.
type object struct {
	names []string
	vals  map[string]*val
	dyn   []pair
}

type pair struct{ k, v *val }

func newObject() *object { return &object{vals: map[string]*val{}} }

func (o *object) set(name string, v *val) {
	if _, ok := o.vals[name]; !ok {
		o.names = append(o.names, name)
	}
	o.vals[name] = v
}

func (o *object) clone() *object {
	c := &object{names: append([]string(nil), o.names...), vals: map[string]*val{}, dyn: append([]pair(nil), o.dyn...)}
	for k, v := range o.vals {
		c.vals[k] = v
	}
	return c
}

// closure is a function of the job.
type closure struct {
	params []string
	body   []ast.Statement
	result ast.Expression
	env    *env
	src    source
	arrow  bool // this is that of the function around it
}

func constant(c any) *val {
	v := &val{isConst: true, c: c}
	switch c.(type) {
	case undefined:
		v.k = kUndef
	case nil:
		v.k = kNull
	case bool:
		v.k = kBool
	case float64:
		v.k = kNum
	case string:
		v.k = kStr
	default:
		v.k = kindOfBSON(c)
	}
	return v
}

func number(f float64) *val          { return constant(f) }
func undef() *val                    { return constant(undefined{}) }
func expr(e any, k kinds) *val       { return &val{e: e, k: k} }
func pathVal(p string, k kinds) *val { return &val{path: p, k: k} }
func arrayVal(items ...*val) *val    { return &val{arr: items, isArr: true, k: kArr} }
func objectVal(o *object) *val       { return &val{obj: o, k: kObj} }

// operation is an expression whose making is remembered.
func operation(op string, e any, k kinds, args ...*val) *val {
	return &val{op: op, e: e, k: k, args: args}
}

// D and A shorten what this package writes all the time.
func doc(key string, v any) bson.D { return bson.D{{Key: key, Value: v}} }

func call(op string, args ...any) bson.D { return doc(op, bson.A(args)) }

// mentions says whether v was made from something that is.
func (v *val) mentions(is func(*val) bool) bool {
	if v == nil {
		return false
	}
	if is(v) || v.of.mentions(is) {
		return true
	}
	for _, a := range v.args {
		if a.mentions(is) {
			return true
		}
	}
	for _, a := range v.arr {
		if a.mentions(is) {
			return true
		}
	}
	if v.obj != nil {
		for _, a := range v.obj.vals {
			if a.mentions(is) {
				return true
			}
		}
		for _, p := range v.obj.dyn {
			if p.k.mentions(is) || p.v.mentions(is) {
				return true
			}
		}
	}
	return false
}
