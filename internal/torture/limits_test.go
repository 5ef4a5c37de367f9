package torture

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/wire"
)

// served starts the program on an empty directory, for one test.
func served(t *testing.T) (*server, *mongo.Client) {
	t.Helper()
	s := serve(t, newDir(t), "")
	c := dial(t, s.uri)
	t.Cleanup(func() {
		hangUp(c)
		s.stopped(t)
	})
	return s, c
}

// TestConnections: 200 clients, each with connections of its own, do mixed work at once, and none meets an error.
func TestConnections(t *testing.T) {
	ctx := context.Background()
	s, c := served(t)
	const clients = 200
	coll := c.Database("load").Collection("c")
	if _, err := coll.Indexes().CreateMany(ctx, []mongo.IndexModel{{Keys: bson.D{{Key: "a", Value: 1}}}, {Keys: bson.D{{Key: "client", Value: 1}, {Key: "a", Value: 1}}}}); err != nil {
		t.Fatal(err)
	}
	steps := 4
	if testing.Short() {
		steps = 2
	}
	seed := seedOf(t)
	var connected, work sync.WaitGroup
	start := make(chan struct{})
	connected.Add(clients)
	for i := range clients {
		work.Go(func() {
			c := dial(t, s.uri)
			defer hangUp(c)
			err := c.Ping(ctx, nil)
			connected.Done()
			if err != nil {
				t.Errorf("client %d: %v", i, err)
				return
			}
			<-start
			rng := newRand(seed, i)
			for n := range steps {
				if err := mixedWork(ctx, c, i, n, rng.IntN(7)); err != nil {
					t.Errorf("client %d: %v", i, err)
					return
				}
			}
		})
	}
	connected.Wait()
	r, err := c.Database("admin").RunCommand(ctx, bson.D{{Key: "serverStatus", Value: 1}}).Raw()
	if err != nil || number(r.Lookup("connections", "current")) < clients {
		t.Errorf("connections: %v, %v", r.Lookup("connections"), err)
	}
	close(start)
	work.Wait()
	validateAll(ctx, t, c, []string{"load.c", "load.out"})
	s.bounded(t, 1024)
}

// mixedWork is one step of client i.
func mixedWork(ctx context.Context, c *mongo.Client, i, n, kind int) error {
	db := c.Database("load")
	coll := db.Collection("c")
	mine := bson.D{{Key: "client", Value: i}}
	docs := make([]any, 50)
	for k := range docs {
		docs[k] = bson.D{{Key: "_id", Value: fmt.Sprintf("%d-%d-%d", i, n, k)}, {Key: "client", Value: i}, {Key: "a", Value: (i*31 + k) % 97}, {Key: "s", Value: strings.Repeat("y", k)}}
	}
	if _, err := coll.InsertMany(ctx, docs); err != nil {
		return err
	}
	switch kind {
	case 0: // a cursor of several batches
		cur, err := coll.Find(ctx, mine, options.Find().SetBatchSize(20))
		if err != nil {
			return err
		}
		var got []bson.Raw
		if err := cur.All(ctx, &got); err != nil {
			return err
		}
		if len(got) < 50*4/5 { // of this step's, a fifth at most is deleted
			return errorf("%d documents of its own", len(got))
		}
	case 1:
		_, err := coll.UpdateMany(ctx, mine, bson.D{{Key: "$inc", Value: bson.D{{Key: "a", Value: 1}}}})
		return err
	case 2:
		cur, err := coll.Aggregate(ctx, bson.A{
			bson.D{{Key: "$match", Value: bson.D{{Key: "a", Value: bson.D{{Key: "$lt", Value: 20}}}}}},
			bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$client"}, {Key: "n", Value: bson.D{{Key: "$sum", Value: 1}}}}}},
		})
		if err != nil {
			return err
		}
		return cur.Close(ctx)
	case 3:
		_, err := coll.DeleteMany(ctx, bson.D{{Key: "client", Value: i}, {Key: "a", Value: bson.D{{Key: "$gt", Value: 80}}}})
		return err
	case 4:
		_, err := coll.CountDocuments(ctx, bson.D{{Key: "a", Value: i % 97}})
		return err
	case 5:
		return db.RunCommand(ctx, bson.D{
			{Key: "mapReduce", Value: "c"},
			{Key: "query", Value: mine},
			{Key: "map", Value: primitive.JavaScript("function () { emit(this.a, 1); }")},
			{Key: "reduce", Value: primitive.JavaScript("function (k, v) { return Array.sum(v); }")},
			{Key: "out", Value: bson.D{{Key: "merge", Value: "out"}}},
		}).Err()
	case 6:
		_, err := coll.Distinct(ctx, "a", bson.D{})
		return err
	}
	return nil
}

// rawConn speaks the protocol without a driver, which would refuse by itself what is too large.
type rawConn struct {
	t  testing.TB
	nc net.Conn
	in *wire.Reader
	id int32
}

func rawDial(t testing.TB, s *server) *rawConn {
	t.Helper()
	nc, err := net.Dial("tcp", strings.TrimPrefix(s.uri, "mongodb://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nc.Close() })
	_ = nc.SetDeadline(time.Now().Add(2 * time.Minute)) // a hang is an error
	return &rawConn{t: t, nc: nc, in: wire.NewReader(nc)}
}

func (c *rawConn) request(body any, seqs ...wire.Sequence) []byte {
	c.t.Helper()
	raw, err := bson.Marshal(body)
	if err != nil {
		c.t.Fatal(err)
	}
	c.id++
	return wire.AppendRequest(nil, c.id, 0, bsonx.Doc(raw), seqs...)
}

// ask sends a request and waits for the reply; nil when the connection was closed.
func (c *rawConn) ask(request []byte) bson.Raw {
	c.t.Helper()
	if _, err := c.nc.Write(request); err != nil {
		return nil
	}
	m, err := c.in.Next()
	if err != nil {
		return nil
	}
	return append(bson.Raw(nil), m.Body...)
}

func (c *rawConn) code(request []byte) int32 {
	c.t.Helper()
	r := c.ask(request)
	if r == nil {
		return -1
	}
	if v, err := r.LookupErr("code"); err == nil {
		return int32(number(v))
	}
	code, _ := writeCode(r, nil)
	return code
}

// sized is a document of exactly n bytes.
func sized(id, n int) bsonx.Doc {
	const frame = 4 + (1 + 4 + 4) + (1 + 2 + 4 + 1) + 1 // length, _id: int32, s: string, end
	d, err := bson.Marshal(bson.D{{Key: "_id", Value: int32(id)}, {Key: "s", Value: strings.Repeat("x", n-frame)}})
	if err != nil || len(d) != n {
		panic(fmt.Sprintf("%d bytes, not %d: %v", len(d), n, err))
	}
	return bsonx.Doc(d)
}

func insertInto(coll string) bson.D {
	return bson.D{{Key: "insert", Value: coll}, {Key: "$db", Value: "limits"}}
}

// TestDocumentLimit: 16 MiB are stored and come back; a byte more is refused with 10334, however it comes to be, and the connection lives on.
func TestDocumentLimit(t *testing.T) {
	ctx := context.Background()
	s, client := served(t)
	c := rawDial(t, s)
	const most = 16 << 20
	for _, tc := range []struct {
		size int
		code int32
	}{{most - 1, 0}, {most, 0}, {most + 1, 10334}, {most + 16<<10, 10334}, {most + 16<<10 + 1, 10334}, {most + 1<<20, 10334}} {
		if code := c.code(c.request(insertInto("c"), wire.NewSequence("documents", sized(tc.size, tc.size)))); code != tc.code {
			t.Errorf("a document of %d bytes: code %d, want %d", tc.size, code, tc.code)
		}
	}
	coll := client.Database("limits").Collection("c")
	for _, n := range []int{most - 1, most} {
		var back bson.Raw
		if err := coll.FindOne(ctx, bson.D{{Key: "_id", Value: n}}).Decode(&back); err != nil || !bytes.Equal(back, sized(n, n)) {
			t.Errorf("a document of %d bytes came back with %d, %v", n, len(back), err)
		}
	}
	// What is computed holds to the limit too.
	grow := bson.D{{Key: "$addFields", Value: bson.D{{Key: "more", Value: "x"}}}}
	for _, stage := range []bson.D{{{Key: "$out", Value: "larger"}}, {{Key: "$merge", Value: bson.D{{Key: "into", Value: "larger"}}}}, {{Key: "$merge", Value: bson.D{{Key: "into", Value: "c"}}}}} {
		_, err := client.Database("limits").RunCommand(ctx, bson.D{{Key: "aggregate", Value: "c"}, {Key: "pipeline", Value: bson.A{grow, stage}}, {Key: "cursor", Value: bson.D{}}}).Raw()
		if code, text := writeCode(nil, err); code != 10334 {
			t.Errorf("%v: code %d %s", stage, code, text)
		}
	}
	r, err := client.Database("limits").RunCommand(ctx, bson.D{{Key: "update", Value: "c"}, {Key: "updates", Value: bson.A{bson.D{{Key: "q", Value: bson.D{}}, {Key: "u", Value: bson.D{{Key: "$set", Value: bson.D{{Key: "more", Value: "x"}}}}}}}}}).Raw()
	if code, text := writeCode(r, err); code != 17419 {
		t.Errorf("an update beyond the limit: code %d %s", code, text)
	}
	if n, err := coll.CountDocuments(ctx, bson.D{}); n != 2 || err != nil {
		t.Errorf("%d documents, %v", n, err)
	}
	validateAll(ctx, t, client, []string{"limits.c"})
	s.bounded(t, 1024)
}

// TestMessageLimit: a message of 48,000,000 bytes is taken; one of a byte more ends its connection, and no other.
func TestMessageLimit(t *testing.T) {
	s, client := served(t)
	const most = 48_000_000
	for _, more := range []int{0, 1} {
		c := rawDial(t, s)
		frame := len(c.request(insertInto("c"), wire.NewSequence("documents", sized(0, 100)))) - 100
		left := most - frame + more
		request := c.request(insertInto("c"), wire.NewSequence("documents", sized(more*3, 16<<20), sized(more*3+1, 16<<20), sized(more*3+2, left-32<<20)))
		if len(request) != most+more {
			t.Fatalf("a message of %d bytes, not %d", len(request), most+more)
		}
		r := c.ask(request)
		if more == 0 && (r == nil || number(r.Lookup("n")) != 3) || more == 1 && r != nil {
			t.Errorf("a message of %d bytes: %v", len(request), r)
		}
	}
	if n, err := client.Database("limits").Collection("c").CountDocuments(context.Background(), bson.D{}); n != 3 || err != nil {
		t.Errorf("%d documents, %v", n, err)
	}
	s.bounded(t, 1024)
}

// TestBatchLimit: 100,000 documents, updates or deletes in one command are carried out; one more is refused with 16, and none of them is done.
func TestBatchLimit(t *testing.T) {
	s, client := served(t)
	c := rawDial(t, s)
	const most = 100_000
	coll := client.Database("limits").Collection("c")
	count := func(want int64) {
		t.Helper()
		if n, err := coll.EstimatedDocumentCount(context.Background()); n != want || err != nil {
			t.Errorf("%d documents, want %d; %v", n, want, err)
		}
	}
	list := func(n int, doc func(i int) bson.D) []bsonx.Doc {
		docs := make([]bsonx.Doc, n)
		for i := range docs {
			raw, err := bson.Marshal(doc(i))
			if err != nil {
				t.Fatal(err)
			}
			docs[i] = bsonx.Doc(raw)
		}
		return docs
	}
	inserts := list(most+1, func(i int) bson.D { return bson.D{{Key: "_id", Value: i}} })
	if code := c.code(c.request(insertInto("c"), wire.NewSequence("documents", inserts...))); code != 16 {
		t.Errorf("%d inserts: code %d", len(inserts), code)
	}
	count(0)
	if r := c.ask(c.request(insertInto("c"), wire.NewSequence("documents", inserts[:most]...))); r == nil || number(r.Lookup("n")) != most {
		t.Errorf("%d inserts: %v", most, r)
	}
	count(most)
	updates := list(most+1, func(i int) bson.D {
		return bson.D{{Key: "q", Value: bson.D{{Key: "_id", Value: i}}}, {Key: "u", Value: bson.D{{Key: "$set", Value: bson.D{{Key: "x", Value: i}}}}}}
	})
	update := bson.D{{Key: "update", Value: "c"}, {Key: "$db", Value: "limits"}}
	if code := c.code(c.request(update, wire.NewSequence("updates", updates...))); code != 16 {
		t.Errorf("%d updates: code %d", len(updates), code)
	}
	if r := c.ask(c.request(update, wire.NewSequence("updates", updates[:most]...))); r == nil || number(r.Lookup("nModified")) != most {
		t.Errorf("%d updates: %v", most, r)
	}
	deletes := list(most+1, func(i int) bson.D {
		return bson.D{{Key: "q", Value: bson.D{{Key: "_id", Value: i}}}, {Key: "limit", Value: 1}}
	})
	del := bson.D{{Key: "delete", Value: "c"}, {Key: "$db", Value: "limits"}}
	if code := c.code(c.request(del, wire.NewSequence("deletes", deletes...))); code != 16 {
		t.Errorf("%d deletes: code %d", len(deletes), code)
	}
	if r := c.ask(c.request(del, wire.NewSequence("deletes", deletes[:most]...))); r == nil || number(r.Lookup("n")) != most {
		t.Errorf("%d deletes: %v", most, r)
	}
	count(0)
	s.bounded(t, 1024)
}

// nested is a document with n levels, itself the first.
func nested(n int, array bool) bson.Raw {
	var v any = bson.D{{Key: "x", Value: 1}}
	for range n - 1 {
		if array {
			v = bson.D{{Key: "a", Value: bson.A{1, v}}}
		} else {
			v = bson.D{{Key: "a", Value: v}}
		}
	}
	raw, err := bson.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

// TestNesting: 100 levels pass through everything; above 200 is refused with a code, and the connection lives on.
func TestNesting(t *testing.T) {
	ctx := context.Background()
	s, client := served(t)
	db := client.Database("limits")
	coll := db.Collection("c")
	for _, array := range []bool{false, true} {
		n := 100
		if array {
			n = 50 // two levels each
		}
		d := nested(n, array)
		if _, err := coll.InsertOne(ctx, bson.D{{Key: "_id", Value: array}, {Key: "d", Value: d}}); err != nil {
			t.Fatal(err)
		}
		same := func(what string, got bson.RawValue) {
			t.Helper()
			if !bytes.Equal(got.Value, d) {
				t.Errorf("%s changed a document of %d levels", what, n)
			}
		}
		r, err := coll.FindOne(ctx, bson.D{{Key: "d", Value: d}}).Raw()
		if err != nil {
			t.Fatal(err)
		}
		same("find", r.Lookup("d"))
		cur, err := coll.Aggregate(ctx, bson.A{bson.D{{Key: "$match", Value: bson.D{{Key: "_id", Value: array}}}}, bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$d"}}}}})
		if err != nil || !cur.Next(ctx) {
			t.Fatal(err)
		}
		same("$group", cur.Current.Lookup("_id"))
		if _, err := coll.UpdateOne(ctx, bson.D{{Key: "_id", Value: array}}, bson.D{{Key: "$set", Value: bson.D{{Key: "d", Value: d}, {Key: "e", Value: 1}}}}); err != nil {
			t.Fatal(err)
		}
		r, err = db.RunCommand(ctx, bson.D{
			{Key: "mapReduce", Value: "c"},
			{Key: "map", Value: primitive.JavaScript("function () { emit(1, this.d); }")},
			{Key: "reduce", Value: primitive.JavaScript("function (k, v) { return v[0]; }")},
			{Key: "query", Value: bson.D{{Key: "_id", Value: array}}},
			{Key: "out", Value: bson.D{{Key: "inline", Value: 1}}},
		}).Raw()
		if err != nil {
			t.Fatal(err)
		}
		if v := r.Lookup("results", "0", "value"); len(v.Document()) < 100*5 { // numbers become doubles
			t.Errorf("mapReduce gave %v", v)
		}
	}
	if _, err := coll.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: bson.D{{Key: "d", Value: 1}}}); err != nil {
		t.Error(err)
	}
	validateAll(ctx, t, client, []string{"limits.c"})
	c := rawDial(t, s)
	for _, n := range []int{201, 500, 5000, 100_000} {
		deep := bsonx.Doc(deepBytes(n))
		if code := c.code(c.request(insertInto("c"), wire.NewSequence("documents", deep))); code <= 0 {
			t.Errorf("a document of %d levels: code %d", n, code)
		}
		for _, cmd := range []bson.D{
			{{Key: "find", Value: "c"}, {Key: "$db", Value: "limits"}, {Key: "filter", Value: bson.Raw(deep)}},
			{{Key: "aggregate", Value: "c"}, {Key: "$db", Value: "limits"}, {Key: "cursor", Value: bson.D{}}, {Key: "pipeline", Value: bson.A{bson.D{{Key: "$match", Value: bson.Raw(deep)}}}}},
		} {
			if code := c.code(c.request(cmd)); code <= 0 {
				t.Errorf("%s with %d levels: code %d", cmd[0].Key, n, code)
			}
		}
	}
	if code := c.code(c.request(bson.D{{Key: "ping", Value: 1}, {Key: "$db", Value: "limits"}})); code != 0 {
		t.Errorf("ping afterwards: code %d", code)
	}
}

// deepBytes builds a document of n levels from the inside out.
func deepBytes(n int) []byte {
	size := 5 + 8*(n-1)
	b := make([]byte, 0, size)
	for i := range n {
		left := size - 8*i
		b = append(b, byte(left), byte(left>>8), byte(left>>16), byte(left>>24))
		if i < n-1 {
			b = append(b, 3, 'a', 0)
		}
	}
	return append(b, make([]byte, n)...)
}

// TestSlowReaders: clients that ask for batches of 16 MiB and do not read them hold up nobody else, and cost a batch each.
func TestSlowReaders(t *testing.T) {
	ctx := context.Background()
	s, client := served(t)
	coll := client.Database("limits").Collection("c")
	for i := range 24 {
		if _, err := coll.InsertOne(ctx, bson.D{{Key: "_id", Value: i}, {Key: "s", Value: strings.Repeat("z", 2<<20)}}); err != nil {
			t.Fatal(err)
		}
	}
	const slow = 16
	conns := make([]*rawConn, slow)
	for i := range conns {
		conns[i] = rawDial(t, s)
		if _, err := conns[i].nc.Write(conns[i].request(bson.D{{Key: "find", Value: "c"}, {Key: "$db", Value: "limits"}, {Key: "batchSize", Value: 1000}})); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 200 { // others go on
		if _, err := coll.UpdateOne(ctx, bson.D{{Key: "_id", Value: n % 24}}, bson.D{{Key: "$set", Value: bson.D{{Key: "n", Value: n}}}}); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range conns { // and they get theirs in the end, or go away
		if i%4 == 3 {
			_ = c.nc.Close()
			continue
		}
		m, err := c.in.Next()
		if err != nil || number(bson.Raw(m.Body).Lookup("ok")) != 1 {
			t.Errorf("reader %d: %v", i, err)
		}
	}
	if err := client.Ping(ctx, nil); err != nil {
		t.Error(err)
	}
	s.bounded(t, 2048)
}

// TestManyDatabases: the outputs of many runs in databases of their own, each gone in the end, without memory that stays. MRBENCH_TORTURE_DATABASES
// sets how many.
func TestManyDatabases(t *testing.T) {
	ctx := context.Background()
	n := 1000
	if testing.Short() {
		n = 100
	}
	if v := os.Getenv("MRBENCH_TORTURE_DATABASES"); v != "" {
		var err error
		if n, err = strconv.Atoi(v); err != nil {
			t.Fatalf("MRBENCH_TORTURE_DATABASES=%q: %v", v, err)
		}
	}
	dir := newDir(t)
	s := serve(t, dir, "")
	c := dial(t, s.uri)
	src := c.Database("source")
	docs := make([]any, 100)
	for i := range docs {
		docs[i] = bson.D{{Key: "_id", Value: i}, {Key: "a", Value: i % 10}}
	}
	if _, err := src.Collection("c").InsertMany(ctx, docs); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for i := range n {
		err := src.RunCommand(ctx, bson.D{
			{Key: "mapReduce", Value: "c"},
			{Key: "map", Value: primitive.JavaScript("function () { emit(this.a, 1); }")},
			{Key: "reduce", Value: primitive.JavaScript("function (k, v) { return Array.sum(v); }")},
			{Key: "out", Value: bson.D{{Key: "replace", Value: "out"}, {Key: "db", Value: fmt.Sprint("out_", i)}}},
		}).Err()
		if err != nil {
			t.Fatal(err)
		}
	}
	made, _ := memoryOf(s.cmd.Process.Pid)
	t.Logf("%d databases made in %v, %d MiB", n, time.Since(began).Round(time.Millisecond), made)
	hangUp(c)
	s.stopped(t) // they are there after a start, too
	s = serve(t, dir, "")
	c = dial(t, s.uri)
	t.Logf("start with them in %v", s.started.Round(time.Millisecond))
	names, err := c.ListDatabaseNames(ctx, bson.D{})
	if err != nil || len(names) != n+1 {
		t.Errorf("%d databases, want %d: %v", len(names), n+1, err)
	}
	began = time.Now()
	for i := range n {
		db := c.Database(fmt.Sprint("out_", i))
		if i%100 == 0 {
			if k, err := db.Collection("out").CountDocuments(ctx, bson.D{}); k != 10 || err != nil {
				t.Errorf("output %d has %d documents, %v", i, k, err)
			}
		}
		if err := db.Drop(ctx); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("dropped in %v", time.Since(began).Round(time.Millisecond))
	names, err = c.ListDatabaseNames(ctx, bson.D{})
	if err != nil || len(names) != 1 {
		t.Errorf("databases %v, %v", names, err)
	}
	s.bounded(t, 1024)
	hangUp(c)
	s.stopped(t)
	strays(t, dir)
}
