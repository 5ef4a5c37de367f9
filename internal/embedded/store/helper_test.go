package store

import (
	"context"
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.mongodb.org/mongo-driver/bson"

	"mrbench/internal/embedded/bsonx"
)

var (
	ctx    = context.Background()
	testNS = NS{"d", "c"}
)

// jdoc makes a document of extended JSON.
func jdoc(t fataler, format string, args ...any) bsonx.Doc {
	t.Helper()
	if len(args) > 0 {
		format = fmt.Sprintf(format, args...)
	}
	var d bson.D
	if err := bson.UnmarshalExtJSON([]byte(format), false, &d); err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	b, err := bson.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// fataler is what testing.TB and *rapid.T have in common.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Error(args ...any)
	Errorf(format string, args ...any)
}

func openMem(t testing.TB) *DB {
	t.Helper()
	return openOn(t, vfs.NewMem())
}

func openOn(t testing.TB, fs vfs.FS) *DB {
	t.Helper()
	db, err := Open(Options{Dir: "data", FS: fs, Log: t.Logf})
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

func mustInsert(t testing.TB, db *DB, ns NS, docs ...bsonx.Doc) {
	t.Helper()
	n, errs, err := db.InsertMany(ctx, ns, docs, true, WriteOptions{Create: true})
	if err != nil || errs != nil || n != len(docs) {
		t.Fatalf("insert: n=%d errs=%v err=%v", n, errs, err)
	}
}

func mustIndex(t testing.TB, db *DB, ns NS, spec string) {
	t.Helper()
	if _, err := db.CreateIndex(ctx, ns, jdoc(t, spec)); err != nil {
		t.Fatal(err)
	}
}

func allDocs(t fataler, db *DB, ns NS) []bsonx.Doc {
	t.Helper()
	s := db.Snapshot()
	defer s.Close()
	c := s.Collection(ns)
	if c == nil {
		return nil
	}
	var docs []bsonx.Doc
	it := s.Records(c, nil, false)
	defer it.Close()
	for it.Next() {
		docs = append(docs, append(bsonx.Doc(nil), it.Doc()...))
	}
	if err := it.Err(); err != nil {
		t.Fatal(err)
	}
	return docs
}

func mustValidate(t fataler, db *DB, ns NS) *ValidateReport {
	t.Helper()
	r, err := db.Validate(ctx, ns)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range r.Errors {
		t.Errorf("validate %s: %s", ns, e)
	}
	return r
}
