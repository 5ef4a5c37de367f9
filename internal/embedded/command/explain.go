package command

import (
	"context"
	"os"
	"time"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/query"
	"mrbench/internal/embedded/store"
)

// explain tells how a command would read: which index, over which bounds, and whether its entries answer
// alone. With executionStats the read is run (writes never are).
func explain(ctx context.Context, c *call) error {
	inner, stats, err := c.explained()
	if err != nil {
		return err
	}
	snap := c.s.db.Snapshot()
	defer func() { _ = snap.Close() }()
	if inner.cmd.name == "aggregate" {
		a, err := inner.parseAggregate()
		if err != nil {
			return err
		}
		return c.explainAggregate(snap, a)
	}
	r, err := inner.explainable()
	if err != nil {
		return err
	}
	return c.explainRead(ctx, snap, r, stats)
}

// explained is the command to be explained, as a call of its own, and whether it is to be run.
func (c *call) explained() (*call, bool, error) {
	v := c.target()
	if v.Type != docType {
		return nil, false, wrongType("explain", "explain", v, "object")
	}
	stats := true
	switch level := c.arg("verbosity"); {
	case level.IsMissing():
	case level.Type != bsonx.TypeString:
		return nil, false, wrongType("explain", "verbosity", level, "string")
	case level.Str() == "queryPlanner":
		stats = false
	case level.Str() != "executionStats" && level.Str() != "allPlansExecution":
		return nil, false, mongoerr.New(mongoerr.BadValue,
			"verbosity string must be one of {'queryPlanner', 'executionStats', 'allPlansExecution'}, got '%s'", level.Str())
	}
	body := v.Doc()
	it := body.Iter()
	if !it.Next() {
		return nil, false, mongoerr.New(mongoerr.FailedToParse, "explain command requires a nested object with a command")
	}
	cmd := c.s.table.find(it.Name())
	if cmd == nil || !cmd.explains {
		return nil, false, mongoerr.New(mongoerr.CommandNotFound, "Explain failed due to unknown command: %s", it.Name())
	}
	inner := &call{s: c.s, sess: c.sess, cmd: cmd, name: string(it.Name()), db: c.db, body: body, msg: c.msg, g: c.g, op: c.op}
	for it := body.Iter(); it.Next(); {
		if string(it.Name()) == "collation" {
			if err := checkCollation(cmd.name, it.Value()); err != nil {
				return nil, false, err
			}
		}
	}
	return inner, stats, nil
}

// explainable is what the command reads.
func (c *call) explainable() (*read, error) {
	switch c.cmd.name {
	case "find":
		return c.parseFind()
	case "count":
		return c.parseCount()
	case "distinct":
		r, _, err := c.parseDistinct()
		return r, err
	}
	ns, err := c.readNS()
	if err != nil {
		return nil, err
	}
	r := &read{ns: ns}
	switch c.cmd.name {
	case "mapReduce":
		err = c.explainMapReduce(r)
	case "findAndModify":
		err = c.explainModify(r)
	default:
		err = c.explainWrite(r)
	}
	if err != nil {
		return nil, err
	}
	return r, r.parse()
}

func (c *call) explainMapReduce(r *read) (err error) {
	if r.filter, err = c.document("query"); err != nil {
		return err
	}
	if r.sort, err = c.document("sort"); err != nil {
		return err
	}
	r.limit, err = c.natural("limit", "Limit")
	return err
}

func (c *call) explainModify(r *read) error {
	a, err := c.parseModify()
	r.filter, r.sort, r.let, r.hint, r.limit = a.query, a.sort, a.let, a.hint, 1
	return err
}

// explainWrite takes the only statement of an update or delete.
func (c *call) explainWrite(r *read) error {
	field := c.cmd.name + "s"
	docs, err := documentsOf(c.cmd.name, field, c.arg(field))
	if err != nil {
		return err
	}
	if len(docs) != 1 {
		return mongoerr.New(mongoerr.InvalidLength, "explained write batches must be of size 1")
	}
	if c.cmd.name == "delete" {
		a, err := parseDeleteArgs(docs[0])
		r.filter, r.hint, r.limit = a.q, a.hint, a.limit
		return err
	}
	a, err := parseUpdateArgs(docs[0])
	r.filter, r.hint = a.q, a.hint
	if !a.multi {
		r.limit = 1
	}
	return err
}

func (c *call) explainRead(ctx context.Context, snap *store.Snap, r *read, stats bool) error {
	coll := snap.Collection(r.ns)
	if coll != nil && coll.IsView() {
		p, err := r.viewPipeline(c.s, snap, coll)
		if err != nil {
			return err
		}
		d, err := p.Explain(snap)
		if err != nil {
			return err
		}
		c.appendFields(d)
		c.serverInfo()
		return nil
	}
	var plan *query.Plan
	if coll != nil {
		var err error
		if plan, err = r.plan(c.s, snap, coll); err != nil {
			return err
		}
	}
	c.queryPlanner(r, plan)
	if stats {
		defer r.watch(ctx)()
		if err := c.executionStats(ctx, snap, plan); err != nil {
			return err
		}
	}
	c.serverInfo()
	return nil
}

func (c *call) queryPlanner(r *read, plan *query.Plan) {
	at := c.startDoc("queryPlanner")
	c.int32("plannerVersion", 1)
	c.str("namespace", r.ns.String())
	c.bool("indexFilterSet", false)
	filter := r.filter
	if len(filter) == 0 {
		filter = bsonx.Empty
	}
	c.doc("parsedQuery", filter)
	c.doc("winningPlan", winningPlan(plan))
	list := c.startArray("rejectedPlans")
	c.end(list)
	c.end(at)
}

func winningPlan(plan *query.Plan) bsonx.Doc {
	if plan == nil {
		return build(func(w *builder) { w.str("stage", "EOF") })
	}
	return plan.Explain()
}

func (c *call) executionStats(ctx context.Context, snap *store.Snap, plan *query.Plan) error {
	started := time.Now()
	var n, keys, docs int64
	if plan != nil {
		src, err := plan.Open(snap)
		if err != nil {
			return err
		}
		if n, err = drain(ctx, src, nil); err != nil {
			return err
		}
		keys, docs = plan.Stats()
	}
	at := c.startDoc("executionStats")
	c.bool("executionSuccess", true)
	c.count("nReturned", n)
	c.count("executionTimeMillis", time.Since(started).Milliseconds())
	c.count("totalKeysExamined", keys)
	c.count("totalDocsExamined", docs)
	c.doc("executionStages", winningPlan(plan))
	c.end(at)
	return nil
}

func (c *call) explainAggregate(snap *store.Snap, a *aggregation) error {
	p, err := a.parse(snap)
	if err != nil {
		return err
	}
	d, err := p.Explain(snap)
	if err != nil {
		return err
	}
	c.appendFields(d)
	c.serverInfo()
	return nil
}

// appendFields appends all elements of d to the reply.
func (w *builder) appendFields(d bsonx.Doc) { w.b = append(w.b, d[4:len(d)-1]...) }

func (c *call) serverInfo() {
	at := c.startDoc("serverInfo")
	c.str("host", hostname())
	c.str("version", ServerVersion)
	c.str("mrbench", c.s.version)
	c.end(at)
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return name
}
