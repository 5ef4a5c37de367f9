package embedded

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
)

func TestHelloSuitsDrivers(t *testing.T) {
	admin := connect(t, openEngine(t)).Database("admin")
	for cmd, primary := range map[string]string{"hello": "isWritablePrimary", "isMaster": "ismaster", "ismaster": "ismaster"} {
		d := run(t, admin, bson.D{{Key: cmd, Value: 1}, {Key: "compression", Value: bson.A{"lz5", "zstd", "snappy"}}})
		if ok, _ := d.Lookup(primary).BooleanOK(); !ok {
			t.Errorf("%s: not writable: %v", cmd, d)
		}
		for field, want := range map[string]int64{
			"maxBsonObjectSize": 16777216, "maxMessageSizeBytes": 48000000, "maxWriteBatchSize": 100000,
			"minWireVersion": 0, "maxWireVersion": 21, "logicalSessionTimeoutMinutes": 30,
		} {
			if got, ok := d.Lookup(field).AsInt64OK(); !ok || got != want {
				t.Errorf("%s: %s is %v, want %d", cmd, field, d.Lookup(field), want)
			}
		}
		if got := d.Lookup("compression").String(); got != `["zstd","snappy"]` {
			t.Errorf("%s: compression %s: those in common, in the client's order, are wanted", cmd, got)
		}
		for _, absent := range []string{"topologyVersion", "setName", "msg"} {
			if _, err := d.LookupErr(absent); err == nil {
				t.Errorf("%s: has %s, which would change what drivers do", cmd, absent)
			}
		}
	}
	info := run(t, admin, bson.D{{Key: "buildInfo", Value: 1}})
	if v := info.Lookup("mrbench").StringValue(); v != "test" {
		t.Errorf("buildInfo.mrbench is %q", v)
	}
	if v := info.Lookup("version").StringValue(); v != "7.0.0" {
		t.Errorf("version %q does not go with wire version 21", v)
	}
}

// TestCompression talks through each compressor; the answers must be the same.
func TestCompression(t *testing.T) {
	e := openEngine(t)
	ctx := context.Background()
	for _, name := range []string{"snappy", "zlib", "zstd"} {
		coll := connect(t, e, options.Client().SetCompressors([]string{name})).Database("c").Collection(name)
		docs := make([]any, 500)
		for i := range docs {
			docs[i] = bson.D{{Key: "_id", Value: i}, {Key: "s", Value: "the same text, over and over"}}
		}
		if _, err := coll.InsertMany(ctx, docs); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		cur, err := coll.Find(ctx, bson.D{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []bson.Raw
		if err := cur.All(ctx, &got); err != nil || len(got) != len(docs) {
			t.Fatalf("%s: %d documents, %v", name, len(got), err)
		}
	}
}

// TestServe offers the engine on a socket until its context ends, with the same data as in memory.
func TestServe(t *testing.T) {
	e := openEngine(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- e.Serve(ctx, l) }()
	over, err := mongo.Connect(ctx, options.Client().ApplyURI("mongodb://"+l.Addr().String()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := over.Database("d").Collection("c").InsertOne(ctx, bson.D{{Key: "_id", Value: 1}}); err != nil {
		t.Fatal(err)
	}
	n, err := connect(t, e).Database("d").Collection("c").CountDocuments(ctx, bson.D{})
	if err != nil || n != 1 {
		t.Fatalf("in memory: %d documents, %v", n, err)
	}
	cancel()
	if err := <-served; err != nil {
		t.Fatalf("Serve ended with %v", err)
	}
	if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Fatal("the port is still open")
	}
	_ = over.Disconnect(context.Background())
}

func TestCloseTwiceAndDialAfter(t *testing.T) {
	e, err := Open(Config{Dir: "data", FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if _, err := e.DialContext(context.Background(), "", ""); !errors.Is(err, net.ErrClosed) {
		t.Fatalf("dial after close: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Serve(context.Background(), l); !errors.Is(err, net.ErrClosed) {
		t.Fatalf("serve after close: %v", err)
	}
}

// TestReopen: what was acknowledged is there for the next engine on the directory.
func TestReopen(t *testing.T) {
	fs := vfs.NewMem()
	for i := range 3 {
		e, err := Open(Config{Dir: "data", FS: fs})
		if err != nil {
			t.Fatal(err)
		}
		coll := connect(t, e).Database("d").Collection("c")
		n, err := coll.CountDocuments(context.Background(), bson.D{})
		if err != nil || n != int64(i) {
			t.Fatalf("opened %d times: %d documents, %v", i+1, n, err)
		}
		if _, err := coll.InsertOne(context.Background(), bson.D{{Key: "_id", Value: i}}); err != nil {
			t.Fatal(err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestConnectionLimit(t *testing.T) {
	e, err := Open(Config{Dir: "data", FS: vfs.NewMem(), MaxConnections: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	var open []net.Conn
	for range 3 {
		nc, err := e.DialContext(context.Background(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, nc)
	}
	if _, err := e.DialContext(context.Background(), "", ""); !errors.Is(err, errTooMany) {
		t.Fatalf("the fourth of three: %v", err)
	}
	_ = open[0].Close()
	eventually(t, "a place to come free", func() bool {
		nc, err := e.DialContext(context.Background(), "", "")
		if err == nil {
			_ = nc.Close()
		}
		return err == nil
	})
}

// TestManyConnections holds 200 connections that all work.
func TestManyConnections(t *testing.T) {
	e := openEngine(t)
	client := connect(t, e, options.Client().SetMaxPoolSize(200).SetMinPoolSize(200))
	coll := client.Database("d").Collection("c")
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			for j := range 5 {
				if _, err := coll.InsertOne(context.Background(), bson.D{{Key: "_id", Value: i*5 + j}}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if n, err := coll.CountDocuments(context.Background(), bson.D{}); n != 1000 || err != nil {
		t.Fatalf("%d documents, %v", n, err)
	}
}

// eventually waits for something that another goroutine brings about.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for range 2000 {
		if ok() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("waited in vain for %s", what)
}

// TestGarbage: bytes that are no messages end their connection and harm nothing else.
func TestGarbage(t *testing.T) {
	e := openEngine(t)
	for _, b := range []string{"GET / HTTP/1.1\r\n\r\n", "\xff\xff\xff\xff0123456789ab", "\x10\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\xdd\x07\x00\x00", "\x00"} {
		nc, err := e.DialContext(context.Background(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = nc.Write([]byte(b))
		_ = nc.SetReadDeadline(time.Now().Add(10 * time.Second))
		if len(b) > 4 {
			if _, err := nc.Read(make([]byte, 1)); err == nil {
				t.Errorf("%q was answered", b)
			}
		}
		_ = nc.Close()
	}
	run(t, connect(t, e).Database("admin"), bson.D{{Key: "ping", Value: 1}})
}
