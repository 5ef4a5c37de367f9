package pipeline

import (
	"strings"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
)

// projParser builds a projection tree and finds out whether it includes or excludes.
type projParser struct {
	ps      *parser
	stage   string
	addOnly bool // $addFields: every value is an expression
	root    *projNode
	mode    projMode
	decided bool
	id      projKind // what was said about _id
	hasID   bool
}

func parseProject(ps *parser, arg bsonx.Value) (stage, error) {
	if arg.Type != tDoc {
		return nil, errf(15969, "$project specification must be an object")
	}
	p := &projParser{ps: ps, stage: "$project", root: &projNode{}}
	if err := p.document(arg); err != nil {
		return nil, err
	}
	if !p.decided {
		// only _id was named: {_id: 0} excludes, {_id: 1} includes
		if p.hasID && p.id == dropField {
			p.mode = exclude
		}
	}
	if p.mode == include {
		switch {
		case !p.hasID:
			p.root.fields = append([]projField{{name: "_id"}}, p.root.fields...)
		case p.id == dropField:
			p.remove("_id")
		}
	} else if p.hasID && p.id == keepField {
		p.remove("_id")
	}
	p.finish(p.root)
	return &projectStage{"$project", p.root}, nil
}

func parseAddFields(ps *parser, arg bsonx.Value) (stage, error) {
	if arg.Type != tDoc {
		return nil, errf(40272, "$addFields specification stage must be an object, got %s", typeName(arg))
	}
	p := &projParser{ps: ps, stage: "$addFields", addOnly: true, root: &projNode{}, mode: add, decided: true}
	if err := p.document(arg); err != nil {
		return nil, err
	}
	p.finish(p.root)
	return &projectStage{"$addFields", p.root}, nil
}

func parseUnset(_ *parser, arg bsonx.Value) (stage, error) {
	p := &projParser{stage: "$unset", root: &projNode{}, mode: exclude, decided: true}
	drop := func(v bsonx.Value) error {
		if v.Type != tString {
			return errf(31120, "$unset specification must be a string or an array containing only string fields")
		}
		path, err := expr.SplitPath(v.Str())
		if err != nil {
			return err
		}
		return p.put(path, projField{kind: dropField})
	}
	switch arg.Type {
	case tString:
		if err := drop(arg); err != nil {
			return nil, err
		}
	case tArray:
		for it := arg.Elems(); it.Next(); {
			if err := drop(it.Value()); err != nil {
				return nil, err
			}
		}
	default:
		return nil, errf(31002, "$unset specification must be a string or an array")
	}
	if len(p.root.fields) == 0 {
		return nil, errf(31119, "$unset specification must be a string or an array with at least one field")
	}
	p.finish(p.root)
	return &projectStage{"$unset", p.root}, nil
}

func (p *projParser) finish(n *projNode) {
	var set func(n *projNode)
	set = func(n *projNode) {
		n.mode = p.mode
		for i := range n.fields {
			if n.fields[i].sub != nil {
				set(n.fields[i].sub)
			}
		}
	}
	set(n)
	n.seal()
}

func (p *projParser) remove(name string) {
	for i, f := range p.root.fields {
		if f.name == name {
			p.root.fields = append(p.root.fields[:i], p.root.fields[i+1:]...)
			return
		}
	}
}

func (p *projParser) document(arg bsonx.Value) error {
	n := 0
	for it := arg.Elems(); it.Next(); n++ {
		name := string(it.Name())
		if name != "" && name[0] == '$' {
			return errf(16410, "Invalid %s :: caused by :: FieldPath field names may not start with '$'.", p.stage)
		}
		path, err := expr.SplitPath(name)
		if err != nil {
			return err
		}
		if err := p.field(path, it.Value()); err != nil {
			return err
		}
	}
	if n == 0 {
		return errf(40177, "Invalid %s :: caused by :: specification must have at least one field", p.stage)
	}
	return nil
}

// field takes in what is said about one path.
func (p *projParser) field(path []string, v bsonx.Value) error {
	if v.Type == tDoc {
		return p.subdocument(path, v)
	}
	if !p.addOnly && (v.IsNumber() || v.Type == tBool) {
		if v.Truthy() {
			return p.decide(path, include, projField{kind: keepField})
		}
		return p.decide(path, exclude, projField{kind: dropField})
	}
	return p.compute(path, v)
}

func (p *projParser) compute(path []string, v bsonx.Value) error {
	e, err := p.ps.compile(v)
	if err != nil {
		return err
	}
	return p.decide(path, include, projField{kind: computeField, e: e})
}

func (p *projParser) subdocument(path []string, v bsonx.Value) error {
	it := v.Elems()
	if !it.Next() {
		if p.addOnly {
			return p.compute(path, v)
		}
		return errf(40180, "Invalid %s :: caused by :: an empty object is not a valid value. Found at path %s", p.stage, strings.Join(path, "."))
	}
	if name := it.Name(); len(name) > 0 && name[0] == '$' {
		if it.Next() {
			return errf(40182, "Invalid %s :: caused by :: Bad projection specification: cannot have an expression with more than one field at %s", p.stage, strings.Join(path, "."))
		}
		return p.compute(path, v)
	}
	for it = v.Elems(); it.Next(); {
		name := string(it.Name())
		if strings.IndexByte(name, '.') >= 0 {
			return errf(40183, "Invalid %s :: caused by :: cannot use dotted field name '%s' in a sub object: %s", p.stage, name, v)
		}
		if err := expr.CheckFieldName(name); err != nil {
			return err
		}
		if err := p.field(append(append([]string{}, path...), name), it.Value()); err != nil {
			return err
		}
	}
	return nil
}

func (p *projParser) decide(path []string, m projMode, f projField) error {
	if len(path) == 1 && path[0] == "_id" && !p.addOnly && f.kind != computeField {
		p.id, p.hasID = f.kind, true
		return p.put(path, f)
	}
	if path[0] == "_id" {
		p.hasID, p.id = true, computeField
	}
	if !p.addOnly {
		if p.decided && p.mode != m {
			if p.mode == include {
				return errf(40178, "Invalid %s :: caused by :: Bad projection specification, cannot exclude fields other than '_id' in an inclusion projection", p.stage)
			}
			return errf(40179, "Invalid %s :: caused by :: Bad projection specification, cannot include fields or add computed fields during an exclusion projection", p.stage)
		}
		p.mode, p.decided = m, true
	}
	return p.put(path, f)
}

func (p *projParser) put(path []string, f projField) error {
	n := p.root
	for i, name := range path {
		at := -1
		for j := range n.fields {
			if n.fields[j].name == name {
				at = j
			}
		}
		last := i == len(path)-1
		if at >= 0 && (last || n.fields[at].kind != nestField) {
			return errf(40176, "Invalid %s :: caused by :: specification contains two conflicting paths. Cannot specify both '%s' and '%s'",
				p.stage, strings.Join(path, "."), strings.Join(path[:i+1], "."))
		}
		if last {
			f.name = name
			n.fields = append(n.fields, f)
			return nil
		}
		if at < 0 {
			n.fields = append(n.fields, projField{name: name, kind: nestField, sub: &projNode{}})
			at = len(n.fields) - 1
		}
		n = n.fields[at].sub
	}
	return nil
}
