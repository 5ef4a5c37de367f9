package mapreduce

import (
	"context"
	"math"
	"time"

	"go.mongodb.org/mongo-driver/x/bsonx/bsoncore"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/store"
)

// Progress is called now and then with input documents done (for currentOp). May be nil.
// total is 0 when it is not known.
type Progress func(phase string, done, total int64)

// Check is the error of a command that can't be read; a filter and a sort are looked at by Run alone.
func Check(dbName string, cmd bsonx.Doc) error {
	_, err := parse(dbName, cmd)
	if mongoerr.CodeOf(err) == codeBadQuery {
		return nil
	}
	return err
}

// Run runs the command document {mapReduce|mapreduce: "coll", map, reduce, out, …} on
// database dbName and gives the reply (without ok). Errors carry MongoDB's codes: 139 for a fault in JavaScript,
// the codes of the limits (13069, 13070, 13604), 26 and 166 for the source, 11601 or 50 when ctx ends.
func Run(ctx context.Context, db *store.DB, dbName string, cmd bsonx.Doc, p Progress) (bsonx.Doc, error) {
	return runWith(ctx, db, dbName, cmd, p, usual())
}

func runWith(ctx context.Context, db *store.DB, dbName string, cmd bsonx.Doc, p Progress, m memory) (bsonx.Doc, error) {
	c, err := parse(dbName, cmd)
	if err != nil {
		return nil, err
	}
	j := &job{c: c, db: db, memory: m, progress: p}
	n, err := j.run(ctx)
	if err != nil {
		return nil, interrupted(ctx, err)
	}
	return j.reply(n), nil
}

// reply builds the answer. Numbers are int32 as long as they fit, as a 4.0 server has them.
func (j *job) reply(output int64) bsonx.Doc {
	start, b := bsoncore.AppendDocumentStart(nil)
	switch out := j.c.out; {
	case out.kind == outInline:
		var at int32
		at, b = bsoncore.AppendArrayElementStart(b, "results")
		b = append(b, j.sink.(*inlineSink).docs...)
		b = endDocument(b, at)
	case out.otherDB:
		var at int32
		at, b = bsoncore.AppendDocumentElementStart(b, "result")
		b = bsoncore.AppendStringElement(b, "db", out.ns.DB)
		b = bsoncore.AppendStringElement(b, "collection", out.ns.Coll)
		b = endDocument(b, at)
	default:
		b = bsoncore.AppendStringElement(b, "result", out.ns.Coll)
	}
	ms := func(d time.Duration) int64 { return d.Milliseconds() }
	b = appendNumber(b, "timeMillis", ms(j.total))
	if j.c.verbose {
		var at int32
		at, b = bsoncore.AppendDocumentElementStart(b, "timing")
		b = appendNumber(b, "mapTime", ms(j.mapTime))
		b = appendNumber(b, "emitLoop", ms(j.loop))
		b = appendNumber(b, "reduceTime", ms(j.reduceTime))
		mode := "mixed"
		if j.js != nil {
			mode = "js"
		}
		b = bsoncore.AppendStringElement(b, "mode", mode)
		b = appendNumber(b, "total", ms(j.total))
		b = endDocument(b, at)
	}
	at, b := bsoncore.AppendDocumentElementStart(b, "counts")
	b = appendNumber(b, "input", j.input)
	b = appendNumber(b, "emit", j.emits)
	b = appendNumber(b, "reduce", j.f.reduces)
	b = appendNumber(b, "output", output)
	b = endDocument(b, at)
	return endDocument(b, start)
}

// endDocument closes a document whose start is in b; its length always fits.
func endDocument(b []byte, at int32) []byte {
	b, _ = bsoncore.AppendDocumentEnd(b, at)
	return b
}

// appendNumber writes a count as MongoDB's appendNumber does.
func appendNumber(b []byte, name string, n int64) []byte {
	switch {
	case n >= math.MinInt32 && n <= math.MaxInt32:
		return bsoncore.AppendInt32Element(b, name, int32(n))
	case n > -1<<40 && n < 1<<40:
		return bsoncore.AppendDoubleElement(b, name, float64(n))
	}
	return bsoncore.AppendInt64Element(b, name, n)
}
