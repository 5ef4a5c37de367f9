package driverv2

import (
	"context"
	"slices"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

func TestIndexes(t *testing.T) {
	db, _ := connect(t)
	ctx, c := t.Context(), db.Collection("c")
	fill(t, c, 100)
	names, err := c.Indexes().CreateMany(ctx, []mongo.IndexModel{
		{Keys: d("k", 1)},
		{Keys: d("s", 1, "_id", -1), Options: options.Index().SetName("two").SetUnique(true).SetPartialFilterExpression(d("k", d("$gt", 3)))},
	})
	must(t, err)
	same(t, "names", names, bson.A{"k_1", "two"})
	specs, err := c.Indexes().ListSpecifications(ctx)
	must(t, err)
	var got bson.A
	for _, s := range specs {
		got = append(got, bson.A{s.Name, s.KeysDocument, s.Unique != nil && *s.Unique})
	}
	same(t, "specifications", got, bson.A{bson.A{"_id_", d("_id", 1), false}, bson.A{"k_1", d("k", 1), false}, bson.A{"two", d("s", 1, "_id", -1), true}})
	var plan bson.Raw
	must(t, db.RunCommand(ctx, d("explain", d("find", "c", "filter", d("k", 3)), "verbosity", "executionStats")).Decode(&plan))
	same(t, "index", plan.Lookup("queryPlanner", "winningPlan", "inputStage", "indexName"), "k_1")
	same(t, "documents", plan.Lookup("executionStats", "nReturned"), 14)
	must(t, c.Indexes().DropOne(ctx, "two"))
	fails(t, 27, c.Indexes().DropOne(ctx, "two"))
	must(t, c.Indexes().DropAll(ctx))
}

// TestCatalog: what drivers list and count.
func TestCatalog(t *testing.T) {
	db, _ := connect(t)
	ctx := t.Context()
	must(t, db.CreateCollection(ctx, "made"))
	fill(t, db.Collection("filled"), 10)
	must(t, db.CreateView(ctx, "seen", "filled", bson.A{d("$match", d("k", 1))}))
	names, err := db.ListCollectionNames(ctx, d())
	must(t, err)
	slices.Sort(names)
	same(t, "collections", names, bson.A{"filled", "made", "seen"})
	dbs, err := db.Client().ListDatabases(ctx, d("name", db.Name()))
	must(t, err)
	if len(dbs.Databases) != 1 || dbs.Databases[0].Empty || dbs.Databases[0].SizeOnDisk == 0 {
		t.Errorf("%+v", dbs)
	}
	n, err := db.Collection("seen").CountDocuments(ctx, d())
	must(t, err)
	same(t, "count of a view", n, int64(2))
	var r bson.Raw
	must(t, db.RunCommand(ctx, d("dbStats", 1)).Decode(&r))
	same(t, "dbStats", bson.A{r.Lookup("db"), r.Lookup("collections"), r.Lookup("views"), r.Lookup("objects")}, bson.A{db.Name(), 2, 1, 10})
	admin := db.Client().Database("admin")
	must(t, admin.RunCommand(ctx, d("serverStatus", 1)).Decode(&r))
	same(t, "process", r.Lookup("process"), "mrbench")
	must(t, admin.RunCommand(ctx, d("currentOp", 1)).Decode(&r))
	if ops, _ := r.Lookup("inprog").Array().Values(); len(ops) == 0 {
		t.Error("currentOp does not list itself")
	}
	must(t, admin.RunCommand(ctx, d("renameCollection", db.Name()+".made", "to", db.Name()+".renamed")).Err())
	must(t, db.Collection("renamed").Drop(ctx))
	fails(t, 26, admin.RunCommand(ctx, d("renameCollection", db.Name()+".made", "to", db.Name()+".renamed")).Err())
}

// TestSessions: the driver's own sessions are served, transactions and change streams refused, numbered writes
// carried out once.
func TestSessions(t *testing.T) {
	db, log := connect(t)
	ctx, c := t.Context(), db.Collection("c")
	_, err := c.InsertOne(ctx, d("_id", 1, "n", 0))
	must(t, err)
	_, bodies := log.take()
	if bodies[0].Lookup("lsid").IsZero() || !bodies[0].Lookup("txnNumber").IsZero() {
		t.Errorf("the driver sends %s", bodies[0])
	}
	session, err := db.Client().StartSession()
	must(t, err)
	defer session.EndSession(ctx)
	_, err = session.WithTransaction(ctx, func(ctx context.Context) (any, error) { return c.InsertOne(ctx, d("_id", 2)) })
	fails(t, 20, err)
	n, err := c.CountDocuments(ctx, d())
	must(t, err)
	same(t, "documents after a refused transaction", n, int64(1))
	_, err = c.Watch(ctx, mongo.Pipeline{})
	fails(t, 40573, err)

	in := mongo.NewSessionContext(ctx, session)
	write := func(number int64) (r bson.D) {
		t.Helper()
		must(t, db.RunCommand(in, d("update", "c", "updates", bson.A{d("q", d("_id", 1), "u", d("$inc", d("n", 1)))}, "txnNumber", number)).Decode(&r))
		return r
	}
	same(t, "first attempt", write(100), d("n", 1, "nModified", 1, "ok", 1.0))
	same(t, "second attempt", write(100), d("n", 1, "nModified", 1, "retriedStmtIds", bson.A{0}, "ok", 1.0))
	same(t, "next write", write(101), d("n", 1, "nModified", 1, "ok", 1.0))
	var doc bson.D
	must(t, c.FindOne(ctx, d()).Decode(&doc))
	same(t, "document", doc, d("_id", 1, "n", 2))
	fails(t, 225, db.RunCommand(in, d("insert", "c", "documents", bson.A{d()}, "txnNumber", int64(99))).Err())
}

// TestManyAtOnce: many goroutines on one client.
func TestManyAtOnce(t *testing.T) {
	db, _ := connect(t)
	ctx, c := t.Context(), db.Collection("c")
	var wg sync.WaitGroup
	for g := range 50 {
		wg.Go(func() {
			for range 20 {
				if _, err := c.UpdateOne(ctx, d("_id", g%5), d("$inc", d("n", 1)), options.UpdateOne().SetUpsert(true)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	cur, err := c.Find(ctx, d("n", 200))
	if docs := all(t, cur, err); len(docs) != 5 {
		t.Errorf("%v", docs)
	}
}

// TestMapReduce runs as a command: drivers have no helper for it.
func TestMapReduce(t *testing.T) {
	db, _ := connect(t)
	fill(t, db.Collection("c"), 70)
	var r bson.Raw
	must(t, db.RunCommand(t.Context(), d("mapReduce", "c", "map", bson.JavaScript("function() { emit(this.k, 1); }"), "reduce", bson.JavaScript("function(k, v) { return Array.sum(v); }"),
		"query", d("k", d("$lt", 2)), "out", d("inline", 1))).Decode(&r))
	same(t, "results", r.Lookup("results"), bson.A{d("_id", 0.0, "value", 10.0), d("_id", 1.0, "value", 10.0)})
}
