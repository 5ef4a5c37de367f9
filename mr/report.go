package mr

import (
	"context"
	"fmt"
	"iter"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"mrbench/splitter"
)

// Counts as the server's reply has them; Known is false where the server gives none (4.4+).
type Counts struct {
	Input, Emit, Reduce, Output int64
	Known                       bool
}

// ShardCounts is one shard's share of a command, as a router before 4.4 tells. Host is as in config.shards: "s1/host:port,host:port".
type ShardCounts struct {
	Host   string
	Counts Counts
}

// Part is one range's job.
type Part struct {
	Index    int
	Range    splitter.Range
	Owner    string // shard that the range was said to lie on
	DB, Coll string // where its output is; of part 0 the merge makes the answer
	Counts   Counts
	Shards   []ShardCounts // what each shard did, by its host; nil where the server does not say
	Mode     string        // "js", "mixed", "" when the server doesn't say
	ServerMS int64         // timeMillis, -1 when the server doesn't say
	Start    float64       // seconds since the run began
	Seconds  float64       // wall
	Thread   int
}

// What Report.Mode says of a run that asked for jsMode.
const (
	ModeJS      = "js"
	ModeMixed   = "mixed"   // a part left jsMode on the way
	ModeIgnored = "ignored" // the server does not say, or refused it and the run went on without
)

// Report of Run. Seconds is wall time from first command to the merged answer; MergeSeconds is inside it.
type Report struct {
	Parts        []Part // by index; after an error only those that finished
	Counts       Counts // summed over the parts
	Mode         string // ModeJS, ModeMixed, ModeIgnored, "" not asked for
	Databases    []string
	Seconds      float64
	MergeSeconds float64
	ServerMS     int64 // summed over the parts, which ran at the same time; -1 when a server doesn't say
	Answer       Answer
}

// Answer is the merged result in a collection: documents {_id, value}.
type Answer struct {
	Collection *mongo.Collection
}

// Results streams {_id, value} pairs; ordered: ascending by _id. A document is
// valid until the next one is asked for.
func (a Answer) Results(ctx context.Context, ordered bool) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		o := options.Find()
		if ordered {
			o.SetSort(bson.D{{Key: "_id", Value: 1}})
		}
		cur, err := a.Collection.Find(ctx, bson.D{}, o)
		if err != nil {
			yield(nil, fmt.Errorf("mr: find in %s.%s: %w", a.Collection.Database().Name(), a.Collection.Name(), err))
			return
		}
		defer cur.Close(context.WithoutCancel(ctx))
		for cur.Next(ctx) {
			if !yield(cur.Current, nil) {
				return
			}
		}
		if err := cur.Err(); err != nil {
			yield(nil, fmt.Errorf("mr: find in %s.%s: %w", a.Collection.Database().Name(), a.Collection.Name(), err))
		}
	}
}

// sum fills in what the parts say together.
func (r *Report) sum(jsMode bool) {
	r.Counts = Counts{Known: len(r.Parts) > 0}
	r.ServerMS = 0
	if jsMode {
		r.Mode = ModeJS
	}
	for _, p := range r.Parts {
		r.Counts.Input += p.Counts.Input
		r.Counts.Emit += p.Counts.Emit
		r.Counts.Reduce += p.Counts.Reduce
		r.Counts.Output += p.Counts.Output
		r.Counts.Known = r.Counts.Known && p.Counts.Known
		if p.ServerMS < 0 || r.ServerMS < 0 {
			r.ServerMS = -1
		} else {
			r.ServerMS += p.ServerMS
		}
		switch {
		case !jsMode || r.Mode == ModeIgnored:
		case p.Mode == "":
			r.Mode = ModeIgnored
		case p.Mode != ModeJS:
			r.Mode = ModeMixed
		}
	}
	if !r.Counts.Known {
		r.Counts = Counts{}
	}
}
