package aggregate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/splitter"
)

// explained is how many parts are explained: they differ in their bounds only,
// and a first, a last and some between show the kinds of filter there are.
const explained = 16

// explain asks the server how it would run the parts. A server that can't say
// leaves the report empty.
func (x *run) explain(ctx context.Context, rep *Report) error {
	n := x.pieces()
	covered := true
	var indexes []string
	for k := range min(n, explained) {
		i := k
		if n > explained {
			i = k * (n - 1) / (explained - 1)
		}
		p, err := x.plan(ctx, x.piece(i))
		var ce mongo.CommandError
		if errors.As(err, &ce) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("aggregate: %s: explain: %w", x.ns, err)
		}
		rep.Parts[i].Shards = p.Shards
		covered = covered && p.Covered()
		for _, name := range p.Indexes {
			if !slices.Contains(indexes, name) {
				indexes = append(indexes, name)
			}
		}
	}
	rep.IsCovered = covered
	rep.IndexUsed = strings.Join(indexes, ",")
	return nil
}

// plan explains one part by the explain command, or by the aggregate command's
// own option where the former does not know pipelines.
func (x *run) plan(ctx context.Context, r splitter.Range) (splitter.Plan, error) {
	agg := bson.D{
		{Key: "aggregate", Value: x.Collection.Name()},
		{Key: "pipeline", Value: x.pipeline(r)},
		{Key: "cursor", Value: bson.D{}},
		{Key: "allowDiskUse", Value: true},
	}
	if x.index != "" {
		agg = append(agg, bson.E{Key: "hint", Value: x.index})
	}
	db := x.Collection.Database()
	raw, err := db.RunCommand(ctx, bson.D{{Key: "explain", Value: agg}, {Key: "verbosity", Value: "queryPlanner"}}).Raw()
	var ce mongo.CommandError
	if errors.As(err, &ce) {
		raw, err = db.RunCommand(ctx, append(agg, bson.E{Key: "explain", Value: true})).Raw()
	}
	if err != nil {
		return splitter.Plan{}, err
	}
	return splitter.ReadPlan(raw), nil
}
