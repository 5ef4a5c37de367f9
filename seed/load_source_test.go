package seed_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo/options"

	"mrbench/internal/mongofake"
	"mrbench/seed"
	"mrbench/seed/source"
)

// ndjson writes a generator's documents to a file.
func ndjson(t testing.TB, g seed.Generator, docs int64) string {
	t.Helper()
	var b bytes.Buffer
	if _, _, err := seed.WriteNDJSON(context.Background(), &b, g, 0, docs, false); err != nil {
		t.Fatal(err)
	}
	return file(t, "docs.ndjson", b.String())
}

func file(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// A file loads as the documents that it was written from.
func TestSourceLoadsTheSame(t *testing.T) {
	db := engine(t).Database("test")
	const docs = 3000
	g := seed.People(4)
	path := ndjson(t, g, docs)
	for i, c := range []seed.Config{
		{},
		{Writers: 1, Batch: 7},
		{Writers: 3, Decoders: 3, Batch: 100, Index: seed.IndexAfter, IndexKeys: bson.D{{Key: "age", Value: 1}}},
		{WriteConcern: "0"},
		{Writers: 2, Ordered: true, OnDuplicate: seed.DuplicateStop},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			c.Collection = db.Collection(fmt.Sprint("s", i))
			c.Source = &source.Config{Paths: []string{path}, ChunkSize: 5000}
			r, err := seed.Run(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if r.Documents != docs || r.Counted != docs || r.Generator != "files" || r.Files != 1 || r.MBPerSecond <= 0 || r.Rejects+r.Duplicates != 0 {
				t.Errorf("%+v", r)
			}
			opts := options.Find().SetSort(bson.D{{Key: "_id", Value: 1}})
			if c.Writers == 1 { // the file's order is kept
				opts = options.Find().SetSort(bson.D{{Key: "$natural", Value: 1}})
			}
			cur, err := c.Collection.Find(t.Context(), bson.D{}, opts)
			if err != nil {
				t.Fatal(err)
			}
			n := int64(0)
			for ; cur.Next(t.Context()); n++ {
				if want := bson.Raw(g.Append(nil, n)); string(cur.Current) != string(want) {
					t.Fatalf("document %d is %s, want %s", n, cur.Current, want)
				}
			}
			if n != docs || cur.Err() != nil {
				t.Errorf("%d documents, %v", n, cur.Err())
			}
		})
	}
}

// Documents without an _id get one.
func TestSourceWithoutID(t *testing.T) {
	c := seed.Config{Collection: engine(t).Database("test").Collection("c"), Source: &source.Config{Paths: []string{file(t, "a.csv", "a,b\n1,x\n2,y\n")}}}
	if r, err := seed.Run(t.Context(), c); err != nil || r.Counted != 2 {
		t.Fatal(r, err)
	}
	var doc bson.M
	if err := c.Collection.FindOne(t.Context(), bson.D{{Key: "a", Value: 2}}).Decode(&doc); err != nil || doc["_id"] == nil || doc["b"] != "y" {
		t.Error(doc, err)
	}
}

func TestBadRecords(t *testing.T) {
	coll := engine(t).Database("test").Collection("c")
	path := file(t, "a.ndjson", "{\"_id\":1}\n{broken\n{\"_id\":2}\n\"x\"\n{\"_id\":3}\n")
	c := seed.Config{Collection: coll, Source: &source.Config{Paths: []string{path}}}
	_, err := seed.Run(t.Context(), c)
	var bad *source.RecordError
	if !errors.As(err, &bad) || bad.Line != 2 || bad.Start != 10 || bad.File != path {
		t.Fatalf("stop: %v", err)
	}
	var rejects bytes.Buffer
	c.Drop = true
	c.Bad = func(e *source.RecordError) error { return source.WriteReject(&rejects, e) }
	r, err := seed.Run(t.Context(), c)
	if err != nil || r.Counted != 3 || r.Rejects != 2 || strings.Count(rejects.String(), "\n") != 2 || !strings.Contains(rejects.String(), `"line":2,"offset":11`) {
		t.Errorf("%+v %v %s", r, err, rejects.String())
	}
	full := errors.New("disk full")
	c.Bad = func(*source.RecordError) error { return full }
	if _, err := seed.Run(t.Context(), c); !errors.Is(err, full) {
		t.Errorf("a reject that can't be written: %v", err)
	}
}

func TestDuplicates(t *testing.T) {
	coll := engine(t).Database("test").Collection("c")
	path := file(t, "a.ndjson", "{\"_id\":1}\n{\"_id\":2}\n{\"_id\":1}\n{\"_id\":3}\n")
	c := seed.Config{Collection: coll, Source: &source.Config{Paths: []string{path}}, Writers: 1, Ordered: true}
	r, err := seed.Run(t.Context(), c)
	var doc *seed.DocumentError
	if !errors.As(err, &doc) || doc.Code != 11000 || doc.At.Line != 3 || r.Documents != 2 || !strings.Contains(err.Error(), "line 3, byte 20") {
		t.Fatalf("%+v %v", r, err)
	}
	c.OnDuplicate = seed.DuplicateSkip
	if _, err := seed.Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "ordered") {
		t.Errorf("skip in order: %v", err)
	}
	c.Ordered, c.Append = false, true
	r, err = seed.Run(t.Context(), c)
	if err != nil || r.Before != 2 || r.Documents != 1 || r.Duplicates != 3 || r.Counted != 3 || len(r.DuplicateKeys) != 3 || !strings.Contains(r.DuplicateKeys[0], "_id") {
		t.Errorf("%+v %v", r, err)
	}
}

// Several machines load folders of their own into one collection: what others add meanwhile is no error of this load.
func TestOthersLoadToo(t *testing.T) {
	coll := engine(t).Database("test").Collection("c")
	path := file(t, "a.ndjson", "{\"_id\":1}\n{\"_id\":2}\n")
	other := func(*seed.Checkpoint) error {
		_, err := coll.UpdateOne(t.Context(), bson.D{{Key: "_id", Value: "of another machine"}}, bson.D{{Key: "$set", Value: bson.D{{Key: "x", Value: 1}}}}, options.Update().SetUpsert(true))
		return err
	}
	c := seed.Config{Collection: coll, Source: &source.Config{Paths: []string{path}}, Append: true, Save: other}
	r, err := seed.Run(t.Context(), c)
	if err != nil || r.Documents != 2 || r.Before != 0 || r.Counted != 3 || r.Others != 1 || r.Duplicates != 0 {
		t.Errorf("%+v %v", r, err)
	}
	c.Append = false
	if _, err := coll.DeleteMany(t.Context(), bson.D{}); err != nil {
		t.Fatal(err)
	}
	var count *seed.CountError
	if _, err = seed.Run(t.Context(), c); !errors.As(err, &count) || count.Expected != 2 || count.Counted != 3 {
		t.Errorf("nobody said that others load too: %v", err)
	}
}

func TestSourceRefusals(t *testing.T) {
	s := &store{hold: 1}
	for want, edit := range map[string]func(*seed.Config){
		"no generator and no source": func(c *seed.Config) { c.Generator = nil },
		"choose one":                 func(c *seed.Config) { c.Source = &source.Config{} },
		"read to its end":            func(c *seed.Config) { c.Generator, c.Source = nil, &source.Config{} },
		"exclude each other":         func(c *seed.Config) { c.Append, c.Drop = true, true },
		"use stop or skip":           func(c *seed.Config) { c.OnDuplicate = "maybe" },
		"no such file": func(c *seed.Config) {
			c.Generator, c.Documents, c.Drop, c.Source = nil, 0, true, &source.Config{Paths: []string{"/nowhere/at/all"}}
		},
	} {
		c := config(t, s)
		edit(&c)
		if _, err := seed.Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if s.drops > 0 {
		t.Error("it dropped something")
	}
}

// A slow server stops the reader: what waits between file and server is bounded.
func TestBackpressure(t *testing.T) {
	path := ndjson(t, seed.Uniques(1, "dim0", 200_000, 0), 200_000)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	release := make(chan struct{})
	s := &mongofake.Server{Handle: func(ctx context.Context, c mongofake.Command) bson.D {
		if c.Name == "insert" {
			select {
			case <-release:
			case <-ctx.Done():
			}
			return mongofake.Error(1, "stopped")
		}
		if c.Name == "find" || c.Name == "listCollections" {
			return mongofake.Cursor("test.c")
		}
		return bson.D{{Key: "n", Value: 0}, {Key: "ok", Value: 1.0}}
	}}
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var read atomic.Int64
	done := make(chan error, 1)
	go func() {
		_, err := seed.Run(ctx, seed.Config{
			Collection: s.Client(t).Database("test").Collection("c"), Writers: 2, Decoders: 1, Batch: 100,
			Source: &source.Config{Paths: []string{"-"}, Format: source.NDJSON, ChunkSize: 10_000, Stdin: counting{in, &read}},
		})
		done <- err
	}()
	// The reader stands still when nothing moves any more.
	last, same := int64(-1), 0
	for same < 20 {
		time.Sleep(10 * time.Millisecond)
		if n := read.Load(); n == last && n > 0 {
			same++
		} else {
			last, same = n, 0
		}
	}
	close(release)
	if err := <-done; err == nil || !strings.Contains(err.Error(), "insert of documents from (") {
		t.Error(err)
	}
	if last > 1<<20 {
		t.Errorf("%d bytes were read while nothing was inserted", last)
	}
}

type counting struct {
	f *os.File
	n *atomic.Int64
}

func (c counting) Read(b []byte) (int, error) {
	n, err := c.f.Read(b)
	c.n.Add(int64(n))
	return n, err
}

// BenchmarkClient measures what the client itself costs: the server answers at
// once and keeps nothing. cpu-µs/doc is processor time of the whole process, the pretended
// server in it, so it is an upper bound; bytes/doc is of a document as BSON.
func BenchmarkClient(b *testing.B) {
	server := &mongofake.Server{Handle: func(_ context.Context, c mongofake.Command) bson.D {
		if c.Name == "find" || c.Name == "listCollections" {
			return mongofake.Cursor("test.c")
		}
		if c.Name == "aggregate" {
			return mongofake.Cursor("test.c", bson.D{{Key: "_id", Value: 1}, {Key: "n", Value: 1}})
		}
		return bson.D{{Key: "n", Value: 0}, {Key: "ok", Value: 1.0}}
	}, Hello: bson.D{{Key: "maxWriteBatchSize", Value: 100_000}, {Key: "maxBsonObjectSize", Value: 16 << 20}, {Key: "maxMessageSizeBytes", Value: 48000000}}}
	coll := server.Client(b).Database("test").Collection("c")
	const docs = 100_000
	run := func(b *testing.B, c seed.Config) {
		c.Collection = coll
		var total, size int64
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := cpu()
		for b.Loop() {
			r, err := seed.Run(context.Background(), c)
			var count *seed.CountError
			if !errors.As(err, &count) || r.Documents != docs {
				b.Fatal(r, err)
			}
			total += docs
			size += r.Bytes
		}
		spent := cpu() - start
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(spent)/float64(total)/1000, "cpu-µs/doc")
		b.ReportMetric(float64(size)/float64(total), "bytes/doc")
		b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(total), "allocs/doc")
		b.ReportMetric(0, "ns/op")
	}
	b.Run("generated", func(b *testing.B) {
		run(b, seed.Config{Generator: seed.Uniques(1, "dim0_key", docs, 0), Documents: docs})
	})
	b.Run("people", func(b *testing.B) {
		run(b, seed.Config{Generator: seed.People(1), Documents: docs})
	})
	path := ndjson(b, seed.People(1), docs)
	b.Run("ndjson", func(b *testing.B) {
		run(b, seed.Config{Source: &source.Config{Paths: []string{path}}})
	})
	noID := withoutIDs(b, path)
	b.Run("ndjson without _id", func(b *testing.B) {
		run(b, seed.Config{Source: &source.Config{Paths: []string{noID}}})
	})
}

// withoutIDs is a copy of a file of documents that begin with an ObjectId, without it.
func withoutIDs(b *testing.B, path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	id := regexp.MustCompile(`(?m)^\{"_id":\{"\$oid":"[0-9a-f]{24}"\},`)
	return file(b, "noid.ndjson", string(id.ReplaceAll(text, []byte("{"))))
}

func cpu() int64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}
