package lint

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
	"go.mongodb.org/mongo-driver/bson"

	"mrbench/mr/jobfile"
)

// The findings.
const (
	Order  = "lint-order"
	Number = "lint-number"
	Shape  = "lint-shape"
	Length = "lint-length"
	This   = "lint-this"
	Random = "lint-random"
	Now    = "lint-now"
	Throws = "lint-throws"
)

// Findings explains each finding's ID.
func Findings() map[string]string {
	return map[string]string{
		Order:  "reduce gives another result when its values come in another order",
		Number: "reduce gives another result when some of its values are reduced before the others",
		Shape:  "reduce returns another shape than map emits, so a key with one value looks different",
		Length: "reduce uses values.length, which counts results of an earlier reduce like values",
		This:   "map changes the document, which the server may or may not see again",
		Random: "a function uses Math.random",
		Now:    "a function uses the time of its run",
		Throws: "map or reduce throws on a document or on values that were tried",
	}
}

// Finding is something wrong with a job.
type Finding struct {
	ID string `json:"id"` // one of Findings
	jobfile.Position
	Message string `json:"message"`
}

func (f Finding) String() string { return fmt.Sprintf("%s: %s [%s]", f.Position, f.Message, f.ID) }

// Check looks at a job and runs it on the documents; without documents it makes up values. It stops when ctx ends.
func Check(ctx context.Context, j *jobfile.Job, docs []bson.Raw) ([]Finding, error) {
	var c checker
	for _, f := range []struct {
		name string
		fn   jobfile.Function
	}{{"map", j.Map}, {"reduce", j.Reduce}, {"finalize", j.Finalize}} {
		if f.fn.Text == "" {
			continue
		}
		p, err := f.fn.Parse()
		if err != nil {
			return nil, err
		}
		c.read(f.name, p)
	}
	if err := c.run(ctx, j, docs); err != nil {
		return c.found, err
	}
	return c.found, nil
}

type checker struct{ found []Finding }

func (c *checker) add(p jobfile.Position, id, format string, args ...any) {
	for _, f := range c.found {
		if f.ID == id && f.File == p.File {
			return // one of a kind is enough
		}
	}
	c.found = append(c.found, Finding{ID: id, Position: p, Message: fmt.Sprintf(format, args...)})
}

// read finds what shows in the text.
func (c *checker) read(name string, p *jobfile.Parsed) {
	values := ""
	if name == "reduce" && len(p.Params) > 1 {
		values = p.Params[1]
	}
	loops := map[ast.Expression]bool{}
	look := func(n any) {
		switch n := n.(type) {
		case *ast.ForStatement: // i < values.length is no use of the number
			if b, ok := n.Test.(*ast.BinaryExpression); ok {
				loops[b.Right] = true
			}
		case *ast.Binding:
			if n.Initializer != nil && isLength(n.Initializer, values) {
				loops[n.Initializer] = true // for (i = 0, n = values.length; …); other uses show when reduce is run
			}
		case *ast.DotExpression:
			if isLength(n, values) && !loops[n] {
				c.add(p.Position(n), Length, "%s counts results of an earlier reduce like values: emit a count and add it up", p.Source(n))
			}
		case *ast.CallExpression:
			switch strings.Join(strings.Fields(p.Source(n.Callee)), "") {
			case "Math.random":
				c.add(p.Position(n), Random, "Math.random() gives another answer each time")
			case "Date.now", "ISODate", "Date":
				if len(n.ArgumentList) == 0 {
					c.add(p.Position(n), Now, "%s depends on the time of the run: put the time into the scope", p.Source(n))
				}
			}
		case *ast.NewExpression:
			if s := p.Source(n.Callee); (s == "Date" || s == "ISODate") && len(n.ArgumentList) == 0 {
				c.add(p.Position(n), Now, "%s depends on the time of the run: put the time into the scope", p.Source(n))
			}
		case *ast.AssignExpression:
			if name == "map" && ofThis(n.Left) {
				c.add(p.Position(n), This, "%s changes the document: copy the value into a variable", p.Source(n.Left))
			}
		case *ast.UnaryExpression:
			if name == "map" && (n.Operator == token.INCREMENT || n.Operator == token.DECREMENT || n.Operator == token.DELETE) && ofThis(n.Operand) {
				c.add(p.Position(n), This, "%s changes the document: copy the value into a variable", p.Source(n.Operand))
			}
		}
	}
	for _, s := range p.Body {
		walk(s, look)
	}
	if p.Result != nil {
		walk(p.Result, look)
	}
}

func isLength(e ast.Expression, values string) bool {
	d, ok := e.(*ast.DotExpression)
	if !ok || values == "" || d.Identifier.Name.String() != "length" {
		return false
	}
	id, ok := d.Left.(*ast.Identifier)
	return ok && id.Name.String() == values
}

// ofThis says that an expression is a field of this, at any depth.
func ofThis(e ast.Expression) bool {
	switch e := e.(type) {
	case *ast.DotExpression:
		_, direct := e.Left.(*ast.ThisExpression)
		return direct || ofThis(e.Left)
	case *ast.BracketExpression:
		_, direct := e.Left.(*ast.ThisExpression)
		return direct || ofThis(e.Left)
	}
	return false
}

// walk calls fn for a node and all below it, parents first.
func walk(n any, fn func(any)) {
	v := reflect.ValueOf(n)
	for v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		if v.Elem().Kind() == reflect.Struct && v.Elem().Type().PkgPath() == reflect.TypeFor[ast.Identifier]().PkgPath() {
			fn(v.Interface())
			walkFields(v.Elem(), fn)
		}
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i).Interface(), fn)
		}
	case reflect.Struct:
		if v.Type().PkgPath() == reflect.TypeFor[ast.Identifier]().PkgPath() {
			walkFields(v, fn)
		}
	}
}

func walkFields(v reflect.Value, fn func(any)) {
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() || v.Type().Field(i).Name == "DeclarationList" {
			continue // declarations are in the body, too
		}
		switch f := v.Field(i); f.Kind() {
		case reflect.Interface, reflect.Pointer, reflect.Slice, reflect.Struct:
			walk(f.Interface(), fn)
		}
	}
}
