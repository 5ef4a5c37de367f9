package pipeline

import (
	"context"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/embedded/bsonx"
	"mrbench/internal/embedded/query"
	"mrbench/internal/embedded/store"
)

var (
	ctx    = context.Background()
	testNS = store.NS{DB: "d", Coll: "c"}
)

// fataler is what testing.TB and *rapid.T have in common.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

func openDB(t testing.TB) *store.DB {
	t.Helper()
	db, err := store.Open(store.Options{Dir: "data", FS: vfs.NewMem(), CompileFilter: query.CompileFilter})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return db
}

func doc(t fataler, s string) bsonx.Doc {
	t.Helper()
	var d bson.D
	if err := bson.UnmarshalExtJSON([]byte(s), false, &d); err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	b, err := bson.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func array(t fataler, s string) bsonx.Doc {
	t.Helper()
	return doc(t, `{"v": `+s+`}`).Get("v").Doc()
}

func text(d bsonx.Doc) string {
	b, err := bson.MarshalExtJSON(bson.Raw(d), true, false)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func texts(docs []bsonx.Doc) []string {
	out := []string{}
	for _, d := range docs {
		out = append(out, text(d))
	}
	return out
}

func insert(t fataler, db *store.DB, ns store.NS, docs ...bsonx.Doc) {
	t.Helper()
	_, errs, err := db.InsertMany(ctx, ns, docs, true, store.WriteOptions{Create: true})
	if err != nil || len(errs) > 0 {
		t.Fatalf("insert: %v %v", errs, err)
	}
}

func insertJSON(t fataler, db *store.DB, ns store.NS, docs ...string) {
	t.Helper()
	var all []bsonx.Doc
	for _, s := range docs {
		all = append(all, doc(t, s))
	}
	insert(t, db, ns, all...)
}

func index(t fataler, db *store.DB, ns store.NS, spec string) {
	t.Helper()
	if _, err := db.CreateIndex(ctx, ns, doc(t, spec)); err != nil {
		t.Fatal(err)
	}
}

func options(db *store.DB) Options {
	return Options{DB: db, NS: testNS, AllowDiskUse: true}
}

// runAll parses and runs a pipeline on the present state.
func runAll(stages bsonx.Doc, o Options) ([]bsonx.Doc, error) {
	p, err := Parse(stages, o)
	if err != nil {
		return nil, err
	}
	return drain(p, o.DB)
}

func drain(p *Pipeline, db *store.DB) ([]bsonx.Doc, error) {
	snap := db.Snapshot()
	defer snap.Close()
	src, err := p.Run(ctx, snap)
	if err != nil {
		return nil, err
	}
	var out []bsonx.Doc
	for {
		docs, err := src.Next(ctx)
		if err != nil {
			_ = src.Close()
			return nil, err
		}
		if len(docs) == 0 {
			return out, src.Close()
		}
		for _, d := range docs {
			if err := bsonx.Validate(d, 200); err != nil {
				return nil, err
			}
			out = append(out, append(bsonx.Doc(nil), d...))
		}
	}
}

func aggregate(t fataler, db *store.DB, stages string) []bsonx.Doc {
	t.Helper()
	docs, err := runAll(array(t, stages), options(db))
	if err != nil {
		t.Fatalf("%s: %v", stages, err)
	}
	return docs
}
