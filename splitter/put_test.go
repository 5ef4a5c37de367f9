package splitter_test

import (
	"context"
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/splitter"
)

// A result takes the place of one with the same _id, whatever its type; what is confirmed before an error of the results counts.
func TestPut(t *testing.T) {
	ctx := context.Background()
	coll := engine(t).Database("d").Collection("put")
	boom := errors.New("boom")
	put := func(value, last int, fail error) (int64, error) {
		return splitter.Put(ctx, coll, func(yield func(bson.Raw, error) bool) {
			for i := range last {
				var id any = i
				if i == 0 {
					id = nil
				}
				raw, err := bson.Marshal(bson.D{{Key: "_id", Value: id}, {Key: "value", Value: value}})
				if !yield(raw, err) {
					return
				}
			}
			if fail != nil {
				yield(nil, fail)
			}
		})
	}
	if n, err := put(1, 2500, nil); n != 2500 || err != nil {
		t.Fatal(n, err)
	}
	if n, err := put(2, 1500, boom); n != 1000 || !errors.Is(err, boom) {
		t.Errorf("%d confirmed, %v", n, err)
	}
	for value, want := range map[int]int64{1: 1500, 2: 1000} {
		if n, err := coll.CountDocuments(ctx, bson.D{{Key: "value", Value: value}}); n != want || err != nil {
			t.Errorf("%d of value %d, want %d; %v", n, value, want, err)
		}
	}
}
