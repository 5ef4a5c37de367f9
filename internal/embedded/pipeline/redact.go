package pipeline

import (
	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
	"mrbench/internal/embedded/query"
)

type redactStage struct{ e *expr.Expr }

// The values of $$DESCEND, $$PRUNE and $$KEEP.
const (
	descend = "descend"
	prune   = "prune"
	keep    = "keep"
)

func parseRedact(ps *parser, arg bsonx.Value) (stage, error) {
	scope := ps.scope.With("DESCEND", bsonx.String(descend)).With("PRUNE", bsonx.String(prune)).
		With("KEEP", bsonx.String(keep)).WithBound("CURRENT")
	e, err := expr.Compile(arg, scope)
	if err != nil {
		return nil, err
	}
	return &redactStage{e}, nil
}

func (s *redactStage) deps(d *deps) bool {
	d.whole = true
	return false
}

func (s *redactStage) open(_ *run, in query.Source) (query.Source, error) {
	return &mapSource{in: in, fn: func(dst []byte, d bsonx.Doc) ([]byte, error) {
		dst, ok, err := s.redact(dst, d, d)
		if err == nil && !ok {
			err = errSkip
		}
		return dst, err
	}}, nil
}

func (s *redactStage) redact(dst []byte, d, root bsonx.Doc) (_ []byte, ok bool, err error) {
	s.e.Bind("CURRENT", bsonx.DocValue(d))
	v, err := s.e.Eval(root)
	if err != nil {
		return dst, false, err
	}
	if v.Type == tString {
		switch string(v.StrBytes()) {
		case keep:
			return append(dst, d...), true, nil
		case prune:
			return dst, false, nil
		case descend:
			dst, err = s.descend(dst, d, root)
			return dst, true, err
		}
	}
	return dst, false, errf(17053, "$redact's expression should not return anything aside from the variables $$KEEP, $$DESCEND, and $$PRUNE, but returned %s", v)
}

func (s *redactStage) descend(dst []byte, d, root bsonx.Doc) (_ []byte, err error) {
	start := len(dst)
	dst = bsonx.BeginDoc(dst)
	it := d.Iter()
	for it.Next() {
		v := it.Value()
		if v.Type != tDoc && v.Type != tArray {
			dst = appendRaw(dst, it.Name(), v)
			continue
		}
		if dst, _, err = s.element(dst, string(it.Name()), v, root); err != nil {
			return dst, err
		}
	}
	return bsonx.EndDoc(dst, start), nil
}

// element appends a value unless it is pruned.
func (s *redactStage) element(dst []byte, name string, v bsonx.Value, root bsonx.Doc) (_ []byte, ok bool, err error) {
	from := len(dst)
	switch v.Type {
	case tDoc:
		dst = appendHeader(dst, name)
		if dst, ok, err = s.redact(dst, v.Doc(), root); err != nil || !ok {
			return dst[:from], false, err
		}
		return dst, true, nil
	case tArray:
		var start int
		dst, start = bsonx.BeginElem(dst, tArray, name)
		i := 0
		it := v.Elems()
		for it.Next() {
			if dst, ok, err = s.element(dst, indexName(i), it.Value(), root); err != nil {
				return dst, false, err
			}
			if ok {
				i++
			}
		}
		return bsonx.EndDoc(dst, start), true, nil
	}
	return bsonx.AppendElem(dst, name, v), true, nil
}
