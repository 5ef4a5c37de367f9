package script

import (
	"reflect"
	"slices"

	"github.com/dop251/goja/ast"
)

// Uses is what a function's source shows about how it treats its input. It is
// careful: when in doubt, something escapes.
type Uses struct {
	// ThisEscapes: `this` is used otherwise than by reading, setting or deleting fields known by name.
	ThisEscapes bool
	// Fields are the names read of `this` when it does not escape, sorted.
	Fields []string
	// ParamEscapes[i]: parameter i may be kept, passed on or returned as a whole.
	ParamEscapes []bool
}

// Escapes reports whether parameter i may outlive the call.
func (u Uses) Escapes(i int) bool { return i >= len(u.ParamEscapes) || u.ParamEscapes[i] }

// usesOf looks at a function literal or an arrow function.
func usesOf(fn ast.Expression) Uses {
	var list *ast.ParameterList
	w := &usesWalker{fields: map[string]bool{}, params: map[string]int{}}
	var body ast.Node
	switch f := fn.(type) {
	case *ast.FunctionLiteral:
		list, body = f.ParameterList, f.Body
	case *ast.ArrowFunctionLiteral:
		// An arrow function's `this` is the global object, not the document.
		list, body = f.ParameterList, f.Body
		w.inner = 1
	default:
		return Uses{ThisEscapes: true}
	}
	if list == nil || list.Rest != nil {
		return Uses{ThisEscapes: true}
	}
	w.escapes = make([]bool, len(list.List))
	for i, p := range list.List {
		id, ok := p.Target.(*ast.Identifier)
		if !ok || p.Initializer != nil {
			return Uses{ThisEscapes: true}
		}
		w.params[id.Name.String()] = i
	}
	w.walk(reflect.ValueOf(body))
	u := Uses{ThisEscapes: w.thisEscapes, ParamEscapes: w.escapes}
	for f := range w.fields {
		u.Fields = append(u.Fields, f)
	}
	slices.Sort(u.Fields)
	return u
}

type usesWalker struct {
	inner       int // depth of functions with a `this` of their own
	thisEscapes bool
	fields      map[string]bool
	params      map[string]int
	escapes     []bool
}

// readers are the native helpers that do not keep the array they are given.
var readers = []string{"sum", "avg", "stdDev", "contains"}

// keepers are array methods that hand the array itself to a callback or return it.
var keepers = []string{
	"sort", "reverse", "fill", "copyWithin", "valueOf", "concat", "entries", "keys", "values", "forEach",
	"map", "filter", "some", "every", "find", "findIndex", "findLast", "findLastIndex", "flatMap", "reduce", "reduceRight",
}

// callbacks of these get the array as their last argument, which only a callback with that many parameters sees.
var callbackArity = map[string]int{"forEach": 2, "map": 2, "filter": 2, "some": 2, "every": 2, "find": 2, "findIndex": 2, "reduce": 3, "reduceRight": 3}

// walk visits every node below v.
func (w *usesWalker) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			w.walk(v.Elem())
		}
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		if w.node(v.Interface()) {
			return
		}
		w.walk(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			w.walk(v.Index(i))
		}
	case reflect.Struct:
		if v.CanAddr() {
			if id, ok := v.Addr().Interface().(*ast.Identifier); ok {
				w.identifier(id)
				return
			}
		}
		for i := range v.NumField() {
			switch v.Type().Field(i).Name {
			case "DeclarationList": // repeats what stands in the body
			default:
				w.walk(v.Field(i))
			}
		}
	}
}

// node handles the nodes that matter; true means that the walk below is done.
func (w *usesWalker) node(n any) bool {
	switch n := n.(type) {
	case *ast.ThisExpression:
		if w.inner == 0 {
			w.thisEscapes = true
		}
		return true
	case *ast.FunctionLiteral:
		w.function(n.ParameterList, n.Body)
		return true
	case *ast.ClassLiteral, *ast.WithStatement, *ast.SuperExpression, *ast.MetaProperty:
		w.thisEscapes = true
		w.allEscape()
	case *ast.DotExpression:
		return w.member(n.Left, n.Identifier.Name.String())
	case *ast.BracketExpression:
		if lit, ok := n.Member.(*ast.StringLiteral); ok {
			return w.member(n.Left, lit.Value.String())
		}
		if _, ok := w.param(n.Left); ok {
			w.walk(reflect.ValueOf(n.Member))
			return true
		}
	case *ast.CallExpression:
		return w.callExpression(n)
	case *ast.ForInStatement:
		if _, ok := w.param(n.Source); ok {
			w.walk(reflect.ValueOf(n.Into))
			w.walk(reflect.ValueOf(n.Body))
			return true
		}
	case *ast.ForOfStatement:
		if _, ok := w.param(n.Source); ok {
			w.walk(reflect.ValueOf(n.Into))
			w.walk(reflect.ValueOf(n.Body))
			return true
		}
	case *ast.PropertyKeyed:
		if !n.Computed {
			w.walk(reflect.ValueOf(n.Value))
			return true
		}
	case *ast.Identifier:
		w.identifier(n)
		return true
	}
	return false
}

// member is x.name: reading a field of `this` is noted; any member of a parameter but a keeper is harmless.
func (w *usesWalker) member(left ast.Expression, name string) bool {
	if _, ok := left.(*ast.ThisExpression); ok {
		if w.inner == 0 {
			w.fields[name] = true
			if name == "__proto__" || name == "constructor" {
				w.thisEscapes = true
			}
		}
		return true
	}
	if i, ok := w.param(left); ok {
		if slices.Contains(keepers, name) || name == "__proto__" || name == "constructor" {
			w.escapes[i] = true
		}
		return true
	}
	w.walk(reflect.ValueOf(left))
	return true
}

func (w *usesWalker) callExpression(n *ast.CallExpression) bool {
	name, left := memberName(n.Callee)
	if _, ok := left.(*ast.ThisExpression); ok && w.inner == 0 {
		// this.method() hands the whole document to the method.
		w.thisEscapes = true
		w.walk(reflect.ValueOf(n.ArgumentList))
		return true
	}
	if _, ok := w.param(left); ok && len(n.ArgumentList) > 0 {
		// values.forEach(function (v) {…}): the callback must not take the array itself.
		if limit, ok := callbackArity[name]; ok && arity(n.ArgumentList[0]) <= limit && len(n.ArgumentList) <= 2 {
			w.walk(reflect.ValueOf(n.ArgumentList))
			return true
		}
	}
	if id, ok := left.(*ast.Identifier); ok && id.Name == "Array" && slices.Contains(readers, name) {
		for _, a := range n.ArgumentList {
			if _, ok := w.param(a); !ok {
				w.walk(reflect.ValueOf(a))
			}
		}
		return true
	}
	if id, ok := n.Callee.(*ast.Identifier); ok && id.Name == "eval" {
		// Only global eval exists here, but arguments are still looked at.
		w.walk(reflect.ValueOf(n.ArgumentList))
		return true
	}
	return false
}

// memberName splits x.name and x["name"].
func memberName(e ast.Expression) (string, ast.Expression) {
	switch e := e.(type) {
	case *ast.DotExpression:
		return e.Identifier.Name.String(), e.Left
	case *ast.BracketExpression:
		if lit, ok := e.Member.(*ast.StringLiteral); ok {
			return lit.Value.String(), e.Left
		}
		return "", e.Left
	}
	return "", nil
}

// arity is the number of parameters of a function written in place; large when unknown.
func arity(e ast.Expression) int {
	var list *ast.ParameterList
	switch f := e.(type) {
	case *ast.FunctionLiteral:
		if mentions(f.Body, "arguments") {
			return 1 << 10
		}
		list = f.ParameterList
	case *ast.ArrowFunctionLiteral:
		list = f.ParameterList
	}
	if list == nil || list.Rest != nil {
		return 1 << 10
	}
	return len(list.List)
}

// mentions reports whether an identifier of that name stands anywhere below n.
func mentions(n ast.Node, name string) bool {
	w := &usesWalker{inner: 1, fields: map[string]bool{}, params: map[string]int{name: 0}, escapes: []bool{false}}
	w.plain(reflect.ValueOf(n), name)
	return w.thisEscapes
}

// plain is a walk that only looks for an identifier.
func (w *usesWalker) plain(v reflect.Value, name string) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			w.plain(v.Elem(), name)
		}
	case reflect.Slice:
		for i := range v.Len() {
			w.plain(v.Index(i), name)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[ast.Identifier]() {
			if id := v.Interface().(ast.Identifier); id.Name.String() == name {
				w.thisEscapes = true
			}
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).Name != "DeclarationList" {
				w.plain(v.Field(i), name)
			}
		}
	}
}

// function is an inner function: its `this` is another one, but it sees the parameters of the outer one.
func (w *usesWalker) function(list *ast.ParameterList, body ast.Node) {
	w.inner++
	if list != nil {
		w.walk(reflect.ValueOf(list))
	}
	w.walk(reflect.ValueOf(body))
	w.inner--
}

func (w *usesWalker) param(e ast.Expression) (int, bool) {
	if id, ok := e.(*ast.Identifier); ok {
		i, ok := w.params[id.Name.String()]
		return i, ok
	}
	return 0, false
}

// identifier is a name that stands alone, outside of the harmless places.
func (w *usesWalker) identifier(id *ast.Identifier) {
	if id.Name == "arguments" {
		w.allEscape()
		return
	}
	if i, ok := w.params[id.Name.String()]; ok {
		w.escapes[i] = true
	}
}

func (w *usesWalker) allEscape() {
	for i := range w.escapes {
		w.escapes[i] = true
	}
}
