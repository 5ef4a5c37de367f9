package query

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/store"
)

var testNS = store.NS{DB: "d", Coll: "c"}

// fataler is what testing.T and rapid.T have in common here.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func marshal(t fataler, v any) bsonx.Doc {
	t.Helper()
	b, err := bson.Marshal(v)
	if err != nil {
		t.Fatalf("%v: %v", v, err)
	}
	return b
}

// doc parses Extended JSON.
func doc(t fataler, s string) bsonx.Doc {
	t.Helper()
	var d bson.D
	if err := bson.UnmarshalExtJSON([]byte(s), false, &d); err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return marshal(t, d)
}

func val(t fataler, s string) bsonx.Value {
	t.Helper()
	return doc(t, `{"v":`+s+`}`).Get("v")
}

func text(d bsonx.Doc) string {
	s, err := bson.MarshalExtJSON(bson.Raw(d), false, false)
	if err != nil {
		return fmt.Sprintf("% x (%v)", []byte(d), err)
	}
	return string(s)
}

func openDB(t testing.TB) *store.DB {
	t.Helper()
	db, err := store.Open(store.Options{Dir: "data", FS: vfs.NewMem(), CompileFilter: CompileFilter})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func insert(t testing.TB, db *store.DB, ns store.NS, docs ...bsonx.Doc) {
	t.Helper()
	if _, errs, err := db.InsertMany(context.Background(), ns, docs, true, store.WriteOptions{Create: true}); err != nil || errs != nil {
		t.Fatalf("insert: %v %v", errs, err)
	}
}

func index(t testing.TB, db *store.DB, ns store.NS, spec string) {
	t.Helper()
	if _, err := db.CreateIndex(context.Background(), ns, doc(t, spec)); err != nil {
		t.Fatalf("index %s: %v", spec, err)
	}
}

// read plans and runs a request on the collection's latest state.
func read(t fataler, db *store.DB, ns store.NS, r Request) ([]bsonx.Doc, *Plan) {
	t.Helper()
	snap := db.Snapshot()
	defer func() { _ = snap.Close() }()
	r.Spill = db.SpillOptions(1 << 20)
	p, err := MakePlan(snap, snap.Collection(ns), r)
	if err != nil {
		t.Fatalf("plan: %v", err)
	}
	return drain(t, p, snap), p
}

func drain(t fataler, p *Plan, snap *store.Snap) []bsonx.Doc {
	t.Helper()
	src, err := p.Open(snap)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	defer func() {
		if err := src.Close(); err != nil {
			t.Fatalf("close: %v", err)
		}
	}()
	var out []bsonx.Doc
	for {
		docs, err := src.Next(context.Background())
		if err != nil {
			t.Fatalf("next: %v", err)
		}
		if len(docs) == 0 {
			return out
		}
		for _, d := range docs {
			out = append(out, append(bsonx.Doc(nil), d...))
		}
	}
}

func filter(t fataler, d bsonx.Doc) *Filter {
	t.Helper()
	f, err := ParseFilter(d, nil)
	if err != nil {
		t.Fatalf("filter %s: %v", text(d), err)
	}
	return f
}

// recorded is one file of answers of a 4.0 server.
type recorded struct {
	Cases []struct {
		Name  string
		Steps []map[string]json.RawMessage
	}
}

func recordings(t *testing.T, name string) recorded {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "testdata", "golden", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var r recorded
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	return r
}
