package cli

import (
	"context"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/aggregate"
	"mrbench/internal/into"
	"mrbench/mr"
	"mrbench/splitter"
)

// planInto adds what run --into would send, for a result that nothing has been put into yet.
func (m *measurement) planInto(ctx context.Context, row int) error {
	d, v, ns := m.dry, m.variants[row], m.o.result
	record := into.RecordOf(ns.Coll)
	insert := func(what string) {
		d.command(ns.DB, bson.D{{Key: "insert", Value: record}, {Key: "documents", Value: bson.A{}}}, true, what)
	}
	d.line("// for a result that is not there yet; ranges that are in are not computed again")
	d.command(ns.DB, bson.D{{Key: "find", Value: record}, {Key: "filter", Value: bson.D{}}}, false, "what is in")
	insert("the record of the result")
	d.command(ns.DB, bson.D{{Key: "create", Value: ns.Coll}}, true, "")
	if m.o.intoSharded {
		p, err := m.intoLayout(ctx)
		if err != nil {
			return err
		}
		for _, s := range p.Steps() {
			d.command(s.DB, s.Command, true, "")
		}
	}
	insert("the list of ranges")
	merges := v.aggregate && m.job.disjoint || !v.aggregate && m.job.emits(m.app.common.key)
	where := func(i int) string {
		if merges {
			return ns.Coll
		}
		return ns.Coll + ".mrbench_" + m.out.run + "_part"
	}
	if err := m.planIntoRanges(ctx, row, merges, where); err != nil {
		return err
	}
	d.line("// and when a range is in: an aggregate that counts its keys and adds up their values, and")
	insert("that the range is in")
	if !merges {
		all := ns.Coll + ".mrbench_" + m.out.run + "_all"
		d.line("// when all ranges are in, the parts are copied to %s, and from there", all)
		p, err := mr.Commands(ctx, m.reduceUp(row, all))
		if err != nil {
			return err
		}
		for _, x := range p.Commands {
			d.command(x.DB, x.Body, x.Writes, x.Note)
		}
	}
	d.command(ns.DB, bson.D{{Key: "update", Value: record}, {Key: "updates", Value: bson.A{}}}, true, "that all is in")
	if !merges {
		d.command(ns.DB, bson.D{{Key: "drop", Value: where(0)}}, true, "and the others")
	}
	return nil
}

func (m *measurement) planIntoRanges(ctx context.Context, row int, merges bool, where func(int) string) error {
	if m.variants[row].aggregate {
		c := m.pipeline(row)
		c.Comment = m.out.prefix(row)
		c.Into = &aggregate.Into{Coll: func(i int) *mongo.Collection { return m.t.Client.Database(m.o.result.DB).Collection(where(i)) }}
		list, err := aggregate.Commands(ctx, c)
		if err != nil {
			return err
		}
		server, err := splitter.AskServer(ctx, m.t.Client)
		if err != nil {
			return err
		}
		by := server.WireVersion >= splitter.Wire42
		for _, body := range list {
			m.dry.command(m.coll.Database().Name(), body, by, "")
		}
		if !by {
			m.dry.command(m.o.result.DB, bson.D{{Key: "update", Value: where(0)}, {Key: "updates", Value: bson.A{}}}, true, "in batches, the results; before 4.2 there is no $merge")
		}
		return nil
	}
	c := m.mapReduceConfig(row)
	c.OutDB, c.KeyTypes = "", nil
	c.Into = &mr.Into{
		DB: m.o.result.DB, Coll: where, Add: merges, Sharded: m.o.intoSharded,
		Aside: func(i int) (string, func() error, error) { return m.aside(i), nil, nil },
	}
	p, err := mr.Commands(ctx, c)
	if err != nil {
		return err
	}
	for _, x := range p.Commands {
		m.dry.command(x.DB, x.Body, x.Writes, x.Note)
	}
	return nil
}

// aside is the name that results of a range, counted from 0, have on their way into a sharded result.
func (m *measurement) aside(i int) string {
	return into.AsideOf(m.o.result.Coll, m.out.run, i)
}
