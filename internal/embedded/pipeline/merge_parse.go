package pipeline

import (
	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/store"
)

// matchedMode is what $merge does with a document that is there already.
type matchedMode uint8

const (
	mergeFields matchedMode = iota
	replaceDoc
	keepExisting
	failMatched
	runPipeline
)

// notMatchedMode is what it does with one that is not.
type notMatchedMode uint8

const (
	insertDoc notMatchedMode = iota
	discardDoc
	failNotMatched
)

// mergeStage is $merge.
type mergeStage struct {
	ps         *parser
	ns         store.NS
	on         []string
	matched    matchedMode
	notMatched notMatchedMode
	pipe       bsonx.Value
	vars       []lookupVar
}

func parseMerge(ps *parser, arg bsonx.Value) (stage, error) {
	s := &mergeStage{ps: ps, ns: ps.o.NS, on: []string{"_id"}}
	if arg.Type == tString {
		s.ns.Coll = arg.Str()
		return s, checkTarget("$merge", s.ns)
	}
	if arg.Type != tDoc {
		return nil, errf(51182, "$merge requires a string or object argument, but found %s", typeName(arg))
	}
	var into, let bsonx.Value
	for it := arg.Elems(); it.Next(); {
		v := it.Value()
		var err error
		switch string(it.Name()) {
		case "into":
			into = v
		case "on":
			err = s.parseOn(v)
		case "let":
			if v.Type != tDoc {
				return nil, errf(mongoerr.TypeMismatch, "BSON field '$merge.let' is the wrong type '%s', expected type 'object'", typeName(v))
			}
			let = v
		case "whenMatched":
			err = s.parseMatched(v)
		case "whenNotMatched":
			err = s.parseNotMatched(v)
		default:
			err = errf(40415, "BSON field '$merge.%s' is an unknown field.", it.Name())
		}
		if err != nil {
			return nil, err
		}
	}
	if err := s.parseInto(into); err != nil {
		return nil, err
	}
	return s, s.parsePipeline(let)
}

func (s *mergeStage) parseInto(v bsonx.Value) error {
	switch v.Type {
	case tMissing:
		return errf(40414, "BSON field '$merge.into' is missing but a required field")
	case tString:
		s.ns.Coll = v.Str()
	case tDoc:
		for it := v.Elems(); it.Next(); {
			if it.Value().Type != tString {
				return errf(mongoerr.TypeMismatch, "BSON field '$merge.into.%s' is the wrong type '%s', expected type 'string'", it.Name(), typeName(it.Value()))
			}
			switch string(it.Name()) {
			case "db":
				s.ns.DB = it.Value().Str()
			case "coll":
				s.ns.Coll = it.Value().Str()
			default:
				return errf(40415, "BSON field '$merge.into.%s' is an unknown field.", it.Name())
			}
		}
		if v.Doc().Get("coll").IsMissing() {
			return errf(51178, "$merge 'into' field must specify a 'coll' that is not empty, null or undefined")
		}
	default:
		return errf(51178, "$merge 'into' field must be either a string or an object, but found %s", typeName(v))
	}
	return checkTarget("$merge", s.ns)
}

func (s *mergeStage) parseOn(v bsonx.Value) error {
	s.on = nil
	add := func(v bsonx.Value) error {
		if v.Type != tString {
			return errf(51134, "$merge 'on' array elements must be strings, but found %s", typeName(v))
		}
		for _, o := range s.on {
			if o == v.Str() {
				return errf(31465, "Found a duplicate field '%s' in $merge 'on'", o)
			}
		}
		s.on = append(s.on, v.Str())
		_, err := expr.SplitPath(v.Str())
		return err
	}
	switch v.Type {
	case tString:
		return add(v)
	case tArray:
		for it := v.Elems(); it.Next(); {
			if err := add(it.Value()); err != nil {
				return err
			}
		}
		if len(s.on) == 0 {
			return errf(51187, "If explicitly specifying $merge 'on', must include at least one field")
		}
		return nil
	}
	return errf(51186, "$merge 'on' field must be either a string or an array of strings, but found %s", typeName(v))
}

func (s *mergeStage) parseMatched(v bsonx.Value) error {
	if v.Type == tArray {
		s.matched, s.pipe = runPipeline, v.Clone()
		return nil
	}
	if v.Type != tString {
		return errf(51191, "$merge 'whenMatched' field must be either a string or an array, but found %s", typeName(v))
	}
	switch v.Str() {
	case "merge":
		s.matched = mergeFields
	case "replace":
		s.matched = replaceDoc
	case "keepExisting":
		s.matched = keepExisting
	case "fail":
		s.matched = failMatched
	default:
		return errf(mongoerr.BadValue, "Enumeration value '%s' for field 'whenMatched' is not a valid value.", v.Str())
	}
	return nil
}

func (s *mergeStage) parseNotMatched(v bsonx.Value) error {
	if v.Type != tString {
		return errf(mongoerr.TypeMismatch, "BSON field '$merge.whenNotMatched' is the wrong type '%s', expected type 'string'", typeName(v))
	}
	switch v.Str() {
	case "insert":
		s.notMatched = insertDoc
	case "discard":
		s.notMatched = discardDoc
	case "fail":
		s.notMatched = failNotMatched
	default:
		return errf(mongoerr.BadValue, "Enumeration value '%s' for field '$merge.whenNotMatched' is not a valid value.", v.Str())
	}
	return nil
}

// parsePipeline checks whenMatched's pipeline and the variables for it.
func (s *mergeStage) parsePipeline(let bsonx.Value) error {
	if s.matched != runPipeline {
		if !let.IsMissing() {
			return errf(51199, "Cannot use 'let' variables with 'whenMatched' mode other than a pipeline")
		}
		return nil
	}
	scope := s.ps.scope.WithBound("new")
	if !let.IsMissing() {
		for it := let.Elems(); it.Next(); {
			name := string(it.Name())
			if err := expr.CheckVarName(name); err != nil {
				return err
			}
			e, err := s.ps.compile(it.Value().Clone())
			if err != nil {
				return err
			}
			if name == "new" {
				if p, ok := e.FieldPath(); ok || p != "" {
					return errf(51273, "'let' may not define a value for the reserved 'new' variable other than '$$ROOT'")
				}
				continue
			}
			s.vars = append(s.vars, lookupVar{name, e})
			scope = scope.WithBound(name)
		}
	}
	for it := s.pipe.Elems(); it.Next(); {
		name, _, err := splitStage(it.Value())
		if err != nil {
			return err
		}
		switch name {
		case "$addFields", "$set", "$project", "$unset", "$replaceRoot", "$replaceWith":
		default:
			return errf(mongoerr.InvalidOptions, "%s is not allowed to be used within an update", name)
		}
	}
	_, err := s.ps.nested(s.pipe, *s.ps.o, scope, false)
	return err
}

func (s *mergeStage) target() store.NS { return s.ns }

func (s *mergeStage) deps(d *deps) bool {
	d.whole = true
	return false
}
