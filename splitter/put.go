package splitter

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
)

// putBatch is how many results one bulk write has.
const putBatch = 1000

// Put writes the results of a range into a collection that others may write to as well, each in the place of one with the same _id. n is
// how many were confirmed. It ends at the first error of results.
func Put(ctx context.Context, to *mongo.Collection, results iter.Seq2[bson.Raw, error]) (n int64, err error) {
	var batch []mongo.WriteModel
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		o := options.BulkWrite().SetOrdered(false)
		_, err := to.BulkWrite(ctx, batch, o)
		if mongo.IsDuplicateKeyError(err) { // two inserted the same key at the same moment; now it is there to be replaced
			_, err = to.BulkWrite(ctx, batch, o)
		}
		if err != nil {
			return fmt.Errorf("update of %s.%s: %w", to.Database().Name(), to.Name(), err)
		}
		n += int64(len(batch))
		batch = batch[:0]
		return nil
	}
	for doc, err := range results {
		if err != nil {
			return n, err
		}
		doc = slices.Clone(doc)
		filter := bson.D{{Key: "_id", Value: bson.D{{Key: "$eq", Value: doc.Lookup("_id")}}}}
		batch = append(batch, mongo.NewReplaceOneModel().SetFilter(filter).SetReplacement(doc).SetUpsert(true))
		if len(batch) == putBatch {
			if err := flush(); err != nil {
				return n, err
			}
		}
	}
	err = flush()
	return n, err
}
