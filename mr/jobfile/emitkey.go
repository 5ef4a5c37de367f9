package jobfile

import (
	"reflect"

	"github.com/dop251/goja/ast"
)

// EmitKey is the field that every emit of the map function has as its key, read from the document directly, as in
// emit(this.customer.id, …): "customer.id". It is "" when there is another kind of key, or several fields.
func (j *Job) EmitKey() string {
	p, err := j.Map.Parse()
	if err != nil {
		return ""
	}
	var key string
	same := true
	calls(reflect.ValueOf(p.Body), false, func(c *ast.CallExpression, nested bool) {
		if name, ok := c.Callee.(*ast.Identifier); !ok || name.Name != "emit" {
			return
		}
		field := ""
		if len(c.ArgumentList) > 0 && !nested { // within a function of its own, this is not the document
			field = fieldOf(c.ArgumentList[0])
		}
		same = same && field != "" && (key == "" || key == field)
		key = field
	})
	if !same {
		return ""
	}
	return key
}

// fieldOf is the path of this that an expression reads; "" for another expression.
func fieldOf(e ast.Expression) string {
	d, ok := e.(*ast.DotExpression)
	if !ok {
		return ""
	}
	name := string(d.Identifier.Name)
	if _, ok := d.Left.(*ast.ThisExpression); ok {
		return name
	}
	if parent := fieldOf(d.Left); parent != "" {
		return parent + "." + name
	}
	return ""
}

// calls finds all calls below a part of a syntax tree. The tree has no walker of its own.
func calls(v reflect.Value, nested bool, found func(c *ast.CallExpression, nested bool)) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return
		}
		if v.Kind() == reflect.Pointer {
			switch n := v.Interface().(type) {
			case *ast.CallExpression:
				found(n, nested)
			case *ast.FunctionLiteral:
				nested = true
			}
		}
		calls(v.Elem(), nested, found)
	case reflect.Slice:
		for i := range v.Len() {
			calls(v.Index(i), nested, found)
		}
	case reflect.Struct:
		if v.Type().PkgPath() != reflect.TypeFor[ast.CallExpression]().PkgPath() {
			return // positions, files, names
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				calls(v.Field(i), nested, found)
			}
		}
	}
}
