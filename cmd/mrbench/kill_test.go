package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"mrbench/internal/target"
)

// asMain makes the test binary be mrbench.
const asMain = "MRBENCH_TEST_AS_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asMain) != "" {
		main()
	}
	os.Exit(m.Run())
}

func mrbench(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, args...)
	c.Env = append(os.Environ(), asMain+"=1")
	c.Stderr = os.Stderr
	return c
}

// A process that is killed while writers insert loses nothing that it acknowledged, in the collection or in its index.
func TestKilledServerKeepsAcknowledgedWrites(t *testing.T) {
	dir := t.TempDir()
	c := mrbench(t, "serve", "--port", "0", "--data-dir", dir)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	uri, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	acknowledged := insertUntil(t, strings.TrimSpace(uri), 20_000, func() {
		if err := c.Process.Kill(); err != nil {
			t.Error(err)
		}
	})
	_ = c.Wait() // it was killed
	if len(acknowledged) < 20_000 {
		t.Fatalf("only %d documents were acknowledged", len(acknowledged))
	}
	reopen(t, dir, func(coll *mongo.Collection) {
		byID := ids(t, coll, bson.D{{Key: "_id", Value: 1}})
		byIndex := ids(t, coll, bson.D{{Key: "n", Value: 1}})
		slices.Sort(byIndex)
		if !slices.Equal(byID, byIndex) {
			t.Errorf("%d documents, %d by the index", len(byID), len(byIndex))
		}
		for _, id := range acknowledged {
			if _, ok := slices.BinarySearch(byID, id); !ok {
				t.Fatalf("acknowledged document %d of %d is lost", id, len(acknowledged))
			}
		}
	})
}

// insertUntil inserts batches with several writers; when enough documents are acknowledged it calls kill and goes on
// until the server is gone. The acknowledged _ids come back.
func insertUntil(t *testing.T, uri string, enough int, kill func()) []int32 {
	t.Helper()
	const writers, batch = 4, 500
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	client, err := mongo.Connect(ctx, options.Client().ApplyURI(uri).SetServerSelectionTimeout(time.Second).SetRetryWrites(false))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Disconnect(ctx) }()
	coll := client.Database("test").Collection("killed")
	if _, err := coll.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: bson.D{{Key: "n", Value: 1}}}); err != nil {
		t.Fatal(err)
	}
	var (
		mu           sync.Mutex
		acknowledged []int32
		once         sync.Once
		wg           sync.WaitGroup
	)
	for w := range writers {
		wg.Go(func() {
			for start := w * batch; ctx.Err() == nil; start += writers * batch {
				docs := make([]any, batch)
				for i := range docs {
					docs[i] = bson.D{{Key: "_id", Value: int32(start + i)}, {Key: "n", Value: int32((start + i) * 7919 % 10007)}}
				}
				if _, err := coll.InsertMany(ctx, docs); err != nil {
					return // the server is gone; what this batch came to is not known
				}
				mu.Lock()
				for i := range docs {
					acknowledged = append(acknowledged, int32(start+i))
				}
				n := len(acknowledged)
				mu.Unlock()
				if n >= enough {
					once.Do(kill)
				}
			}
		})
	}
	wg.Wait()
	return acknowledged
}

// A seed that is killed leaves a collection that can be read, whose index holds every document, and that can be seeded anew.
func TestKilledSeed(t *testing.T) {
	dir := t.TempDir()
	c := mrbench(t, "seed", "--docs", "100M", "--index", "before", "--data-dir", dir)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	// Its work shows in the engine's files growing.
	for size := int64(0); size < 3<<20; size = diskUse(t, dir) {
		if c.ProcessState != nil {
			t.Fatal("seed ended by itself")
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	reopen(t, dir, func(coll *mongo.Collection) {
		coll = coll.Database().Collection("uniques")
		n, err := coll.CountDocuments(t.Context(), bson.D{})
		if err != nil || n == 0 {
			t.Fatalf("%d documents, %v", n, err)
		}
		viaIndex, err := coll.CountDocuments(t.Context(), bson.D{{Key: "dim0", Value: bson.D{{Key: "$gte", Value: 0}}}}, options.Count().SetHint("dim0_1"))
		if err != nil || viaIndex != n {
			t.Errorf("%d documents and %d in the index, %v", n, viaIndex, err)
		}
		var v struct {
			Valid bool
			N     int64 `bson:"nrecords"`
		}
		if err := coll.Database().RunCommand(t.Context(), bson.D{{Key: "validate", Value: "uniques"}, {Key: "full", Value: true}}).Decode(&v); err != nil || !v.Valid || v.N != n {
			t.Errorf("validate: %+v %v", v, err)
		}
	})
	again := mrbench(t, "seed", "--docs", "1000", "--drop", "--data-dir", dir)
	if out, err := again.Output(); err != nil || !strings.Contains(string(out), "1,000 of 1,000 documents are there") {
		t.Errorf("%s %v", out, err)
	}
}

func diskUse(t *testing.T, dir string) (n int64) {
	t.Helper()
	// Files come and go meanwhile; those that went do not count.
	_ = filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}

// reopen opens the data directory in this process.
func reopen(t *testing.T, dir string, work func(*mongo.Collection)) {
	t.Helper()
	tg, err := target.Open(t.Context(), target.Config{DataDir: filepath.Join(dir, "engine")})
	if err != nil {
		t.Fatal(err)
	}
	work(tg.Client.Database("test").Collection("killed"))
	if err := tg.Close(); err != nil {
		t.Fatal(err)
	}
}

func ids(t *testing.T, coll *mongo.Collection, hint bson.D) (all []int32) {
	t.Helper()
	cur, err := coll.Find(t.Context(), bson.D{}, options.Find().SetHint(hint).SetProjection(bson.D{{Key: "_id", Value: 1}}))
	if err != nil {
		t.Fatal(err)
	}
	for cur.Next(t.Context()) {
		id, ok := cur.Current.Lookup("_id").Int32OK()
		if !ok {
			t.Fatal(fmt.Sprint("not an int32: ", cur.Current))
		}
		all = append(all, id)
	}
	if err := cur.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
