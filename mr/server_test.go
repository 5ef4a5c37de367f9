package mr_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/mongofake"
	"mrbench/mr"
	"mrbench/splitter"
)

func value(v any) bson.RawValue {
	t, b, err := bson.MarshalValue(v)
	if err != nil {
		panic(err)
	}
	return bson.RawValue{Type: t, Value: b}
}

// halves are two ranges of f.
func halves() []splitter.Range {
	return []splitter.Range{{Key: "f", Hi: value(int32(5))}, {Key: "f", Lo: value(int32(5))}}
}

// script answers mapReduce and leaves the rest to the defaults.
type script struct {
	mu        sync.Mutex
	mapReduce func(ctx context.Context, c mongofake.Command) bson.D
	other     map[string]bson.D
	seen      []bson.Raw // mapReduce commands
	killed    []int64
	ops       []any // what runs
}

func (s *script) handle(ctx context.Context, c mongofake.Command) bson.D {
	switch c.Name {
	case "mapReduce":
		s.mu.Lock()
		s.seen = append(s.seen, c.Body)
		s.mu.Unlock()
		return s.mapReduce(ctx, c)
	case "listCollections", "find":
		if d, ok := s.other[c.Name]; ok {
			return d
		}
		return mongofake.Cursor(c.DB + ".x")
	case "aggregate":
		if c.DB == "admin" {
			s.mu.Lock()
			defer s.mu.Unlock()
			return mongofake.Cursor("admin.$cmd.aggregate", s.ops...)
		}
		if d, ok := s.other["aggregate"]; ok {
			return d
		}
		return mongofake.Cursor(c.DB + ".x")
	case "killOp":
		id, _ := c.Body.Lookup("op").AsInt64OK()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.killed = append(s.killed, id)
		s.ops = nil
	}
	if d, ok := s.other[c.Name]; ok {
		return d
	}
	return nil
}

func done(mode string) bson.D {
	return bson.D{
		{Key: "timeMillis", Value: 5},
		{Key: "counts", Value: bson.D{{Key: "input", Value: 10}, {Key: "emit", Value: 10}, {Key: "reduce", Value: 2}, {Key: "output", Value: 3}}},
		{Key: "timing", Value: bson.D{{Key: "mode", Value: mode}}},
		{Key: "ok", Value: 1.0},
	}
}

func config(t *testing.T, s *mongofake.Server) mr.Config {
	return mr.Config{
		Client: s.Client(t), DB: "test", Coll: "c", Job: mr.UniqueCount("f"), Prefix: "run1",
		Ranges: halves(), Threads: 2, Layout: mr.SeparateDatabases,
	}
}

func TestRunInRanges(t *testing.T) {
	x := &script{mapReduce: func(context.Context, mongofake.Command) bson.D { return done("mixed") }}
	s := &mongofake.Server{Handle: x.handle}
	c := config(t, s)
	var created []string
	parts := 0
	c.Created = func(db string) error { created = append(created, db); return nil }
	c.OnPart = func(mr.Part) { parts++ }
	r, err := mr.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(created, []string{"run1_0", "run1_1"}) || parts != 2 || len(r.Parts) != 2 {
		t.Errorf("created %v, %d parts", created, parts)
	}
	if want := (mr.Counts{Input: 20, Emit: 20, Reduce: 4, Output: 6, Known: true}); r.Counts != want || r.ServerMS != 10 || r.Mode != "" {
		t.Errorf("%+v", r)
	}
	if got := r.Answer.Collection.Database().Name() + "." + r.Answer.Collection.Name(); got != "run1_0.answer" {
		t.Error(got)
	}
	if r.Parts[0].Coll != "answer" || r.Parts[1].Coll != "part_1" || r.Parts[1].DB != "run1_1" {
		t.Errorf("%+v", r.Parts)
	}
}

// A router before 4.4 does not know jsMode.
func TestJSModeOnARouter(t *testing.T) {
	x := &script{mapReduce: func(_ context.Context, c mongofake.Command) bson.D {
		if c.Body.Lookup("jsMode").Type != 0 {
			return mongofake.Error(0, "unknown m/r field for sharding: jsMode")
		}
		return done("")
	}}
	s := &mongofake.Server{Handle: x.handle, Mongos: true}
	c := config(t, s)
	c.JSMode, c.KeyTypes = true, []string{"int"}
	var refused *mr.JSModeError
	if _, err := mr.Run(t.Context(), c); !errors.As(err, &refused) {
		t.Fatalf("got %v", err)
	}
	c.AllowPlain = true
	r, err := mr.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if r.Mode != mr.ModeIgnored || len(r.Parts) != 2 {
		t.Errorf("%+v", r)
	}
}

// Routers since 4.4 write to existing databases only.
func TestRouterNeedsTheOutputDatabase(t *testing.T) {
	x := &script{mapReduce: func(context.Context, mongofake.Command) bson.D { return nil }}
	s := &mongofake.Server{Handle: x.handle, Mongos: true, WireVersion: 9, Hello: bson.D{}}
	c := config(t, s)
	r, err := mr.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Commands(); !slices.Contains(got, "create") || slices.Index(got, "create") > slices.Index(got, "mapReduce") {
		t.Error(got)
	}
	if r.Counts.Known || r.ServerMS != -1 {
		t.Errorf("%+v", r)
	}
	if tag, _ := x.seen[0].Lookup("comment").StringValueOK(); tag != "run1" {
		t.Error(x.seen[0])
	}
}

func TestAmbiguousKeysAreRefusedBeforehand(t *testing.T) {
	x := &script{mapReduce: func(context.Context, mongofake.Command) bson.D { return done("js") }}
	for wire, runs := range map[int32]int{7: 0, 21: 1} {
		x.seen = nil
		s := &mongofake.Server{Handle: x.handle, WireVersion: wire}
		c := config(t, s)
		c.Ranges, c.JSMode, c.KeyTypes = nil, true, []string{"int", "string"}
		if _, err := mr.Run(t.Context(), c); !errors.Is(err, mr.ErrAmbiguousKeys) || len(x.seen) != runs {
			t.Errorf("wire version %d: %v after %d commands", wire, err, len(x.seen))
		}
	}
}

func TestOutputIsNeverOverwritten(t *testing.T) {
	x := &script{
		mapReduce: func(context.Context, mongofake.Command) bson.D { return done("") },
		other:     map[string]bson.D{"listCollections": mongofake.Cursor("run1_0.$cmd.listCollections", bson.D{{Key: "name", Value: "part_0"}, {Key: "type", Value: "collection"}})},
	}
	s := &mongofake.Server{Handle: x.handle}
	var exists *mr.OutputExistsError
	if _, err := mr.Run(t.Context(), config(t, s)); !errors.As(err, &exists) || exists.NS != "run1_0.part_0" || len(x.seen) != 0 {
		t.Errorf("got %v after %d commands", err, len(x.seen))
	}
}

func TestRunErrors(t *testing.T) {
	var js *mr.ScriptError
	var dup *mr.DuplicateKeysError
	reply := func(d bson.D) func(context.Context, mongofake.Command) bson.D {
		return func(context.Context, mongofake.Command) bson.D { return d }
	}
	duplicate := bson.D{{Key: "n", Value: 0}, {Key: "writeErrors", Value: bson.A{bson.D{{Key: "index", Value: 0}, {Key: "code", Value: 11000}, {Key: "errmsg", Value: "E11000"}}}}, {Key: "ok", Value: 1.0}}
	result := mongofake.Cursor("run1_1.part_1", bson.D{{Key: "_id", Value: 1.0}, {Key: "value", Value: 1.0}})
	tests := []struct {
		name  string
		x     *script
		wire  int32
		as    any
		wants []string
	}{
		{"script", &script{mapReduce: reply(mongofake.Error(139, "Error: no :\nreduce@:1:26\n"))}, 7, &js, []string{"reduce, line 1: Error: no"}},
		{"no collection", &script{mapReduce: reply(mongofake.Error(26, "ns does not exist"))}, 7, nil, []string{"test.c does not exist"}},
		{"command", &script{mapReduce: reply(mongofake.Error(13, "not authorized"))}, 7, nil, []string{"mapReduce on test.c", "of f", "not authorized"}},
		{"same key in two parts, copied", &script{mapReduce: reply(done("")), other: map[string]bson.D{"find": result, "insert": duplicate}}, 7, &dup, []string{"run1_0.answer", `"f"`}},
		{"same key in two parts, merged", &script{mapReduce: reply(done("")), other: map[string]bson.D{"aggregate": mongofake.Error(11000, "E11000")}}, 8, &dup, []string{"run1_0.answer", `"f"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &mongofake.Server{Handle: tt.x.handle, WireVersion: tt.wire}
			c := config(t, s)
			r, err := mr.Run(t.Context(), c)
			if err == nil || (tt.as != nil && !errors.As(err, tt.as)) {
				t.Fatalf("got %v", err)
			}
			for _, want := range tt.wants {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v has no %q", err, want)
				}
			}
			if r == nil || len(r.Databases) != 2 {
				t.Errorf("the report does not name the databases: %+v", r)
			}
		})
	}
}

// A server that has no $merge gets the results from the client.
func TestMergeFallsBackToCopying(t *testing.T) {
	x := &script{
		mapReduce: func(context.Context, mongofake.Command) bson.D { return done("") },
		other: map[string]bson.D{
			"aggregate": mongofake.Error(40324, "Unrecognized pipeline stage name: '$merge'"),
			"find":      mongofake.Cursor("run1_1.part_1", bson.D{{Key: "_id", Value: 7.0}, {Key: "value", Value: 1.0}}),
		},
	}
	s := &mongofake.Server{Handle: x.handle, WireVersion: 8}
	if _, err := mr.Run(t.Context(), config(t, s)); err != nil {
		t.Fatal(err)
	}
	if got := s.Commands(); !slices.Contains(got, "insert") {
		t.Error(got)
	}
}

func TestCancelKillsWhatRuns(t *testing.T) {
	for _, older := range []bool{false, true} {
		t.Run(fmt.Sprintf("currentOp command %v", older), func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			x := &script{}
			x.mapReduce = func(ctx context.Context, c mongofake.Command) bson.D {
				x.mu.Lock()
				x.ops = append(x.ops, bson.D{{Key: "opid", Value: int32(40 + len(x.ops))}, {Key: "ns", Value: "test.c"}, {Key: "command", Value: c.Body}})
				both := len(x.ops) == 2
				x.mu.Unlock()
				if both {
					cancel()
				}
				<-ctx.Done()
				return mongofake.Error(11601, "operation was interrupted")
			}
			handle := x.handle
			if older {
				handle = func(ctx context.Context, c mongofake.Command) bson.D {
					if c.Name == "aggregate" {
						return mongofake.Error(40324, "no $currentOp")
					}
					if c.Name == "currentOp" {
						x.mu.Lock()
						defer x.mu.Unlock()
						return bson.D{{Key: "inprog", Value: bson.A(x.ops)}, {Key: "ok", Value: 1.0}}
					}
					return x.handle(ctx, c)
				}
			}
			s := &mongofake.Server{Handle: handle}
			_, err := mr.Run(ctx, config(t, s))
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("got %v", err)
			}
			x.mu.Lock()
			defer x.mu.Unlock()
			slices.Sort(x.killed)
			if !slices.Equal(x.killed, []int64{40, 41}) {
				t.Errorf("killed %v", x.killed)
			}
		})
	}
}

// One part's failure ends the other.
func TestAFailedPartStopsTheOthers(t *testing.T) {
	started := make(chan struct{})
	x := &script{}
	x.mapReduce = func(ctx context.Context, c mongofake.Command) bson.D {
		if db, _ := c.Body.Lookup("out", "db").StringValueOK(); db == "run1_0" {
			<-started
			return mongofake.Error(139, "TypeError: x :\n@:1:1\n")
		}
		x.mu.Lock()
		x.ops = append(x.ops, bson.D{{Key: "opid", Value: int32(7)}, {Key: "ns", Value: "test.c"}, {Key: "command", Value: c.Body}})
		x.mu.Unlock()
		close(started)
		<-ctx.Done()
		return nil
	}
	s := &mongofake.Server{Handle: x.handle}
	_, err := mr.Run(t.Context(), config(t, s))
	var js *mr.ScriptError
	if !errors.As(err, &js) || !slices.Equal(x.killed, []int64{7}) {
		t.Errorf("got %v, killed %v", err, x.killed)
	}
}
