package translate

import (
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// walker finds what a piece of code declares, assigns and calls, without going into inner functions for declarations.
type walker struct {
	declared  []string
	assigned  []string
	called    []string // names of functions that are called or mentioned
	functions []*ast.FunctionLiteral
	inner     int
}

func (w *walker) statements(list []ast.Statement) {
	for _, s := range list {
		w.statement(s)
	}
}

func (w *walker) function(body []ast.Statement) {
	w.inner++
	w.statements(body)
	w.inner--
}

func (w *walker) into(i ast.ForInto) {
	switch i := i.(type) {
	case *ast.ForIntoVar:
		w.bindings([]*ast.Binding{i.Binding})
		if id, ok := i.Binding.Target.(*ast.Identifier); ok {
			w.assigned = append(w.assigned, id.Name.String())
		}
	case *ast.ForDeclaration:
		if id, ok := i.Target.(*ast.Identifier); ok {
			if w.inner == 0 {
				w.declared = append(w.declared, id.Name.String())
			}
			w.assigned = append(w.assigned, id.Name.String())
		}
	case *ast.ForIntoExpression:
		w.target(i.Expression)
	}
}

// target notes what an assignment changes: a variable, or the variable whose field it is.
func (w *walker) target(e ast.Expression) {
	switch e := e.(type) {
	case *ast.Identifier:
		w.assigned = append(w.assigned, e.Name.String())
	case *ast.DotExpression:
		w.target(e.Left)
	case *ast.BracketExpression:
		w.target(e.Left)
		w.expr(e.Member)
	}
}

func (w *walker) expr(e ast.Expression) {
	switch e := e.(type) {
	case nil:
	case *ast.Identifier:
		w.called = append(w.called, e.Name.String())
	case *ast.ArrayLiteral:
		for _, v := range e.Value {
			w.expr(v)
		}
	case *ast.SpreadElement:
		w.expr(e.Expression)
	case *ast.ObjectLiteral:
		for _, p := range e.Value {
			switch p := p.(type) {
			case *ast.PropertyKeyed:
				if p.Computed {
					w.expr(p.Key)
				}
				w.expr(p.Value)
			case *ast.PropertyShort:
				w.called = append(w.called, p.Name.Name.String())
			}
		}
	case *ast.AssignExpression:
		w.target(e.Left)
		if _, ok := e.Left.(*ast.Identifier); !ok {
			w.expr(e.Left)
		}
		w.expr(e.Right)
	case *ast.BinaryExpression:
		w.expr(e.Left)
		w.expr(e.Right)
	case *ast.UnaryExpression:
		if e.Operator == token.INCREMENT || e.Operator == token.DECREMENT {
			w.target(e.Operand)
		}
		w.expr(e.Operand)
	case *ast.ConditionalExpression:
		w.expr(e.Test)
		w.expr(e.Consequent)
		w.expr(e.Alternate)
	case *ast.DotExpression:
		w.expr(e.Left)
	case *ast.BracketExpression:
		w.expr(e.Left)
		w.expr(e.Member)
	case *ast.CallExpression:
		if d, ok := e.Callee.(*ast.DotExpression); ok && slices.Contains(mutators, d.Identifier.Name.String()) {
			w.target(d.Left)
		}
		w.expr(e.Callee)
		for _, a := range e.ArgumentList {
			w.expr(a)
		}
	case *ast.NewExpression:
		w.expr(e.Callee)
		for _, a := range e.ArgumentList {
			w.expr(a)
		}
	case *ast.FunctionLiteral:
		w.function(e.Body.List)
	case *ast.ArrowFunctionLiteral:
		switch b := e.Body.(type) {
		case *ast.BlockStatement:
			w.function(b.List)
		case *ast.ExpressionBody:
			w.expr(b.Expression)
		}
	case *ast.SequenceExpression:
		for _, v := range e.Sequence {
			w.expr(v)
		}
	case *ast.TemplateLiteral:
		for _, v := range e.Expressions {
			w.expr(v)
		}
	}
}

// mutators are methods that change what they are called on.
var mutators = []string{
	"push", "pop", "shift", "unshift", "splice", "sort", "reverse", "fill", "setHours", "setUTCHours", "setMinutes", "setUTCMinutes",
	"setSeconds", "setMilliseconds", "setUTCSeconds", "setUTCMilliseconds", "setDate", "setUTCDate", "setMonth", "setFullYear", "setTime",
}

// uses says what a piece of code mentions and assigns.
func uses(s ast.Statement) *walker {
	w := &walker{}
	w.statement(s)
	return w
}

func (w *walker) bindings(list []*ast.Binding) {
	for _, b := range list {
		if id, ok := b.Target.(*ast.Identifier); ok {
			if w.inner == 0 {
				w.declared = append(w.declared, id.Name.String())
			}
			if b.Initializer != nil {
				w.assigned = append(w.assigned, id.Name.String())
			}
		}
		w.expr(b.Initializer)
	}
}

func (w *walker) statement(s ast.Statement) {
	switch s := s.(type) {
	case *ast.BlockStatement:
		if s != nil {
			w.statements(s.List)
		}
	case *ast.ExpressionStatement:
		w.expr(s.Expression)
	case *ast.VariableStatement:
		w.bindings(s.List)
	case *ast.LexicalDeclaration:
		w.bindings(s.List)
	case *ast.IfStatement:
		w.expr(s.Test)
		w.statement(s.Consequent)
		w.statement(s.Alternate)
	case *ast.ReturnStatement:
		w.expr(s.Argument)
	case *ast.ForStatement:
		switch i := s.Initializer.(type) {
		case *ast.ForLoopInitializerExpression:
			w.expr(i.Expression)
		case *ast.ForLoopInitializerVarDeclList:
			w.bindings(i.List)
		case *ast.ForLoopInitializerLexicalDecl:
			w.bindings(i.LexicalDeclaration.List)
		}
		w.expr(s.Test)
		w.expr(s.Update)
		w.statement(s.Body)
	case *ast.ForInStatement:
		w.into(s.Into)
		w.expr(s.Source)
		w.statement(s.Body)
	case *ast.ForOfStatement:
		w.into(s.Into)
		w.expr(s.Source)
		w.statement(s.Body)
	case *ast.WhileStatement:
		w.expr(s.Test)
		w.statement(s.Body)
	case *ast.DoWhileStatement:
		w.expr(s.Test)
		w.statement(s.Body)
	case *ast.SwitchStatement:
		w.expr(s.Discriminant)
		for _, c := range s.Body {
			w.expr(c.Test)
			w.statements(c.Consequent)
		}
	case *ast.FunctionDeclaration:
		if w.inner == 0 {
			w.functions = append(w.functions, s.Function)
		}
		w.function(s.Function.Body.List)
	case *ast.TryStatement:
		w.statement(s.Body)
	case *ast.ThrowStatement:
		w.expr(s.Argument)
	case *ast.LabelledStatement:
		w.statement(s.Statement)
	}
}
