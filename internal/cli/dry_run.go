package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/event"

	"mrbench/aggregate"
	"mrbench/internal/report"
	"mrbench/mr"
	"mrbench/splitter"
)

// errPlanEnds ends a dry run where what follows depends on what would have been written.
var errPlanEnds = errors.New("the plan ends here")

// Marks of commands in the text of a dry run.
const (
	markReads  = "/* reads  */ "
	markWrites = "/* WRITES */ "
	markSent   = "/* reads, sent now */ "
)

// dryRun collects the text of commands that would be sent, and of those that are: they only read.
type dryRun struct {
	mu   sync.Mutex
	text strings.Builder
}

func (d *dryRun) line(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	fmt.Fprintf(&d.text, format+"\n", args...)
}

func (d *dryRun) command(db string, body any, writes bool, note string) {
	mark := markReads
	if writes {
		mark = markWrites
	}
	if note != "" {
		note = " // " + note
	}
	d.line("%s%s;%s", mark, shellCommand(db, body), note)
}

// newDryRun begins the text.
func (a *app) newDryRun(command string) (*dryRun, error) {
	if a.common.output != formatTable {
		return nil, usageError("--dry-run prints commands for mongosh; leave -o %s out", a.common.output)
	}
	d := &dryRun{}
	d.line("// %s --dry-run: commands marked WRITES are printed and not sent; what is needed to know them is read now", command)
	a.monitor = d.monitor()
	return d, nil
}

// monitor notes what is sent to find out what would be.
func (d *dryRun) monitor() *event.CommandMonitor {
	return &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
		switch e.CommandName {
		case "endSessions", "saslStart", "saslContinue", "authenticate", "hello", "isMaster":
			return
		}
		var body, shown bson.D
		if len(e.Command) == 0 || bson.Unmarshal(e.Command, &body) != nil {
			return
		}
		for _, f := range body {
			switch f.Key {
			case "lsid", "$db", "$clusterTime", "$readPreference", "txnNumber":
			default:
				shown = append(shown, f)
			}
		}
		d.line("%s%s;", markSent, shellCommand(e.DatabaseName, shown))
	}}
}

func (a *app) printPlan(d *dryRun) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, err := fmt.Fprint(a.env.Stdout, d.text.String())
	return err
}

// planRun prints what run would send. It sends what is needed to know that and only reads.
func (m *measurement) planRun(ctx context.Context) error {
	d := m.dry
	err := m.prepare(ctx)
	if err == nil {
		err = m.planRows(ctx)
	}
	if errors.Is(err, errPlanEnds) {
		err = nil
	}
	d.startBalancer(m.startBalancer)
	return firstError(err, m.app.printPlan(d))
}

func (m *measurement) planRows(ctx context.Context) error {
	d := m.dry
	if m.o.sampleEvery > 0 {
		d.line("// while rows run, every %v, and now and then for their progress:", m.o.sampleEvery)
		d.command("admin", bson.D{{Key: "serverStatus", Value: 1}}, false, "")
		d.command("admin", bson.D{{Key: "aggregate", Value: 1}, {Key: "pipeline", Value: bson.A{bson.D{{Key: "$currentOp", Value: bson.D{}}}}}, {Key: "cursor", Value: bson.D{}}}, false, "")
	}
	if err := m.o.planLimits(ctx, d, m.t, m.o.threads, "range"); err != nil {
		return err
	}
	d.line("// after a failure or Ctrl-C: killOp of operations that carry the run's names, mrbench_%s_…", m.out.run)
	d.line("// each row is sent %s", plural(m.o.runs+m.o.warmup, "time"))
	if m.out.db != "" {
		d.line("// before the first output")
		d.command(m.out.db, m.ownerCommand(ownerOf(m.out.run)), true, "")
	}
	for i, v := range m.variants {
		d.line("// row %s: %s", v.id, m.result.Rows[i].Label)
		if why := m.skip(v); why != "" {
			d.line("// it is skipped: %s", why)
			continue
		}
		plan := m.planMapReduce
		switch {
		case m.o.into != "":
			plan = m.planInto
		case v.aggregate:
			plan = m.planPipeline
		}
		if err := plan(ctx, i); err != nil {
			if errors.Is(err, mr.ErrAmbiguousKeys) {
				d.line("// it is skipped: %v", err)
				continue
			}
			return err
		}
	}
	if m.out.db != "" {
		d.line("// at the end")
		d.command(m.out.db, bson.D{{Key: "drop", Value: ownerOf(m.out.run)}}, true, "")
	}
	return nil
}

func (m *measurement) ownerCommand(coll string) bson.D {
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	return bson.D{{Key: "insert", Value: coll}, {Key: "documents", Value: bson.A{bson.D{
		{Key: "_id", Value: m.out.run}, {Key: "program", Value: program}, {Key: "host", Value: host}, {Key: "pid", Value: int32(os.Getpid())},
	}}}}
}

func (m *measurement) planMapReduce(ctx context.Context, row int) error {
	d := m.dry
	c := m.mapReduceConfig(row)
	p, err := mr.Commands(ctx, c)
	if err != nil {
		return err
	}
	if m.out.db == "" {
		for _, name := range p.Outputs {
			d.command(name, m.ownerCommand(ownerCollection), true, "")
		}
	}
	for _, x := range p.Commands {
		d.command(x.DB, x.Body, x.Writes, x.Note)
	}
	if v := m.variants[row]; v.sort || v.ranges {
		d.command(c.DB, explainFind(c), false, "which index it reads by")
	}
	db, answer := m.out.prefix(row), "answer"
	switch {
	case m.out.db != "":
		db, answer = m.out.db, db+"_answer"
	case len(p.Outputs) > 0:
		db = p.Outputs[0]
	}
	d.command(db, bson.D{{Key: "find", Value: answer}, {Key: "filter", Value: bson.D{}}}, false, "the answer, to compare it")
	for _, name := range p.Outputs {
		if m.out.db != "" {
			d.command(m.out.db, bson.D{{Key: "drop", Value: name}}, true, "")
		} else {
			d.command(name, bson.D{{Key: "dropDatabase", Value: 1}}, true, "")
		}
	}
	return nil
}

func (m *measurement) planPipeline(ctx context.Context, row int) error {
	c := m.pipeline(row)
	c.Comment = m.out.prefix(row)
	list, err := aggregate.Commands(ctx, c)
	if err != nil {
		return err
	}
	for _, body := range list {
		m.dry.command(m.coll.Database().Name(), body, false, "")
	}
	m.dry.line("// and explain of up to 16 of them")
	if read, level, _ := m.concerns.texts(); read+level != "" {
		m.dry.line("// sent with read preference %s and read concern %s", orWord(read, "primary"), orWord(level, "of the server"))
	}
	return nil
}

// planSeed adds what fills the collection.
func (a *app) planSeed(d *dryRun, o seedOptions, exists bool, sharding func()) error {
	ns := a.common.ns
	do := func(writes bool, note string, body bson.D) { d.command(ns.DB, body, writes, note) }
	if exists && o.drop {
		do(true, "", bson.D{{Key: "drop", Value: ns.Coll}})
		exists = false
	}
	if !exists {
		do(true, "", bson.D{{Key: "create", Value: ns.Coll}})
	}
	if sharding != nil {
		sharding()
	}
	index := bson.D{{Key: "createIndexes", Value: ns.Coll}, {Key: "indexes", Value: bson.A{bson.D{
		{Key: "key", Value: bson.D{{Key: a.common.key, Value: 1}}}, {Key: "name", Value: a.common.key + "_1"},
	}}}}
	if o.index == "before" {
		do(true, "", index)
	}
	documents, note := bson.A{}, fmt.Sprintf("%d documents of the files a command, %d commands at a time", o.batch, o.writers)
	source, err := a.sourceConfig(o)
	if err != nil {
		return err
	}
	if source == nil {
		g, err := a.generatorOf(o)
		if err != nil {
			return err
		}
		batch := min(int64(o.batch), o.docs)
		documents = append(documents, bson.Raw(g.Append(nil, 0)))
		note = fmt.Sprintf("and %s more documents in it; %s such commands, %d at a time", report.Thousands(batch-1), report.Thousands((o.docs+batch-1)/batch), o.writers)
	}
	do(true, note, bson.D{{Key: "insert", Value: ns.Coll}, {Key: "ordered", Value: o.ordered}, {Key: "writeConcern", Value: concernOf(o.writeConcern)}, {Key: "documents", Value: documents}})
	if o.index == "after" {
		do(true, "", index)
	}
	do(false, "to prove that all are there", bson.D{{Key: "count", Value: ns.Coll}})
	return nil
}

// concernOf is the document of a write concern that was given in words.
func concernOf(text string) bson.D {
	c := bson.D{}
	for word := range strings.SplitSeq(text, ",") {
		var n int32
		switch _, err := fmt.Sscan(word, &n); {
		case word == "j":
			c = append(c, bson.E{Key: "j", Value: true})
		case err == nil:
			c = append(c, bson.E{Key: "w", Value: n})
		default:
			c = append(c, bson.E{Key: "w", Value: word})
		}
	}
	return c
}

// drySeed prints what seed would send.
func (a *app) drySeed(ctx context.Context, o seedOptions) (err error) {
	d, err := a.newDryRun("seed")
	if err != nil {
		return err
	}
	t, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer finish(&err, t)
	_, exists, err := collectionUUID(ctx, t.Client.Database(a.common.ns.DB), a.common.ns.Coll)
	if err == nil && exists && !o.drop && !o.add {
		d.line("// %s exists: if it holds documents, seed ends here, unless --drop or --append is given", a.common.ns)
	}
	var sharding func()
	if err == nil && o.shardKey != nil {
		p, notes, perr := a.planSharding(ctx, t, o)
		err = firstError(perr, a.mayShard(ctx, t, o))
		sharding = func() { d.planned(p, notes) }
	}
	starts := false
	if err == nil {
		starts, err = a.planBalancer(ctx, t, d, o.stopBalancer)
	}
	if err == nil {
		err = o.planLimits(ctx, d, t, o.writers, "batch")
	}
	if err == nil {
		if t.WireVersion >= splitter.Wire44 {
			d.line("// inserts carry the comment %q", t.AppName)
		}
		if o.writeConcern == "" {
			o.writeConcern = seedConcern(t)
		}
		err = a.planSeed(d, o, exists, sharding)
	}
	d.startBalancer(starts)
	return firstError(a.explain(err, t), a.printPlan(d))
}

func orWord(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
