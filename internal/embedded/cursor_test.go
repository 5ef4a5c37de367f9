package embedded

import (
	"context"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
)

func insertNumbers(t testing.TB, coll *mongo.Collection, n int, more ...bson.E) {
	t.Helper()
	for from := 0; from < n; from += 1000 {
		var docs []any
		for i := from; i < min(from+1000, n); i++ {
			docs = append(docs, append(bson.D{{Key: "_id", Value: i}}, more...))
		}
		if _, err := coll.InsertMany(context.Background(), docs); err != nil {
			t.Fatal(err)
		}
	}
}

// firstBatch gives a cursor's id and how many documents came with it.
func firstBatch(r bson.Raw, name string) (id int64, n int) {
	cur := r.Lookup("cursor").Document()
	vals, _ := cur.Lookup(name).Array().Values()
	return cur.Lookup("id").Int64(), len(vals)
}

// TestBatches: 101 documents at first, then as many as 16 MiB hold; a limit that ends a batch ends the cursor.
func TestBatches(t *testing.T) {
	db := connect(t, openEngine(t)).Database("d")
	insertNumbers(t, db.Collection("c"), 3000)
	for _, c := range []struct {
		name  string
		cmd   bson.D
		n     int
		open  bool
		after int // documents of the getMore that follows; -1: none is sent
	}{
		{"default", bson.D{{Key: "find", Value: "c"}}, 101, true, 2899},
		{"batch size", bson.D{{Key: "find", Value: "c"}, {Key: "batchSize", Value: 5}}, 5, true, 2995},
		{"none at first", bson.D{{Key: "find", Value: "c"}, {Key: "batchSize", Value: 0}}, 0, true, 3000},
		{"single", bson.D{{Key: "find", Value: "c"}, {Key: "batchSize", Value: 5}, {Key: "singleBatch", Value: true}}, 5, false, -1},
		{"limit", bson.D{{Key: "find", Value: "c"}, {Key: "limit", Value: 7}}, 7, false, -1},
		{"limit in two", bson.D{{Key: "find", Value: "c"}, {Key: "limit", Value: 150}}, 101, true, 49},
		{"limit and skip", bson.D{{Key: "find", Value: "c"}, {Key: "limit", Value: 20}, {Key: "skip", Value: 2990}, {Key: "batchSize", Value: 4}}, 4, true, 6},
		{"aggregate", bson.D{{Key: "aggregate", Value: "c"}, {Key: "pipeline", Value: bson.A{}}, {Key: "cursor", Value: bson.D{}}}, 101, true, 2899},
		{"aggregate to the end", bson.D{{Key: "aggregate", Value: "c"}, {Key: "pipeline", Value: bson.A{bson.D{{Key: "$limit", Value: 50}}}}, {Key: "cursor", Value: bson.D{{Key: "batchSize", Value: 50}}}}, 50, false, -1},
	} {
		id, n := firstBatch(run(t, db, c.cmd), "firstBatch")
		if n != c.n || (id != 0) != c.open {
			t.Errorf("%s: %d documents and cursor %d, want %d and open: %v", c.name, n, id, c.n, c.open)
			continue
		}
		if c.after < 0 {
			continue
		}
		id, n = firstBatch(run(t, db, bson.D{{Key: "getMore", Value: id}, {Key: "collection", Value: "c"}}), "nextBatch")
		if n != c.after || id != 0 {
			t.Errorf("%s: then %d documents and cursor %d, want %d and the end", c.name, n, id, c.after)
		}
	}
}

// TestBatchBytes: no batch is larger than 16 MiB, and none is empty for that.
func TestBatchBytes(t *testing.T) {
	client := connect(t, openEngine(t))
	coll := client.Database("d").Collection("c")
	const n = 25
	for i := range n {
		if _, err := coll.InsertOne(context.Background(), bson.D{{Key: "_id", Value: i}, {Key: "s", Value: strings.Repeat("x", 3<<20)}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, projection := range []bson.D{{}, {{Key: "_id", Value: 1}, {Key: "s", Value: 1}}} {
		r := run(t, coll.Database(), bson.D{{Key: "find", Value: "c"}, {Key: "projection", Value: projection}})
		id, got := firstBatch(r, "firstBatch")
		batches := []int{got}
		for id != 0 {
			r = run(t, coll.Database(), bson.D{{Key: "getMore", Value: id}, {Key: "collection", Value: "c"}})
			if len(r) > 16<<20+16<<10 {
				t.Errorf("a reply of %d bytes", len(r))
			}
			var k int
			id, k = firstBatch(r, "nextBatch")
			batches = append(batches, k)
			got += k
		}
		if got != n || len(batches) != 5 {
			t.Errorf("%d documents in batches of %v", got, batches)
		}
	}
}

// TestCursorKeepsItsMoment: what is written after find is not seen by getMore.
func TestCursorKeepsItsMoment(t *testing.T) {
	coll := connect(t, openEngine(t)).Database("d").Collection("c")
	ctx := context.Background()
	insertNumbers(t, coll, 1000)
	cur, err := coll.Find(ctx, bson.D{}, options.Find().SetBatchSize(10))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := coll.UpdateMany(ctx, bson.D{}, bson.D{{Key: "$set", Value: bson.D{{Key: "new", Value: true}}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := coll.DeleteMany(ctx, bson.D{{Key: "_id", Value: bson.D{{Key: "$gte", Value: 500}}}}); err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; cur.Next(ctx); n++ {
		if _, err := cur.Current.LookupErr("new"); err == nil {
			t.Fatalf("document %d was written after the cursor was opened", n)
		}
	}
	if n != 1000 || cur.Err() != nil {
		t.Fatalf("%d documents, %v", n, cur.Err())
	}
}

func TestCursorOwnership(t *testing.T) {
	client := connect(t, openEngine(t))
	db := client.Database("d")
	ctx := context.Background()
	insertNumbers(t, db.Collection("c"), 300)
	insertNumbers(t, db.Collection("other"), 1)
	open := func() int64 {
		id, _ := firstBatch(run(t, db, bson.D{{Key: "find", Value: "c"}, {Key: "batchSize", Value: 2}}), "firstBatch")
		return id
	}
	id := open()
	fails(t, db, 13, bson.D{{Key: "getMore", Value: id}, {Key: "collection", Value: "other"}})
	fails(t, db, 14, bson.D{{Key: "getMore", Value: "x"}, {Key: "collection", Value: "c"}})
	fails(t, db, 43, bson.D{{Key: "getMore", Value: int64(4711)}, {Key: "collection", Value: "c"}})
	r := run(t, db, bson.D{{Key: "killCursors", Value: "c"}, {Key: "cursors", Value: bson.A{id, int64(5)}}})
	if got := r.Lookup("cursorsKilled").String() + r.Lookup("cursorsNotFound").String(); !strings.Contains(got, "5") || r.Lookup("cursorsKilled").Array().Index(0).Value().Int64() != id {
		t.Errorf("killCursors: %v", r)
	}
	fails(t, db, 43, bson.D{{Key: "getMore", Value: id}, {Key: "collection", Value: "c"}})

	// A dropped collection takes its cursors along.
	id = open()
	if err := db.Collection("c").Drop(ctx); err != nil {
		t.Fatal(err)
	}
	fails(t, db, 96, bson.D{{Key: "getMore", Value: id}, {Key: "collection", Value: "c"}})

	// So does the end of a logical session.
	insertNumbers(t, db.Collection("c"), 300)
	sess, err := client.StartSession()
	if err != nil {
		t.Fatal(err)
	}
	err = mongo.WithSession(ctx, sess, func(sc mongo.SessionContext) error {
		raw, err := db.RunCommand(sc, bson.D{{Key: "find", Value: "c"}, {Key: "batchSize", Value: 2}}).Raw()
		if err == nil {
			id, _ = firstBatch(raw, "firstBatch")
		}
		return err
	})
	if err != nil || id == 0 {
		t.Fatalf("cursor %d in a session: %v", id, err)
	}
	lsid := sess.ID()
	run(t, db, bson.D{{Key: "endSessions", Value: bson.A{lsid}}})
	if n := run(t, client.Database("admin"), bson.D{{Key: "serverStatus", Value: 1}}).Lookup("metrics", "cursor", "open", "total").Int64(); n != 0 {
		t.Errorf("%d cursors are open after their session's end", n)
	}
}
