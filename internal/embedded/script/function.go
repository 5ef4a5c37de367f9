package script

import (
	"errors"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"

	"mrbench/internal/embedded/mongoerr"
)

// Sources are wrapped before they are compiled; the file name remembers how, so
// that columns of the first line can be given as the author counts them.
const (
	exprPrefix    = "("
	bodyPrefix    = "(function(){"
	wrappedSuffix = " " // marks a source wrapped by bodyPrefix
	preludeName   = "mrbench-prelude"
)

func prefixLen(file string) int {
	if strings.HasSuffix(file, wrappedSuffix) {
		return len(bodyPrefix)
	}
	return len(exprPrefix)
}

// Func is a compiled function value of one Runtime.
type Func struct {
	name string
	call goja.Callable
	// Uses says what the source does with `this` and with its parameters.
	Uses Uses
}

// Name is the name under which the function was compiled, as error messages show it.
func (f *Func) Name() string { return f.name }

// Function compiles the text of one function: a function expression, named or
// not, an arrow function, or, as MongoDB allows, the body alone or a bare
// expression. Trailing semicolons, blanks and comments do no harm.
// Errors are *mongoerr.Error JSInterpreterFailure.
func (r *Runtime) Function(name, src string) (*Func, error) {
	text, lit, file, err := functionText(name, src)
	if err != nil {
		return nil, err
	}
	prog, err := goja.Compile(file, text, false)
	if err != nil {
		return nil, syntaxError(name, err)
	}
	v, err := r.vm.RunProgram(prog)
	if err != nil {
		return nil, r.failure(name, err)
	}
	call, ok := goja.AssertFunction(v)
	if !ok {
		return nil, mongoerr.New(mongoerr.JSInterpreterFailure, "%s is not a function", name)
	}
	f := &Func{name: name, call: call}
	if lit != nil {
		f.Uses = usesOf(lit)
	} else {
		f.Uses = Uses{ThisEscapes: true}
	}
	return f, nil
}

// functionText gives the text to compile, the function literal in it (nil when it is a wrapped body) and the file name.
func functionText(name, src string) (text string, lit ast.Expression, file string, err error) {
	if err := checkNesting(name, src); err != nil {
		return "", nil, "", err
	}
	src = strings.TrimRight(src, "; \t\r\n")
	text = exprPrefix + src + "\n)"
	prog, exprErr := parser.ParseFile(nil, name, text, 0)
	if exprErr == nil && len(prog.Body) == 1 {
		if st, ok := prog.Body[0].(*ast.ExpressionStatement); ok {
			switch st.Expression.(type) {
			case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
				return text, st.Expression, name, nil
			}
		}
	}
	file = name + wrappedSuffix
	prog, err = parser.ParseFile(nil, name, src, 0)
	if err == nil && len(prog.Body) > 0 {
		// A bare expression is what the function returns.
		if st, ok := prog.Body[len(prog.Body)-1].(*ast.ExpressionStatement); ok {
			at := int(st.Idx0()) - 1
			return bodyPrefix + src[:at] + "return " + src[at:] + "\n})", nil, file, nil
		}
	}
	text = bodyPrefix + src + "\n})"
	if _, err := parser.ParseFile(nil, name, text, 0); err != nil {
		if exprErr != nil && strings.HasPrefix(strings.TrimSpace(src), "function") {
			err = exprErr
		}
		return "", nil, "", syntaxError(name, err)
	}
	return text, nil, file, nil
}

func syntaxError(name string, err error) error {
	line, col, msg := 1, 1, err.Error()
	var list parser.ErrorList
	if errors.As(err, &list) && len(list) > 0 {
		e := list[0]
		line, col, msg = e.Position.Line, e.Position.Column, e.Message
		if line == 1 {
			col = max(1, col-len(exprPrefix))
		}
	}
	return mongoerr.New(mongoerr.JSInterpreterFailure, "SyntaxError: %s :\n%s@:%d:%d\n", msg, name, line, col)
}

// Source limits: the parser is recursive, and a stack that outgrows its limit ends the process.
const (
	maxSourceBytes  = 1 << 20
	maxSourceNested = 10000
)

// checkNesting refuses texts that would take the parser too deep. It looks at
// brackets without knowing strings or comments, so it may only err on texts
// with ten thousand unmatched brackets inside strings.
func checkNesting(name, src string) error {
	if len(src) > maxSourceBytes {
		return mongoerr.New(mongoerr.JSInterpreterFailure, "SyntaxError: %s has %d bytes, more than %d", name, len(src), maxSourceBytes)
	}
	if nesting(src) > maxSourceNested {
		return mongoerr.New(mongoerr.JSInterpreterFailure, "SyntaxError: %s is nested too deeply", name)
	}
	return nil
}

// nesting is an upper bound of how deep the parser recurses for src: open
// brackets, and runs of prefix operators and keywords that nest without any.
func nesting(src string) int {
	depth, deepest, prefix := 0, 0, 0
	for i := range len(src) {
		switch c := src[i]; c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth = max(0, depth-1)
		case ';', ',':
			prefix = 0
		case '!', '~', '-', '+', '=', '?', ' ', '\n', '\t', '>', '.':
			// Each may start one more level: !!!x, a=b=c, a?b:c?d:e, new new x, if(a)if(b), x=>y=>z.
			prefix++
		}
		deepest = max(deepest, depth+prefix/8)
	}
	return deepest
}

// guardEval keeps eval and Function from handing the parser what checkNesting refuses.
func (r *Runtime) guardEval() {
	must(r.vm.GlobalObject().Delete("eval"))
	r.native(r.vm.GlobalObject(), "eval", func(call goja.FunctionCall) goja.Value {
		s, ok := call.Argument(0).(goja.String)
		if !ok {
			return call.Argument(0)
		}
		src := s.String()
		if err := checkNesting("eval", src); err != nil {
			r.throw("SyntaxError", "%s", err)
		}
		v, err := r.vm.RunScript("eval", src)
		if err != nil {
			r.rethrow(err)
		}
		return v
	})
	r.guardConstructor("Function", r.vm.Get("Function").(*goja.Object), func(args []goja.Value) {
		for _, a := range args {
			if err := checkNesting("Function", a.String()); err != nil {
				r.throw("SyntaxError", "%s", err)
			}
		}
	})
	// The constructors of generators and async functions would be a way around.
	for _, src := range []string{"(function*(){})", "(async function(){})", "(async () => {})"} {
		f, err := r.vm.RunString(src)
		must(err)
		must(f.(*goja.Object).Prototype().Delete("constructor"))
	}
}

// rethrow passes on what a nested run of the interpreter reported.
func (r *Runtime) rethrow(err error) {
	var bad *goja.CompilerSyntaxError
	if errors.As(err, &bad) {
		r.throw("SyntaxError", "%s", bad.Message)
	}
	panic(err)
}
