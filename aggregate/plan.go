package aggregate

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/splitter"
)

// Commands are what Run would send to the collection's database, without the explain of some of them. With Covered it lists the
// indexes to find the one to hint; otherwise nothing is sent.
func Commands(ctx context.Context, c Config) ([]bson.D, error) {
	x, err := prepare(ctx, c)
	if err != nil {
		return nil, err
	}
	var list []bson.D
	for i := range x.pieces() {
		stages := x.pipeline(x.piece(i))
		if c.Into != nil {
			stages, _ = x.intoStages(x.piece(i), c.Into.Coll(i), x.server.WireVersion >= splitter.Wire42)
		}
		cmd := bson.D{
			{Key: "aggregate", Value: c.Collection.Name()},
			{Key: "pipeline", Value: stages},
			{Key: "cursor", Value: bson.D{{Key: "batchSize", Value: batchSize}}},
			{Key: "allowDiskUse", Value: true},
		}
		if x.index != "" {
			cmd = append(cmd, bson.E{Key: "hint", Value: x.index})
		}
		if c.Comment != "" {
			cmd = append(cmd, bson.E{Key: "comment", Value: fmt.Sprintf("%s_%d", c.Comment, i)})
		}
		list = append(list, cmd)
	}
	return list, nil
}
