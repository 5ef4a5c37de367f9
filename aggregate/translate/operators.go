package translate

import (
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

func (x *exec) unary(n *ast.UnaryExpression) *val {
	switch n.Operator {
	case token.NOT:
		v := x.eval(n.Operand)
		test, yes, no := x.truthy(v)
		return boolean(not(test), no, yes).made("!", v)
	case token.MINUS:
		v := x.toNum(x.eval(n.Operand), n.Operand)
		if f, ok := v.c.(float64); ok && v.isConst {
			return number(-f)
		}
		return operation("neg", call("$multiply", x.ex(v), int32(-1)), kNum, v)
	case token.PLUS:
		v := x.eval(n.Operand)
		return x.toNum(v, n.Operand)
	case token.TYPEOF:
		if id, ok := n.Operand.(*ast.Identifier); ok {
			if _, found := x.env.find(id.Name.String()); !found && x.scope[id.Name.String()] == nil {
				defined := slices.Contains([]string{"Math", "Array", "Object", "Date", "Number", "String"}, id.Name.String())
				if !defined {
					return constant("undefined")
				}
			}
		}
		return &val{sp: spTypeof, of: x.eval(n.Operand), k: kStr}
	case token.BITWISE_NOT:
		if in, ok := n.Operand.(*ast.UnaryExpression); ok && in.Operator == token.BITWISE_NOT {
			return x.toInt32(x.eval(in.Operand), in.Operand)
		}
	case token.VOID:
		x.eval(n.Operand)
		return undef()
	case token.INCREMENT, token.DECREMENT:
		old := x.toNum(x.eval(n.Operand), n.Operand)
		by := 1.0
		if n.Operator == token.DECREMENT {
			by = -1
		}
		now := x.add(old, number(by), n.Operand, n)
		x.store(n.Operand, now, n)
		if n.Postfix {
			return old
		}
		return now
	case token.DELETE:
		x.refuse(n, RefuseSyntax, "delete has no equivalent")
	}
	x.refuse(n, RefuseSyntax, "operator %s has no exact equivalent", n.Operator)
	return nil
}

func (x *exec) binary(n *ast.BinaryExpression) *val {
	switch n.Operator {
	case token.LOGICAL_AND, token.LOGICAL_OR, token.COALESCE:
		return x.logical(n)
	}
	if n.Operator == token.OR || n.Operator == token.SHIFT_RIGHT {
		if z, ok := n.Right.(*ast.NumberLiteral); ok && z.Literal == "0" {
			return x.toInt32(x.eval(n.Left), n.Left)
		}
	}
	if n.Operator == token.INSTANCEOF {
		return x.instanceOf(n)
	}
	a := x.settle(x.eval(n.Left))
	b := x.settle(x.eval(n.Right))
	switch n.Operator {
	case token.PLUS:
		return x.add(a, b, n.Left, n.Right)
	case token.MINUS, token.MULTIPLY, token.SLASH, token.REMAINDER, token.EXPONENT:
		return x.arithmetic(n.Operator, a, b, n, n.Left, n.Right)
	case token.EQUAL, token.STRICT_EQUAL:
		return x.equal(a, b, n.Operator == token.STRICT_EQUAL, n, n.Left, n.Right)
	case token.NOT_EQUAL, token.STRICT_NOT_EQUAL:
		v := x.equal(a, b, n.Operator == token.STRICT_NOT_EQUAL, n, n.Left, n.Right)
		test, yes, no := x.truthy(v)
		return boolean(not(test), no, yes).made("!", v)
	case token.LESS:
		return x.less("$lt", a, b, n, n.Left, n.Right)
	case token.LESS_OR_EQUAL:
		return x.less("$lte", a, b, n, n.Left, n.Right)
	case token.GREATER:
		return x.less("$gt", a, b, n, n.Left, n.Right)
	case token.GREATER_OR_EQUAL:
		return x.less("$gte", a, b, n, n.Left, n.Right)
	case token.IN:
		if s, ok := a.c.(string); ok && a.isConst {
			return x.hasField(b, s, n)
		}
	}
	x.refuse(n, RefuseSyntax, "operator %s has no exact equivalent", n.Operator)
	return nil
}

func (x *exec) instanceOf(n *ast.BinaryExpression) *val {
	if id, ok := n.Right.(*ast.Identifier); ok {
		v := x.eval(n.Left)
		of, ok := map[string]kinds{"Array": kArr, "Date": kDate}[id.Name.String()]
		if ok {
			if v.obj != nil || v.isArr {
				return constant(v.isArr && of == kArr)
			}
			var yes, no facts
			if v.path != "" {
				yes, no = facts{v.path: of}, facts{v.path: kAny &^ of}
			}
			return boolean(x.isKind(v, of), yes, no)
		}
	}
	x.refuse(n, RefuseSyntax, "instanceof is understood for Array and Date")
	return nil
}

func (x *exec) logical(n *ast.BinaryExpression) *val {
	a := x.settle(x.eval(n.Left))
	test, yes, no := x.truthy(a)
	if n.Operator == token.COALESCE {
		test = not(x.isKind(a, kNullish))
		yes, no = nil, nil
	}
	and := n.Operator == token.LOGICAL_AND
	switch {
	case test == true && and, test == false && !and:
		return x.eval(n.Right)
	case test == true || test == false:
		return a
	}
	var b *val
	var btest any
	var byes, bno facts
	eval := func() {
		b = x.settle(x.eval(n.Right))
		btest, byes, bno = x.truthy(b)
	}
	var v *val
	if and {
		x.under(test, yes, eval)
		v = x.choose(test, a, b, a)
		if v.isConst || v.sp == spPoison {
			return v
		}
		c := *v
		c.op, c.args = "&&", []*val{a, b}
		c.test, c.yes, c.no = all2(test, btest), yes.with(byes), no.either(bno)
		if x.kindsOf(a).only(kBool) && x.kindsOf(b).only(kBool) {
			c.e = c.test
		}
		return &c
	}
	x.under(not(test), no, eval)
	left := a
	if a.path != "" {
		left = narrowed(a, x.kindsOf(a)&^kNullish)
	} else if a.e != nil {
		left = narrowed(a, a.k&^kNullish)
	}
	v = x.choose(test, a, left, b)
	if v.isConst || v.obj != nil {
		return v
	}
	c := *v
	c.op, c.args = "||", []*val{a, b}
	c.test, c.yes, c.no = any2(test, btest), yes.either(byes), no.with(bno)
	if n.Operator == token.COALESCE {
		c.test, c.yes, c.no = nil, nil, nil
	}
	if x.kindsOf(a).only(kBool) && x.kindsOf(b).only(kBool) {
		c.e = c.test
	}
	return &c
}
