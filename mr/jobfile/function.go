package jobfile

import (
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
)

// Parsed is a function's syntax tree.
type Parsed struct {
	Function Function
	Params   []string
	Body     []ast.Statement
	// Result is the value of an arrow function without a body; Body is nil then.
	Result ast.Expression
	Arrow  bool // it has no this of its own
	file   *file.File
}

// Position is where a node is.
func (p *Parsed) Position(n ast.Node) Position { return p.At(n.Idx0()) }

// At is where an index of the tree is.
func (p *Parsed) At(i file.Idx) Position {
	q := p.file.Position(int(i) - p.file.Base())
	if q.Line == 1 {
		q.Column-- // the parenthesis in front
	}
	return p.Function.Position(q.Line, q.Column)
}

// Source is the text of a node.
func (p *Parsed) Source(n ast.Node) string {
	from, to := int(n.Idx0())-p.file.Base(), int(n.Idx1())-p.file.Base()
	text := p.file.Source()
	if from < 0 || to > len(text) || from > to {
		return ""
	}
	return text[from:to]
}

// Parse parses the function. Errors are *Error.
func (f Function) Parse() (*Parsed, error) { return parseFunction(f) }

func parseFunction(f Function) (*Parsed, error) {
	// A function alone is no statement; in parentheses it is an expression.
	prog, err := parser.ParseFile(nil, f.File, "("+f.Text+"\n)", 0, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, syntaxError(err, func(line, column int) Position {
			if line == 1 {
				column--
			}
			return f.Position(line, column)
		})
	}
	p := &Parsed{Function: f, file: prog.File}
	here := f.Position(1, 1)
	if len(prog.Body) == 1 {
		if e, ok := prog.Body[0].(*ast.ExpressionStatement); ok {
			return p, p.take(e.Expression)
		}
	}
	return nil, errorAt(here, "this is no single function: write function () { … }")
}

func (p *Parsed) take(e ast.Expression) error {
	var params *ast.ParameterList
	switch fn := e.(type) {
	case *ast.FunctionLiteral:
		if fn.Async || fn.Generator {
			return errorAt(p.Position(e), "the server calls plain functions only, neither async nor generators")
		}
		params, p.Body = fn.ParameterList, fn.Body.List
	case *ast.ArrowFunctionLiteral:
		if fn.Async {
			return errorAt(p.Position(e), "the server calls plain functions only, neither async nor generators")
		}
		params, p.Arrow = fn.ParameterList, true
		switch b := fn.Body.(type) {
		case *ast.BlockStatement:
			p.Body = b.List
		case *ast.ExpressionBody:
			p.Result = b.Expression
		}
	default:
		return errorAt(p.Function.Position(1, 1), "this is no function: write function () { … }")
	}
	if params == nil {
		return nil
	}
	for _, b := range params.List {
		id, ok := b.Target.(*ast.Identifier)
		if !ok || b.Initializer != nil {
			return errorAt(p.Position(b), "a parameter is a plain name here")
		}
		p.Params = append(p.Params, id.Name.String())
	}
	return nil
}

// syntaxError gives the first of the parser's errors a position in the file.
func syntaxError(err error, where func(line, column int) Position) error {
	var first *parser.Error
	switch e := err.(type) { //nolint:errorlint // the parser returns these types as they are
	case parser.ErrorList:
		if len(e) > 0 {
			first = e[0]
		}
	case *parser.Error:
		first = e
	}
	if first == nil {
		return err
	}
	return errorAt(where(first.Position.Line, first.Position.Column), "JavaScript syntax: %s", strings.TrimSpace(first.Message))
}

// functionIn finds the one function of a file: alone, in a variable, or declared under any name.
func functionIn(name, text, role string) (Function, error) {
	return functionFrom(Function{Text: text, File: name, Line: 1, Column: 1}, role)
}

// functionFrom narrows a text that holds one function to that function.
func functionFrom(f Function, role string) (Function, error) {
	trimmed := f
	trimmed.Text = strings.TrimRight(f.Text, " \t\r\n;")
	if _, err := parseFunction(trimmed); err == nil {
		return trimmed, nil
	}
	prog, err := parser.ParseFile(nil, f.File, f.Text, 0, parser.WithDisableSourceMaps)
	if err != nil {
		_, alone := parseFunction(trimmed) // says more about a function alone
		return f, alone
	}
	var found []ast.Node
	named := -1
	add := func(n ast.Node, name string) {
		if name == role {
			named = len(found)
		}
		found = append(found, n)
	}
	for _, s := range prog.Body {
		switch s := s.(type) {
		case *ast.FunctionDeclaration:
			add(s.Function, s.Function.Name.Name.String())
		case *ast.VariableStatement:
			for _, b := range s.List {
				addBinding(b, add)
			}
		case *ast.LexicalDeclaration:
			for _, b := range s.List {
				addBinding(b, add)
			}
		case *ast.ExpressionStatement:
			if a, ok := s.Expression.(*ast.AssignExpression); ok && isFunction(a.Right) {
				id, _ := a.Left.(*ast.Identifier)
				if id != nil {
					add(a.Right, id.Name.String())
				}
			}
		}
	}
	switch {
	case len(found) == 1:
		named = 0
	case len(found) == 0:
		return f, errorAt(f.Position(1, 1), "there is no function here: write function () { … }")
	case named < 0:
		return f, errorAt(f.Position(1, 1), "there are %d functions here and none is called %s: keep one, or name it so", len(found), role)
	}
	return cut(f, prog, found[named]), nil
}

func addBinding(b *ast.Binding, add func(ast.Node, string)) {
	if id, ok := b.Target.(*ast.Identifier); ok && b.Initializer != nil && isFunction(b.Initializer) {
		add(b.Initializer, id.Name.String())
	}
}

func isFunction(e ast.Expression) bool {
	switch e.(type) {
	case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
		return true
	}
	return false
}

// cut is the text of one node as a function with its own position.
func cut(f Function, prog *ast.Program, n ast.Node) Function {
	from, to := int(n.Idx0())-prog.File.Base(), int(n.Idx1())-prog.File.Base()
	q := prog.File.Position(from)
	p := f.Position(q.Line, q.Column)
	g := Function{Text: prog.File.Source()[from:to], File: f.File, Line: p.Line, Column: p.Column, Indent: f.Indent}
	return g
}
