package translate

import (
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// assign is =, += and the like.
func (x *exec) assign(n *ast.AssignExpression) *val {
	v := x.settle(x.eval(n.Right))
	if n.Operator != token.ASSIGN {
		old := x.eval(n.Left)
		switch n.Operator {
		case token.PLUS:
			v = x.add(old, v, n.Left, n.Right)
		case token.MINUS, token.MULTIPLY, token.SLASH, token.REMAINDER, token.EXPONENT:
			v = x.arithmetic(n.Operator, old, v, n, n.Left, n.Right)
		default:
			x.refuse(n, RefuseSyntax, "operator %s= has no exact equivalent", n.Operator)
		}
	}
	x.store(n.Left, v, n)
	return v
}

// store assigns to a variable, or to a field of an object that the function made.
func (x *exec) store(to ast.Expression, v *val, n ast.Node) {
	switch to := to.(type) {
	case *ast.Identifier:
		c, ok := x.env.find(to.Name.String())
		if !ok {
			x.declareGlobal(to.Name.String(), v)
			return
		}
		x.st.store[c] = v
		return
	case *ast.DotExpression:
		x.storeField(to.Left, to.Identifier.Name.String(), nil, v, n)
		return
	case *ast.BracketExpression:
		k := x.eval(to.Member)
		if base := x.eval(to.Left); base.bag {
			x.store(to.Left, &val{op: "bagset", args: []*val{base, k, v}, e: "$$bag", bag: true, k: kObj}, n)
			return
		}
		if s, ok := k.c.(string); ok && k.isConst {
			x.storeField(to.Left, s, nil, v, n)
			return
		}
		x.storeField(to.Left, "", k, v, n)
		return
	}
	x.refuse(n, RefuseSyntax, "assigning to %s has no equivalent", x.text(to))
}

// declareGlobal is what an assignment without var does: the name is known from here on.
func (x *exec) declareGlobal(name string, v *val) {
	top := x.env
	for top.parent != nil {
		top = top.parent
	}
	x.names++
	top.cells[name] = x.names
	x.st.store[x.names] = v
}

func (x *exec) storeField(of ast.Expression, name string, key *val, v *val, n ast.Node) {
	base := x.eval(of)
	switch {
	case base.sp == spThis, base.path != "" && base.obj == nil && !strings.HasPrefix(base.path, "$$acc"):
		x.refuse(n, RefuseThis, "%s is changed: a mapReduce may see the change again, a pipeline never does; copy the value into a variable", x.text(of))
	case base.obj == nil:
		x.refuse(n, RefuseSyntax, "assigning to a field of %s has no equivalent", x.text(of))
	}
	o := base.obj.clone()
	if key == nil {
		if len(o.dyn) > 0 {
			x.refuse(n, RefuseDynamicField, "a computed field name beside others might be one of them")
		}
		o.set(x.fieldName(name, n), v)
	} else {
		x.setDynamic(o, key, v, n)
	}
	x.store(of, objectVal(o), n)
}
