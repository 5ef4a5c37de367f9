package pipeline

import (
	"slices"

	"mrbench/internal/embedded/bsonx"
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
	spec, err := query.ParseSort(arg.Doc())
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
