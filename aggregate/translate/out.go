package translate

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/bson"
)

// output adds the stage that the job's out asks for.
func (b *builder) output(alg *algebra) {
	o := b.job.Out
	if o.Mode == "" {
		return
	}
	var into any = o.Collection
	if o.Database != "" {
		into = bson.D{{Key: "db", Value: o.Database}, {Key: "coll", Value: o.Collection}}
	}
	line := b.option("out")
	switch o.Mode {
	case "replace":
		if o.Database != "" {
			b.needs(v44)
		}
		b.res.Out = &Stage{doc("$out", into), []Line{line}}
	case "merge":
		b.needs(v42)
		b.res.Out = &Stage{doc("$merge", bson.D{{Key: "into", Value: into}, {Key: "whenMatched", Value: "replace"}}), []Line{line}}
	case "reduce":
		b.res.Out = b.mergeReduce(into, line, alg)
	}
}

// mergeReduce combines a result with the document that the target has.
func (b *builder) mergeReduce(into any, line Line, alg *algebra) *Stage {
	rx := b.exec(b.fns[1])
	b.needs(v42)
	bad := func(why string) {
		rx.refuse(returnOf(b.fns[1]), RefuseOut, "out reduce: %s can't be combined with what the target has", why)
	}
	if b.fns[2] != nil {
		bad("a finalized result")
	}
	value := bson.D{}
	var whole any
	for _, f := range alg.fields {
		suffix := ""
		if len(f.path) > 0 {
			suffix = "." + strings.Join(f.path, ".")
		}
		old, now := "$value"+suffix, "$$new.value"+suffix
		var e any
		switch f.op {
		case opSum:
			e = call("$add", now, old)
		case opMax, opGreatest:
			e = doc("$max", bson.A{now, old})
		case opMin, opLeast:
			e = doc("$min", bson.A{now, old})
		case opConcat:
			e = call("$concatArrays", now, old)
		case opUnion:
			e = call("$setUnion", now, old)
		case opFirst:
			e = now
		case opLast:
			e = old
		case opConst:
			e = literal(f.value.c)
		default:
			bad(f.name())
		}
		if len(f.path) == 0 {
			whole = e
			continue
		}
		value = setPath(value, f.path, e)
	}
	if whole == nil {
		whole = value
	}
	b.caveat(rx.pos(returnOf(b.fns[1])), CaveatMerge, "values that the target has already are taken to be of the kind that this job writes")
	return &Stage{doc("$merge", bson.D{{Key: "into", Value: into}, {Key: "whenMatched", Value: bson.A{doc("$set", doc("value", whole))}}}), []Line{line, rx.line("reduce", returnOf(b.fns[1]))}}
}

func setPath(d bson.D, path []string, e any) bson.D {
	i := slices.IndexFunc(d, func(f bson.E) bool { return f.Key == path[0] })
	if len(path) == 1 {
		return append(d, bson.E{Key: path[0], Value: e})
	}
	if i < 0 {
		d = append(d, bson.E{Key: path[0], Value: bson.D{}})
		i = len(d) - 1
	}
	d[i].Value = setPath(d[i].Value.(bson.D), path[1:], e)
	return d
}
