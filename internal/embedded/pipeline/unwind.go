package pipeline

import (
	"context"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
	"mrbench/internal/embedded/query"
)

type unwindStage struct {
	path, index       string
	parts, indexParts []string
	preserve          bool
}

func parseUnwind(_ *parser, arg bsonx.Value) (stage, error) {
	s := &unwindStage{}
	path := arg
	switch arg.Type {
	case tString:
	case tDoc:
		path = bsonx.Value{}
		for it := arg.Elems(); it.Next(); {
			v := it.Value()
			switch string(it.Name()) {
			case "path":
				if v.Type != tString {
					return nil, errf(28808, "expected a string as the path for $unwind stage, got %s", typeName(v))
				}
				path = v
			case "preserveNullAndEmptyArrays":
				if v.Type != tBool {
					return nil, errf(28809, "expected a boolean for the preserveNullAndEmptyArrays option to $unwind stage, got %s", typeName(v))
				}
				s.preserve = v.Bool()
			case "includeArrayIndex":
				if v.Type != tString || len(v.StrBytes()) == 0 {
					return nil, errf(28810, "expected a non-empty string for the includeArrayIndex option to $unwind stage, got %s", typeName(v))
				}
				s.index = v.Str()
				if s.index[0] == '$' {
					return nil, errf(28822, "includeArrayIndex option to $unwind stage should not be prefixed with a '$': %s", s.index)
				}
			default:
				return nil, errf(28811, "unrecognized option to $unwind stage: %s", it.Name())
			}
		}
	default:
		return nil, errf(15981, "expected either a string or an object as specification for $unwind stage, got %s", typeName(arg))
	}
	if path.IsMissing() || len(path.StrBytes()) == 0 {
		return nil, errf(28812, "no path specified to $unwind stage")
	}
	s.path = path.Str()
	if s.path[0] != '$' {
		return nil, errf(28818, "path option to $unwind stage should be prefixed with a '$': %s", s.path)
	}
	s.path = s.path[1:]
	var err error
	if s.parts, err = expr.SplitPath(s.path); err != nil {
		return nil, err
	}
	if s.index != "" {
		s.indexParts, err = expr.SplitPath(s.index)
	}
	return s, err
}

func (s *unwindStage) deps(d *deps) bool {
	d.add(s.path)
	if s.index != "" {
		d.hidden = append(d.hidden, s.index)
	}
	return false
}

func (s *unwindStage) open(_ *run, in query.Source) (query.Source, error) {
	return &unwindSource{s: s, in: in}, nil
}

// unwindSource may stop in the middle of an input block, even of an array.
type unwindSource struct {
	s    *unwindStage
	in   query.Source
	docs []bsonx.Doc // left of the input block
	doc  bsonx.Doc   // whose array is being unwound
	it   bsonx.Iter
	busy bool
	n    int64
	out  block
	tmp  []byte
}

func (u *unwindSource) Next(ctx context.Context) ([]bsonx.Doc, error) {
	u.out.reset()
	for !u.out.full() {
		if u.busy {
			u.elements()
			continue
		}
		if len(u.docs) == 0 {
			if len(u.out.docs) > 0 {
				break // what was made may alias the input block's life no longer
			}
			docs, err := u.in.Next(ctx)
			if err != nil || len(docs) == 0 {
				return nil, err
			}
			u.docs = docs
		}
		u.begin(u.docs[0])
		u.docs = u.docs[1:]
	}
	return u.out.docs, nil
}

func (u *unwindSource) begin(d bsonx.Doc) {
	v := getPath(d, u.s.parts)
	switch {
	case v.Type == tArray && v.Doc().Len() > 0:
		u.doc, u.it, u.n, u.busy = d, v.Elems(), 0, true
	case v.Type == tArray:
		if u.s.preserve {
			u.emit(appendSet(u.tmp[:0], d, u.s.parts, bsonx.Value{}), null)
		}
	case v.IsNullish():
		if u.s.preserve {
			u.emit(append(u.tmp[:0], d...), null)
		}
	default:
		u.emit(append(u.tmp[:0], d...), null)
	}
}

func (u *unwindSource) elements() {
	for !u.out.full() {
		if !u.it.Next() {
			u.busy = false
			return
		}
		if u.s.index == "" {
			u.out.end(appendSet(u.out.start(), u.doc, u.s.parts, u.it.Value()))
		} else {
			u.emit(appendSet(u.tmp[:0], u.doc, u.s.parts, u.it.Value()), bsonx.Int64(u.n))
		}
		u.n++
	}
}

// emit gives out a document that stands in tmp, with its index.
func (u *unwindSource) emit(d []byte, index bsonx.Value) {
	u.tmp = d
	if u.s.index == "" {
		u.out.add(d)
		return
	}
	u.out.end(appendSet(u.out.start(), d, u.s.indexParts, index))
}

func (u *unwindSource) Close() error { return u.in.Close() }
