package seed_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/mongofake"
	"mrbench/seed"
)

// store is a server that keeps the inserted documents' values.
type store struct {
	mu      sync.Mutex
	docs    map[string]int64 // _id to value
	batches []int
	drops   int
	indexes []int // documents there when an index was built
	special map[string]bson.D
	insert  func(n int) bson.D // instead of storing, when it gives something
	hold    int                // documents that are there and not in docs
}

func (s *store) handle(_ context.Context, c mongofake.Command) bson.D {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d, ok := s.special[c.Name]; ok {
		return d
	}
	switch c.Name {
	case "insert":
		docs := c.Sequences["documents"]
		if list, ok := c.Body.Lookup("documents").ArrayOK(); ok {
			values, _ := list.Values()
			for _, v := range values {
				docs = append(docs, v.Document())
			}
		}
		if s.insert != nil {
			if d := s.insert(len(docs)); d != nil {
				return d
			}
		}
		s.batches = append(s.batches, len(docs))
		if s.docs == nil {
			s.docs = map[string]int64{}
		}
		for _, d := range docs {
			v, _ := d.Lookup("dim0").AsInt64OK()
			s.docs[d.Lookup("_id").ObjectID().Hex()] = v
		}
		return bson.D{{Key: "n", Value: len(docs)}, {Key: "ok", Value: 1.0}}
	case "count":
		return bson.D{{Key: "n", Value: len(s.docs) + s.hold}, {Key: "ok", Value: 1.0}}
	case "aggregate":
		return mongofake.Cursor("test.c", bson.D{{Key: "_id", Value: 1}, {Key: "n", Value: len(s.docs) + s.hold}})
	case "find", "listCollections":
		return mongofake.Cursor("test.c")
	case "drop":
		s.drops++
		s.hold = 0
	case "createIndexes":
		s.indexes = append(s.indexes, len(s.docs))
	}
	return nil
}

func config(t *testing.T, s *store) seed.Config {
	server := &mongofake.Server{Handle: s.handle, NoHello: true, Hello: bson.D{
		{Key: "maxWriteBatchSize", Value: 300}, {Key: "maxBsonObjectSize", Value: 16 << 20}, {Key: "maxMessageSizeBytes", Value: 48000000},
	}}
	return seed.Config{
		Collection: server.Client(t).Database("test").Collection("c"),
		Generator:  seed.Uniques(1, "dim0", 5000, 50), Documents: 5000, Batch: 1000,
	}
}

func TestContentDoesNotDependOnWriters(t *testing.T) {
	var first map[string]int64
	for _, writers := range []int{1, 3, 8} {
		s := &store{}
		c := config(t, s)
		c.Writers = writers
		r, err := seed.Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if r.Documents != 5000 || r.Counted != 5000 || r.Batches != int64(len(s.batches)) || r.Bytes != 5000*32 || r.Batch != 300 || r.BatchMaxMS <= 0 || r.BatchP50MS > r.BatchP95MS {
			t.Errorf("%+v", r)
		}
		for _, n := range s.batches {
			if n > 300 {
				t.Errorf("a batch of %d; the server takes 300", n)
			}
		}
		if first == nil {
			first = s.docs
		}
		if len(s.docs) != len(first) {
			t.Fatalf("%d documents", len(s.docs))
		}
		for id, v := range first {
			if s.docs[id] != v {
				t.Fatalf("%d writers: document %s has %d, not %d", writers, id, s.docs[id], v)
			}
		}
	}
}

func TestIndexMoments(t *testing.T) {
	for moment, want := range map[seed.IndexMoment][]int{seed.IndexBefore: {0}, seed.IndexAfter: {5000}, seed.IndexNone: nil} {
		s := &store{}
		c := config(t, s)
		c.Index, c.IndexKeys = moment, bson.D{{Key: "dim0", Value: 1}}
		r, err := seed.Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.indexes) != len(want) || (len(want) > 0 && s.indexes[0] != want[0]) || (r.IndexSeconds > 0) != (moment == seed.IndexAfter) {
			t.Errorf("%s: built at %v, %v s", moment, s.indexes, r.IndexSeconds)
		}
	}
}

func TestRefusals(t *testing.T) {
	var (
		notEmpty *seed.NotEmptyError
		target   *seed.TargetError
		document *seed.DocumentError
		concern  *seed.WriteConcernError
		count    *seed.CountError
	)
	view := mongofake.Cursor("test.$cmd.listCollections", bson.D{{Key: "name", Value: "c"}, {Key: "type", Value: "view"}})
	reply := func(d bson.D) func(int) bson.D { return func(int) bson.D { return d } }
	tests := []struct {
		name string
		s    *store
		edit func(*seed.Config)
		as   any
		want string
	}{
		{"not empty", &store{hold: 3}, nil, &notEmpty, "test.c already holds 3 documents"},
		{"quick count wrong", &store{special: map[string]bson.D{"find": mongofake.Cursor("test.c", bson.D{{Key: "_id", Value: 1}})}}, nil, &notEmpty, "already holds"},
		{"view", &store{special: map[string]bson.D{"listCollections": view}}, func(c *seed.Config) { c.Drop = true }, &target, "it is a view"},
		{"local", &store{}, func(c *seed.Config) {
			c.Collection = c.Collection.Database().Client().Database("local").Collection("c")
		}, &target, "belongs to the server"},
		{"system", &store{}, func(c *seed.Config) { c.Collection = c.Collection.Database().Collection("system.js") }, &target, "belongs to the server"},
		{
			"duplicate", &store{insert: reply(bson.D{{Key: "n", Value: 2}, {Key: "ok", Value: 1.0}, {Key: "writeErrors", Value: bson.A{
				bson.D{{Key: "index", Value: 2}, {Key: "code", Value: 11000}, {Key: "errmsg", Value: "E11000"}},
			}}})},
			func(c *seed.Config) { c.Writers, c.Ordered = 1, true }, &document, "document 2 was refused (code 11000",
		},
		{
			"write concern", &store{insert: reply(bson.D{{Key: "n", Value: 300}, {Key: "ok", Value: 1.0}, {
				Key:   "writeConcernError",
				Value: bson.D{{Key: "code", Value: 100}, {Key: "errmsg", Value: "not enough members"}},
			}})},
			func(c *seed.Config) { c.Writers, c.WriteConcern = 1, "3" }, &concern, `write concern "3" was not met (code 100)`,
		},
		{"lost", &store{insert: reply(bson.D{{Key: "n", Value: 300}, {Key: "ok", Value: 1.0}})}, nil, &count, "should hold 5000 documents and holds 0 (5000 missing)"},
		{"bad write concern", &store{}, func(c *seed.Config) { c.WriteConcern = "0,j" }, nil, `"0,j"`},
		{"insert fails", &store{special: map[string]bson.D{"insert": mongofake.Error(13, "not authorized")}}, nil, nil, "insert of documents"},
		{
			"index fails", &store{special: map[string]bson.D{"createIndexes": mongofake.Error(85, "other options")}},
			func(c *seed.Config) { c.Index, c.IndexKeys = seed.IndexBefore, bson.D{{Key: "dim0", Value: 1}} }, nil, "createIndexes",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := config(t, tt.s)
			if tt.edit != nil {
				tt.edit(&c)
			}
			_, err := seed.Run(t.Context(), c)
			if err == nil || (tt.as != nil && !errors.As(err, tt.as)) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v", err)
			}
			if tt.s.drops > 0 {
				t.Error("it dropped something")
			}
		})
	}
}

func TestDropWhenAsked(t *testing.T) {
	s := &store{hold: 3}
	c := config(t, s)
	c.Drop = true
	if r, err := seed.Run(t.Context(), c); err != nil || s.drops != 1 || r.Counted != 5000 {
		t.Errorf("%+v, %v, %d drops", r, err, s.drops)
	}
}

func TestUnacknowledged(t *testing.T) {
	s := &store{}
	c := config(t, s)
	c.WriteConcern = "0"
	r, err := seed.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if r.Counted != 5000 || len(s.docs) != 5000 {
		t.Errorf("%+v", r)
	}
}

// What write concern 0 loses is found by the count, after it stood still.
func TestUnacknowledgedLoss(t *testing.T) {
	s := &store{}
	s.insert = func(n int) bson.D {
		if len(s.batches) == 3 {
			return bson.D{{Key: "ok", Value: 1.0}}
		}
		return nil
	}
	c := config(t, s)
	c.WriteConcern = "0"
	_, err := seed.Run(t.Context(), c)
	var count *seed.CountError
	if !errors.As(err, &count) || !count.Unacknowledged || count.Counted != 900 || !strings.Contains(err.Error(), "write concern 0 hides") {
		t.Errorf("got %v", err)
	}
}

// A cancelled load stops between batches; what was acknowledged is in the
// report and nothing else is in the collection.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var n atomic.Int32
	s := &store{insert: func(int) bson.D {
		if n.Add(1) == 3 {
			cancel()
		}
		return nil
	}}
	c := config(t, s)
	c.Writers = 2
	c.Documents = 1 << 40
	r, err := seed.Run(ctx, c)
	if !errors.Is(err, context.Canceled) || r == nil {
		t.Fatalf("got %v", err)
	}
	if r.Documents != int64(len(s.docs)) || r.Documents == 0 || r.Documents > 5*300 {
		t.Errorf("%d acknowledged, %d stored", r.Documents, len(s.docs))
	}
}

func TestProgress(t *testing.T) {
	s := &store{}
	c := config(t, s)
	var last seed.Progress
	c.Progress = func(p seed.Progress) {
		if p.Documents < last.Documents || p.Seconds < last.Seconds {
			t.Errorf("%+v after %+v", p, last)
		}
		last = p
	}
	if _, err := seed.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if last.Documents != 5000 || last.Total != 5000 || last.Phase != seed.PhaseCount || last.Rate <= 0 {
		t.Errorf("%+v", last)
	}
}
