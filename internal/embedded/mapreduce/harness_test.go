package mapreduce

import (
	"context"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/store"
)

// openDB opens an in-memory engine.
func openDB(t testing.TB) *store.DB {
	t.Helper()
	db, err := store.Open(store.Options{Dir: "/data", FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func doc(t testing.TB, v any) bsonx.Doc {
	t.Helper()
	b, err := bson.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// insert adds documents, giving those without an _id one.
func insert(t testing.TB, db *store.DB, ns store.NS, docs []bsonx.Doc) {
	t.Helper()
	for i, d := range docs {
		if d.Get("_id").IsMissing() {
			docs[i] = doc(t, append(bson.D{{Key: "_id", Value: primitive.NewObjectID()}}, decode(t, d)...))
		}
	}
	_, errs, err := db.InsertMany(context.Background(), ns, docs, true, store.WriteOptions{Create: true})
	if err != nil || len(errs) > 0 {
		t.Fatal(err, errs)
	}
}

func decode(t testing.TB, d bsonx.Doc) bson.D {
	t.Helper()
	var out bson.D
	if err := bson.Unmarshal(d, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// contents gives a collection's documents in _id order, as extended JSON.
func contents(t testing.TB, db *store.DB, ns store.NS) []string {
	t.Helper()
	snap := db.Snapshot()
	defer snap.Close()
	c := snap.Collection(ns)
	if c == nil {
		return nil
	}
	it := snap.Records(c, nil, false)
	defer it.Close()
	out := []string{}
	for it.Next() {
		out = append(out, ext(t, it.Doc()))
	}
	if it.Err() != nil {
		t.Fatal(it.Err())
	}
	return out
}

func ext(t testing.TB, d bsonx.Doc) string {
	t.Helper()
	b, err := bson.MarshalExtJSON(bson.Raw(d), true, false)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// code wraps a function's text.
func code(s string) primitive.JavaScript { return primitive.JavaScript(s) }

const (
	mapDim0   = "function () { emit(this.dim0, 1); }"
	reduceSum = "function (key, values) { return Array.sum(values); }"
)

// runJob runs a command given as key, value, ….
func runJob(t testing.TB, db *store.DB, cmd bson.D) (bsonx.Doc, error) {
	t.Helper()
	reply, err := Run(context.Background(), db, "test", doc(t, cmd), nil)
	if err == nil {
		if err := bsonx.Validate(reply, 200); err != nil {
			t.Fatalf("the reply is not valid: %v", err)
		}
	}
	return reply, err
}

func counts(t testing.TB, reply bsonx.Doc) (input, emit, reduce, output int64) {
	t.Helper()
	get := func(name string) int64 {
		n, ok := reply.Get("counts").Doc().Get(name).AsInt64()
		if !ok {
			t.Fatalf("no counts.%s in %s", name, ext(t, reply))
		}
		return n
	}
	return get("input"), get("emit"), get("reduce"), get("output")
}

func wantCode(t testing.TB, err error, c mongoerr.Code) {
	t.Helper()
	if mongoerr.CodeOf(err) != c {
		t.Errorf("error %v (%d), want code %d", err, mongoerr.CodeOf(err), c)
	}
}

// noLeftovers checks that no temporary file or collection is there.
func noLeftovers(t testing.TB, db *store.DB, known ...store.NS) {
	t.Helper()
	snap := db.Snapshot()
	defer snap.Close()
	for _, name := range snap.Databases() {
	next:
		for _, c := range snap.Collections(name) {
			for _, k := range known {
				if c.NS == k {
					continue next
				}
			}
			t.Errorf("collection %s is left behind", c.NS)
		}
	}
	o := db.SpillOptions(1)
	files, err := o.FS.List(o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) > 0 {
		t.Errorf("files are left behind: %v", files)
	}
}
