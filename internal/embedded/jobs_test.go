package embedded

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"go.mongodb.org/mongo-driver/mongo"
)

// slowJob is a mapReduce that takes far longer than any test.
func slowJob() bson.D {
	return bson.D{
		{Key: "mapReduce", Value: "c"},
		{Key: "map", Value: primitive.JavaScript("function () { for (var i = 0; i < 20000; i++) {} emit(this._id % 10, 1); }")},
		{Key: "reduce", Value: primitive.JavaScript("function (k, v) { return Array.sum(v); }")},
		{Key: "out", Value: "slow_out"},
		{Key: "comment", Value: "the slow one"},
	}
}

// endlessJob never gets past its first document.
func endlessJob() bson.D {
	d := slowJob()
	d[1].Value = primitive.JavaScript("function () { while (true) {} }")
	return d
}

// background runs a command and gives its error when it ends.
func background(ctx context.Context, db *mongo.Database, cmd any) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := db.RunCommand(ctx, cmd).Raw()
		done <- err
	}()
	return done
}

// runningJobs lists the mapReduce commands that currentOp shows.
func runningJobs(t testing.TB, client *mongo.Client) []bson.Raw {
	t.Helper()
	r := run(t, client.Database("admin"), bson.D{{Key: "currentOp", Value: 1}, {Key: "command.mapReduce", Value: bson.D{{Key: "$exists", Value: true}}}})
	vals, _ := r.Lookup("inprog").Array().Values()
	var jobs []bson.Raw
	for _, v := range vals {
		jobs = append(jobs, v.Document())
	}
	return jobs
}

// TestKillOp: currentOp shows a running mapReduce with its progress, and killOp stops it.
func TestKillOp(t *testing.T) {
	client := connect(t, openEngine(t))
	db := client.Database("d")
	insertNumbers(t, db.Collection("c"), 20_000)
	done := background(context.Background(), db, slowJob())
	var job bson.Raw
	eventually(t, "progress of the job", func() bool {
		jobs := runningJobs(t, client)
		if len(jobs) != 1 {
			return false
		}
		job = jobs[0]
		n, _ := job.Lookup("progress", "done").AsInt64OK()
		return n > 0
	})
	if got := job.Lookup("ns").StringValue(); got != "d.c" {
		t.Errorf("ns %q", got)
	}
	if got, _ := job.Lookup("comment").StringValueOK(); got != "the slow one" {
		t.Errorf("comment %q", got)
	}
	if total := job.Lookup("progress", "total").AsInt64(); total != 20_000 {
		t.Errorf("progress of %d documents, want 20000: %v", total, job)
	}
	run(t, client.Database("admin"), bson.D{{Key: "killOp", Value: 1}, {Key: "op", Value: job.Lookup("opid").Int32()}})
	if err := <-done; codeOf(err) != 11601 {
		t.Fatalf("a killed job ended with %v", err)
	}
	if jobs := runningJobs(t, client); len(jobs) != 0 {
		t.Errorf("still there: %v", jobs)
	}
	names, err := db.ListCollectionNames(context.Background(), bson.D{})
	if err != nil || len(names) != 1 {
		t.Errorf("the killed job left %v (%v)", names, err)
	}
	// An unknown operation is nothing to stop, and no error.
	run(t, client.Database("admin"), bson.D{{Key: "killOp", Value: 1}, {Key: "op", Value: 987654}})
}

// TestTightLoop: JavaScript that never calls anything is stopped all the same.
func TestTightLoop(t *testing.T) {
	client := connect(t, openEngine(t))
	db := client.Database("d")
	insertNumbers(t, db.Collection("c"), 10)
	_, err := db.RunCommand(context.Background(), append(endlessJob(), bson.E{Key: "maxTimeMS", Value: 100})).Raw()
	if codeOf(err) != 50 {
		t.Fatalf("a job past maxTimeMS ended with %v", err)
	}
	done := background(context.Background(), db, endlessJob())
	eventually(t, "the job to run", func() bool { return len(runningJobs(t, client)) == 1 })
	run(t, client.Database("admin"), bson.D{{Key: "killOp", Value: 1}, {Key: "op", Value: runningJobs(t, client)[0].Lookup("opid").Int32()}})
	if err := <-done; codeOf(err) != 11601 {
		t.Fatalf("a killed job ended with %v", err)
	}
}

// TestClientLeaves: when a client gives up, its command stops.
func TestClientLeaves(t *testing.T) {
	client := connect(t, openEngine(t))
	db := client.Database("d")
	insertNumbers(t, db.Collection("c"), 10)
	ctx, cancel := context.WithCancel(context.Background())
	done := background(ctx, db, endlessJob())
	eventually(t, "the job to run", func() bool { return len(runningJobs(t, client)) == 1 })
	cancel() // the driver closes the connection
	if err := <-done; err == nil {
		t.Fatal("the endless job ended well")
	}
	eventually(t, "the job to end", func() bool { return len(runningJobs(t, client)) == 0 })
}

// TestCloseDuringJob: Close interrupts what runs, and the data survives.
func TestCloseDuringJob(t *testing.T) {
	fs := vfs.NewMem()
	e, err := Open(Config{Dir: "data", FS: fs, Log: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	client := connect(t, e)
	db := client.Database("d")
	insertNumbers(t, db.Collection("c"), 5000)
	jobs := []<-chan error{
		background(context.Background(), db, endlessJob()), background(context.Background(), db, slowJob()),
	}
	eventually(t, "the jobs to run", func() bool { return len(runningJobs(t, client)) == 2 })
	if err := e.Close(); err != nil {
		t.Fatalf("close during a job: %v", err)
	}
	for _, j := range jobs {
		if err := <-j; err == nil {
			t.Error("a job ended well in spite of Close")
		}
	}
	e, err = Open(Config{Dir: "data", FS: fs, Log: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	db = connect(t, e).Database("d")
	if n := run(t, db, bson.D{{Key: "count", Value: "c"}}).Lookup("n").Int32(); n != 5000 {
		t.Errorf("%d documents after reopening", n)
	}
	if names, err := db.ListCollectionNames(context.Background(), bson.D{}); err != nil || len(names) != 1 {
		t.Errorf("the jobs left %v (%v)", names, err)
	}
}

// TestConcurrentClients: several clients insert, read, count and reduce at once, while one kills what it finds.
func TestConcurrentClients(t *testing.T) {
	e := openEngine(t)
	ctx := context.Background()
	setup := connect(t, e).Database("d").Collection("c")
	if _, err := setup.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: bson.D{{Key: "k", Value: 1}}}); err != nil {
		t.Fatal(err)
	}
	const writers, batches, size = 3, 15, 100
	var work sync.WaitGroup
	stop := make(chan struct{})
	for w := range writers {
		coll := connect(t, e).Database("d").Collection("c")
		work.Go(func() {
			for b := range batches {
				docs := make([]any, size)
				for i := range docs {
					docs[i] = bson.D{{Key: "_id", Value: w*1_000_000 + b*size + i}, {Key: "k", Value: i % 7}}
				}
				if _, err := coll.InsertMany(ctx, docs); err != nil {
					t.Errorf("insert: %v", err)
				}
			}
		})
	}
	var readers sync.WaitGroup
	reader := func(do func(db *mongo.Database) error) {
		db := connect(t, e).Database("d")
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := do(db); err != nil && codeOf(err) != 11601 {
					t.Error(err)
					return
				}
			}
		})
	}
	reader(func(db *mongo.Database) error {
		cur, err := db.Collection("c").Find(ctx, bson.D{{Key: "k", Value: 3}})
		if err != nil {
			return err
		}
		var docs []bson.Raw
		return cur.All(ctx, &docs)
	})
	reader(func(db *mongo.Database) error {
		_, err := db.RunCommand(ctx, bson.D{
			{Key: "mapReduce", Value: "c"},
			{Key: "map", Value: "function () { emit(this.k, 1); }"},
			{Key: "reduce", Value: "function (k, v) { return Array.sum(v); }"},
			{Key: "out", Value: "mr"},
		}).Raw()
		return err
	})
	reader(func(db *mongo.Database) error {
		_, err := db.Collection("c").Distinct(ctx, "k", bson.D{})
		return err
	})
	admin := connect(t, e)
	reader(func(*mongo.Database) error {
		for _, j := range runningJobs(t, admin) {
			run(t, admin.Database("admin"), bson.D{{Key: "killOp", Value: 1}, {Key: "op", Value: j.Lookup("opid").Int32()}})
		}
		time.Sleep(20 * time.Millisecond)
		return nil
	})
	work.Wait()
	close(stop)
	readers.Wait()
	if n := run(t, setup.Database(), bson.D{{Key: "count", Value: "c"}}).Lookup("n").Int32(); n != writers*batches*size {
		t.Errorf("%d documents, want %d", n, writers*batches*size)
	}
	if r := run(t, setup.Database(), bson.D{{Key: "validate", Value: "c"}}); !r.Lookup("valid").Boolean() {
		t.Errorf("validate: %v", r)
	}
}

// TestScriptsStopEverywhere: JavaScript that never ends is stopped by maxTimeMS, by killOp and by its client's leaving, in all
// commands that run it.
func TestScriptsStopEverywhere(t *testing.T) {
	client := connect(t, openEngine(t))
	db, admin := client.Database("d"), client.Database("admin")
	insertNumbers(t, db.Collection("c"), 10)
	loop := func(args ...any) bson.D {
		return bson.D{{Key: "body", Value: "function () { for (;;) { try { for (;;) {} } catch (e) {} } }"}, {Key: "args", Value: append(bson.A{}, args...)}, {Key: "lang", Value: "js"}}
	}
	pipeline := func(stage bson.D) bson.D {
		return bson.D{{Key: "aggregate", Value: "c"}, {Key: "pipeline", Value: bson.A{stage}}, {Key: "cursor", Value: bson.D{}}}
	}
	where := bson.D{{Key: "$where", Value: "function () { while (true) {} }"}}
	endless := "function () { while (true) {} }"
	for name, cmd := range map[string]bson.D{
		"find $where":   {{Key: "find", Value: "c"}, {Key: "filter", Value: where}},
		"count $where":  {{Key: "count", Value: "c"}, {Key: "query", Value: where}},
		"delete $where": {{Key: "delete", Value: "c"}, {Key: "deletes", Value: bson.A{bson.D{{Key: "q", Value: where}, {Key: "limit", Value: 0}}}}},
		"$function":     pipeline(bson.D{{Key: "$project", Value: bson.D{{Key: "x", Value: bson.D{{Key: "$function", Value: loop()}}}}}}),
		"$accumulator": pipeline(bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: 1}, {Key: "x", Value: bson.D{{Key: "$accumulator", Value: bson.D{
			{Key: "init", Value: "function () { return 0; }"},
			{Key: "accumulate", Value: endless},
			{Key: "accumulateArgs", Value: bson.A{}},
			{Key: "merge", Value: "function (a, b) { return 0; }"},
			{Key: "lang", Value: "js"},
		}}}}}}}),
		"mapReduce finalize": {
			{Key: "mapReduce", Value: "c"},
			{Key: "map", Value: "function () { emit(1, 1); }"},
			{Key: "reduce", Value: "function () { return 1; }"},
			{Key: "finalize", Value: endless},
			{Key: "out", Value: bson.D{{Key: "inline", Value: 1}}},
		},
		"mapReduce reduce": {{Key: "mapReduce", Value: "c"}, {Key: "map", Value: "function () { emit(1, 1); }"}, {Key: "reduce", Value: endless}, {Key: "out", Value: "o"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := db.RunCommand(context.Background(), append(cmd[:len(cmd):len(cmd)], bson.E{Key: "maxTimeMS", Value: 50})).Raw()
			if codeOf(err) != 50 {
				t.Errorf("past maxTimeMS: %v", err)
			}
			named := append(cmd[:len(cmd):len(cmd)], bson.E{Key: "comment", Value: name})
			running := func() []bson.RawValue {
				vals, _ := run(t, admin, bson.D{{Key: "currentOp", Value: 1}, {Key: "command.comment", Value: name}}).Lookup("inprog").Array().Values()
				return vals
			}
			done := background(context.Background(), db, named)
			eventually(t, "the command to run", func() bool { return len(running()) == 1 })
			run(t, admin, bson.D{{Key: "killOp", Value: 1}, {Key: "op", Value: running()[0].Document().Lookup("opid").Int32()}})
			if err := <-done; codeOf(err) != 11601 {
				t.Errorf("killed: %v", err)
			}
			ctx, leave := context.WithCancel(context.Background())
			done = background(ctx, db, named)
			eventually(t, "the command to run", func() bool { return len(running()) == 1 })
			leave()
			<-done
			eventually(t, "the command to end", func() bool { return len(running()) == 0 })
		})
	}
	if n := run(t, db, bson.D{{Key: "count", Value: "c"}}).Lookup("n").Int32(); n != 10 {
		t.Errorf("%d documents are left", n)
	}
}
