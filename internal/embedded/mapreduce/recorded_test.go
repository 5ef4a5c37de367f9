package mapreduce

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/mongoerr"
	"mrbench/internal/embedded/store"
)

// recorded is the layout of the recorded answers.
type recorded struct {
	Cases []struct {
		Name  string
		Steps []step
	}
}

type step struct {
	DB        string
	Fill      json.RawMessage
	Cmd       json.RawMessage
	Reply     json.RawMessage
	Volatile  []string
	Unordered bool
	CodeOnly  bool
}

func toMap(d bson.D) bson.M {
	m := bson.M{}
	for _, e := range d {
		m[e.Key] = e.Value
	}
	return m
}

func parseExt(t *testing.T, raw json.RawMessage) bson.D {
	t.Helper()
	var d bson.D
	if err := bson.UnmarshalExtJSON(raw, true, &d); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return d
}

// TestRecordedAnswers replays what a 4.0 server answered.
func TestRecordedAnswers(t *testing.T) {
	raw, err := os.ReadFile("../testdata/golden/mapReduce.json")
	if err != nil {
		t.Fatal(err)
	}
	var all recorded
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	if len(all.Cases) < 83 {
		t.Fatalf("only %d cases", len(all.Cases))
	}
	for _, c := range all.Cases {
		t.Run(strings.TrimPrefix(c.Name, "mapReduce/"), func(t *testing.T) {
			db := openDB(t)
			for _, s := range c.Steps {
				replay(t, db, s)
			}
		})
	}
}

func replay(t *testing.T, db *store.DB, s step) {
	t.Helper()
	if s.Fill != nil {
		fill(t, db, s.DB, parseExt(t, s.Fill))
		return
	}
	cmd, want := parseExt(t, s.Cmd), parseExt(t, s.Reply)
	got, err := execute(t, db, s.DB, cmd)
	ok, _ := toMap(want)["ok"].(float64)
	if err != nil {
		if ok != 0 {
			t.Fatalf("%s: %v", s.Cmd, err)
		}
		if toMap(want)["code"] != int32(mongoerr.CodeOf(err)) {
			t.Errorf("%s: error %v (%d), want %v", s.Cmd, err, mongoerr.CodeOf(err), want)
		}
		return
	}
	if ok == 0 {
		t.Fatalf("%s succeeded, want %v", s.Cmd, want)
	}
	if s.CodeOnly {
		return
	}
	a, b := fields(t, decode(t, got), s), fields(t, want, s)
	delete(b, "ok")
	for k, v := range b {
		if a[k] != v {
			t.Errorf("%.200s\n %s is %s\n want %s", s.Cmd, k, a[k], v)
		}
		delete(a, k)
	}
	if len(a) > 0 {
		t.Errorf("%.200s: more than wanted: %v", s.Cmd, a)
	}
}

// fields gives the top-level fields as text, without what is volatile.
func fields(t *testing.T, d bson.D, s step) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, e := range d {
		if slices.Contains(s.Volatile, e.Key) {
			continue
		}
		if list, isList := e.Value.(bson.A); isList && s.Unordered {
			texts := make([]string, len(list))
			for i, v := range list {
				texts[i] = ext(t, doc(t, bson.D{{Key: "v", Value: v}}))
			}
			slices.Sort(texts)
			out[e.Key] = strings.Join(texts, "\n")
			continue
		}
		out[e.Key] = ext(t, doc(t, bson.D{{Key: e.Key, Value: e.Value}}))
	}
	return out
}

func fill(t *testing.T, db *store.DB, name string, spec bson.D) {
	t.Helper()
	m := toMap(spec)
	var docs []bsonx.Doc
	for i := range int(m["n"].(int32)) {
		var d bson.D
		for _, f := range m["fields"].(bson.D) {
			d = append(d, bson.E{Key: f.Key, Value: generated(f.Value, int64(i))})
		}
		docs = append(docs, doc(t, d))
	}
	insert(t, db, store.NS{DB: name, Coll: m["coll"].(string)}, docs)
}

func generated(rule any, i int64) any {
	if rule == "i" {
		return int32(i)
	}
	d, ok := rule.(bson.D)
	if !ok {
		return rule
	}
	m := toMap(d)
	num := func(name string, or int64) int64 {
		if v, ok := m[name].(int32); ok {
			return int64(v)
		}
		return or
	}
	if _, ok := m["mod"]; !ok {
		return rule
	}
	n := (i*num("mul", 1) + num("add", 0)) % num("mod", 1)
	switch {
	case m["str"] != nil:
		return m["str"].(string) + strconv.FormatInt(n, 10)
	case m["double"] == true:
		return float64(n)
	case m["long"] == true:
		return n
	}
	return int32(n)
}

// execute runs the few commands besides mapReduce that the cases use.
func execute(t *testing.T, db *store.DB, name string, cmd bson.D) (bsonx.Doc, error) {
	t.Helper()
	ctx := context.Background()
	m := toMap(cmd)
	coll, _ := cmd[0].Value.(string)
	ns := store.NS{DB: name, Coll: coll}
	switch cmd[0].Key {
	case "mapReduce", "mapreduce":
		return Run(ctx, db, name, doc(t, cmd), nil)
	case "insert":
		var docs []bsonx.Doc
		for _, d := range m["documents"].(bson.A) {
			docs = append(docs, doc(t, d))
		}
		insert(t, db, ns, docs)
		return doc(t, bson.D{{Key: "n", Value: int32(len(docs))}}), nil
	case "createIndexes":
		for _, ix := range m["indexes"].(bson.A) {
			if _, err := db.CreateIndex(ctx, ns, doc(t, append(bson.D{{Key: "v", Value: int32(2)}}, ix.(bson.D)...))); err != nil {
				return nil, err
			}
		}
		return doc(t, bson.D{
			{Key: "createdCollectionAutomatically", Value: false},
			{Key: "numIndexesBefore", Value: int32(1)},
			{Key: "numIndexesAfter", Value: int32(2)},
		}), nil
	case "create":
		return doc(t, bson.D{}), db.Create(ctx, ns, doc(t, bson.D{{Key: "viewOn", Value: m["viewOn"]}, {Key: "pipeline", Value: m["pipeline"]}}))
	case "drop":
		n, err := db.Drop(ctx, ns)
		return doc(t, bson.D{{Key: "ns", Value: ns.String()}, {Key: "nIndexesWas", Value: int32(n)}}), err
	case "dropDatabase":
		return doc(t, bson.D{{Key: "dropped", Value: name}}), db.DropDatabase(ctx, name)
	case "count":
		return doc(t, bson.D{{Key: "n", Value: int32(len(contents(t, db, ns)))}}), nil
	case "find":
		list := bson.A{}
		for _, text := range contents(t, db, ns) {
			var d bson.D
			if err := bson.UnmarshalExtJSON([]byte(text), true, &d); err != nil {
				t.Fatal(err)
			}
			list = append(list, d)
		}
		cursor := bson.D{{Key: "firstBatch", Value: list}, {Key: "id", Value: int64(0)}, {Key: "ns", Value: ns.String()}}
		if _, sorted := m["sort"]; !sorted { // recorded with the fields in another order
			cursor = bson.D{cursor[1], cursor[2], cursor[0]}
		}
		return doc(t, bson.D{{Key: "cursor", Value: cursor}}), nil
	case "listIndexes":
		snap := db.Snapshot()
		defer snap.Close()
		list := bson.A{}
		for _, ix := range snap.Collection(ns).Indexes {
			var key any
			for _, e := range decode(t, ix.Spec) {
				if e.Key == "key" {
					key = e.Value
				}
			}
			list = append(list, bson.D{{Key: "v", Value: int32(2)}, {Key: "key", Value: key}, {Key: "name", Value: ix.Name}, {Key: "ns", Value: ns.String()}})
		}
		return doc(t, bson.D{{Key: "cursor", Value: bson.D{
			{Key: "id", Value: int64(0)},
			{Key: "ns", Value: fmt.Sprintf("%s.$cmd.listIndexes.%s", name, coll)},
			{Key: "firstBatch", Value: list},
		}}}), nil
	}
	t.Fatalf("no support for %s", cmd[0].Key)
	return nil, nil
}
