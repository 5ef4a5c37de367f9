package cli

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"

	"mrbench/internal/mimic"
)

// keysOf counts the documents of each value of dim0, whatever its type; of results {_id, value} it takes the values.
func keysOf(t *testing.T, c *mongo.Collection, results bool) map[string]float64 {
	t.Helper()
	cur, err := c.Find(t.Context(), bson.D{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for cur.Next(t.Context()) {
		field, n := "dim0", 1.0
		if results {
			field, n = "_id", asFloat(cur.Current.Lookup("value"))
		}
		v := cur.Current.Lookup(field)
		k := "null"
		switch {
		case v.IsNumber():
			k = fmt.Sprint(asFloat(v))
		case v.Type != bson.TypeNull && v.Type != 0:
			k = v.String()
		}
		got[k] += n
	}
	if err := cur.Err(); err != nil {
		t.Fatal(err)
	}
	return got
}

// A sharded result holds keys of all types, stays spread over the shards and is not made anew, as a router before 4.4 would have it; nothing beside it is left.
func TestIntoShardedKeysOfAllTypes(t *testing.T) {
	t.Parallel()
	m := mimic.Start(t, mimic.Config{Version: "4.0.3", Topology: mimic.Mongos})
	source := m.Inside().Database("test").Collection("uniques")
	uniques(t, m, 200)
	var docs []any
	for i, v := range []any{nil, math.NaN(), "a", "b", "b", "c", "d", false, bson.D{{Key: "x", Value: 1}}, int64(7), 2.5} {
		docs = append(docs, bson.D{{Key: "_id", Value: 1000 + i}, {Key: "dim0", Value: v}})
	}
	if _, err := source.InsertMany(t.Context(), append(docs, bson.D{{Key: "_id", Value: 2000}})); err != nil {
		t.Fatal(err)
	}
	want := keysOf(t, source, false)
	s := newSession(t)
	for i, row := range []string{"mr-ranges", "agg-ranges"} {
		name := fmt.Sprint("r", i)
		args := []string{"run", "--uri", m.URI(), "--sample-every", "0", "--rows", row, "--ranges", "4", "--into", "kept." + name, "--into-sharded"}
		if code, _, stderr := s.run(args...); code != exitOK {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		if got := keysOf(t, m.Inside().Database("kept").Collection(name), true); !maps.Equal(got, want) {
			t.Errorf("%s: %v, not %v", row, got, want)
		}
		coll, documents := shares(t, m.Client(t), "kept."+name)
		even(t, coll)
		if len(coll.PerShard()) != 2 || documents["s1"] == 0 || documents["s2"] == 0 {
			t.Errorf("%s: %v, %v", row, coll.PerShard(), documents)
		}
	}
	// Twice as much, by reducing what is there with what is added.
	if code, _, stderr := s.run("run", "--uri", m.URI(), "--sample-every", "0", "--rows", "mr-ranges", "--ranges", "3", "--into", "kept.r0", "--append"); code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for k := range want {
		want[k] *= 2
	}
	if got := keysOf(t, m.Inside().Database("kept").Collection("r0"), true); !maps.Equal(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
	if got := collections(t, m, "kept"); !slices.Equal(got, []string{"r0", "r0.mrbench_parts", "r1", "r1.mrbench_parts"}) {
		t.Errorf("in kept: %v", got)
	}
}

// The first results go into an empty collection by a command that is atomic, for servers before 4.4 could drop those of another one that is not.
func TestIntoFirstIsAtomic(t *testing.T) {
	t.Parallel()
	m := mimic.Start(t, mimic.Config{Version: "4.0.3"})
	uniques(t, m, 200)
	code, _, stderr := newSession(t).run("run", "--uri", m.URI(), "--sample-every", "0", "--rows", "mr-ranges", "--ranges", "3", "--threads", "1", "--into", "kept.r")
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var loose []bool
	for _, c := range m.Commands() {
		if isMapReduce(c) {
			is, _ := c.Body.Lookup("out", "nonAtomic").BooleanOK()
			loose = append(loose, is)
		}
	}
	if !slices.Equal(loose, []bool{false, true, true}) {
		t.Errorf("nonAtomic: %v", loose)
	}
}
