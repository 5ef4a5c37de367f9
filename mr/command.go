package mr

import (
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"

	"mrbench/splitter"
)

// output is where a mapReduce command writes.
type output struct {
	how      string // replace, reduce
	db, coll string
}

// command builds a mapReduce command. The first field must be its name, so it is an ordered document.
func command(source string, j Job, query bson.D, out output, jsMode bool, comment string, wire int) bson.D {
	cmd := bson.D{
		{Key: "mapReduce", Value: source},
		{Key: "map", Value: primitive.JavaScript(j.Map)},
		{Key: "reduce", Value: primitive.JavaScript(j.Reduce)},
		{Key: "out", Value: bson.D{{Key: out.how, Value: out.coll}, {Key: "db", Value: out.db}}},
	}
	add := func(name string, v any) { cmd = append(cmd, bson.E{Key: name, Value: v}) }
	if j.Finalize != "" {
		add("finalize", primitive.JavaScript(j.Finalize))
	}
	if len(query) > 0 {
		add("query", query)
	}
	if len(j.Sort) > 0 {
		add("sort", j.Sort)
	}
	if j.Limit > 0 {
		add("limit", j.Limit)
	}
	if len(j.Scope) > 0 {
		add("scope", j.Scope)
	}
	if jsMode {
		add("jsMode", true)
	}
	add("verbose", true) // for timing.mode
	if wire >= splitter.Wire44 && comment != "" {
		add("comment", comment)
	}
	return cmd
}

// both is the filter for documents that match two.
func both(a, b bson.D) bson.D {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	return bson.D{{Key: "$and", Value: bson.A{a, b}}}
}

// again is a job that reduces results once more: documents {<key>, value}.
func again(j Job, key string) Job {
	return Job{
		Map:    "function () { emit(this." + key + ", this.value); }",
		Reduce: j.Reduce, Finalize: j.Finalize, Scope: j.Scope,
	}
}

// reply is what the server says of a finished command.
type reply struct {
	counts   Counts
	shards   []ShardCounts
	mode     string
	serverMS int64
}

// readReply takes the reply of any version: 3.6 to 4.2 give counts as int32, a
// router as int64, and later servers neither counts nor times.
func readReply(raw bson.Raw) reply {
	r := reply{serverMS: -1}
	if ms, ok := raw.Lookup("timeMillis").AsInt64OK(); ok {
		r.serverMS = ms
	}
	r.mode, _ = raw.Lookup("timing", "mode").StringValueOK()
	r.counts = readCounts(raw.Lookup("counts"))
	if shares, ok := raw.Lookup("shardCounts").DocumentOK(); ok {
		elements, _ := shares.Elements()
		for _, e := range elements {
			r.shards = append(r.shards, ShardCounts{e.Key(), readCounts(e.Value())})
		}
	}
	return r
}

func readCounts(v bson.RawValue) Counts {
	d, ok := v.DocumentOK()
	if !ok {
		return Counts{}
	}
	c := Counts{Known: true}
	c.Input, _ = d.Lookup("input").AsInt64OK()
	c.Emit, _ = d.Lookup("emit").AsInt64OK()
	c.Reduce, _ = d.Lookup("reduce").AsInt64OK()
	c.Output, _ = d.Lookup("output").AsInt64OK()
	return c
}
