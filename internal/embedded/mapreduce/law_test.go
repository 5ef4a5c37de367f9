package mapreduce

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
	"pgregory.net/rapid"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/store"
)

// key draws a value that may be a key, with few distinct ones of each type.
func key(t *rapid.T) any {
	n := rapid.IntRange(0, 30).Draw(t, "n")
	switch rapid.IntRange(0, 11).Draw(t, "type") {
	case 0, 1:
		return int32(n)
	case 2:
		return float64(n) / 2
	case 3:
		return "s" + strconv.Itoa(n)
	case 4:
		return int64(n)
	case 5:
		return primitive.ObjectID{11: byte(n)}
	case 6:
		return primitive.DateTime(n * 1000)
	case 7:
		return bson.D{{Key: "a", Value: int32(n % 5)}, {Key: "b", Value: "x"}}
	case 8:
		return n%2 == 0
	case 9:
		return nil
	case 10:
		return strconv.Itoa(n)
	default:
		return primitive.Undefined{}
	}
}

// TestJobEqualsPlainCount: every mode, order, form of output and memory limit counts what a plain loop counts.
func TestJobEqualsPlainCount(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 700).Draw(rt, "docs")
		js := rapid.Bool().Draw(rt, "jsMode")
		onlyText := js && rapid.Bool().Draw(rt, "text")
		docs := make([]bsonx.Doc, n)
		want := map[string]float64{}
		left := !js // mixed from the first key that jsMode can't hold
		early := map[string]float64{}
		for i := range docs {
			k := key(rt)
			if onlyText {
				k = strconv.Itoa(rapid.IntRange(0, 30).Draw(rt, "text"))
			}
			docs[i] = doc(t, bson.D{{Key: "_id", Value: int32(i)}, {Key: "k", Value: k}})
			kv := docs[i].Get("k")
			switch kv.Type {
			case bsonx.TypeObjectID, bsonx.TypeDateTime, bsonx.TypeEmbeddedDocument, bsonx.TypeInt64, bsonx.TypeNull:
				left = true
			case bsonx.TypeUndefined:
				if !left {
					kv = bsonx.String("undefined")
				} else {
					kv = bsonx.Null()
				}
			}
			if left {
				want[canonical(kv)]++
			} else {
				early[propertyName(kv)]++
			}
		}
		for name, c := range early {
			want[canonical(bsonx.String(name))] += c
		}
		db := openDB(t)
		ns := store.NS{DB: "test", Coll: "u"}
		if n == 0 {
			if err := db.Create(context.Background(), ns, bsonx.Empty); err != nil {
				rt.Fatal(err)
			}
		} else {
			insert(t, db, ns, docs)
		}
		cmd := bson.D{
			{Key: "mapReduce", Value: "u"},
			{Key: "map", Value: code("function () { emit(this.k, 1); }")},
			{Key: "reduce", Value: code(reduceSum)},
			{Key: "jsMode", Value: js},
			{Key: "sort", Value: bson.D{{Key: "_id", Value: 1}}},
		}
		m := usual()
		if rapid.Bool().Draw(rt, "tiny") {
			m = memory{runs: 2000, stage: 1500, sort: 5000, emits: 900}
		}
		out := rapid.SampledFrom([]any{
			"out",
			bson.D{{Key: "inline", Value: 1}},
			bson.D{{Key: "merge", Value: "out"}},
			bson.D{{Key: "reduce", Value: "out"}, {Key: "nonAtomic", Value: true}},
		}).Draw(rt, "out")
		inline := fmt.Sprint(out) == fmt.Sprint(bson.D{{Key: "inline", Value: 1}})
		reply, err := runWith(context.Background(), db, "test", doc(t, append(cmd, bson.E{Key: "out", Value: out})), nil, m)
		if err != nil {
			rt.Fatal(err)
		}
		got := map[string]float64{}
		if inline {
			for it := reply.Get("results").Elems(); it.Next(); {
				d := it.Value().Doc()
				got[canonical(d.Get("_id"))] = number(d.Get("value"))
			}
		} else {
			snap := db.Snapshot()
			defer snap.Close()
			it := snap.Records(snap.Collection(store.NS{DB: "test", Coll: "out"}), nil, false)
			defer it.Close()
			for it.Next() {
				got[canonical(it.Doc().Get("_id"))] = number(it.Doc().Get("value"))
			}
		}
		if !maps.Equal(got, want) {
			for _, k := range slices.Sorted(maps.Keys(want)) {
				if got[k] != want[k] {
					rt.Errorf("key %q: %v, want %v", k, got[k], want[k])
				}
			}
			rt.Fatalf("%d keys, want %d", len(got), len(want))
		}
		in, emit, _, output := counts(t, reply)
		if in != int64(n) || emit != int64(n) || output != int64(len(want)) {
			rt.Errorf("counts %s", ext(t, reply.Get("counts").Doc()))
		}
		noLeftovers(t, db, ns, store.NS{DB: "test", Coll: "out"})
	})
}

// canonical names a key by what makes it equal to others.
func canonical(v bsonx.Value) string { return string(bsonx.AppendKey(nil, v, false)) }

func number(v bsonx.Value) float64 {
	if v.Type == bsonx.TypeArray { // jsMode's single values, inline
		v = v.Doc().Get("0")
	}
	f, _ := v.AsFloat()
	return f
}

// propertyName is the name under which JavaScript keeps a primitive key.
func propertyName(v bsonx.Value) string {
	switch v.Type {
	case bsonx.TypeBoolean:
		return strconv.FormatBool(v.Bool())
	case bsonx.TypeString:
		return v.Str()
	}
	f, _ := v.AsFloat()
	return strconv.FormatFloat(f, 'f', -1, 64)
}
