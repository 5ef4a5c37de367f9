package jobfile

import (
	"regexp"
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
	"github.com/dop251/goja/token"
)

// shell reads the text of a mapReduce call.
type shell struct {
	name  string
	file  *file.File
	vars  map[string]ast.Expression
	db    string
	depth int
	job   *Job
}

var useLine = regexp.MustCompile(`(?m)^[ \t]*use[ \t]+([^\s;"'()=]+)[ \t]*;?[ \t]*\r?$`)

const oneCall = "the file has to hold one db.collection.mapReduce(map, reduce, options), or db.runCommand({mapReduce: …})"

func (r *reader) shell(name, text string) (*Job, error) {
	s := &shell{name: r.show(name), vars: map[string]ast.Expression{}}
	// "use db" is the shell's own and no JavaScript.
	text = useLine.ReplaceAllStringFunc(text, func(line string) string {
		s.db = useLine.FindStringSubmatch(line)[1]
		return strings.Repeat(" ", len(line))
	})
	prog, err := parser.ParseFile(nil, s.name, text, 0, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, syntaxError(err, func(line, column int) Position { return Position{s.name, line, column} })
	}
	s.file = prog.File
	for _, st := range prog.Body {
		if f, ok := st.(*ast.FunctionDeclaration); ok { // known before its line
			s.vars[f.Function.Name.Name.String()] = f.Function
		}
	}
	for _, st := range prog.Body {
		if err := s.statement(st); err != nil {
			return nil, err
		}
	}
	if s.job == nil {
		return nil, errorAt(Position{File: s.name, Line: 1, Column: 1}, "no mapReduce call: %s", oneCall)
	}
	return s.job, nil
}

func (s *shell) at(n ast.Node) Position {
	q := s.file.Position(int(n.Idx0()) - s.file.Base())
	return Position{s.name, q.Line, q.Column}
}

func (s *shell) text(n ast.Node) string {
	return s.file.Source()[int(n.Idx0())-s.file.Base() : int(n.Idx1())-s.file.Base()]
}

func (s *shell) statement(st ast.Statement) error {
	switch st := st.(type) {
	case *ast.EmptyStatement, *ast.FunctionDeclaration:
		return nil
	case *ast.VariableStatement:
		return s.bindings(st.List)
	case *ast.LexicalDeclaration:
		return s.bindings(st.List)
	case *ast.ExpressionStatement:
		if a, ok := st.Expression.(*ast.AssignExpression); ok && a.Operator == token.ASSIGN {
			if id, ok := a.Left.(*ast.Identifier); ok {
				return s.assign(id.Name.String(), a.Right)
			}
		}
		_, err := s.expression(st.Expression)
		return err
	}
	return errorAt(s.at(st), "a job file is read and not run, so it has only variables and the call: write out what this statement does (%s)", oneCall)
}

func (s *shell) bindings(list []*ast.Binding) error {
	for _, b := range list {
		id, ok := b.Target.(*ast.Identifier)
		if !ok {
			return errorAt(s.at(b), "a plain variable is expected here")
		}
		if b.Initializer == nil {
			continue
		}
		if err := s.assign(id.Name.String(), b.Initializer); err != nil {
			return err
		}
	}
	return nil
}

// assign remembers a variable. Its value is looked at when the call uses it.
func (s *shell) assign(name string, e ast.Expression) error {
	if found, err := s.expression(e); found || err != nil {
		return err
	}
	if name == "db" {
		db, err := s.database(e)
		if err != nil {
			return err
		}
		s.db = db
		return nil
	}
	s.vars[name] = e
	return nil
}

// harmless are calls that may stand around a job and have no part in it.
var harmless = []string{"print", "printjson", "tojson"}

// harmlessMethods of collections and cursors show or clear a result.
var harmlessMethods = []string{"find", "findOne", "drop", "count", "pretty", "limit", "sort", "forEach", "toArray", "getIndexes", "shellPrint"}

// expression looks for the call in an expression; found says that this was it.
func (s *shell) expression(e ast.Expression) (found bool, err error) {
	call, ok := e.(*ast.CallExpression)
	if !ok {
		return false, nil // whether it can be read shows where it is used
	}
	switch callee := call.Callee.(type) {
	case *ast.Identifier:
		if slices.Contains(harmless, callee.Name.String()) {
			for _, a := range call.ArgumentList {
				if f, err := s.expression(a); f || err != nil {
					found = found || f
					if err != nil {
						return found, err
					}
				}
			}
			return found, nil
		}
		return false, nil // a constructor; an unknown name shows when the value is used
	case *ast.DotExpression:
		switch method := callee.Identifier.Name.String(); {
		case method == "mapReduce":
			return true, s.mapReduce(call, callee.Left)
		case method == "runCommand" || method == "adminCommand":
			return true, s.runCommand(call, callee.Left)
		case slices.Contains(harmlessMethods, method):
			if inner, ok := callee.Left.(*ast.CallExpression); ok {
				return s.expression(inner) // mapReduce(…).find()
			}
			return false, nil
		case method == "getSiblingDB" || method == "getDB" || method == "getMongo" || method == "getCollection":
			return false, nil
		}
	}
	return false, errorAt(s.at(call), "a job file is read and not run: take this call out, or write out what it gives (%s)", oneCall)
}

// mapReduce reads db.coll.mapReduce(map, reduce, options).
func (s *shell) mapReduce(call *ast.CallExpression, on ast.Expression) error {
	j, err := s.begin(call)
	if err != nil {
		return err
	}
	if j.Database, j.Collection, err = s.collection(on); err != nil {
		return err
	}
	args := call.ArgumentList
	if len(args) < 2 {
		return errorAt(s.at(call), "mapReduce needs a map function and a reduce function")
	}
	if j.Map, err = s.function(args[0], "map"); err != nil {
		return err
	}
	if j.Reduce, err = s.function(args[1], "reduce"); err != nil {
		return err
	}
	if len(args) < 3 {
		return nil
	}
	return s.options(args[2], nil)
}

// runCommand reads db.runCommand({mapReduce: "coll", …}).
func (s *shell) runCommand(call *ast.CallExpression, on ast.Expression) error {
	if len(call.ArgumentList) != 1 {
		return errorAt(s.at(call), "runCommand takes one document here: %s", oneCall)
	}
	o, err := s.object(call.ArgumentList[0])
	if err != nil {
		return err
	}
	first := ""
	if len(o.Value) > 0 {
		first, _, _ = s.property(o.Value[0])
	}
	if first != "mapReduce" && first != "mapreduce" {
		return errorAt(s.at(call), "this command is no mapReduce: %s", oneCall)
	}
	j, err := s.begin(call)
	if err != nil {
		return err
	}
	if j.Database, err = s.database(on); err != nil {
		return err
	}
	return s.options(o, func(name string, e ast.Expression) (bool, error) {
		switch name {
		case "mapReduce", "mapreduce":
			v, err := s.value(e)
			if err != nil {
				return true, err
			}
			coll, ok := v.(string)
			if !ok || coll == "" {
				return true, errorAt(s.at(e), "%s names a collection", name)
			}
			j.Collection = coll
		case "map":
			j.Map, err = s.function(e, name)
		case "reduce":
			j.Reduce, err = s.function(e, name)
		default:
			return false, nil
		}
		return true, err
	})
}

func (s *shell) begin(at ast.Node) (*Job, error) {
	if s.job != nil {
		return nil, errorAt(s.at(at), "a second mapReduce: put each job into a file of its own")
	}
	s.job = &Job{}
	return s.job, nil
}

// object is an object literal, or a variable that holds one.
func (s *shell) object(e ast.Expression) (*ast.ObjectLiteral, error) {
	for range maxDepth {
		switch x := e.(type) {
		case *ast.ObjectLiteral:
			return x, nil
		case *ast.Identifier:
			v, ok := s.vars[x.Name.String()]
			if !ok {
				return nil, errorAt(s.at(x), "%s is not defined in this file: write the document here", x.Name.String())
			}
			e = v
			continue
		}
		break
	}
	return nil, s.computed(e)
}

// options reads the options document; other takes the fields that it knows first.
func (s *shell) options(e ast.Expression, other func(string, ast.Expression) (bool, error)) error {
	if str, ok := e.(*ast.StringLiteral); ok { // db.c.mapReduce(m, r, "out")
		s.job.Out = Out{Mode: Replace, Collection: str.Value.String()}
		return nil
	}
	o, err := s.object(e)
	if err != nil {
		return err
	}
	for _, p := range o.Value {
		name, v, err := s.property(p)
		if err != nil {
			return err
		}
		if other != nil {
			if done, err := other(name, v); done || err != nil {
				if err != nil {
					return err
				}
				continue
			}
		}
		switch name {
		case "verbose", "bypassDocumentValidation", "maxTimeMS", "writeConcern", "readConcern", "comment":
			continue // nothing of the answer depends on them
		case "finalize":
			if s.job.Finalize, err = s.function(v, name); err != nil {
				return err
			}
			continue
		}
		key, ok := jobKeys[name]
		if !ok || slices.Contains([]string{"namespace", "map", "reduce", "pipeline", "splitKey"}, key) {
			return errorAt(s.at(p), "option %s is not known: a job has finalize, scope, query, sort, limit, out, jsMode", name)
		}
		x, err := s.value(v)
		if err != nil {
			return err
		}
		if err := s.job.set(key, x, s.at(v), func(int) Position { return s.at(v) }); err != nil {
			return err
		}
	}
	return nil
}

// function is a function given here, or a variable that holds one.
func (s *shell) function(e ast.Expression, role string) (Function, error) {
	for range maxDepth {
		switch x := e.(type) {
		case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
			p := s.at(x)
			return Function{Text: s.text(x), File: s.name, Line: p.Line, Column: p.Column}, nil
		case *ast.StringLiteral: // commands take functions as text, too
			p := s.at(x)
			return functionFrom(Function{Text: x.Value.String(), File: s.name, Line: p.Line, Column: p.Column + 1}, role)
		case *ast.Identifier:
			v, ok := s.vars[x.Name.String()]
			if !ok {
				return Function{}, errorAt(s.at(x), "%s function %s is not defined in this file: put it above the call", role, x.Name.String())
			}
			e = v
			continue
		}
		break
	}
	return Function{}, errorAt(s.at(e), "%s has to be a function that is written out, here or in a variable", role)
}

// database is db, or db.getSiblingDB("name").
func (s *shell) database(e ast.Expression) (string, error) {
	switch x := e.(type) {
	case *ast.Identifier:
		if x.Name.String() == "db" {
			return s.db, nil
		}
		if v, ok := s.vars[x.Name.String()]; ok && s.depth < maxDepth {
			s.depth++
			defer func() { s.depth-- }()
			return s.database(v)
		}
	case *ast.CallExpression:
		if dot, ok := x.Callee.(*ast.DotExpression); ok && len(x.ArgumentList) == 1 {
			switch dot.Identifier.Name.String() {
			case "getSiblingDB", "getDB", "getSisterDB":
				v, err := s.value(x.ArgumentList[0])
				if name, ok := v.(string); ok && err == nil {
					return name, nil
				}
			}
		}
	}
	return "", errorAt(s.at(e), "which database is this? write db, or db.getSiblingDB(\"name\")")
}

// collection is db.name, db["name"] or db.getCollection("name"); a name may have dots.
func (s *shell) collection(e ast.Expression) (db, coll string, err error) {
	switch x := e.(type) {
	case *ast.Identifier:
		if v, ok := s.vars[x.Name.String()]; ok && s.depth < maxDepth {
			s.depth++
			defer func() { s.depth-- }()
			return s.collection(v)
		}
	case *ast.DotExpression:
		if db, err = s.database(x.Left); err == nil {
			return db, x.Identifier.Name.String(), nil
		}
		var inner string
		if db, inner, err = s.collection(x.Left); err == nil {
			return db, inner + "." + x.Identifier.Name.String(), nil
		}
		return "", "", err
	case *ast.BracketExpression:
		if db, err = s.database(x.Left); err == nil {
			if name, ok := x.Member.(*ast.StringLiteral); ok {
				return db, name.Value.String(), nil
			}
		}
	case *ast.CallExpression:
		if dot, ok := x.Callee.(*ast.DotExpression); ok && dot.Identifier.Name.String() == "getCollection" && len(x.ArgumentList) == 1 {
			if db, err = s.database(dot.Left); err == nil {
				v, err := s.value(x.ArgumentList[0])
				if name, ok := v.(string); ok && err == nil {
					return db, name, nil
				}
			}
		}
	}
	return "", "", errorAt(s.at(e), "which collection is this? write db.name or db.getCollection(\"name\")")
}
