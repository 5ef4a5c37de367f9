package pipeline

import (
	"slices"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/expr"
	"mrbench/internal/embedded/query"
	"mrbench/internal/embedded/store"
)

type sortStage struct {
	spec  *query.SortSpec
	limit int64 // how many are wanted at most; 0: all
}

func parseSort(_ *parser, arg bsonx.Value) (stage, error) {
	if arg.Type != tDoc {
		return nil, errf(15973, "the $sort key specification must be an object")
	}
	spec, err := sortSpec(arg.Doc())
	if err != nil {
		return nil, err
	}
	if spec == nil {
		return nil, errf(15976, "$sort stage must have at least one sort key")
	}
	for _, f := range spec.Fields {
		if f.Path == "$natural" {
			return nil, errf(16410, "FieldPath field names may not start with '$'.")
		}
	}
	return &sortStage{spec: spec}, nil
}

// sortSpec parses a sort as stages and accumulators do, with codes of their own: find has one for all mistakes.
func sortSpec(d bsonx.Doc) (*query.SortSpec, error) {
	if err := checkSort(d); err != nil {
		return nil, err
	}
	return query.ParseSort(d)
}

func checkSort(d bsonx.Doc) error {
	for it := d.Iter(); it.Next(); {
		if _, err := expr.SplitPath(string(it.Name())); err != nil {
			return err
		}
		switch v := it.Value(); {
		case v.Type == tDoc:
			el := v.Elems()
			if !el.Next() || string(el.Name()) != "$meta" {
				return errf(17312, "$meta is the only expression supported by $sort right now")
			}
			if m := el.Value(); m.Type != tString {
				return errf(17307, "$meta only supports string arguments")
			} else if m.Str() != "textScore" && m.Str() != "randVal" {
				return errf(17308, "Unsupported argument to $meta: %s", m.Str())
			}
		case !v.IsNumber():
			return errf(15974, "$sort key ordering must be specified using a number or {$meta: 'textScore'}")
		default:
			if n, ok := v.TruncInt64(); !ok || n != 1 && n != -1 {
				return errf(15975, "$sort key ordering must be 1 (for ascending) or -1 (for descending)")
			}
		}
	}
	return nil
}

func (s *sortStage) deps(d *deps) bool {
	for _, f := range s.spec.Fields {
		d.add(f.Path)
	}
	return false
}

// over is s on the output of an earlier sort.
func (s *sortStage) over(before *sortStage) *sortStage {
	fields := slices.Clone(s.spec.Fields)
	for _, f := range before.spec.Fields {
		if !slices.ContainsFunc(fields, func(g store.IndexField) bool { return g.Path == f.Path }) {
			fields = append(fields, f)
		}
	}
	return &sortStage{spec: &query.SortSpec{Fields: fields}}
}

func (s *sortStage) open(r *run, in query.Source) (query.Source, error) {
	return query.NewSort(in, s.spec, s.limit, r.sorting()), nil
}
