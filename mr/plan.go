package mr

import (
	"context"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/splitter"
)

// Command is one that a run would send.
type Command struct {
	DB     string
	Body   bson.D
	Writes bool
	Note   string // what Body leaves out, "" nothing
}

// Plan is what Run would do.
type Plan struct {
	Outputs  []string // what Created would get
	Commands []Command
}

// Commands says what Run would send, in order, and sends nothing but hello. What depends on replies is left out: a second try without jsMode,
// and copies through the client where a server refuses to rename.
func Commands(ctx context.Context, c Config) (*Plan, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &runner{Config: c}
	if r.server, err = splitter.AskServer(ctx, c.Client); err != nil {
		return nil, err
	}
	if c.Into != nil {
		return r.planInto()
	}
	c.JSMode = c.JSMode && (!c.AllowPlain || !r.refusesJSMode())
	restore, note := false, ""
	if c.JSMode {
		note = "where jsMode made strings of keys, the parts are copied through the client instead"
	}
	if c.JSMode && r.server.WireVersion < splitter.Wire44 {
		if r.keys = newKeyRule(c.KeyTypes); r.keys.ambiguous {
			return nil, ErrAmbiguousKeys
		}
		restore = r.keys.restores()
	}
	p := &Plan{Outputs: c.writes()}
	for _, db := range c.databases() {
		p.add(db, false, bson.D{{Key: "listCollections", Value: 1}, {Key: "nameOnly", Value: true}}, "the names of outputs must be free")
	}
	var parts []Part
	for i := range r.pieces() {
		x, job := r.planPart(i)
		parts = append(parts, x)
		if r.createsOutput() {
			p.add(x.DB, true, r.confirmed(bson.D{{Key: "create", Value: x.Coll}}), "")
		}
		p.add(r.DB, true, r.confirmed(command(r.Coll, job, r.tagged(both(r.Job.Query, x.Range.Filter(r.Predicate))), output{"replace", x.DB, x.Coll}, c.JSMode, r.Comment, r.server.WireVersion)), "")
	}
	p.merge(r, parts, restore, note)
	return p, nil
}

func (p *Plan) add(db string, writes bool, body bson.D, note string) {
	p.Commands = append(p.Commands, Command{db, body, writes, note})
}

func (p *Plan) merge(r *runner, parts []Part, restore bool, note string) {
	answer := r.Client.Database(r.database(0)).Collection(r.collName(answerName))
	gathered := answer.Database().Collection(r.collName(gatherName))
	switch {
	case len(parts) == 1 && parts[0].Coll == answer.Name():
	case restore && r.disjoint():
		p.copy(r, parts, answer)
	case restore:
		p.copy(r, parts, gathered)
		p.again(r, gathered, again(r.Job, "key"), output{"replace", answer.Database().Name(), answer.Name()})
	case r.disjoint():
		p.add("admin", true, r.confirmed(renameCommand(parts[0], answer)), note)
		for _, x := range parts[1:] {
			if r.server.WireVersion >= splitter.Wire42 {
				body := bson.D{{Key: "aggregate", Value: x.Coll}, {Key: "pipeline", Value: bson.A{mergeStage(answer)}}, {Key: "cursor", Value: bson.D{}}}
				if r.server.WireVersion >= splitter.Wire44 {
					body = append(body, bson.E{Key: "comment", Value: r.Comment})
				}
				p.add(x.DB, true, r.confirmed(body), "")
			} else {
				p.copy(r, []Part{x}, answer)
			}
		}
	default:
		p.reduceAgain(r, parts, answer, gathered)
	}
}

func (p *Plan) reduceAgain(r *runner, parts []Part, answer, gathered *mongo.Collection) {
	to := answer
	if r.Job.Finalize != "" {
		to = gathered
	}
	job := again(r.Job, "_id")
	job.Finalize = ""
	p.add("admin", true, r.confirmed(renameCommand(parts[0], to)), "")
	for _, x := range parts[1:] {
		p.again(r, r.collection(x), job, output{"reduce", to.Database().Name(), to.Name()})
	}
	if r.Job.Finalize != "" {
		p.again(r, to, again(r.Job, "_id"), output{"replace", answer.Database().Name(), answer.Name()})
	}
}

func (p *Plan) again(r *runner, from *mongo.Collection, j Job, out output) {
	p.add(from.Database().Name(), true, r.confirmed(command(from.Name(), j, r.tagged(nil), out, false, r.Comment, r.server.WireVersion)), "")
}

// copy is results that go through the client.
func (p *Plan) copy(r *runner, parts []Part, to *mongo.Collection) {
	for _, x := range parts {
		p.add(x.DB, false, bson.D{{Key: "find", Value: x.Coll}, {Key: "filter", Value: bson.D{}}}, "")
		p.add(to.Database().Name(), true, r.confirmed(bson.D{{Key: "insert", Value: to.Name()}, {Key: "ordered", Value: false}, {Key: "documents", Value: bson.A{}}}), "in batches, the documents read")
	}
}
