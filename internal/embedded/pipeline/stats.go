package pipeline

import (
	"context"
	"time"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/query"
)

// generated is what the stages that make their own documents have in common.
type generated struct{}

func (generated) deps(d *deps) bool {
	return true
}

func (generated) open(_ *run, in query.Source) (query.Source, error) { return in, nil }

type collStatsStage struct {
	generated
	count, storage, latency bool
}

func parseCollStats(_ *parser, arg bsonx.Value) (stage, error) {
	if arg.Type != tDoc {
		return nil, errf(40166, "$collStats must take a nested object but found: %s", arg)
	}
	s := &collStatsStage{}
	for it := arg.Elems(); it.Next(); {
		if it.Value().Type != tDoc {
			return nil, errf(40167, "%s argument to $collStats must be an object, but got %s of type %s", it.Name(), it.Value(), typeName(it.Value()))
		}
		switch string(it.Name()) {
		case "count":
			s.count = true
		case "storageStats":
			s.storage = true
		case "latencyStats":
			s.latency = true
		case "queryExecStats":
		default:
			return nil, errf(40168, "unrecognized option to $collStats: %s", it.Name())
		}
	}
	return s, nil
}

func (s *collStatsStage) generate(_ context.Context, r *run) (query.Source, error) {
	c := r.snap.Collection(r.o.NS)
	if c == nil {
		if s.count || s.storage {
			return nil, errf(mongoerr.NamespaceNotFound, "Unable to retrieve count in $collStats stage :: caused by :: Collection [%s] not found.", r.o.NS)
		}
		return &listSource{}, nil
	}
	st := r.snap.Stats(c)
	d := bsonx.AppendElem(bsonx.BeginDoc(nil), "ns", bsonx.String(r.o.NS.String()))
	d = bsonx.AppendElem(d, "localTime", bsonx.Date(time.Now().UnixMilli()))
	if s.latency {
		zero := makeDoc("latency", bsonx.Int64(0), "ops", bsonx.Int64(0))
		d = bsonx.AppendElem(d, "latencyStats", makeDoc("reads", zero, "writes", zero, "commands", zero))
	}
	if s.storage {
		avg := int64(0)
		if st.Documents > 0 {
			avg = st.Bytes / st.Documents
		}
		var total int64
		sizes := bsonx.BeginDoc(nil)
		for _, ix := range c.Indexes {
			sizes = bsonx.AppendElem(sizes, ix.Name, intOrLong(st.IndexBytes[ix.Name]))
			total += st.IndexBytes[ix.Name]
		}
		d = bsonx.AppendElem(d, "storageStats", makeDoc("size", intOrLong(st.Bytes), "count", intOrLong(st.Documents), "avgObjSize", intOrLong(avg),
			"storageSize", intOrLong(st.StorageSize), "capped", bsonx.Bool(false), "nindexes", bsonx.Int32(int32(len(c.Indexes))),
			"totalIndexSize", intOrLong(total), "indexSizes", bsonx.DocValue(bsonx.EndDoc(sizes, 0))))
	}
	if s.count {
		d = bsonx.AppendElem(d, "count", intOrLong(st.Documents))
	}
	return &listSource{docs: []bsonx.Doc{bsonx.EndDoc(d, 0)}}, nil
}

type indexStatsStage struct{ generated }

func parseIndexStats(_ *parser, arg bsonx.Value) (stage, error) {
	if arg.Type != tDoc || arg.Doc().Len() != 0 {
		return nil, errf(28803, "The $indexStats stage specification must be an empty object")
	}
	return &indexStatsStage{}, nil
}

// generate lists the indexes. Uses are not counted: ops is 0.
func (s *indexStatsStage) generate(_ context.Context, r *run) (query.Source, error) {
	c := r.snap.Collection(r.o.NS)
	if c == nil {
		return &listSource{}, nil
	}
	var docs []bsonx.Doc
	since := bsonx.Date(time.Now().UnixMilli())
	for _, ix := range c.Indexes {
		docs = append(docs, makeDoc("name", bsonx.String(ix.Name), "key", ix.Spec.Get("key"), "host", bsonx.String("mrbench"),
			"accesses", makeDoc("ops", bsonx.Int64(0), "since", since)).Doc())
	}
	return &listSource{docs: docs}, nil
}

type currentOpStage struct{ generated }

func parseCurrentOp(_ *parser, arg bsonx.Value) (stage, error) {
	if arg.Type != tDoc {
		return nil, errf(mongoerr.FailedToParse, "$currentOp options must be specified in an object, but found: %s", typeName(arg))
	}
	return &currentOpStage{}, nil
}

func (s *currentOpStage) generate(_ context.Context, r *run) (query.Source, error) {
	if r.o.CurrentOps == nil {
		return &listSource{}, nil
	}
	return &listSource{docs: r.o.CurrentOps()}, nil
}

type documentsStage struct {
	generated
	docs []bsonx.Doc
}

func parseDocuments(ps *parser, arg bsonx.Value) (stage, error) {
	e, err := ps.compile(arg)
	if err != nil {
		return nil, err
	}
	v, err := e.Eval(bsonx.Empty)
	if err != nil {
		return nil, err
	}
	if v.Type != tArray {
		return nil, errf(5858203, "an array is expected for $documents, found %s", typeName(v))
	}
	s := &documentsStage{}
	for it := v.Clone().Elems(); it.Next(); {
		if it.Value().Type != tDoc {
			return nil, errf(40228, "$documents needs an array of objects, found %s", typeName(it.Value()))
		}
		s.docs = append(s.docs, it.Value().Doc())
	}
	return s, nil
}

func (s *documentsStage) generate(context.Context, *run) (query.Source, error) {
	return &listSource{docs: s.docs}, nil
}
