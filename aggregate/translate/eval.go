package translate

import (
	"math"
	"strconv"
	"strings"

	"github.com/dop251/goja/ast"
	"go.mongodb.org/mongo-driver/bson/primitive"
)

const maxDepth = 60

// eval is the value of an expression.
func (x *exec) eval(n ast.Expression) *val {
	x.depth++
	defer func() { x.depth-- }()
	if x.depth > maxDepth {
		x.refuse(n, RefuseSyntax, "nested too deeply, or a function that calls itself")
	}
	switch n := n.(type) {
	case *ast.NumberLiteral:
		switch f := n.Value.(type) {
		case int64:
			return number(float64(f))
		case float64:
			return number(f)
		}
	case *ast.StringLiteral:
		return constant(n.Value.String())
	case *ast.BooleanLiteral:
		return constant(n.Value)
	case *ast.NullLiteral:
		return constant(nil)
	case *ast.RegExpLiteral:
		return &val{k: kRegex, isConst: true, c: primitive.Regex{Pattern: n.Pattern, Options: n.Flags}}
	case *ast.TemplateLiteral:
		if n.Tag != nil {
			break
		}
		out := constant(n.Elements[0].Parsed.String())
		for i, e := range n.Expressions {
			part := x.toStr(x.eval(e), e, false)
			out = x.add(out, part, n, e)
			if s := n.Elements[i+1].Parsed.String(); s != "" {
				out = x.add(out, constant(s), n, n)
			}
		}
		return out
	case *ast.ThisExpression:
		if x.this == nil {
			x.refuse(n, RefuseName, "this is not the document here: keep it in a variable, or use an arrow function")
		}
		return x.this
	case *ast.Identifier:
		return x.lookup(n)
	case *ast.ObjectLiteral:
		return x.objectLiteral(n)
	case *ast.ArrayLiteral:
		v := arrayVal()
		for _, item := range n.Value {
			if _, spread := item.(*ast.SpreadElement); spread || item == nil {
				x.refuse(n, RefuseSyntax, "spread elements and holes have no equivalent")
			}
			v.arr = append(v.arr, x.eval(item))
		}
		return v
	case *ast.FunctionLiteral:
		return x.function(n.ParameterList, n.Body.List, nil, n)
	case *ast.ArrowFunctionLiteral:
		var f *val
		switch b := n.Body.(type) {
		case *ast.BlockStatement:
			f = x.function(n.ParameterList, b.List, nil, n)
		case *ast.ExpressionBody:
			f = x.function(n.ParameterList, nil, b.Expression, n)
		}
		f.fn.arrow = true
		return f
	case *ast.DotExpression:
		return x.member(x.eval(n.Left), n.Identifier.Name.String(), n, n.Left)
	case *ast.BracketExpression:
		return x.bracket(n)
	case *ast.CallExpression:
		return x.call(n)
	case *ast.NewExpression:
		return x.construct(n)
	case *ast.UnaryExpression:
		return x.unary(n)
	case *ast.BinaryExpression:
		return x.binary(n)
	case *ast.ConditionalExpression:
		t := x.eval(n.Test)
		test, yes, no := x.truthy(t)
		switch test {
		case true:
			return x.eval(n.Consequent)
		case false:
			return x.eval(n.Alternate)
		}
		var a, b *val
		x.under(test, yes, func() { a = x.settle(x.eval(n.Consequent)) })
		x.under(not(test), no, func() { b = x.settle(x.eval(n.Alternate)) })
		return x.choose(test, t, a, b)
	case *ast.AssignExpression:
		return x.assign(n)
	case *ast.SequenceExpression:
		var v *val
		for _, e := range n.Sequence {
			v = x.eval(e)
		}
		return v
	}
	x.refuse(n, RefuseSyntax, "%s has no equivalent", x.text(n))
	return nil
}

// settle renders a path where more is known of it than later on.
func (x *exec) settle(v *val) *val {
	if v.path != "" {
		if k := x.kindsOf(v); k != v.k {
			return narrowed(v, k)
		}
	}
	return v
}

func (x *exec) lookup(n *ast.Identifier) *val {
	name := n.Name.String()
	if c, ok := x.env.find(name); ok {
		v := x.st.store[c]
		if v == nil {
			return undef()
		}
		if v.sp == spPoison {
			x.refuse(n, RefuseCarried, "%s has another value in each round of a loop: give it its value within the round, or use reduce to add up", name)
		}
		return v
	}
	if v, ok := x.scope[name]; ok {
		return v
	}
	switch name {
	case "undefined":
		return undef()
	case "NaN":
		return number(nan)
	case "Infinity":
		return number(math.Inf(1))
	case "Math", "Array", "Object", "Number", "String", "Boolean", "Date", "parseInt", "parseFloat", "isNaN", "isFinite", "emit", "print",
		"printjson", "ISODate", "NumberLong", "NumberInt", "NumberDecimal", "ObjectId", "JSON", "tojson", "RegExp":
		return &val{sp: spGlobal, name: name}
	}
	x.refuse(n, RefuseName, "%s is not defined: neither in the function nor in the job's scope", name)
	return nil
}

func (x *exec) function(params *ast.ParameterList, body []ast.Statement, result ast.Expression, n ast.Node) *val {
	c := &closure{body: body, result: result, env: x.env, src: x.src}
	if params != nil {
		if params.Rest != nil {
			x.refuse(n, RefuseSyntax, "rest parameters have no equivalent")
		}
		for _, b := range params.List {
			id, ok := b.Target.(*ast.Identifier)
			if !ok || b.Initializer != nil {
				x.refuse(b, RefuseSyntax, "a parameter that is no plain name has no equivalent")
			}
			c.params = append(c.params, id.Name.String())
		}
	}
	return &val{fn: c, k: kOther}
}

func (x *exec) objectLiteral(n *ast.ObjectLiteral) *val {
	o := newObject()
	for _, p := range n.Value {
		switch p := p.(type) {
		case *ast.PropertyShort:
			o.set(x.fieldName(p.Name.Name.String(), p), x.lookup(&p.Name))
			continue
		case *ast.PropertyKeyed:
			if p.Kind != ast.PropertyKindValue {
				break
			}
			if p.Computed {
				x.setDynamic(o, x.eval(p.Key), x.eval(p.Value), p)
				continue
			}
			name := ""
			switch k := p.Key.(type) {
			case *ast.StringLiteral:
				name = k.Value.String()
			case *ast.NumberLiteral:
				name = k.Literal
			case *ast.Identifier:
				name = k.Name.String()
			default:
				x.refuse(p, RefuseSyntax, "%s has no equivalent", x.text(p))
			}
			if _, err := strconv.Atoi(name); err == nil {
				x.refuse(p, RefuseFieldName, "field %s: JavaScript puts numbers in front of other names", name)
			}
			o.set(x.fieldName(name, p), x.settle(x.eval(p.Value)))
			continue
		}
		x.refuse(p, RefuseSyntax, "%s has no equivalent", x.text(p))
	}
	return objectVal(o)
}

func (x *exec) setDynamic(o *object, k, v *val, n ast.Node) {
	if s, ok := k.c.(string); ok && k.isConst {
		o.set(x.fieldName(s, n), v)
		return
	}
	if len(o.dyn) > 0 {
		x.refuse(n, RefuseDynamicField, "two computed field names in one object might be the same")
	}
	if len(o.names) > 0 {
		x.refuse(n, RefuseDynamicField, "a computed field name beside others might be one of them")
	}
	o.dyn = append(o.dyn, pair{x.toStr(k, n, false), v})
}

// fieldName refuses names that expressions can't have.
func (x *exec) fieldName(name string, n ast.Node) string {
	if name == "" || strings.ContainsAny(name, ".\x00") || strings.HasPrefix(name, "$") {
		x.refuse(n, RefuseFieldName, "field name %q can't be written in an expression", name)
	}
	return name
}
