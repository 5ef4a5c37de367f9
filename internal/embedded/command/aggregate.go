package command

import (
	"context"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/pipeline"
	"mrbench/internal/embedded/store"
)

var aggregateArgs = []string{
	"pipeline", "explain", "allowDiskUse", "cursor", "bypassDocumentValidation", "hint", "let",
	"exchange", "fromMongos", "needsMerge", "isMapReduceCommand",
}

// aggregation is a parsed aggregate command.
type aggregation struct {
	ns     store.NS // as named: a collection, a view, or "$cmd.aggregate" for {aggregate: 1}
	source store.NS // what the stages read: a view's collection; Coll "" for {aggregate: 1}
	stages bsonx.Doc
	opts   pipeline.Options
}

// aggregate runs a pipeline and opens a cursor on its result.
func aggregate(ctx context.Context, c *call) error {
	explained, err := c.flag("explain", false)
	if err != nil {
		return err
	}
	a, err := c.parseAggregate()
	if err != nil {
		return err
	}
	cursorArg := c.arg("cursor")
	if cursorArg.IsMissing() && !explained {
		return mongoerr.New(mongoerr.FailedToParse, "The 'cursor' option is required, except for aggregate with the explain argument")
	}
	spec, err := document("aggregate", "cursor", cursorArg)
	if err != nil {
		return err
	}
	for it := spec.Iter(); it.Next(); {
		if string(it.Name()) != "batchSize" {
			return mongoerr.New(mongoerr.BadValue, "cursor object can't contain fields other than batchSize, but has %s", it.Name())
		}
	}
	size, err := batchSize("aggregate", "cursor.batchSize", spec.Get("batchSize"), firstBatchDefault)
	if err != nil {
		return err
	}
	cur := c.s.newCursor(a.ns)
	defer cur.release()
	if explained {
		return c.explainAggregate(cur.snap, a)
	}
	p, err := a.parse(cur.snap)
	if err != nil {
		return err
	}
	if cur.src, err = p.Run(ctx, cur.snap); err != nil {
		return err
	}
	if _, writes := p.Writes(); writes {
		// The work of $out and $merge is done here and now, whatever the batch size.
		if err := cur.more(ctx); err != nil {
			return err
		}
	}
	return c.firstReply(ctx, cur, size, true, false)
}

func (c *call) parseAggregate() (*aggregation, error) {
	a := &aggregation{}
	if err := c.aggregateNS(a); err != nil {
		return nil, err
	}
	v := c.arg("pipeline")
	switch {
	case v.Type != bsonx.TypeArray:
		return nil, mongoerr.New(mongoerr.TypeMismatch, "'pipeline' option must be specified as an array")
	}
	for it := v.Elems(); it.Next(); {
		if it.Value().Type != docType {
			return nil, mongoerr.New(mongoerr.TypeMismatch, "Each element of the 'pipeline' array must be an object")
		}
	}
	a.stages = v.Doc()
	var err error
	a.opts = pipeline.Options{
		DB: c.s.db, NS: a.source, MemoryLimit: blockingMemory,
		CurrentOps: func() []bsonx.Doc { return c.s.ops.documents(false, nil) },
	}
	if a.opts.AllowDiskUse, err = c.flag("allowDiskUse", true); err != nil {
		return nil, err
	}
	if a.opts.Let, err = c.document("let"); err != nil {
		return nil, err
	}
	a.opts.Hint, err = hint("aggregate", c.arg("hint"))
	return a, err
}

// aggregateNS reads the target: a collection, or 1 for a pipeline that brings its own documents.
func (c *call) aggregateNS(a *aggregation) error {
	v := c.target()
	if !v.IsNumber() {
		ns, err := c.readNS()
		a.ns, a.source = ns, ns
		return err
	}
	if n, ok := v.AsInt64(); !ok || n != 1 {
		return mongoerr.New(mongoerr.FailedToParse, "Invalid command format: the 'aggregate' field must specify a collection name or 1")
	}
	a.ns = store.NS{DB: c.db, Coll: "$cmd.aggregate"}
	a.source = store.NS{DB: c.db}
	c.op.setNS(a.ns)
	return nil
}

// parse resolves views and parses the stages.
func (a *aggregation) parse(snap *store.Snap) (*pipeline.Pipeline, error) {
	opts, stages := a.opts, a.stages
	if a.source.Coll != "" {
		if coll := snap.Collection(a.source); coll != nil && coll.IsView() {
			base, prefix, err := resolveView(snap, coll)
			if err != nil {
				return nil, err
			}
			own, err := documentsOf("aggregate", "pipeline", bsonx.ArrayValue(stages))
			if err != nil {
				return nil, err
			}
			opts.NS, stages = base, arrayOf(append(prefix, own...))
		}
	}
	p, err := pipeline.Parse(stages, opts)
	if err == nil && a.source.Coll == "" {
		err = withoutCollection(stages)
	}
	return p, err
}

// withoutCollection refuses {aggregate: 1} with stages that need documents from somewhere.
func withoutCollection(stages bsonx.Doc) error {
	it := stages.Iter()
	if !it.Next() {
		return mongoerr.New(mongoerr.InvalidNamespace, "{aggregate: 1} is not valid for an empty pipeline.")
	}
	first := it.Value().Elems()
	first.Next()
	switch name := string(first.Name()); name {
	case "$currentOp", "$documents":
		return nil
	default:
		return mongoerr.New(mongoerr.InvalidNamespace, "{aggregate: 1} is not valid for '%s'; a collection is required.", name)
	}
}
