package torture

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
)

// actor changes its own part of the database, one step at a time on one connection, and knows in which states that
// part may be.
type actor interface {
	// step makes one change. Its error may come from the program's end; what was in flight then is uncertain.
	step(ctx context.Context, c *mongo.Client, rng *rand.Rand) error
	// check reads the actor's part, complains about what can't be, and settles what was uncertain.
	check(ctx context.Context, t testing.TB, c *mongo.Client)
	// owns names the collections that may exist, as "db.coll".
	owns() []string
}

// endedByProgram says whether an error is the program's end, by a signal or by order, and not its refusal.
func endedByProgram(err error) bool {
	var ce mongo.CommandError
	if errors.As(err, &ce) && !ce.HasErrorLabel("NetworkError") {
		return ce.Code == 11600 || ce.Code == 91 // interrupted at shutdown
	}
	var we mongo.WriteException
	var be mongo.BulkWriteException
	return !errors.As(err, &we) && !errors.As(err, &be)
}

// uniform gives the one value that a field has in all n documents of a collection: absent when there is no collection,
// empty when it has no documents, an error when the collection is made up of two versions or of half of one.
func uniform(ctx context.Context, coll *mongo.Collection, field string, n int) (int64, error) {
	names, err := coll.Database().ListCollectionNames(ctx, bson.D{{Key: "name", Value: coll.Name()}})
	if err != nil || len(names) == 0 {
		return absent, err
	}
	cur, err := coll.Find(ctx, bson.D{})
	if err != nil {
		return absent, err
	}
	var docs []bson.Raw
	if err := cur.All(ctx, &docs); err != nil {
		return absent, err
	}
	if len(docs) == 0 {
		return empty, nil
	}
	if len(docs) != n {
		return absent, errorf("%d documents, want %d", len(docs), n)
	}
	value := number(docs[0].Lookup(field))
	for _, d := range docs {
		if v := number(d.Lookup(field)); v != value {
			return absent, errorf("%s is %d and %d: two versions in one", field, value, v)
		}
	}
	return value, nil
}

func number(v bson.RawValue) int64 {
	n, ok := v.AsInt64OK()
	if !ok {
		return -3
	}
	return n
}
