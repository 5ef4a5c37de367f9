package translate

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
	"go.mongodb.org/mongo-driver/bson"
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
			out = x.add(out, part, n, n, e)
			if s := n.Elements[i+1].Parsed.String(); s != "" {
				out = x.add(out, constant(s), n, n, n)
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
		now := x.add(old, number(by), n, n.Operand, n)
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
		return x.add(a, b, n, n.Left, n.Right)
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

// hasField is "name" in v, and v.hasOwnProperty("name").
func (x *exec) hasField(v *val, name string, n ast.Node) *val {
	switch {
	case v.obj != nil && len(v.obj.dyn) == 0:
		_, ok := v.obj.vals[name]
		return constant(ok)
	case v.sp == spThis, v.path != "" && x.kindsOf(v).only(kObj):
		m := x.member(v, name, n, n)
		// A field that holds BSON's undefined is there, too; nothing writes it any more.
		return boolean(not(call("$eq", doc("$type", x.ex(m)), "missing")), nil, nil)
	}
	x.refuse(n, RefuseSyntax, "%s: whether this is an object is not known", x.text(n))
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

// assign is =, += and the like.
func (x *exec) assign(n *ast.AssignExpression) *val {
	v := x.settle(x.eval(n.Right))
	if n.Operator != token.ASSIGN {
		old := x.eval(n.Left)
		switch n.Operator {
		case token.PLUS:
			v = x.add(old, v, n, n.Left, n.Right)
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

func (x *exec) bracket(n *ast.BracketExpression) *val {
	base := x.eval(n.Left)
	k := x.eval(n.Member)
	if base.bag {
		return &val{op: "bagget", args: []*val{base, k}, e: "$$bag", k: kAny}
	}
	if k.sp == spIndex {
		return x.element(base, k, n)
	}
	if k.name == "key" && k.of != nil && sameBase(base, k.of) {
		return k.args[0]
	}
	if k.isConst {
		switch c := k.c.(type) {
		case string:
			if f := stringNumber(c); f == f && c != "" && base.obj == nil {
				x.refuse(n, RefuseFieldName, "%s: a number as text may be a position or a field", x.text(n))
			}
			return x.member(base, c, n, n.Left)
		case float64:
			return x.at(base, k, n)
		}
	}
	if k.k.only(kNum) && k.sp == spNone {
		return x.at(base, k, n)
	}
	x.refuse(n, RefuseDynamicField, "%s: which field this is is known only when it runs", x.text(n))
	return nil
}

// at is base[i] for a number.
func (x *exec) at(base, i *val, n *ast.BracketExpression) *val {
	c, isConst := i.c.(float64)
	if isConst && (c < 0 || c != math.Trunc(c)) {
		return undef()
	}
	switch {
	case base.isArr && isConst:
		if int(c) < len(base.arr) {
			return base.arr[int(c)]
		}
		return undef()
	case base.sp == spValues && isConst && c == 0:
		return x.first
	case base.sp != spNone || base.obj != nil:
		x.refuse(n, RefuseSyntax, "%s has no equivalent", x.text(n))
	}
	k := x.kindsOf(base)
	if k.has(kNullish) {
		x.throws(n, x.isKind(base, kNullish), x.ex(base), "%s has to be there", x.text(n.Left))
		x.learn(base, k&^kNullish)
	}
	elem := func(base *val) any {
		if isConst {
			return call("$arrayElemAt", x.ex(base), int32(c))
		}
		return x.bind(i, func(i *val) any {
			e := x.ex(i)
			x.needs(v40)
			return cond(all2(call("$gte", e, int32(0)), call("$eq", e, doc("$trunc", e)), call("$lt", e, int32(math.MaxInt32))),
				call("$arrayElemAt", x.ex(base), doc("$toInt", e)), "$$REMOVE")
		})
	}
	k &^= kNullish
	if k.only(kArr) || x.plain {
		if !k.only(kArr) {
			x.caveat(x.pos(n), CaveatArray, "%s is taken to be an array", shown(base))
		}
		v := expr(elem(base), kAny)
		return v
	}
	if !k.has(kArr|kStr|kObj) || !isConst {
		return expr(x.bind(base, func(base *val) any {
			return cond(doc("$isArray", bson.A{x.ex(base)}), elem(base), x.fail(n, x.ex(base), "%s has to be an array", x.text(n.Left)))
		}), kAny)
	}
	return expr(x.bind(base, func(base *val) any {
		return switchOf(bson.A{
			bson.D{{Key: "case", Value: doc("$isArray", bson.A{x.ex(base)})}, {Key: "then", Value: elem(base)}},
			bson.D{{Key: "case", Value: x.isKind(base, k&(kStr|kObj|kOther))}, {Key: "then", Value: x.fail(n, x.ex(base), "%s has to be an array", x.text(n.Left))}},
		}, "$$REMOVE")
	}), kAny)
}

// member is base.name.
func (x *exec) member(base *val, name string, n, left ast.Node) *val {
	switch {
	case base.op == "?:" || base.op == "||" || base.op == "&&":
		if v := x.memberOfChoice(base, name, n, left); v != nil {
			return v
		}
	}
	switch {
	case base.obj != nil:
		if v, ok := base.obj.vals[name]; ok {
			return v
		}
		if len(base.obj.dyn) > 0 {
			x.refuse(n, RefuseDynamicField, "%s: which fields the object has is known only when it runs", x.text(n))
		}
		if base.shaped {
			x.refuse(n, RefuseShape, "%s: map emits no field %s in its values", x.text(n), name)
		}
		return undef()
	case base.sp == spThis:
		p := base.path
		if p == "" {
			p = "$" + x.fieldName(name, n)
		} else {
			p += "." + x.fieldName(name, n)
		}
		x.used = append(x.used, p)
		return pathVal(p, kAny)
	case base.sp == spValues:
		if name == "length" {
			return &val{sp: spLength, k: kNum, at: n}
		}
	case base.sp == spGlobal:
		if base.name == "Math" {
			if c, ok := map[string]float64{"PI": math.Pi, "E": math.E, "LN2": math.Ln2, "LN10": math.Ln10, "SQRT2": math.Sqrt2}[name]; ok {
				return number(c)
			}
		}
		if base.name == "Number" {
			if c, ok := map[string]float64{"MAX_VALUE": math.MaxFloat64, "MIN_VALUE": math.SmallestNonzeroFloat64, "POSITIVE_INFINITY": math.Inf(1), "NEGATIVE_INFINITY": math.Inf(-1), "MAX_SAFE_INTEGER": 1<<53 - 1}[name]; ok {
				return number(c)
			}
		}
	case base.isArr && name == "length":
		return number(float64(len(base.arr)))
	case base.isConst && name == "length":
		if s, ok := base.c.(string); ok {
			return number(float64(len([]rune(s))))
		}
	case base.sp == spKeys && name == "length":
		return operation("size", doc("$size", doc("$objectToArray", x.ex(base.of))), kNum)
	}
	if base.sp != spNone || base.fn != nil || base.isArr || base.isConst && base.k.only(kNullish) {
		x.refuse(n, RefuseSyntax, "%s has no equivalent", x.text(n))
	}
	k := x.kindsOf(base)
	if k.has(kNullish) {
		if x.plain {
			if base.path != "" {
				x.caveat(x.pos(n), CaveatParent, "%s is taken to be there always", shown(base))
			}
		} else {
			x.throws(n, x.isKind(base, kNullish), x.ex(base), "%s has to be there", x.text(left))
		}
		x.learn(base, k&^kNullish)
		k &^= kNullish
	}
	if name == "length" {
		return x.length(base, k, n)
	}
	if base.path == "" {
		x.names++
		if k.only(kObj) || x.plain {
			v := fmtVar(x.names)
			return expr(doc("$let", bson.D{{Key: "vars", Value: doc(v, x.ex(base))}, {Key: "in", Value: "$$" + v + "." + x.fieldName(name, n)}}), kAny)
		}
		v := fmtVar(x.names)
		return expr(doc("$let", bson.D{{Key: "vars", Value: doc(v, x.ex(base))}, {Key: "in", Value: cond(doc("$isArray", bson.A{"$$" + v}), "$$REMOVE", "$$"+v+"."+x.fieldName(name, n))}}), kAny)
	}
	p := &val{path: base.path + "." + x.fieldName(name, n), anc: base.anc, k: kAny, elem: base.elem, depth: base.depth}
	x.used = append(x.used, p.path)
	if k.has(kArr) {
		if x.plain {
			x.caveat(x.pos(n), CaveatParent, "%s is taken to be a document, not an array of some", shown(base))
		} else {
			p.anc = append(slices.Clip(base.anc), base.path)
		}
	}
	return p
}

// memberOfChoice looks into both sides of a || b and its like.
func (x *exec) memberOfChoice(base *val, name string, n, left ast.Node) *val {
	var tv, a, b *val
	switch base.op {
	case "?:":
		tv, a, b = base.args[0], base.args[1], base.args[2]
	case "||":
		tv, a, b = base.args[0], base.args[0], base.args[1]
	case "&&":
		tv, a, b = base.args[0], base.args[1], base.args[0]
	}
	if tv == nil || !renderable(tv) {
		return nil
	}
	if !(a.path != "" || a.obj != nil || a.isConst) && !(b.path != "" || b.obj != nil || b.isConst) {
		return nil
	}
	test, yes, no := x.truthy(tv)
	var va, vb *val
	x.under(test, yes, func() { va = x.settle(x.member(a, name, n, left)) })
	x.under(not(test), no, func() { vb = x.settle(x.member(b, name, n, left)) })
	return x.choose(test, tv, va, vb)
}

func fmtVar(n int) string { return "v" + itoa(n) }

// length is base.length.
func (x *exec) length(base *val, k kinds, n ast.Node) *val {
	chars := func(base *val) any {
		x.caveat(x.pos(n), CaveatCharacters, "%s counts characters; JavaScript counts those above U+FFFF twice", x.text(n))
		return doc("$strLenCP", x.ex(base))
	}
	switch {
	case k.only(kArr):
		return operation("length", doc("$size", x.ex(base)), kNum, base)
	case k.only(kStr):
		return operation("length", chars(base), kNum, base)
	case x.plain:
		x.caveat(x.pos(n), CaveatArray, "%s is taken to be an array", shown(base))
		return operation("length", doc("$size", x.ex(base)), kNum, base)
	}
	out := kNum
	e := x.bind(base, func(base *val) any {
		var b bson.A
		if k.has(kArr) {
			b = append(b, bson.D{{Key: "case", Value: doc("$isArray", bson.A{x.ex(base)})}, {Key: "then", Value: doc("$size", x.ex(base))}})
		}
		if k.has(kStr) {
			b = append(b, bson.D{{Key: "case", Value: x.isKind(base, kStr)}, {Key: "then", Value: chars(base)}})
		}
		if k.has(kObj | kOther) {
			b = append(b, bson.D{{Key: "case", Value: x.isKind(base, k&(kObj|kOther))}, {Key: "then", Value: x.fail(n, x.ex(base), "%s of an object is a field of that name", x.text(n))}})
		}
		if k.has(kAny &^ (kArr | kStr | kObj | kOther)) {
			out |= kUndef
			return switchOf(b, "$$REMOVE")
		}
		if len(b) == 1 {
			return b[0].(bson.D)[1].Value
		}
		return switchOf(b[:len(b)-1], b[len(b)-1].(bson.D)[1].Value)
	})
	return operation("length", e, out, base)
}
