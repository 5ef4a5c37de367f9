package cli

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"go.mongodb.org/mongo-driver/mongo"
)

// partProgress is how far the server says one range's command is.
type partProgress struct {
	phase       string // phaseMap or phaseReduce; "" when the server does not tell
	done, total int64  // documents, or keys; total is 0 when the server does not tell
}

// The phases of a mapReduce.
const (
	phaseMap    = "map"
	phaseReduce = "reduce"
)

// readProgress asks which of a row's commands run, and how far they are. They are known by what no other has: a
// comment, or an output database, that begins with the row's prefix. The map's keys are the parts' indexes.
func readProgress(ctx context.Context, client *mongo.Client, prefix string) (map[int]partProgress, error) {
	ours := primitive.Regex{Pattern: "^" + regexp.QuoteMeta(prefix) + "(_[0-9]+)?$"}
	pipeline := mongo.Pipeline{
		{{Key: "$currentOp", Value: bson.D{}}},
		{{Key: "$match", Value: bson.D{{Key: "$or", Value: bson.A{
			bson.D{{Key: "command.out.db", Value: ours}},
			bson.D{{Key: "command.comment", Value: ours}},
			bson.D{{Key: "command.out.replace", Value: primitive.Regex{Pattern: "^" + regexp.QuoteMeta(prefix) + "_"}}},
		}}}}},
	}
	cur, err := client.Database("admin").Aggregate(ctx, pipeline)
	if err != nil {
		return nil, err
	}
	defer cur.Close(ctx)
	parts := map[int]partProgress{}
	for cur.Next(ctx) {
		if i, p, ok := progressOf(cur.Current, prefix); ok {
			parts[i] = p
		}
	}
	return parts, cur.Err()
}

// progressOf reads one operation.
func progressOf(op bson.Raw, prefix string) (part int, p partProgress, ok bool) {
	if part, ok = partOf(op, prefix); !ok {
		return 0, p, false
	}
	msg, _ := op.Lookup("msg").StringValueOK()
	switch lower := strings.ToLower(msg); {
	case strings.Contains(lower, "emit"):
		p.phase = phaseMap
	case strings.Contains(lower, "reduce"):
		p.phase = phaseReduce
	}
	p.done, _ = op.Lookup("progress", "done").AsInt64OK()
	p.total, _ = op.Lookup("progress", "total").AsInt64OK()
	return part, p, true
}

// partOf is the index of the range that a command works on: in its comment behind the prefix, or in the name of the
// collection that a mapReduce writes.
func partOf(op bson.Raw, prefix string) (int, bool) {
	comment, _ := op.Lookup("command", "comment").StringValueOK()
	if s, ok := strings.CutPrefix(comment, prefix+"_"); ok {
		n, err := strconv.Atoi(s)
		return n, err == nil
	}
	coll, _ := op.Lookup("command", "out", "replace").StringValueOK()
	coll, inOne := strings.CutPrefix(coll, prefix+"_") // a collection of --out-db
	if db, _ := op.Lookup("command", "out", "db").StringValueOK(); !inOne && db != prefix && !strings.HasPrefix(db, prefix+"_") {
		return 0, false
	}
	if s, ok := strings.CutPrefix(coll, "part_"); ok {
		n, err := strconv.Atoi(s)
		return n, err == nil
	}
	return 0, coll == "answer" // the one command of a job that is not cut
}

// awaitEnd waits until nothing is at work any more on the outputs of a run that was interrupted: an insert that ends after they were dropped would
// make them again. One that was still on its way is seen by a second look. Where the user may not look it waits as long.
func awaitEnd(ctx context.Context, client *mongo.Client, run string) {
	ours := primitive.Regex{Pattern: `(^|\.)mrbench_` + regexp.QuoteMeta(run) + "_"}
	pipeline := mongo.Pipeline{
		{{Key: "$currentOp", Value: bson.D{}}},
		{{Key: "$match", Value: bson.D{{Key: "ns", Value: ours}}}},
		{{Key: "$limit", Value: 1}},
	}
	for quiet := 0; quiet < 2; {
		quiet++
		if cur, err := client.Database("admin").Aggregate(ctx, pipeline); err == nil {
			if cur.Next(ctx) {
				quiet = 0
			}
			_ = cur.Close(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}
