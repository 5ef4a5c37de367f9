package store

import (
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"mrbench/internal/embedded/bsonx"
)

func TestSmoke(t *testing.T) {
	db := openMem(t)
	for i := range 100 {
		mustInsert(t, db, testNS, doc(t, bson.D{{"_id", int32(i)}, {"a", int32(i % 10)}}))
	}
	if n := len(allDocs(t, db, testNS)); n != 100 {
		t.Fatal(n)
	}
	n, errs, err := db.InsertMany(ctx, testNS, []bsonx.Doc{doc(t, bson.D{{"_id", 5}}), doc(t, bson.D{{"_id", 500}})}, false, WriteOptions{})
	t.Log(n, errs, err)
}
