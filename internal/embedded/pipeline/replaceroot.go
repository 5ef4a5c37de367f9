package pipeline

import (
	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
	"mrbench/internal/embedded/query"
)

type replaceRootStage struct{ e *expr.Expr }

func parseReplaceRoot(ps *parser, arg bsonx.Value) (stage, error) {
	if arg.Type != tDoc {
		return nil, errf(40229, "expected an object as specification for $replaceRoot stage, got %s", typeName(arg))
	}
	var root bsonx.Value
	for it := arg.Elems(); it.Next(); {
		if string(it.Name()) != "newRoot" {
			return nil, errf(40230, "unrecognized option to $replaceRoot stage: %s, only valid option is 'newRoot'.", it.Name())
		}
		root = it.Value()
	}
	if root.IsMissing() {
		return nil, errf(40231, "no newRoot specified for the $replaceRoot stage")
	}
	return parseReplaceWith(ps, root)
}

func parseReplaceWith(ps *parser, arg bsonx.Value) (stage, error) {
	e, err := ps.compile(arg)
	if err != nil {
		return nil, err
	}
	return &replaceRootStage{e}, nil
}

func (s *replaceRootStage) deps(d *deps) bool {
	d.expr(s.e)
	return true
}

func (s *replaceRootStage) open(_ *run, in query.Source) (query.Source, error) {
	return &mapSource{in: in, fn: func(dst []byte, d bsonx.Doc) ([]byte, error) {
		v, err := s.e.Eval(d)
		if err != nil {
			return dst, err
		}
		if v.Type != tDoc {
			return dst, errf(40228, "'newRoot' expression must evaluate to an object, but resulting value was: %s. Type of resulting value: '%s'", v, typeName(v))
		}
		return append(dst, v.Data...), nil
	}}, nil
}
